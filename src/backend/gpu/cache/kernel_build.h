/* SPDX-License-Identifier: Apache-2.0 */
/* Building the functions of units. One thread at a time: the device's own, or whoever holds its lock. */
#ifndef WICK_BACKEND_GPU_BUILD_H
#define WICK_BACKEND_GPU_BUILD_H

#include "kernel_cache.h"

/* Builds all units that wait; `merged`: as few kernels as can be. */
wk_code wk__gpu_build(wk__gpu_kernel_cache *units, bool merged, wk__fail *fail);
/* Sees to it that the function is built, or says why it cannot be. */
wk_code wk__gpu_ensure_built(wk__gpu_kernel_cache *units, wk__gpu_kernel *function, wk__fail *fail);
/* For a compiler's `compile`: the source was refused, and this is what the compiler wrote about it. WK_ERR_INTERNAL. */
wk_code wk__gpu_fail_compile(wk__fail *fail, const char *log);
/* Programs compiled from source so far, over all devices; for tests. */
int64_t wk__gpu_compilations(void);

#endif

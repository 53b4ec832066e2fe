/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels. Threads: one at a time per device, its worker or the holder of its lock. */
#ifndef WICK_BACKEND_GPU_KERNEL_BUILD_H
#define WICK_BACKEND_GPU_KERNEL_BUILD_H

#include "kernel_cache.h"

/* Builds all pending kernels; `merge`: in as few functions as possible. */
wk_code wk__gpu_build(wk__gpu_kernel_cache *cache, bool merge, wk__fail *fail);
/* Builds a kernel if necessary, or fails with the reason why it can't be built. */
wk_code wk__gpu_ensure_built(wk__gpu_kernel_cache *cache, wk__gpu_kernel *kernel, wk__fail *fail);
/* For compile(): fails with WK_ERR_INTERNAL and the first error in the compiler's log. */
wk_code wk__gpu_fail_compile(wk__fail *fail, const char *log);
/* Returns the number of compilations so far, for all devices; for tests. */
int64_t wk__gpu_compilations(void);

#endif

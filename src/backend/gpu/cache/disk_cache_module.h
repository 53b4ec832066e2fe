/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes modules as files of the disk cache; building thread only (kernel_build.h). */
#ifndef WICK_BACKEND_GPU_DISK_CACHE_MODULE_H
#define WICK_BACKEND_GPU_DISK_CACHE_MODULE_H

#include "kernel_cache.h"

/* Adds the module whose file contains the kernel with this digest to the cache, if it exists and is valid. */
void wk__gpu_module_load(wk__gpu_kernel_cache *cache, int folder, wk__gpu_digest digest);
/* Writes a file with a name for each entry; failures are ignored. */
void wk__gpu_module_save(const wk__gpu_kernel_cache *cache, int folder, const wk__gpu_module_entry entry[], int count,
                         const wk__text *binary);

#endif

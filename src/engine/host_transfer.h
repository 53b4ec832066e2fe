/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between host memory and devices, and synchronization. Any thread; failures record the thread's error. */
#ifndef WICK_ENGINE_HOST_H
#define WICK_ENGINE_HOST_H

#include "op_queue.h"

/* Stores dense host data in a new value, immediately. Returns false on failure. */
bool wk__host_upload(wk__value *value, const void *data, int64_t bytes, wk_site site, const char *op);

/* Host view of a tensor's elements: the tensor's own memory if it is on the CPU, otherwise a copy. */
typedef struct wk__host_mapping {
    const char *first; /* element at index 0; NULL if the tensor is empty */
    void *owned;
} wk__host_mapping;
bool wk__host_map(wk_tensor *x, wk__host_mapping *out, wk_site site);
void wk__host_unmap(wk__host_mapping *data);

/* Copies all elements of x to `to`, row-major or with the given strides (in elements). Returns false on failure. */
bool wk__host_download(wk_tensor *x, void *to, const int64_t *to_stride, wk_site site);
/* Copies elements between two layouts, one at a time. Strides in elements, `size` in bytes. */
void wk__host_strided_copy(const char *first, int ndim, const int64_t *shape, const int64_t *stride, size_t size,
                           char *to, const int64_t *to_stride);

/* Runs this thread's records and waits for all devices; returns the code of the first failure. */
wk_code wk__host_sync(wk_site site);

#endif

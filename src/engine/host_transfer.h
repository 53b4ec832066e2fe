/* SPDX-License-Identifier: Apache-2.0 */
/* Between the host and devices: numbers in, numbers out, waiting. */
#ifndef WICK_ENGINE_HOST_H
#define WICK_ENGINE_HOST_H

#include "op_queue.h"

/* Fills a new value with dense host data at once. False with the error recorded. */
bool wk__host_upload(wk__value *value, const void *data, int64_t bytes, wk_site site, const char *op);

/* A tensor's elements where the host can read them: the tensor's own memory on the CPU, else a copy. */
typedef struct wk__host_mapping {
    const char *first; /* the element at index 0; NULL for a tensor without elements */
    void *owned;
} wk__host_mapping;
bool wk__host_map(wk_tensor *x, wk__host_mapping *out, wk_site site);
void wk__host_unmap(wk__host_mapping *data);

/* All elements of x into `to`, row-major or with strides (in elements). False with the error recorded. */
bool wk__host_download(wk_tensor *x, void *to, const int64_t *to_stride, wk_site site);
/* Element by element between two layouts. */
void wk__host_strided_copy(const char *first, int ndim, const int64_t *shape, const int64_t *stride, size_t size,
                           char *to, const int64_t *to_stride);

/* Runs this thread's work and waits for all devices; the first failure's code. */
wk_code wk__host_sync(wk_site site);

#endif

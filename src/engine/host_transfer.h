/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between host memory and devices, and synchronization.
 *
 * Any thread may call these functions. Those that read first run the records of the calling thread that the tensor
 * depends on, and wait for its device. A failure is recorded as the error of the calling thread. */
#ifndef WICK_ENGINE_HOST_TRANSFER_H
#define WICK_ENGINE_HOST_TRANSFER_H

#include "op_queue.h"

/* Allocates the memory of a new value and copies `bytes` bytes of dense host data into it before returning. `op` names
 * the value in messages. Returns false on failure; the value then has no memory. */
bool wk__host_upload(wk__value *value, const void *data, int64_t bytes, wk_site site, const char *op);

/* A tensor's elements in host memory, at the tensor's strides: its own memory if the host can address it, otherwise a
 * copy of the range of bytes from its first to its last element. */
typedef struct wk__host_mapping {
    const char *first; /* element at index 0; NULL if the tensor is empty */
    void *owned;       /* the copy, freed by wk__host_unmap(); NULL: `first` is the tensor's memory, which must outlive
                        * the mapping */
} wk__host_mapping;
/* Returns false, with nothing to unmap, on failure. */
bool wk__host_map(wk_tensor *x, wk__host_mapping *out, wk_site site);
void wk__host_unmap(wk__host_mapping *mapping);

/* Copies all elements of x to `to` with strides `to_stride` (in elements; NULL: row-major). Bools become 0 or 1.
 * Returns false on failure. */
bool wk__host_download(wk_tensor *x, void *to, const int64_t *to_stride, wk_site site);
/* Copies elements of `size` bytes between two layouts, one at a time. Strides are in elements. */
void wk__host_strided_copy(const char *first, int ndim, const int64_t *shape, const int64_t *stride, size_t size,
                           char *to, const int64_t *to_stride);

/* Runs the calling thread's records and waits for all devices. Returns the code of the first failure. */
wk_code wk__host_sync(wk_site site);

#endif

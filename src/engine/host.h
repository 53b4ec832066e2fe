/* SPDX-License-Identifier: Apache-2.0 */
/* Between the host and devices: numbers in, numbers out, waiting. */
#ifndef WICK_ENGINE_HOST_H
#define WICK_ENGINE_HOST_H

#include "ring.h"

/* Fills a new value with dense host data at once. False with the error recorded. */
bool wk__host_write(wk__value *value, const void *data, int64_t bytes, wk_site site, const char *op);

/* A tensor's elements where the host can read them: the tensor's own memory on the CPU, else a copy. */
typedef struct wk__host_data {
    const char *first; /* the element at index 0; NULL for a tensor without elements */
    void *owned;
} wk__host_data;
bool wk__host_view(wk_tensor *x, wk__host_data *out, wk_site site);
void wk__host_view_end(wk__host_data *data);

/* All elements of x into `to`, row-major or with strides (in elements). False with the error recorded. */
bool wk__host_read(wk_tensor *x, void *to, const int64_t *to_stride, wk_site site);
/* Element by element between two layouts. */
void wk__host_gather(const char *first, int ndim, const int64_t *shape, const int64_t *stride, size_t size, char *to,
                     const int64_t *to_stride);

/* Runs this thread's work and waits for all devices; the first failure's code. */
wk_code wk__host_sync(wk_site site);

/* watch.c: the host waits for a device (rule 21). */
void wk__note_wait(wk__device *device, wk_site site, int64_t bytes);

/* ---- faults.c ---------------------------------------------------------------------------------------------------- */

/* Why work failed, as the program is told. `fault` is the op's own word for an index that is refused (op.h), or NULL; `known`: the
 * figures of a bad index are those of this op. */
wk__failure *wk__explain(const char *op, const char *underscore, const char *fault, wk_site site, const wk__fail *fail,
                         bool known);
/* Records are about to be given to a device that may run them later and may fault (or depend on what may), as a group or, NULL,
 * alone. The tag for them. Then they have been given, or could not be. */
int64_t wk__watch(wk__device *device, wk_context *recorder, wk__record *const *record, int records, bool may_fault,
                  const wk__group *group);
void wk__watch_given(wk__device *device, const wk_context *recorder);
/* Whose work a group is, by the record that it is named after: for devices that may find out later that they can't do it. NULL for
 * others; the caller drops it. */
wk_code wk__origin_of(const wk__record *r, wk_context *recorder, wk__origin **origin, wk__fail *fail);
/* Waits for the device until it has nothing to report any more: what was given to it before is done, or what depends on what went
 * wrong is marked, and the threads are told whose calls those were. The first code. */
wk_code wk__device_settle(wk__device *device, wk_site site);
/* Waits for the device if something that it was given may have faulted. */
void wk__device_prove(wk__device *device);

/* Bytes of a stored value in device memory. When the device reports a fault, that is settled first: the value may have failed
 * then; if not, its bytes arrive nevertheless. */
wk_code wk__value_download(wk__value *value, int64_t from, int64_t bytes, void *to, wk_site site, wk__fail *fail);

#endif

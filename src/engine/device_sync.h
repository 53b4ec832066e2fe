/* SPDX-License-Identifier: Apache-2.0 */
/* Device synchronization. Asynchronous work may fail after it was submitted; the backend then skips everything that
 * depends on it (backend/backend.h). The next synchronization or download returns that failure here, where it is
 * attributed to the call that recorded the work. Any thread. */
#ifndef WICK_ENGINE_DEVICE_SYNC_H
#define WICK_ENGINE_DEVICE_SYNC_H

#include "op_queue.h"

/* Creates the origin of a group's work: its first record, for attributing asynchronous failures. *origin is NULL on the
 * CPU; the caller drops it. */
wk_code wk__origin_of(const wk__record *r, wk_context *recorder, wk__origin **origin, wk__fail *fail);
/* Waits for the device until it has no more failures to report: all work submitted before has finished, values that
 * depend on failed work are marked, and the threads that recorded it are notified. If the recorder is unknown, the
 * failure is attributed to record `r`, for which the caller waits, or if `r` is NULL to the thread's API call. Returns
 * the first code. */
wk_code wk__device_sync(wk__device *device, const wk__record *r, wk_site site);
/* Waits for the device if work that may fault is in flight. */
void wk__device_sync_if_inflight(wk__device *device, const wk__record *r);

/* Copies bytes of a stored value from device memory. Faults that the device reports meanwhile are handled first; the
 * bytes are copied unless the value failed. */
wk_code wk__value_download(wk__value *value, int64_t from, int64_t bytes, void *to, const wk__record *r, wk_site site,
                           wk__fail *fail);
/* Marks a stored value as failed that was lost with its device, and reports the failure for the call that created
 * it. */
void wk__value_lost(wk__value *value, wk__fail *fail);

#endif

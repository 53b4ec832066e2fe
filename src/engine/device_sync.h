/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for devices, which may find out late what they could not do. */
#ifndef WICK_ENGINE_LATE_H
#define WICK_ENGINE_LATE_H

#include "op_queue.h"

/* Whose work a group is, by the record that it is named after: for devices that may find out later that they can't do
 * it. NULL for others; the caller drops it. */
wk_code wk__origin_of(const wk__record *r, wk_context *recorder, wk__origin **origin, wk__fail *fail);
/* Waits for the device until it has nothing to report any more: what was given to it before is done, or what depends on
 * what went wrong is marked, and the threads are told whose calls those were; where nobody knows whose, the record's
 * for which this waits, or, NULL, the call's that the thread is in. The first code. */
wk_code wk__device_sync(wk__device *device, const wk__record *r, wk_site site);
/* Waits for the device if something that it was given may have faulted. */
void wk__device_sync_if_inflight(wk__device *device, const wk__record *r);

/* Bytes of a stored value in device memory. When the device reports a fault, that is settled first: the value may have
 * failed then; if not, its bytes arrive nevertheless. */
wk_code wk__value_download(wk__value *value, int64_t from, int64_t bytes, void *to, const wk__record *r, wk_site site,
                           wk__fail *fail);
/* A stored value went with its device, and fails: the call that made it. */
void wk__value_lost(wk__value *value, wk__fail *fail);

#endif

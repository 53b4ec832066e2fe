/* SPDX-License-Identifier: Apache-2.0 */
/* Bad indices that devices report late: what is given to a device is watched, and who waits for it (device_sync.c)
 * reports what it found. */
#ifndef WICK_ENGINE_FAULTS_H
#define WICK_ENGINE_FAULTS_H

#include "op_queue.h"

/* How messages call a record, and what its op says of a bad index (op.h). The texts live as long as the process; the op
 * of a record that was read from a file does not. */
typedef struct wk__call_label {
    const char *name, *underscore, *fault;
    bool labels, from_first;
} wk__call_label;
wk__call_label wk__call_label_of(const wk__record *r);
/* Why work failed that was the device's, as the program is told. `known`: the figures of a bad index are those of this
 * op. A call without a name is named after the device. */
wk__failure *wk__failure_from(const wk__call_label *called, wk_site site, const wk__device *device,
                              const wk__fail *fail, bool known);
/* Records are about to be given to a device that may run them later and may fault (or depend on what may), as a group
 * or, NULL, alone. The tag for them. Then they have been given, or could not be. */
int64_t wk__inflight_add(wk__device *device, wk_context *recorder, wk__record *const *record, int records,
                         bool may_fault, const wk__program *group);
/* `stored`: of these records the values that have memory are stored now. Else they have failed, or run again. */
void wk__inflight_submitted(wk__device *device, const wk_context *recorder, wk__record *const *stored, int records);
/* Is anything of the device watched? */
bool wk__has_inflight(wk__device *device);
/* Begins a wait for the device: returns how many of its records have been given to it. One thread waits at a time, up
 * to one of the next two: who found nothing bad would else forget what another has heard of and not marked yet. */
int64_t wk__inflight_begin_wait(wk__device *device);
/* The device has been waited for: what was given before that is done. */
void wk__inflight_retire(wk__device *device, int64_t watched);
/* The same, and an index was bad: what depends on it is marked, and the threads are told whose calls those were. Where
 * that is not known, it is said to be that of the call that waits. */
void wk__inflight_handle_fault(wk__device *device, int64_t watched, const wk__fail *fail, const wk__call_label *waits,
                               wk_site site);
/* A stored value turns out to hold nothing good. */
void wk__fail_stored_value(wk__value *value, wk__failure *failure);
/* The thread with that stream, if it is still there: now if it is this one, else at its next call. */
void wk__notify_recorder(wk_context *context, int64_t stream, wk__failure *failure);

#endif

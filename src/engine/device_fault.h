/* SPDX-License-Identifier: Apache-2.0 */
/* Index faults that devices report asynchronously. Records submitted to a device are listed as in flight; the thread
 * that waits for the device (device_sync.c) attributes a reported fault to one of them. Any thread; one lock for all
 * lists. */
#ifndef WICK_ENGINE_DEVICE_FAULT_H
#define WICK_ENGINE_DEVICE_FAULT_H

#include "op_queue.h"

/* Names a record in messages; `fault` is its op's message for a bad index (ir/op.h). The strings are static or
 * interned, because the op of a replayed record is freed. */
typedef struct wk__call_label {
    const char *name, *underscore, *fault;
    bool labels, from_first;
} wk__call_label;
wk__call_label wk__call_label_of(const wk__record *r);
/* Creates the failure of work on a device. `known`: index and bound of `fail` belong to this op. A call without a name
 * is named after the device. */
wk__failure *wk__failure_from(const wk__call_label *called, wk_site site, const wk__device *device,
                              const wk__fail *fail, bool known);
/* Adds records that are about to be submitted to an asynchronous device, if they or work in flight may fault. They are
 * one group, with this program, or a single record (NULL). Returns the tag for the submission, or -1 if they cannot
 * fault. wk__inflight_submitted() must follow, whether the submission succeeds or not. */
int64_t wk__inflight_add(wk__device *device, wk_context *recorder, wk__record *const *record, int records,
                         bool may_fault, const wk__program *group);
/* Marks those of `stored` that have memory as stored. Records that failed or will run again are not in `stored`. */
void wk__inflight_submitted(wk__device *device, const wk_context *recorder, wk__record *const *stored, int records);
/* Returns true if records of the device are in flight. */
bool wk__has_inflight(wk__device *device);
/* Begins waiting for the device; returns the number of records submitted so far. Only one thread waits at a time, until
 * it calls one of the next two functions: otherwise a thread without a fault could remove entries of another thread's
 * fault before it has been handled. */
int64_t wk__inflight_begin_wait(wk__device *device);
/* Ends the wait without a fault: removes the records submitted before it began. */
void wk__inflight_retire(wk__device *device, int64_t watched);
/* Ends the wait with a fault: marks the values that depend on it and notifies the threads that recorded them. If the
 * record is unknown, the fault is attributed to the waiting call. */
void wk__inflight_handle_fault(wk__device *device, int64_t watched, const wk__fail *fail, const wk__call_label *waits,
                               wk_site site);
/* Marks a stored value as failed. */
void wk__fail_stored_value(wk__value *value, wk__failure *failure);
/* Reports a failure to the thread with that stream: immediately if it is the calling thread, else at its next call.
 * Does nothing if the thread has ended. */
void wk__notify_recorder(wk_context *context, int64_t stream, wk__failure *failure);

#endif

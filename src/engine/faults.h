/* SPDX-License-Identifier: Apache-2.0 */
/* Bad indices that devices report late, for the one who waits for a device (late.c); what is watched is in host.h. */
#ifndef WICK_ENGINE_FAULTS_H
#define WICK_ENGINE_FAULTS_H

#include "ring.h"

/* How many records of the device were watched so far: asked before it is waited for. Is anything watched: 0 nothing, 1 something, 2
 * too much? */
int64_t wk__watched(wk__device *device, int *how_much);
/* The device has been waited for: what was watched before that is done. */
void wk__watch_forget(wk__device *device, int64_t watched);
/* The same, and an index was bad: what depends on it is marked, and the threads are told whose calls those were. */
void wk__fault_found(wk__device *device, int64_t watched, const wk__fail *fail, wk_site site);
/* A stored value turns out to hold nothing good. */
void wk__fault_of_value(wk__value *value, wk__failure *failure);
/* The thread with that stream, if it is still there: now if it is this one, else at its next call. */
void wk__tell_recorder(wk_context *context, int64_t stream, wk__failure *failure);

#endif

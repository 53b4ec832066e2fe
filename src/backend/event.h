/* SPDX-License-Identifier: Apache-2.0 */
/* Events timed by the host clock, for backends without events of their own. The recorder and the user own one reference
 * each, in either order of release. Thread-safe. */
#ifndef WICK_BACKEND_EVENT_H
#define WICK_BACKEND_EVENT_H

#include "backend.h"

typedef struct wk__event wk__event;

/* Creates an incomplete event; NULL with *fail on allocation failure. */
wk__event *wk__event_new(wk__fail *fail);
/* Completes the event now, or, if `why` is not NULL, with that failure. Drops the recorder's reference. */
void wk__event_complete(wk__event *event, const wk__fail *why);

/* Fails because the time of an incomplete event was requested. */
wk_code wk__event_not_ready(wk__fail *fail);

/* Entries for a backend's table. */
wk_code wk__event_wait(void *device, void *event, wk__fail *fail);
wk_code wk__event_elapsed(void *device, void *from, void *to, double *seconds, wk__fail *fail);
void wk__event_destroy(void *device, void *event);
bool wk__event_query(void *device, void *event);
/* `event_record` for synchronous devices: the event is complete at once. */
wk_code wk__event_record_completed(void *device, void **event, wk__fail *fail);

#endif

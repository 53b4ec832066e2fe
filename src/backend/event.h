/* SPDX-License-Identifier: Apache-2.0 */
/* A moment in a device's work, by the host's clock: for backends whose driver has no better one. Whoever records it
 * and whoever waits for it hold one reference each, so that either may be the last. */
#ifndef WICK_BACKEND_EVENT_H
#define WICK_BACKEND_EVENT_H

#include "backend.h"

typedef struct wk__event wk__event;

/* Not there yet; NULL and *fail when memory is short. */
wk__event *wk__event_new(wk__fail *fail);
/* The moment is now, or, if `why` is not NULL, it will never be, for that reason. Lets go of the recorder's reference.
 */
void wk__event_complete(wk__event *event, const wk__fail *why);

/* Of the time of a moment that is still to come. */
wk_code wk__event_not_ready(wk__fail *fail);

/* As the table of a backend has them. */
wk_code wk__event_wait(void *device, void *event, wk__fail *fail);
wk_code wk__event_elapsed(void *device, void *from, void *to, double *seconds, wk__fail *fail);
void wk__event_destroy(void *device, void *event);
bool wk__event_query(void *device, void *event);
/* `event_record` of a device whose work is done when it is given: the moment is now. */
wk_code wk__event_record_completed(void *device, void **event, wk__fail *fail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Events timed by the host clock; see event.h. */
#include "event.h"

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

struct wk__event {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int refcount;
    bool completed;
    struct timespec at;
    wk_code code; /* failure it completed with */
    char text[sizeof((wk__fail *)0)->text];
};

wk__event *wk__event_new(wk__fail *fail)
{
    wk__event *event = wk__alloc_zero(1, sizeof *event);
    if (event == NULL) {
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for an event");
        return NULL;
    }
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->changed, NULL);
    event->refcount = 2;
    return event;
}

static void release(wk__event *event)
{
    pthread_mutex_lock(&event->lock);
    bool last = --event->refcount == 0;
    pthread_mutex_unlock(&event->lock);
    if (!last) return;
    pthread_mutex_destroy(&event->lock);
    pthread_cond_destroy(&event->changed);
    wk__free(event);
}

void wk__event_complete(wk__event *event, const wk__fail *why)
{
    pthread_mutex_lock(&event->lock);
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    event->completed = true;
    if (why != NULL) {
        event->code = why->code;
        memcpy(event->text, why->text, sizeof event->text);
    }
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
    release(event);
}

wk_code wk__event_not_ready(wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_STATE, "the event has not completed; call wk_event_synchronize first");
}

/* Returns the result of a completed event. */
static wk_code outcome(const wk__event *event, wk__fail *fail)
{
    return event->code == WK_OK ? WK_OK : wk__fail_set(fail, event->code, "%s", event->text);
}

wk_code wk__event_wait(void *device, void *user, wk__fail *fail)
{
    (void)device;
    wk__event *event = user;
    pthread_mutex_lock(&event->lock);
    while (!event->completed) pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
    return outcome(event, fail);
}

bool wk__event_query(void *device, void *user)
{
    (void)device;
    wk__event *event = user;
    pthread_mutex_lock(&event->lock);
    bool completed = event->completed;
    pthread_mutex_unlock(&event->lock);
    return completed;
}

static wk_code time_of(wk__event *event, struct timespec *at, wk__fail *fail)
{
    if (!wk__event_query(NULL, event)) return wk__event_not_ready(fail);
    *at = event->at;
    return outcome(event, fail);
}

wk_code wk__event_elapsed(void *device, void *from, void *to, double *seconds, wk__fail *fail)
{
    (void)device;
    struct timespec begin = {0}, end = {0};
    wk_code code = time_of(from, &begin, fail);
    if (code == WK_OK) code = time_of(to, &end, fail);
    if (code != WK_OK) return code;
    *seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return WK_OK;
}

void wk__event_destroy(void *device, void *event)
{
    (void)device;
    release(event);
}

wk_code wk__event_record_completed(void *device, void **out, wk__fail *fail)
{
    (void)device;
    wk__event *event = wk__event_new(fail);
    if (event == NULL) return WK_ERR_MEMORY;
    wk__event_complete(event, NULL);
    *out = event;
    return WK_OK;
}

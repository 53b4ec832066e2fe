/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for streams and events. */
#include "streams.h"

#include <stdlib.h>

enum { SLEEPS = 1, NO_TIMING = 2 };

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static stream *add_stream(context *c, unsigned flags)
{
    stream *s = calloc(1, sizeof *s), **link = &c->streams;
    if (s == NULL) return NULL;
    s->context = c;
    s->flags = flags;
    while (*link != NULL) link = &(*link)->next;
    *link = s;
    return s;
}

bool streams_begin(context *c)
{
    return add_stream(c, BLOCKING) != NULL;
}

void streams_end(context *c)
{
    streams_drop(c);
    for (stream *s = c->streams, *next; s != NULL; s = next) {
        next = s->next;
        free(s);
    }
    for (event *e = c->events, *next; e != NULL; e = next) {
        next = e->next;
        sync_point_drop(e->mark);
        free(e);
    }
    c->streams = NULL;
    c->events = NULL;
}

CALL cuStreamCreate(stream **out, unsigned flags)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && flags > NON_BLOCKING) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    *out = add_stream(context_current(), flags);
    return call_end(*out != NULL ? SUCCESS : OUT_OF_MEMORY);
}

result begin_stream_as(const char *name, void *handle, stream **out)
{
    result code = call_begin_as(name, NEEDS_CONTEXT);
    if (code != SUCCESS) return code;
    *out = stream_of(handle);
    return *out == NULL ? INVALID_HANDLE : (*out)->context->error;
}

CALL cuStreamDestroy_v2(void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code == SUCCESS && s == s->context->streams) code = INVALID_HANDLE;
    if (code != SUCCESS) return call_end(code);
    s->ended = true;
    if (s->first == NULL) stream_remove(s);
    return call_end(SUCCESS);
}

CALL cuStreamSynchronize(void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code != SUCCESS) return call_end(code);
    if (s == s->context->streams) stream_sync_default(s);
    stream_run(s);
    return call_end(s->context->error);
}

CALL cuStreamQuery(void *handle)
{
    stream *s;
    result code = begin_stream(handle, &s);
    if (code != SUCCESS) return call_end(code);
    if (s->first != NULL) streams_progress(&s->was_queried);
    if (s->context->error != SUCCESS) return call_end(s->context->error);
    return call_end(s->first == NULL ? SUCCESS : NOT_READY);
}

CALL cuCtxSynchronize(void)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    streams_run(context_current());
    return call_end(context_current()->error);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

CALL cuEventCreate(event **out, unsigned flags)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && flags > 7) code = INVALID_VALUE;
    event *e = code == SUCCESS ? calloc(1, sizeof *e) : NULL;
    if (code == SUCCESS && e == NULL) code = OUT_OF_MEMORY;
    if (code != SUCCESS) return call_end(code);
    context *c = context_current();
    *e = (event){.next = c->events, .context = c, .flags = flags};
    c->events = e;
    *out = e;
    return call_end(SUCCESS);
}

static event *event_of(const void *handle)
{
    for (int d = 0; d < DEVICES; d++)
        for (event *e = contexts[d].events; e != NULL; e = e->next)
            if (e == handle) return e;
    return NULL;
}

#define begin_event(handle, out) begin_event_as(__func__, handle, out)
static result begin_event_as(const char *name, const void *handle, event **out)
{
    result code = call_begin_as(name, NEEDS_CONTEXT);
    if (code != SUCCESS) return code;
    *out = event_of(handle);
    return *out == NULL ? INVALID_HANDLE : (*out)->context->error;
}

CALL cuEventDestroy_v2(void *handle)
{
    event *e;
    result code = begin_event(handle, &e);
    if (code != SUCCESS) return call_end(code);
    event **link = &e->context->events;
    while (*link != e) link = &(*link)->next;
    *link = e->next;
    sync_point_drop(e->mark);
    free(e);
    return call_end(SUCCESS);
}

CALL cuEventRecord(void *handle, void *of)
{
    event *e;
    result code = begin_event(handle, &e);
    stream *s = code == SUCCESS ? stream_of(of) : NULL;
    if (code == SUCCESS && (s == NULL || s->context != e->context)) code = INVALID_HANDLE;
    work *w = code == SUCCESS ? work_new(WORK_RECORD, 0) : NULL;
    sync_point *m = w != NULL ? calloc(1, sizeof *m) : NULL;
    if (code == SUCCESS && m == NULL) code = OUT_OF_MEMORY;
    if (code != SUCCESS) {
        free(w);
        return call_end(code);
    }
    sync_point_drop(e->mark);
    e->mark = sync_point_hold(m);
    e->asked = false;
    w->mark = sync_point_hold(m);
    stream_add(s, w);
    return call_end(SUCCESS);
}

/* Waits for the last record before this call. */
CALL cuStreamWaitEvent(void *handle, void *of, unsigned flags)
{
    stream *s;
    result code = begin_stream(handle, &s);
    const event *e = code == SUCCESS ? event_of(of) : NULL;
    if (code == SUCCESS && e == NULL) code = INVALID_HANDLE;
    if (code == SUCCESS && flags > 1) code = INVALID_VALUE;
    if (code != SUCCESS || e->mark == NULL) return call_end(code);
    work *w = work_new(WORK_WAIT, 0);
    if (w == NULL) return call_end(OUT_OF_MEMORY);
    w->mark = sync_point_hold(e->mark);
    stream_add(s, w);
    return call_end(SUCCESS);
}

CALL cuEventSynchronize(void *handle)
{
    event *e;
    result code = begin_event(handle, &e);
    if (code != SUCCESS || e->mark == NULL) return call_end(code);
    if (!(e->flags & SLEEPS)) standin_count_call("spin"); /* without blocking sync, the thread would spin until then */
    sync_point_wait(e->mark);
    return call_end(e->context->error);
}

CALL cuEventQuery(void *handle)
{
    event *e;
    result code = begin_event(handle, &e);
    if (code != SUCCESS || e->mark == NULL) return call_end(code);
    if (!e->mark->done) streams_progress(&e->asked);
    if (e->context->error != SUCCESS) return call_end(e->context->error);
    return call_end(e->mark->done ? SUCCESS : NOT_READY);
}

CALL cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    event *a, *b = NULL;
    result code = begin_event(from, &a);
    if (code == SUCCESS) b = event_of(to);
    if (code == SUCCESS && (b == NULL || a->mark == NULL || b->mark == NULL || a->context != b->context ||
                            ((a->flags | b->flags) & NO_TIMING)))
        code = INVALID_HANDLE;
    if (code == SUCCESS && (!a->mark->done || !b->mark->done)) code = NOT_READY;
    if (code == SUCCESS) *milliseconds = (float)((double)(int64_t)(b->mark->time - a->mark->time) * 1e-6);
    return call_end(code);
}

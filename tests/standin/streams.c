/* SPDX-License-Identifier: Apache-2.0 */
/* Work in streams: lists of work that run when a call waits, in an order determined by the seed. */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 4096 };

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/* Returns a stream; 0 and 1 are the default stream of the current context. */
stream *stream_of(void *handle)
{
    if ((uintptr_t)handle <= 1) return context_current() != NULL ? context_current()->streams : NULL;
    for (int d = 0; d < DEVICES; d++)
        for (stream *s = contexts[d].streams; s != NULL; s = s->next)
            if (s == handle && !s->ended) return s;
    return NULL;
}

context *stream_context(const stream *s)
{
    return s->context;
}

sync_point *sync_point_hold(sync_point *m)
{
    if (m != NULL) m->refs++;
    return m;
}

void sync_point_drop(sync_point *m)
{
    if (m != NULL && --m->refs == 0) free(m);
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

work *work_new(work_kind kind, size_t argument_bytes)
{
    work *w = calloc(1, sizeof *w + argument_bytes);
    if (w != NULL) w->kind = kind;
    return w;
}

static void work_free(work *w)
{
    sync_point_drop(w->mark);
    free(w);
}

void stream_remove(stream *s)
{
    stream **link = &s->context->streams;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    free(s);
}

static bool is_runnable(const stream *s)
{
    return s->first != NULL && (s->first->kind != WORK_WAIT || s->first->mark->done);
}

/* Runs the first work of a stream. If the context has failed, discards it instead, and unblocks streams that wait for
 * it. */
static void run_next(stream *s)
{
    work *w = s->first;
    context *c = s->context;
    s->first = w->next;
    if (s->first == NULL) s->last = NULL;
    s->waiting--;
    if (c->error == SUCCESS) work_run(c, w);
    if (w->kind == WORK_RECORD) {
        w->mark->done = true;
        w->mark->time = fibres_now();
    }
    work_free(w);
    if (c->error != SUCCESS) streams_drop(c);
    if (s->ended && s->first == NULL) stream_remove(s);
}

/* Returns a random stream with runnable work, or NULL; with eager, or by chance, `first` if it is runnable. */
static stream *choose_stream(stream *first, bool eager)
{
    int count = 0;
    stream *chosen = NULL;
    if (first != NULL && is_runnable(first) && (eager || random_u32_below(4) == 0)) return first;
    for (int d = 0; d < DEVICES; d++)
        for (stream *s = contexts[d].streams; s != NULL; s = s->next)
            if (is_runnable(s) && random_u32_below((unsigned)++count) == 0) chosen = s;
    return chosen;
}

/* Runs a stream's work: in half of all cases before other streams' work, else interleaved. */
void stream_run(stream *s)
{
    const bool eager = random_u32_below(2) == 0;
    context *c = s->context;
    while (s->first != NULL) { /* a stream that is waited for is not destroyed */
        stream *next = choose_stream(s, eager);
        if (next == NULL) {
            log_line("a stream waits for an event that is never recorded");
            c->error = UNKNOWN;
            streams_drop(c);
            return;
        }
        run_next(next);
    }
}

void sync_point_wait(const sync_point *m)
{
    for (stream *next; !m->done && (next = choose_stream(NULL, false)) != NULL;) run_next(next);
}

void streams_run(context *c)
{
    for (;;) {
        stream *s = c->streams;
        while (s != NULL && s->first == NULL) s = s->next;
        if (s == NULL) return;
        stream *next = choose_stream(s, false);
        if (next == NULL) return;
        run_next(next);
    }
}

void streams_drop(context *c)
{
    for (stream *s = c->streams, *next; s != NULL; s = next) {
        next = s->next;
        while (s->first != NULL) {
            work *w = s->first;
            s->first = w->next;
            if (w->kind == WORK_RECORD) w->mark->done = true;
            work_free(w);
        }
        s->last = NULL;
        s->waiting = 0;
    }
}

/* May run some work of any stream; does so certainly if it was asked before. */
void streams_progress(bool *asked)
{
    for (int k = *asked ? 1 : 0; k < 3; k++) {
        stream *next = *asked || random_u32_below(2) ? choose_stream(NULL, false) : NULL;
        if (next != NULL) run_next(next);
    }
    *asked = true;
}

/* Runs the pending work that must precede new work of s: the default stream and blocking streams are ordered with each
 * other. */
void stream_sync_default(stream *s)
{
    stream *first = s->context->streams;
    if (s->flags == NON_BLOCKING && s != first) return;
    if (s != first) {
        stream_run(first);
        return;
    }
    for (bool again = true; again;) {
        again = false;
        for (stream *other = first->next; other != NULL && !again; other = other->next) {
            if (other->flags == NON_BLOCKING || other->first == NULL) continue;
            stream *next = choose_stream(other, true);
            if (next == NULL) return;
            run_next(next); /* streams may be removed */
            again = true;
        }
    }
}

void stream_add(stream *s, work *w)
{
    stream_sync_default(s);
    if (s->context->error != SUCCESS) {
        if (w->kind == WORK_RECORD) w->mark->done = true;
        work_free(w);
        return;
    }
    if (s->last != NULL)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    s->was_queried = false;
    if (++s->waiting > MOST_WAITING) stream_run(s);
}

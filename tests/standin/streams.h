/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events, to the files that have to do with them. */
#ifndef STANDIN_STREAMS_H
#define STANDIN_STREAMS_H

#include "driver.h"

enum { BLOCKING = 0, NON_BLOCKING = 1 };

struct stream {
    stream *next;
    context *context;
    work *first, *last;
    int waiting;
    unsigned flags;
    bool was_queried;        /* somebody has been told that it is not ready */
    bool ended;              /* it goes with its last work */
    bool computes;           /* a kernel was launched in it */
    const char *captured_by; /* a thread, NULL: none */
    int capture_mode;
    bool invalidated; /* the capture, by a call that it forbids */
};

struct event {
    event *next;
    context *context;
    unsigned flags;
    sync_point *mark; /* of the last time that it was recorded */
    bool asked;
};

sync_point *sync_point_hold(sync_point *m);
void sync_point_drop(sync_point *m);

/* Frees a stream that has no work. */
void stream_remove(stream *s);
/* Does the work of one, or of as many as it takes until the moment comes; others may have turns. */
void stream_run(stream *s);
void sync_point_wait(const sync_point *m);
/* Something may be done, and is when the same has been asked before. */
void streams_progress(bool *asked);
/* The default stream and those that block are in order with each other: what the other side has to do is done now. */
void stream_sync_default(stream *s);
/* Begins a call for a stream, which it finds. */
result begin_stream_as(const char *name, void *handle, stream **out);
#define begin_stream(handle, out) begin_stream_as(__func__, handle, out)

#endif

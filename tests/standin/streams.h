/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events, for the files that implement their calls. */
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
    bool was_queried;        /* a query has returned that it is not ready */
    bool ended;              /* destroyed; freed after its last work */
    bool computes;           /* it has launched a kernel */
    const char *captured_by; /* address that identifies the thread; NULL: none */
    int capture_mode;
    bool invalidated; /* a forbidden call has invalidated the capture */
};

struct event {
    event *next;
    context *context;
    unsigned flags;
    sync_point *mark; /* of the last record */
    bool asked;
};

sync_point *sync_point_hold(sync_point *m);
void sync_point_drop(sync_point *m);

/* Frees a stream without work. */
void stream_remove(stream *s);
/* Run a stream's work, and all work until the point is reached; other streams may progress as well. */
void stream_run(stream *s);
void sync_point_wait(const sync_point *m);
/* May run some work; does so certainly if it was asked before. */
void streams_progress(bool *asked);
/* Runs the pending work that must precede new work of s: the default stream and blocking streams are ordered with each
 * other. */
void stream_sync_default(stream *s);
/* Begins a call with a stream argument, which it looks up. */
result begin_stream_as(const char *name, void *handle, stream **out);
#define begin_stream(handle, out) begin_stream_as(__func__, handle, out)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The world that this process has joined, as group.c keeps it for queue.c. */
#ifndef WICK_DIST_JOB_H
#define WICK_DIST_JOB_H

#include "transport.h"
#include <sys/types.h>

typedef struct wk__dist_session {
    const wk__dist_transport *engine; /* NULL: a world of one */
    void *world;                      /* the engine's */
    double timeout_s;                 /* WICK_TIMEOUT */
    pid_t pid;                        /* which has joined it, be it left by now; a child of fork() has not */
    uint64_t generation;              /* changes with each that is joined, and left */
} wk__dist_session;
extern wk__dist_session wk__dist_session_now;

/* queue.c: the thread that makes calls ends; false: it is stuck in one, and stays behind. Then no other world can be
 * joined. */
bool wk__dist_queue_stop(void);
bool wk__dist_queue_is_stuck(void);

#endif

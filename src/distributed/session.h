/* SPDX-License-Identifier: Apache-2.0 */
/* The world this process has joined. Written by group.c in wk_dist_init and wk_dist_finish, read by queue.c. */
#ifndef WICK_DIST_SESSION_H
#define WICK_DIST_SESSION_H

#include "transport.h"
#include <sys/types.h>

typedef struct wk__dist_session {
    const wk__dist_transport *transport; /* NULL: a world of one */
    void *world;                         /* state of the transport, owned by it */
    double timeout_s;                    /* WICK_TIMEOUT, seconds */
    pid_t pid;                           /* process that joined, kept after leaving; differs in a child of fork() */
    uint64_t generation;                 /* incremented at each join and each leave */
} wk__dist_session;
extern wk__dist_session wk__dist_session_now;

/* queue.c: Joins the queue thread. Returns false if it is stuck in a call of the transport; it is then left running,
 * and this process cannot join another world. */
bool wk__dist_queue_stop(void);
bool wk__dist_queue_is_stuck(void);

#endif

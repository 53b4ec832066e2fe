/* SPDX-License-Identifier: Apache-2.0 */
/* The world that this process has joined, as group.c keeps it for ask.c. */
#ifndef WICK_DIST_JOB_H
#define WICK_DIST_JOB_H

#include "engine.h"
#include <sys/types.h>

typedef struct wk__dist_job {
    const wk__dist_engine *engine; /* NULL: a world of one */
    void *world;                   /* the engine's */
    double seconds;                /* WICK_TIMEOUT */
    pid_t process;                 /* which has joined it, be it left by now; a child of fork() has not */
    uint64_t told;                 /* a hash of the last error that all ranks of the world have had alike */
    uint64_t joined;               /* changes with each that is joined, and left */
} wk__dist_job;
extern wk__dist_job wk__dist_job_now;

/* Is the pending error one that the others know? */
bool wk__dist_is_told(void);
/* ask.c: the thread that makes calls ends; false: it is stuck in one, and stays behind. Then no other world can be
 * joined. */
bool wk__dist_ask_end(void);
bool wk__dist_ask_is_stuck(void);

#endif

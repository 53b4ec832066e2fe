/* SPDX-License-Identifier: Apache-2.0 */
/* One thing at a time, done by a thread of its own that touches host memory and nothing else of the library's. */
#ifndef WICK_DATA_BACKGROUND_H
#define WICK_DATA_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wk__prefetch_worker {
    void (*work)(void *user, int64_t which);
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t job;
    bool busy; /* asked for and not done yet */
    bool quit;
    pid_t process; /* in which the thread runs; 0: not started. A forked child has no such thread */
} wk__prefetch_worker;

void wk__prefetch_worker_init(wk__prefetch_worker *b, void (*work)(void *user, int64_t which), void *user);
/* Begins work(user, which); nothing else may be under way. Done in this thread when there can be no other. */
void wk__prefetch_worker_submit(wk__prefetch_worker *b, int64_t which);
/* Is something under way? */
bool wk__prefetch_worker_is_busy(wk__prefetch_worker *b);
/* Returns when nothing is under way. */
void wk__prefetch_worker_wait(wk__prefetch_worker *b);
void wk__prefetch_worker_stop(wk__prefetch_worker *b);

#endif

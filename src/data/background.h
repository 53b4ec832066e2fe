/* SPDX-License-Identifier: Apache-2.0 */
/* One thing at a time, done by a thread of its own that touches host memory and nothing else of the library's. */
#ifndef WICK_DATA_BACKGROUND_H
#define WICK_DATA_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wk__background {
    void (*work)(void *user, int64_t which);
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t which;
    bool busy; /* asked for and not done yet */
    bool quit;
    pid_t process; /* in which the thread runs; 0: not started. A forked child has no such thread */
} wk__background;

void wk__background_begin(wk__background *b, void (*work)(void *user, int64_t which), void *user);
/* Begins work(user, which); nothing else may be under way. Done in this thread when there can be no other. */
void wk__background_ask(wk__background *b, int64_t which);
/* Is something under way? */
bool wk__background_busy(wk__background *b);
/* Returns when nothing is under way. */
void wk__background_wait(wk__background *b);
void wk__background_end(wk__background *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Background worker: one thread that runs one job at a time. Jobs access host memory, and values whose references the
 * submitter holds, but no tensors and not the context of another thread. */
#ifndef WICK_BASE_BACKGROUND_WORKER_H
#define WICK_BASE_BACKGROUND_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wk__background_worker {
    void (*work)(void *user, int64_t which);
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t job;
    bool busy; /* a job is submitted and not done */
    bool quit;
    pid_t process; /* process in which the thread runs; 0: not started. A child of fork() does not have it */
} wk__background_worker;

void wk__background_worker_init(wk__background_worker *b, void (*work)(void *user, int64_t which), void *user);
/* Starts work(user, which). No job may be running. Runs on the calling thread if no thread can be started. */
void wk__background_worker_submit(wk__background_worker *b, int64_t which);
/* Returns true if a job is running. */
bool wk__background_worker_is_busy(wk__background_worker *b);
/* Waits for the job, if any. */
void wk__background_worker_wait(wk__background_worker *b);
void wk__background_worker_stop(wk__background_worker *b);

#endif

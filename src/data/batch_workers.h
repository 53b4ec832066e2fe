/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that prepare the batches of an epoch ahead of the loop. Jobs are numbered from 0 in the order in which the
 * loop takes them; job k writes slot k % slots, so at most `slots` jobs are prepared ahead.
 *
 *     loop        | wait 0 | release 0 | use it      | wait 1 | release 1 | use it ...
 *     thread 0    | job 0           | job 2               | job 4 ...
 *     thread 1    | job 1       | job 3             | job 5 ...
 *
 * Without threads (none wanted, none could be started, or a child of fork() does not have them) a job runs in the call
 * that waits for it.
 *
 * Threads: the loop's thread calls all functions; the job function runs on the threads. */
#ifndef WICK_DATA_BATCH_WORKERS_H
#define WICK_DATA_BATCH_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wk__batch_workers {
    void (*work)(void *user, int64_t job, bool in_caller); /* in_caller: runs in the call that waits for it */
    void *user;
    int64_t slots;
    bool *done;        /* [slots] the job of the slot is done and not released */
    pthread_t *thread; /* [threads] */
    int wanted, threads;
    pid_t process; /* process in which the threads run; 0: not started */
    pthread_mutex_t lock;
    pthread_cond_t job_ready, job_done;
    int64_t next, limit; /* the next job to begin; the first one that must wait for a release */
    int64_t jobs;        /* of the epoch */
    int running;         /* jobs that threads are running */
    atomic_bool cancelled;
    bool quit;
} wk__batch_workers;

/* Returns false on allocation failure; wk__batch_workers_free must be called in either case. */
bool wk__batch_workers_init(wk__batch_workers *w, int threads, int64_t slots,
                            void (*work)(void *user, int64_t job, bool in_caller), void *user);
/* Starts the threads, the first time, and the first jobs of an epoch. */
void wk__batch_workers_begin(wk__batch_workers *w, int64_t jobs);
/* Waits until the job is done. Jobs are waited for in order, each after the release of the previous one. */
void wk__batch_workers_wait(wk__batch_workers *w, int64_t job);
/* Makes the slot of the job available. */
void wk__batch_workers_release(wk__batch_workers *w, int64_t job);
/* Drops the jobs that have not begun and waits for running ones. w->cancelled stays true until the next epoch
 * begins. */
void wk__batch_workers_cancel(wk__batch_workers *w);
/* Ends the threads and frees the memory. */
void wk__batch_workers_free(wk__batch_workers *w);

#endif

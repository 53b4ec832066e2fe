/* SPDX-License-Identifier: Apache-2.0 */
/* Thread pool of the process. Idle workers spin for a bounded time and then sleep, so that consecutive short kernels
 * avoid wake-ups and an idle program uses no CPU time. The caller takes part in the work. */
#ifndef WICK_BASE_POOL_H
#define WICK_BASE_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Runs body(user, k) for every k in 0..tasks-1, in any order and on any pool thread, and returns when all are done.
 * Results must not depend on which thread runs a task. If called from a task, or while another thread uses the pool,
 * runs all tasks in the caller. `tasks` may be 0 or 1. */
typedef void wk__task(void *user, int64_t k);
void wk__parallel_for(int64_t tasks, wk__task *body, void *user);

/* Returns the number of threads, including the caller: WICK_THREADS, else the CPUs available to this process (cgroup
 * quotas included). */
int wk__thread_count(void);
/* Sets the number of threads, 1 to 1024; must not run concurrently with wk__parallel_for(). Threads start with the next
 * parallel work. */
void wk__set_thread_count(int count);
/* Returns the CPU quota of the cgroups, rounded up; 0 if there is none. `root` is a prefix of /proc and /sys: ""
 * normally, a folder in tests. */
int wk__cgroup_cpu_limit(const char *root);
/* Starts an internal thread with all signals blocked except those of its own faults, so that user signal handlers run
 * in user threads. Returns false if the system cannot start one. */
bool wk__thread_start(pthread_t *thread, void *(*run)(void *), void *user);
/* Resets the pool in a child of fork(), where its threads do not exist. */
void wk__pool_after_fork(void);

#endif

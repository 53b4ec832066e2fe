/* SPDX-License-Identifier: Apache-2.0 */
/* The one thread pool. Workers spin for a bounded time and then sleep, so that short kernels one after another do not
 * pay a wake-up each, and an idle program burns nothing. The caller takes part in the work. */
#ifndef WICK_BASE_POOL_H
#define WICK_BASE_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Runs body(user, k) for every k in 0..tasks-1, in any order and on any thread of the pool, and returns when all are
 * done. Which thread runs which task must not change any result. A call from inside a body, or while another thread
 * uses the pool, runs the tasks in the caller. `tasks` may be 0 or 1. */
typedef void wk__task(void *user, int64_t k);
void wk__parallel_for(int64_t tasks, wk__task *body, void *user);

/* Threads that take part, the caller included: WICK_THREADS, else the CPUs this process may use (cgroup too). */
int wk__thread_count(void);
/* Sets it (1 to 1024). Not while the pool is at work. Starts no thread: that happens at the first parallel work. */
void wk__set_thread_count(int count);
/* CPUs that the cgroup's quota allows, rounded up; 0 when there is none. `root` stands before /proc and /sys: "" in
 * earnest, a folder in tests. */
int wk__cgroup_cpu_limit(const char *root);
/* A thread of the library's own. The program's signal handlers run in the program's threads, but for those that speak
 * of a fault in this one. False when the system gives none. */
bool wk__thread_start(pthread_t *thread, void *(*run)(void *), void *user);
/* Called in a child of fork(): the pool has no threads there and starts anew. */
void wk__pool_after_fork(void);

#endif

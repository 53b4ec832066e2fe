/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program. Each has separate scopes, records and random numbers. They start at their first use and stay.
 * Tensors are handed over only while threads wait for each other, so that the program's behaviour does not depend on
 * the timing. */
#ifndef TESTS_RANDOM_WORKERS_H
#define TESTS_RANDOM_WORKERS_H

typedef void worker_job(void *user);
/* Runs job(user) in that thread and waits for it; directly if the caller is that thread. Other callers must be thread
 * 0. A hand-over costs as much as a step, so consecutive steps of a thread are one job. */
void workers_run(int thread, worker_job *job, void *user);
/* The same in several threads concurrently: in each one that has user[thread]. */
void workers_run_all(int threads, worker_job *job, void *const user[]);

/* Called by a job in a thread other than 0: when the job returns, the thread ends and another one replaces it, runs
 * rest(user), and completes the job. */
void workers_replace_thread(worker_job *rest, void *user);

#endif

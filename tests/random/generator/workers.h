/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program. Each has its own scopes, ring and random numbers. They start when they are first used, and
 * stay. What they hand over goes over while they wait for each other, so what a program sees is the same each time. */
#ifndef TESTS_RANDOM_CREW_H
#define TESTS_RANDOM_CREW_H

typedef void worker_job(void *user);
/* Runs job(user) in that thread and waits for it; at once where the caller is it. Otherwise the caller is thread 0: a
 * hand-over costs as much as a step, so what one thread does in a row is one job. */
void workers_run(int thread, worker_job *job, void *user);
/* The same in several threads at the same time: in each that has user[thread]. */
void workers_run_all(int threads, worker_job *job, void *const user[]);

/* For a job in a thread that is not 0: when it returns the thread ends, and another takes its place. There
 * rest(user) is run, and only then is the job done. */
void workers_replace_thread(worker_job *rest, void *user);

#endif

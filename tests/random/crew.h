/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program. One at a time runs, so what a program sees is the same each time: tensors are handed over at fixed points, and
 * each thread has its own scopes, ring and random numbers. They start when they are first used, and stay. */
#ifndef TESTS_RANDOM_CREW_H
#define TESTS_RANDOM_CREW_H

typedef void crew_job(void *user);
/* Runs job(user) in that thread and waits for it; 0 is the caller. */
void crew_run(int thread, crew_job *job, void *user);

#endif

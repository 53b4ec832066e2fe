/* SPDX-License-Identifier: Apache-2.0 */
/* Memory exhaustion for tests: an allocator (installed by wk_set_allocator) that fails chosen requests and counts live
 * blocks, so that tests also find leaks.
 *
 *     once      request n fails, later ones succeed    checks each allocation's error path
 *     for good  request n and all later ones fail      checks that error paths do not themselves need memory */
#ifndef TESTS_SUPPORT_ALLOC_FAULTS_H
#define TESTS_SUPPORT_ALLOC_FAULTS_H

#include "scenarios.h"

/* Installs the allocator; call it before any other function of the library. Files go to a separate folder, in memory if
 * possible. */
void alloc_faults_init(void);
extern scenario_env alloc_faults_env;

/* Fails the n-th request from now on (0: none), with all_after also every later one. alloc_fault_fired returns true if
 * a request has failed since. */
void alloc_faults_arm(long long n, bool all_after);
bool alloc_fault_fired(void);
/* Return the number of requests so far, and of live blocks (without slabs, which are never freed). */
long long alloc_request_count(void);
long long alloc_live_blocks(void);
/* Called before each run that is to fail; may be NULL. */
extern void (*alloc_faults_before_run)(void);
/* Ends failures and clears errors. */
void alloc_faults_disarm(void);
/* Returns the next request to fail after n: n + 1 below one_by_one, then growing steps. */
long long alloc_faults_next(long long n, long long one_by_one);

/* Runs a scenario once for each of its requests with that request failing, each time followed by a run without
 * failures. */
void alloc_faults_sweep(const scenario *s, bool all_after, long long one_by_one);

#endif

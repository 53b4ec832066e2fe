/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out, for tests. It comes from the program's own allocator (wk_set_allocator), which also
 * counts: nothing stays behind.
 *
 *     once      request n fails, those after it are served      what every single place does
 *     for good  request n and all after it fail                 and whether the way out needs memory */
#ifndef TESTS_SUPPORT_FAILING_H
#define TESTS_SUPPORT_FAILING_H

#include "scenarios.h"

/* Before anything else is called. Files go to a folder of the test's own, in memory if there is one. */
void alloc_faults_init(void);
extern scenario_env alloc_faults_env;

/* The n-th request from now on fails, or that and all after it; 0: no more. alloc_fault_fired: did one fail since? */
void alloc_faults_arm(long long n, bool all_after);
bool alloc_fault_fired(void);
/* Requests so far; blocks that are held now (slabs, which stay for ever, left out). */
long long alloc_request_count(void);
long long alloc_live_blocks(void);
/* Called before each run that is to fail; NULL: nothing. */
extern void (*alloc_faults_before_run)(void);
/* No more failures, and no errors. */
void alloc_faults_disarm(void);
/* The next request to fail: one by one at first, then longer steps. */
long long alloc_faults_next(long long n, long long one_by_one);

/* Runs a scenario once for each request that it makes, and again without failures after each. */
void alloc_faults_sweep(const scenario *s, bool all_after, long long one_by_one);

#endif

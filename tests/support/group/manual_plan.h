/* SPDX-License-Identifier: Apache-2.0 */
/* Plans made by hand: a test records calls on the null device and plays the planner with them: which are a group,
 * what is stored, in whose memory. Then the checker of plans is asked. Nothing is run; manual_plan_end gives the
 * values back what they had. */
#ifndef TESTS_SUPPORT_GROUPS_H
#define TESTS_SUPPORT_GROUPS_H

#include "support/wick.h"

#include "engine/verify/plan_check.h"

/* Runs what is pending. Calls that are recorded from now on are numbered from 0. */
void manual_plan_begin(void);
/* Ones of that shape in memory, the test's to free. */
wk_tensor *make_stored(wk_dtype dtype, int ndim, const int64_t *shape);
#define IN_MEMORY(...)                                                                                                 \
    make_stored(WK_F32, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})
/* Frees a tensor, so that only what was recorded holds its value. */
wk__value *last_read_of(wk_tensor *x);
/* What the tensor's storage holds now. */
wk__value *value_of(const wk_tensor *x);
/* What call number k computes. */
wk__value *result_of(int k);

/* Records first..first + count - 1 are one group, whose results in `stored` (NULL at the end) go to memory,
 * each to a fresh piece. */
void manual_plan_group(int first, int count, wk__value *const *stored);
#define GROUP_OF(first, count, ...) manual_plan_group(first, count, (wk__value *const[]){__VA_ARGS__, NULL})
/* Records first..first + count - 1 go ahead of that group, which begins with a product: what the last of them computes
 * is a factor. */
void manual_plan_prologue(int first, int count);
/* The group that was made last, and record k of it. */
wk__lowering *manual_plan_current(void);
wk__record *group_record(int k);
/* `to` is written over the memory of `from`. */
void manual_plan_donate(wk__value *to, wk__value *from);
/* The group has been run: what it stores is in memory. */
void manual_plan_mark_stored(void);

/* The checker accepts the group; or it refuses, and these words are in what it says (NULL at the end). */
void expect_accepted(void);
void expect_refused(const char *word, ...) __attribute__((sentinel));

/* Puts memory and states back, for another plan of the same calls. */
void manual_plan_reset(void);
/* The same, and lets the planner have what was recorded; what becomes of it is not this test's affair. */
void manual_plan_end(void);

#endif

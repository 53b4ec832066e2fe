/* SPDX-License-Identifier: Apache-2.0 */
/* Plans built by hand, to test the plan checker: a test records calls on the null device and makes the decisions of the
 * planner itself (which calls form a group, which values are stored, in which memory), then runs the checker. Nothing
 * is executed; manual_plan_end restores the values. */
#ifndef TESTS_SUPPORT_GROUP_MANUAL_PLAN_H
#define TESTS_SUPPORT_GROUP_MANUAL_PLAN_H

#include "support/wick.h"

#include "engine/verify/plan_check.h"

/* Flushes pending calls. Subsequent calls are numbered from 0. */
void manual_plan_begin(void);
/* Returns a computed tensor of ones; the caller frees it. */
wk_tensor *make_stored(wk_dtype dtype, int ndim, const int64_t *shape);
#define IN_MEMORY(...)                                                                                                 \
    make_stored(WK_F32, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})
/* Frees a tensor, so that only recorded calls refer to its value. Returns that value. */
wk__value *last_read_of(wk_tensor *x);
/* Returns the current value of the tensor's storage. */
wk__value *value_of(const wk_tensor *x);
/* Returns the result of call number k. */
wk__value *result_of(int k);

/* Makes records first .. first + count - 1 a group that stores the values in stored (terminated by NULL), each to a new
 * piece of memory. */
void manual_plan_group(int first, int count, wk__value *const *stored);
#define GROUP_OF(first, count, ...) manual_plan_group(first, count, (wk__value *const[]){__VA_ARGS__, NULL})
/* Makes records first .. first + count - 1 a prologue of that group, which begins with a product: the result of the
 * last of them is a factor. */
void manual_plan_prologue(int first, int count);
/* Return the latest group, and its record k. */
wk__lowering *manual_plan_current(void);
wk__record *group_record(int k);
/* Makes `to` overwrite the memory of `from`. */
void manual_plan_donate(wk__value *to, wk__value *from);
/* Marks the group as executed: its stored values are in memory. */
void manual_plan_mark_stored(void);

/* Check that the checker accepts the group, or that it rejects it with a message that contains all these words
 * (terminated by NULL). */
void expect_accepted(void);
void expect_refused(const char *word, ...) __attribute__((sentinel));

/* Restores memory and states, for another plan of the same calls. */
void manual_plan_reset(void);
/* Restores memory and states and lets the planner run the recorded calls; tests ignore the results. */
void manual_plan_end(void);

#endif

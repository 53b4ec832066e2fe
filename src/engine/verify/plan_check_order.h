/* SPDX-License-Identifier: Apache-2.0 */
/* Order of writes to each element. */
#ifndef WICK_ENGINE_PLAN_CHECK_ORDER_H
#define WICK_ENGINE_PLAN_CHECK_ORDER_H

#include "plan_check_values.h"

/* The two schedules in which backends may run a group; see plan_check_order.c. */
enum { WK__PLAN_CHECK_EAGER, WK__PLAN_CHECK_LATE, WK__PLAN_CHECK_SCHEDULES };

/* Time of an access, or the interval in which it may happen. */
typedef struct wk__plan_check_interval {
    int32_t row, column;
    int first[WK__PLAN_CHECK_SCHEDULES], last[WK__PLAN_CHECK_SCHEDULES]; /* stages, per schedule */
    int from, until;                                                     /* instruction indices */
} wk__plan_check_interval;

bool wk__plan_check_happens_before(const wk__plan_check_state *c, const wk__plan_check_interval *a,
                                   const wk__plan_check_interval *b);
wk__plan_check_interval wk__plan_check_interval_of(const wk__plan_check_state *c, const wk__plan_check_store *s);
const wk__record *wk__plan_check_writer_of(const wk__plan_check_state *c, const wk__plan_check_store *s);

/* Records the stores of STORE instruction k in the current row, unless it is the only access to that buffer. */
void wk__plan_check_note_stores(wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t row);
/* Records the stores of the contraction. */
void wk__plan_check_note_product(wk__plan_check_state *c);
/* Verifies that each written element finally has the value of the last call, and that no element that is still needed
 * was overwritten. */
bool wk__plan_check_final_contents(wk__plan_check_state *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes which element, and when. */
#ifndef WICK_ENGINE_PLAN_CHECK_ORDER_H
#define WICK_ENGINE_PLAN_CHECK_ORDER_H

#include "plan_check_values.h"

/* The two ways to walk a group; see plan_check_order.c. */
enum { WK__PLAN_CHECK_EAGER, WK__PLAN_CHECK_LATE, WK__PLAN_CHECK_SCHEDULES };

/* When an access happens, or between when and when it may. */
typedef struct wk__plan_check_interval {
    int32_t row, column;
    int first[WK__PLAN_CHECK_SCHEDULES], last[WK__PLAN_CHECK_SCHEDULES]; /* stages */
    int from, until;                                                     /* places in the program */
} wk__plan_check_interval;

bool wk__plan_check_happens_before(const wk__plan_check_state *c, const wk__plan_check_interval *a,
                                   const wk__plan_check_interval *b);
wk__plan_check_interval wk__plan_check_interval_of(const wk__plan_check_state *c, const wk__plan_check_store *s);
const wk__record *wk__plan_check_writer_of(const wk__plan_check_state *c, const wk__plan_check_store *s);

/* Notes what STORE k writes in the row at hand, unless nothing else is in that memory. */
void wk__plan_check_note_stores(wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t row);
/* Notes what the product writes. */
void wk__plan_check_note_product(wk__plan_check_state *c);
/* In the end each element that was written is what the last call made of it, and none that is still needed is lost. */
bool wk__plan_check_final_contents(wk__plan_check_state *c);

#endif

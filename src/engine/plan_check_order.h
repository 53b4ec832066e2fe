/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes which element, and when. */
#ifndef WICK_ENGINE_PLAN_CHECK_ORDER_H
#define WICK_ENGINE_PLAN_CHECK_ORDER_H

#include "plan_check_values.h"

/* The two ways to walk a group; see plan_check_order.c. */
enum { WK__EAGER, WK__LATE, WK__WAYS };

/* When an access happens, or between when and when it may. */
typedef struct wk__moment {
    int32_t row, column;
    int first[WK__WAYS], last[WK__WAYS]; /* stages */
    int from, until;                     /* places in the program */
} wk__moment;

bool wk__surely_before(const wk__audit *c, const wk__moment *a, const wk__moment *b);
wk__moment wk__moment_of_store(const wk__audit *c, const wk__audit_store *s);
const wk__record *wk__writer_of(const wk__audit *c, const wk__audit_store *s);

/* Notes what STORE k writes in the row at hand, unless nothing else is in that memory. */
void wk__audit_note_stores(wk__audit *c, const wk__audit_walk *walk, int k, int64_t row);
/* Notes what the product writes. */
void wk__audit_note_product(wk__audit *c);
/* In the end each element that was written is what the last call made of it, and none that is still needed is lost. */
bool wk__audit_last(wk__audit *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of a flush with its shadows, after the planned run. */
#ifndef WICK_ENGINE_VERIFY_SHADOW_COMPARE_H
#define WICK_ENGINE_VERIFY_SHADOW_COMPARE_H

#include "base/text.h"
#include "shadow.h"

/* Difference between an observable value and its shadow. */
typedef struct wk__difference {
    wk__shadow *shadow;
    wk__record *record; /* record that writes the value; if it existed before, the first that reads it */
    wk__text what;      /* "element [0, 2] is 6, and 20 when ...", to follow the name of the op */
} wk__difference;

/* Compares the contents of a value, as accessed by this reference of a record (see shadow_compare.c for NaN). Returns
 * true if they differ, and describes the first difference: "element [0, 2] is 6, and 20". `holes`: compares only
 * elements that the record writes. */
bool wk__bytes_differ(wk__record *r, int reference, bool holes, const char *have, const char *want, int64_t bytes,
                      wk__text *what);
/* Returns true if the record writes all elements of an output of `bytes` bytes. A record that writes a part of a new
 * tensor leaves the others to later records. */
bool wk__record_fills(wk__record *r, int output, int64_t bytes);

/* Returns true if the failure depends on data and so also occurs without planning: a bad index or a refused argument.
 * Lack of memory and device failures do not. */
bool wk__is_data_failure(const wk__failure *failure);
/* Marks shadows whose values may legitimately differ: those the planned run had no memory for, those an asynchronous
 * device skipped after a fault, and their dependents. Called after the planned run, with devices synchronized. */
void wk__shadow_mark_tolerated(wk__shadow_map *shadows);
/* Returns true if the shadow's value differs from it, and fills *found, whose text the caller frees. */
bool wk__shadow_differs(const wk__shadow_map *shadows, wk__shadow *shadow, wk__difference *found);

#endif

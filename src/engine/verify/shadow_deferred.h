/* SPDX-License-Identifier: Apache-2.0 */
/* What parked values must turn out to be. A value that was parked in one flush is computed in a later one,
 * from operands that should still be what they were: its twin of the first flush waits here, and is compared
 * when the value is revived. */
#ifndef WICK_ENGINE_KEPT_H
#define WICK_ENGINE_KEPT_H

#include "shadow.h"

/* Keeps the twin's memory for its value, which was parked. Without memory to remember it, it is not compared. */
void wk__deferred_shadow_add(wk__shadow *twin);
/* The value comes back into a ring: the twin is what was kept for it. False when nothing was. */
bool wk__deferred_shadow_take(wk__shadow *twin);

/* The value goes, or comes back into a ring that nobody checks. */
void wk__deferred_shadow_drop_slow(const wk__value *value);
extern atomic_llong wk__deferred_shadow_count;
static inline void wk__deferred_shadow_drop(const wk__value *value)
{
    if (__builtin_expect(atomic_load_explicit(&wk__deferred_shadow_count, memory_order_relaxed) > 0, 0))
        wk__deferred_shadow_drop_slow(value);
}

#endif

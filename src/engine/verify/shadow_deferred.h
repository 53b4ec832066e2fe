/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows of deferred values. A value deferred in one flush is computed in a later one, from operands that must not
 * have changed: its shadow from the first flush is kept here and compared when the record returns to the queue.
 *
 * Ownership: the table owns the shadows' memory.
 * Threads: any; one lock. */
#ifndef WICK_ENGINE_SHADOW_DEFERRED_H
#define WICK_ENGINE_SHADOW_DEFERRED_H

#include "shadow.h"

/* Keeps the memory of a deferred value's shadow. On allocation failure the value won't be compared. */
void wk__deferred_shadow_add(wk__shadow *shadow);
/* Restores the shadow of a value that returns to the queue. Returns false if none was kept. */
bool wk__deferred_shadow_take(wk__shadow *shadow);

/* Drops the kept shadow of a value that is destroyed, or returns to a queue that is not checked. */
void wk__deferred_shadow_drop_slow(const wk__value *value);
extern atomic_llong wk__deferred_shadow_count;
static inline void wk__deferred_shadow_drop(const wk__value *value)
{
    if (__builtin_expect(atomic_load_explicit(&wk__deferred_shadow_count, memory_order_relaxed) > 0, 0))
        wk__deferred_shadow_drop_slow(value);
}

#endif

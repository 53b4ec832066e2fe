/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements of a value a record reads or writes, and whether two of them meet. */
#ifndef WICK_ENGINE_PLACES_H
#define WICK_ENGINE_PLACES_H

#include "engine/op_queue.h"

/* Do ref k of r and ref j of s, which name one piece of memory, have an element in common? False only where that is
 * certain; the answer is exact where both have one shape and the same strides, as the parts of a cat do. */
bool wk__refs_overlap(wk__record *r, int k, wk__record *s, int j);
/* May there turn out to be no such place as a record reads or writes, so that it fails of its own, whatever happens to
 * others? */
static inline bool wk__record_may_fault(const wk__record *r)
{
    return wk__record_family(r)->can_fault || r->has_indirect_read;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Overlap of the elements that records read or write. */
#ifndef WICK_ENGINE_PLAN_OVERLAP_H
#define WICK_ENGINE_PLAN_OVERLAP_H

#include "engine/op_queue.h"

/* Returns false only if ref k of r and ref j of s, which refer to the same memory, certainly have no element in common.
 * Exact if both have the same shape and strides, like the parts of a cat. */
bool wk__refs_overlap(wk__record *r, int k, wk__record *s, int j);
/* Returns true if a record may fail with a bad index, independently of other records. */
static inline bool wk__record_may_fault(const wk__record *r)
{
    return wk__record_family(r)->can_fault || r->has_indirect_read;
}

#endif

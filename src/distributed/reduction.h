/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks give, brought together element by element on the CPU: out = theirs op mine. As a group program, so that
 * all dtypes are what they are in tensors; of pieces so small that the calling thread runs them alone. */
#ifndef WICK_DIST_REDUCTION_H
#define WICK_DIST_REDUCTION_H

#include "backend/backend.h"
#include "transport.h"

typedef struct wk__dist_reduction {
    wk__program group;
    wk__memory memory[3]; /* out, theirs, mine */
} wk__dist_reduction;

/* Sums of f16 and bf16 are f32. */
static inline wk_dtype wk__dist_sum_dtype(wk_dtype dtype)
{
    return dtype == WK_F16 || dtype == WK_BF16 ? WK_F32 : dtype;
}
/* `ranks` divides the result of WK_DIST_AVG; 0: it is no result yet. */
void wk__dist_reduction_make(wk__dist_reduction *r, wk_dist_op op, wk_dtype out, wk_dtype theirs, wk_dtype mine,
                             int ranks);
/* out may be theirs or mine, where it has their dtype. */
wk_code wk__dist_reduce(wk__dist_reduction *r, void *out, const void *theirs, const void *mine, int64_t count,
                        wk__dist_error *fail);
/* The same of one operand: out = mine, in another dtype, and divided. */
void wk__dist_conversion_make(wk__dist_reduction *r, wk_dtype out, wk_dtype mine, int ranks);

#endif

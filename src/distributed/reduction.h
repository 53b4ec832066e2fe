/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise reduction of host memory: out = theirs op mine. It runs as a fused program of the CPU backend, so every
 * dtype behaves as in tensor ops; pieces are small enough to run on the calling thread alone. */
#ifndef WICK_DIST_REDUCTION_H
#define WICK_DIST_REDUCTION_H

#include "backend/backend.h"
#include "transport.h"

typedef struct wk__dist_reduction {
    wk__program group;
    wk__memory memory[3]; /* out, theirs, mine */
} wk__dist_reduction;

/* Returns the dtype in which sums are accumulated: f32 for f16 and bf16, else dtype. */
static inline wk_dtype wk__dist_sum_dtype(wk_dtype dtype)
{
    return dtype == WK_F16 || dtype == WK_BF16 ? WK_F32 : dtype;
}
/* Prepares a reduction. ranks: divisor of WK_DIST_AVG; 0 for partial sums, which are not divided. */
void wk__dist_reduction_make(wk__dist_reduction *r, wk_dist_op op, wk_dtype out, wk_dtype theirs, wk_dtype mine,
                             int ranks);
/* Runs the reduction over `count` elements. out may alias an operand of the same dtype. */
wk_code wk__dist_reduce(wk__dist_reduction *r, void *out, const void *theirs, const void *mine, int64_t count,
                        wk__dist_error *fail);
/* Prepares a conversion with one operand: out = mine, converted and divided by ranks. */
void wk__dist_conversion_make(wk__dist_reduction *r, wk_dtype out, wk_dtype mine, int ranks);

#endif

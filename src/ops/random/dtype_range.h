/* SPDX-License-Identifier: Apache-2.0 */
/* Representable values of a dtype within a range: samplers use them to stay below an excluded end. */
#ifndef WICK_OPS_DTYPE_RANGE_H
#define WICK_OPS_DTYPE_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <wick/core.h>

/* Returns the value of a floating dtype nearest to x, ties to even, via f32 for f16 and bf16; infinity above the
 * largest. */
double wk__float_nearest(double x, wk_dtype dtype);
/* Returns the largest value of a floating dtype below x, which must be one of its finite values. */
double wk__float_below(double x, wk_dtype dtype);

/* The smallest and the largest integer of a dtype, as i64. */
typedef struct wk__integer_range {
    int64_t least, greatest;
} wk__integer_range;
wk__integer_range wk__integer_limits(wk_dtype dtype);
/* Returns the largest n such that the dtype represents every integer in [0, n]. */
int64_t wk__largest_exact_integer(wk_dtype dtype);
/* Narrows a range, within the dtype's limits, to the smallest and largest integers in it that the dtype represents.
 * Returns false if there is none. */
bool wk__integer_range_narrow(wk__integer_range *range, wk_dtype dtype);

#endif

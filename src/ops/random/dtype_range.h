/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of a dtype lie in a range: what samplers need to stay below an excluded end. */
#ifndef WICK_OPS_DTYPE_RANGE_H
#define WICK_OPS_DTYPE_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <wick/core.h>

/* The value of a floating dtype nearest to x, ties to even, to f16 and bf16 by way of f32; infinite past the
 * largest. */
double wk__float_nearest(double x, wk_dtype dtype);
/* The largest value of a floating dtype below x, which is one of its finite values. */
double wk__float_below(double x, wk_dtype dtype);

/* The least and the greatest integer of a dtype, in i64. */
typedef struct wk__integer_range {
    int64_t least, greatest;
} wk__integer_range;
wk__integer_range wk__integer_limits(wk_dtype dtype);
/* The greatest n for which a dtype holds every integer in [0, n]. */
int64_t wk__largest_exact_integer(wk_dtype dtype);
/* Narrows a range within a dtype's limits to the integers at its ends that the dtype holds; false if it holds none. */
bool wk__integer_range_narrow(wk__integer_range *range, wk_dtype dtype);

#endif

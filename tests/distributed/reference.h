/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in plain C on contiguous elements, in the orders of sums that docs/contributing documents. */
#ifndef TESTS_DIST_PLAIN_H
#define TESTS_DIST_PLAIN_H

#include "random/generator/rng.h"

#include <wick.h>

typedef enum plain_order {
    PLAIN_LIST,  /* ((x0 + x1) + x2) + x3: lists of tensors (wick/parallel.h) */
    PLAIN_PAIRS, /* small data: ranks beyond a power of two are added to those below, then neighbours */
    PLAIN_RING   /* large data: in block b of n, ((x(b+1) + x(b+2)) + ...) + x(b) */
} plain_order;

/* out = op over in[0..n-1], `count` elements each; f16 and bf16 are computed in f32. n is at most 4. */
void plain_reduce(wk_dtype dtype, wk_dist_op op, plain_order order, int n, const void *const *in, int64_t count,
                  void *out);
/* The order in which tcp reduces n ranks. */
plain_order plain_order_of(wk_dtype dtype, int n, int64_t count);
/* Random elements: floats of several magnitudes, sometimes 0, NaN or infinite; integers of the full range. `whole`:
 * integers from -3 to 3 (0 to 3 for u8), whose sums and products of four are exact in each dtype. */
void plain_draw(rng *d, wk_dtype dtype, bool whole, int64_t count, void *out);
/* Returns the first index with different bits, -1 if none. All NaNs are equal, and both zeros are: the sign of the
 * minimum of the two is unspecified, and no computation here depends on it. */
int64_t plain_differs(wk_dtype dtype, const void *a, const void *b, int64_t count);
double plain_number(wk_dtype dtype, const void *at, int64_t i);

#endif

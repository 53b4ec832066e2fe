/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in plain C: of elements that lie one behind the other, in the orders of sums of docs/contributing. */
#ifndef TESTS_DIST_PLAIN_H
#define TESTS_DIST_PLAIN_H

#include "random/generator/rng.h"

#include <wick.h>

typedef enum plain_order {
    PLAIN_LIST,  /* ((x0 + x1) + x2) + x3: lists of tensors (wick/parallel.h) */
    PLAIN_PAIRS, /* small data: ranks beyond a power of two are added to those below, then neighbours */
    PLAIN_RING   /* large data: in block b of n, ((x(b+1) + x(b+2)) + ...) + x(b) */
} plain_order;

/* out = op over in[0..n-1], `count` elements of each; f16 and bf16 are f32 until the end. n is 4 at most. */
void plain_reduce(wk_dtype dtype, wk_dist_op op, plain_order order, int n, const void *const *in, int64_t count,
                  void *out);
/* The order in which tcp adds up an all_reduce of n ranks. */
plain_order plain_order_of(wk_dtype dtype, int n, int64_t count);
/* Numbers of all kinds: floats of several sizes, now and then 0, NaN or infinite; integers of the whole range. `whole`:
 * numbers from -3 to 3 (0 to 3 of u8), whose sums and products by fours are exact in each dtype. */
void plain_draw(rng *d, wk_dtype dtype, bool whole, int64_t count, void *out);
/* The first place where bits differ, -1: none. All NaNs are one, and both zeros: which zero is the least of the two
 * nobody says, and nothing computed here shows a zero's sign in another number. */
int64_t plain_differs(wk_dtype dtype, const void *a, const void *b, int64_t count);
double plain_number(wk_dtype dtype, const void *at, int64_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* wick/random.h: drawing numbers.
 *
 * wk_rand, wk_randn, wk_randint and wk_randperm are in creation.h, wk_seed in tensor.h.
 *
 * Every thread has a stream of its own, begun anew by wk_seed. A call takes its place in the stream when it is made,
 * one number per element, so the numbers are the same whenever they are computed, fused or not, and on every device. */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#ifndef WICK_RANDOM_H
#define WICK_RANDOM_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "random_calls.h"

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* wk_uniform_(x, from, to): every element becomes uniform in [from, to).
 * WK_ERR_ARGUMENT if to < from.
 *
 *     wk_uniform_(x, 2, 2) is {2, 2} for x = {0, 1} */
#define wk_uniform_(...) WK_EXACT_(wk_tensor *, 3, wk_uniform_, "x, from, to", __VA_ARGS__)

/* wk_normal_(x, mean, std): every element becomes normal.
 * With this mean and standard deviation.
 * WK_ERR_ARGUMENT if std < 0.
 *
 *     wk_normal_(x, 3, 0) is {3, 3} for x = {0, 1} */
#define wk_normal_(...) WK_EXACT_(wk_tensor *, 3, wk_normal_, "x, mean, std", __VA_ARGS__)

/* wk_bernoulli(x): 1 with the probability that stands in x, else 0.
 * In the dtype of x. Its gradient is 0.
 * WK_ERR_ARGUMENT for a number in x that is not in [0, 1], when the result is computed.
 *
 *     wk_bernoulli(x) is {0, 1} for x = {0, 1} */
#define wk_bernoulli(...) WK_EXACT_NEW_(1, wk_bernoulli, "x", __VA_ARGS__)

/* wk_dropout(x, p, training): 0 with probability p, else x / (1 - p).
 * x itself when not training. Backward draws the same numbers again instead of keeping a mask.
 * WK_ERR_ARGUMENT for a p outside [0, 1].
 *
 *     wk_dropout(x, 0.5, false) is {1, 2} for x = {1, 2} */
#define wk_dropout(...) WK_EXACT_NEW_(3, wk_dropout, "x, p, training", __VA_ARGS__)

#ifndef __cplusplus
/* wk_multinomial(x, count): places drawn with these probabilities, once each or with replacement.
 * `count` places with the probabilities in each row (n) or (rows,n), which need not add up to 1: (count) or
 * (rows,count), i64. Without replacement they come in the order in which they are drawn. There must be as many
 * positive probabilities as are drawn so, one at least; the numbers themselves are not looked at.
 * Options: .replacement (a place may be drawn more than once).
 * WK_ERR_ARGUMENT for a count that the row cannot give.
 *
 *     wk_multinomial(x, 1) is {1} for x = {0, 1} */
#define wk_multinomial(x, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_multinomial, wk_multinomial_options, "x, count", x, __VA_ARGS__))

#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* wick/random.h: random numbers.
 *
 * wk_rand, wk_randn, wk_randint and wk_randperm are in creation.h, wk_seed in tensor.h.
 *
 * Each thread has its own random stream, which wk_seed restarts. A call takes its position in the stream when it is
 * made, one number per element, so its numbers do not depend on when it is computed, on fusion or on the device.
 * Until a thread calls wk_seed its seed is 0. */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#ifndef WICK_RANDOM_H
#define WICK_RANDOM_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "random_calls.h"

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

/* wk_uniform_(x, from, to): Fills x from the uniform distribution over [from, to).
 * Dtypes:    floating
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_ARGUMENT if to is less than from, or from, to or their difference is not finite in the dtype of
 *            x; WK_ERR_DTYPE if x is not floating
 * Example:   wk_uniform_(x, 2, 2) is {2, 2} for x = {0, 1}
 * PyTorch:   x.uniform_(from, to) */
#define wk_uniform_(...) WK_EXACT_(wk_tensor *, 3, wk_uniform_, "x, from, to", __VA_ARGS__)

/* wk_normal_(x, mean, std): Fills x from the normal distribution with this mean and standard deviation.
 * Dtypes:    floating
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_ARGUMENT if std is negative; WK_ERR_DTYPE if x is not floating
 * Example:   wk_normal_(x, 3, 0) is {3, 3} for x = {0, 1}
 * PyTorch:   x.normal_(mean, std) */
#define wk_normal_(...) WK_EXACT_(wk_tensor *, 3, wk_normal_, "x, mean, std", __VA_ARGS__)

/* wk_bernoulli(x): Draws 1 with probability x, else 0, for each element.
 * Dtypes:    floating
 * Gradient:  0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT if an element of x is outside [0, 1], reported when
 *            out is computed
 * Example:   wk_bernoulli(x) is {0, 1} for x = {0, 1}
 * PyTorch:   torch.bernoulli */
#define wk_bernoulli(...) WK_EXACT_NEW_(1, wk_bernoulli, "x", __VA_ARGS__)

/* wk_dropout(x, p, training): Sets each element to 0 with probability p and divides the others by 1 - p. Does
 * nothing if training is false. Backward draws the same numbers again instead of keeping a mask.
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT if p is outside [0, 1]
 * Example:   wk_dropout(x, 0.5, false) is {1, 2} for x = {1, 2}
 * PyTorch:   torch.nn.functional.dropout */
#define wk_dropout(...) WK_EXACT_NEW_(3, wk_dropout, "x, p, training", __VA_ARGS__)

/* wk_dropout1d(x, p, training): Sets each channel of each sample to 0 with probability p and divides the others by 1
 * - p. Does nothing if training is false. Backward draws the same numbers again.
 * Shapes:    x (N, C, L) or (C, L); out has the shape of x
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT
 *            if p is outside [0, 1]
 * Example:   wk_dropout1d(x, 0.5, false) is {{1, 2}} for x = {{1, 2}}
 * PyTorch:   torch.nn.functional.dropout1d */
#define wk_dropout1d(...) WK_EXACT_NEW_(3, wk_dropout1d, "x, p, training", __VA_ARGS__)

/* wk_dropout2d(x, p, training): Sets each channel of each sample to 0 with probability p and divides the others by 1
 * - p. Does nothing if training is false. Backward draws the same numbers again.
 * Shapes:    x (N, C, H, W); out has the shape of x
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT
 *            if p is outside [0, 1]
 * Example:   wk_dropout2d(x, 0.5, false) is {{{{1, 2}}}} for x = {{{{1, 2}}}}
 * PyTorch:   torch.nn.functional.dropout2d */
#define wk_dropout2d(...) WK_EXACT_NEW_(3, wk_dropout2d, "x, p, training", __VA_ARGS__)

/* wk_dropout3d(x, p, training): Sets each channel of each sample to 0 with probability p and divides the others by 1
 * - p. Does nothing if training is false. Backward draws the same numbers again.
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); out has the shape of x
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT
 *            if p is outside [0, 1]
 * Example:   wk_dropout3d(x, 0.5, false) is {{{{1, 2}}}} for x = {{{{1, 2}}}}
 * PyTorch:   torch.nn.functional.dropout3d */
#define wk_dropout3d(...) WK_EXACT_NEW_(3, wk_dropout3d, "x, p, training", __VA_ARGS__)

/* wk_alpha_dropout(x, p, training): Sets each element to -1.7581 with probability p, then scales and shifts all.
 * Elements of mean 0 and variance 1 keep mean and variance, as wk_selu requires. If p is 1 the result is 0. Does
 * nothing if training is false. Backward draws the same numbers again.
 *     out = a x + b if kept, a (-1.7581) + b if not; a = ((1 - p) (1 + 1.7581^2 p))^-0.5, b = 1.7581 a p
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT if p is outside [0, 1]
 * Example:   wk_alpha_dropout(x, 0.5, false) is {1, 2} for x = {1, 2}
 * PyTorch:   torch.nn.functional.alpha_dropout */
#define wk_alpha_dropout(...) WK_EXACT_NEW_(3, wk_alpha_dropout, "x, p, training", __VA_ARGS__)

/* wk_feature_alpha_dropout(x, p, training): Applies wk_alpha_dropout to each channel of each sample, that is each
 * index of dimensions 0 and 1. Does nothing if training is false. Backward draws the same numbers again.
 * Shapes:    x (N, C) or (N, C, ...); out has the shape of x
 * Dtypes:    floating
 * Returns:   x itself if training is false, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has less than 2 dimensions; WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT if p
 *            is outside [0, 1]
 * Example:   wk_feature_alpha_dropout(x, 0.5, false) is {{1, 2}} for x = {{1, 2}}
 * PyTorch:   torch.nn.functional.feature_alpha_dropout */
#define wk_feature_alpha_dropout(...) WK_EXACT_NEW_(3, wk_feature_alpha_dropout, "x, p, training", __VA_ARGS__)

#ifndef __cplusplus
/* wk_multinomial(x, count): Draws count indices with the probabilities in each row of x. A row need not add up to 1.
 * Without replacement the indices are distinct and in the order drawn. Values are not checked: a row must have at
 * least as many positive probabilities as distinct indices are drawn, and at least one.
 * Options:   .replacement: an index may be drawn more than once; default false
 * Shapes:    x (n) -> (count); x (rows, n) -> (rows, count)
 * Dtypes:    x floating; out i64
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if count is less than 1 or, without replacement, greater than n; WK_ERR_SHAPE or
 *            WK_ERR_DTYPE if x is not (n) or (rows, n) of floats
 * Example:   wk_multinomial(x, 1) is {1} for x = {0, 1}
 * PyTorch:   torch.multinomial */
#define wk_multinomial(x, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_multinomial, wk_multinomial_options, "x, count", x, __VA_ARGS__))

#endif

#endif

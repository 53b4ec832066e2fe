/* SPDX-License-Identifier: Apache-2.0 */
/* wick/random.h: drawing numbers. wk_rand, wk_randn, wk_randint, wk_randperm and wk_seed are in tensor.h.
 *
 * Every thread has a stream of its own, begun anew by wk_seed. A call takes its place in the stream when it is made,
 * one number per element, so the numbers are the same whenever they are computed, fused or not, and on every device. */
#ifndef WICK_RANDOM_H
#define WICK_RANDOM_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In place: uniform in [from, to), or normal with this mean and standard deviation. Floats only; WK_ERR_ARGUMENT
 * if to < from or std < 0. */
WK_API wk_tensor *wk_uniform__at(wk_site site, wk_tensor *x, double from, double to);
WK_API wk_tensor *wk_normal__at(wk_site site, wk_tensor *x, double mean, double std);
/* 1 with the probability that stands in x, else 0; in the dtype of x. Its gradient is 0. A number in x that is not in
 * [0, 1] is WK_ERR_ARGUMENT, when the result is computed. */
WK_API wk_tensor *wk_bernoulli_at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_bernoulli(wk_tensor *x);
/* Each element becomes 0 with probability p, else x / (1 - p); x itself when not training. Backward draws the same
 * numbers again instead of keeping a mask. Of floats; WK_ERR_ARGUMENT for a p outside [0, 1]. */
WK_API wk_tensor *wk_dropout_at(wk_site site, wk_tensor *x, double p, bool training);

typedef struct wk_multinomial_options {
    size_t size;
    wk_by_name by_name;
    bool replacement; /* a place may be drawn more than once */
    char reserved[7];
} wk_multinomial_options;
/* Draws `count` places with the probabilities in each row (n) or (rows,n), which need not add up to 1: (count) or
 * (rows,count), i64. Without replacement they come in the order in which they are drawn. There must be as many positive
 * probabilities as are drawn so, one at least; the numbers themselves are not looked at. WK_ERR_ARGUMENT for a count
 * that the row cannot give. */
WK_API wk_tensor *wk_multinomial_at(wk_site site, wk_tensor *x, int64_t count, const wk_multinomial_options *options);

#define wk_uniform_(...)  wk_uniform__at(WK_HERE, __VA_ARGS__)
#define wk_normal_(...)   wk_normal__at(WK_HERE, __VA_ARGS__)
#define wk_bernoulli(...) wk_bernoulli_at(WK_HERE, __VA_ARGS__)
#define wk_dropout(...)   wk_dropout_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_multinomial(x, ...) WK_OPT2_(wk_tensor *, wk_multinomial, wk_multinomial_options, "x, count", x, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif

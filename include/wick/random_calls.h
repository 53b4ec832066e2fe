/* SPDX-License-Identifier: Apache-2.0 */
/* wick/random_calls.h: the functions behind wick/random.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#ifndef WICK_RANDOM_CALLS_H
#define WICK_RANDOM_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

/* uniform_: Fills x from the uniform distribution over [from, to). */
WK_API wk_tensor *wk_uniform__at(wk_site site, wk_tensor *x, double from, double to);

/* normal_: Fills x from the normal distribution with this mean and standard deviation. */
WK_API wk_tensor *wk_normal__at(wk_site site, wk_tensor *x, double mean, double std);

/* bernoulli: Draws 1 with probability x, else 0, for each element. */
WK_RESULT_API wk_tensor *wk_bernoulli_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_bernoulli(wk_tensor *x);

/* dropout: Sets each element to 0 with probability p and divides the others by 1 - p. */
WK_RESULT_API wk_tensor *wk_dropout_at(wk_site site, wk_tensor *x, double p, bool training);

/* dropout1d: Sets each channel of each sample to 0 with probability p and divides the others by 1 - p. */
WK_RESULT_API wk_tensor *wk_dropout1d_at(wk_site site, wk_tensor *x, double p, bool training);

/* dropout2d: Sets each channel of each sample to 0 with probability p and divides the others by 1 - p. */
WK_RESULT_API wk_tensor *wk_dropout2d_at(wk_site site, wk_tensor *x, double p, bool training);

/* dropout3d: Sets each channel of each sample to 0 with probability p and divides the others by 1 - p. */
WK_RESULT_API wk_tensor *wk_dropout3d_at(wk_site site, wk_tensor *x, double p, bool training);

/* alpha_dropout: Sets each element to -1.7581 with probability p, then scales and shifts all. */
WK_RESULT_API wk_tensor *wk_alpha_dropout_at(wk_site site, wk_tensor *x, double p, bool training);

/* feature_alpha_dropout: Applies wk_alpha_dropout to each channel of each sample, that is each index of dimensions 0
 * and 1. */
WK_RESULT_API wk_tensor *wk_feature_alpha_dropout_at(wk_site site, wk_tensor *x, double p, bool training);

/* multinomial: Draws count indices with the probabilities in each row of x. */
typedef struct wk_multinomial_options {
    size_t size;
    wk_by_name by_name;
    bool replacement; /* an index may be drawn more than once; default false */
    char reserved[7];
} wk_multinomial_options;
#ifndef __cplusplus
#define wk_multinomial_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_multinomial_at(wk_site site, wk_tensor *x, int64_t count,
                                           const wk_multinomial_options *options);

#ifdef __cplusplus
}
#endif
#endif

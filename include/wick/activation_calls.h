/* SPDX-License-Identifier: Apache-2.0 */
/* wick/activation_calls.h: the functions behind wick/activation.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#ifndef WICK_ACTIVATION_CALLS_H
#define WICK_ACTIVATION_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* relu: Replaces negative elements by 0. */
WK_RESULT_API wk_tensor *wk_relu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_relu(wk_tensor *x);
WK_API wk_tensor *wk_relu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_relu_(wk_tensor *x);

/* relu6: Clamps x to [0, 6]. */
WK_RESULT_API wk_tensor *wk_relu6_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_relu6(wk_tensor *x);
WK_API wk_tensor *wk_relu6__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_relu6_(wk_tensor *x);

/* selu: Computes the scaled exponential linear unit. */
WK_RESULT_API wk_tensor *wk_selu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_selu(wk_tensor *x);
WK_API wk_tensor *wk_selu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_selu_(wk_tensor *x);

/* silu: Computes the sigmoid linear unit, also called swish. */
WK_RESULT_API wk_tensor *wk_silu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_silu(wk_tensor *x);
WK_API wk_tensor *wk_silu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_silu_(wk_tensor *x);

/* mish: Computes the Mish activation. */
WK_RESULT_API wk_tensor *wk_mish_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_mish(wk_tensor *x);
WK_API wk_tensor *wk_mish__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_mish_(wk_tensor *x);

/* hardsigmoid: Computes a piecewise linear approximation of the logistic function. */
WK_RESULT_API wk_tensor *wk_hardsigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_hardsigmoid(wk_tensor *x);
WK_API wk_tensor *wk_hardsigmoid__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_hardsigmoid_(wk_tensor *x);

/* hardswish: Computes a piecewise approximation of silu. */
WK_RESULT_API wk_tensor *wk_hardswish_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_hardswish(wk_tensor *x);
WK_API wk_tensor *wk_hardswish__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_hardswish_(wk_tensor *x);

/* softsign: Computes the softsign function. */
WK_RESULT_API wk_tensor *wk_softsign_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_softsign(wk_tensor *x);

/* logsigmoid: Computes the logarithm of the logistic function. */
WK_RESULT_API wk_tensor *wk_logsigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_logsigmoid(wk_tensor *x);

/* tanhshrink: Subtracts the hyperbolic tangent of x from x. */
WK_RESULT_API wk_tensor *wk_tanhshrink_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_tanhshrink(wk_tensor *x);

/* softshrink: Moves x towards 0 by .lambd. */
typedef struct wk_softshrink_options {
    size_t size;
    wk_by_name by_name;
    double lambd; /* default 0.5 */
} wk_softshrink_options;
#ifndef __cplusplus
#define wk_softshrink_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lambd)
#endif
WK_RESULT_API wk_tensor *wk_softshrink_at(wk_site site, wk_tensor *x, const wk_softshrink_options *options);

/* hardshrink: Replaces elements between -.lambd and .lambd by 0. */
typedef struct wk_hardshrink_options {
    size_t size;
    wk_by_name by_name;
    double lambd; /* default 0.5 */
} wk_hardshrink_options;
#ifndef __cplusplus
#define wk_hardshrink_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lambd)
#endif
WK_RESULT_API wk_tensor *wk_hardshrink_at(wk_site site, wk_tensor *x, const wk_hardshrink_options *options);

/* threshold: Replaces elements that do not exceed threshold by value. */
WK_RESULT_API wk_tensor *wk_threshold_at(wk_site site, wk_tensor *x, double threshold, double value);
WK_API wk_tensor *wk_threshold__at(wk_site site, wk_tensor *x, double threshold, double value);

/* leaky_relu: Scales negative elements by .negative_slope. */
typedef struct wk_leaky_relu_options {
    size_t size;
    wk_by_name by_name;
    double negative_slope; /* default 0.01 */
} wk_leaky_relu_options;
#ifndef __cplusplus
#define wk_leaky_relu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, negative_slope)
#endif
WK_RESULT_API wk_tensor *wk_leaky_relu_at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options);
WK_API wk_tensor *wk_leaky_relu__at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options);

/* prelu: Scales negative elements by weight, of which there is one or one per channel (dimension 1). */
WK_RESULT_API wk_tensor *wk_prelu_at(wk_site site, wk_tensor *x, wk_tensor *weight);

/* rrelu: Scales each negative element by a random number of [lower, upper), or by their mean without .training. */
typedef struct wk_rrelu_options {
    size_t size;
    wk_by_name by_name;
    double lower;  /* default 0.125 */
    double upper;  /* default 0.3333333333333333 */
    bool training; /* draw numbers; default false */
    char reserved[7];
} wk_rrelu_options;
#ifndef __cplusplus
#define wk_rrelu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lower) wk_do_(wk_o_, upper)
#endif
WK_RESULT_API wk_tensor *wk_rrelu_at(wk_site site, wk_tensor *x, const wk_rrelu_options *options);

/* elu: Computes the exponential linear unit. */
typedef struct wk_elu_options {
    size_t size;
    wk_by_name by_name;
    double alpha; /* default 1 */
} wk_elu_options;
#ifndef __cplusplus
#define wk_elu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, alpha)
#endif
WK_RESULT_API wk_tensor *wk_elu_at(wk_site site, wk_tensor *x, const wk_elu_options *options);
WK_API wk_tensor *wk_elu__at(wk_site site, wk_tensor *x, const wk_elu_options *options);

/* celu: Computes the continuously differentiable exponential linear unit. */
typedef struct wk_celu_options {
    size_t size;
    wk_by_name by_name;
    double alpha; /* default 1 */
} wk_celu_options;
#ifndef __cplusplus
#define wk_celu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, alpha)
#endif
WK_RESULT_API wk_tensor *wk_celu_at(wk_site site, wk_tensor *x, const wk_celu_options *options);
WK_API wk_tensor *wk_celu__at(wk_site site, wk_tensor *x, const wk_celu_options *options);

/* gelu: Computes the Gaussian error linear unit. */
/* For .approximate: 0 counts as WK_GELU_NONE; no number is a constant of two options, so others are refused. */
enum { WK_GELU_NONE = 101, WK_GELU_TANH = 102 };
typedef struct wk_gelu_options {
    size_t size;
    wk_by_name by_name;
    int approximate;
    char reserved[4];
} wk_gelu_options;
#ifndef __cplusplus
#define wk_gelu_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_gelu_at(wk_site site, wk_tensor *x, const wk_gelu_options *options);

/* softplus: Computes a smooth approximation of relu. */
typedef struct wk_softplus_options {
    size_t size;
    wk_by_name by_name;
    double beta;      /* default 1 */
    double threshold; /* default 20 */
} wk_softplus_options;
#ifndef __cplusplus
#define wk_softplus_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, beta) wk_do_(wk_o_, threshold)
#endif
WK_RESULT_API wk_tensor *wk_softplus_at(wk_site site, wk_tensor *x, const wk_softplus_options *options);

/* hardtanh: Clamps x to [min_val, max_val]. */
typedef struct wk_hardtanh_options {
    size_t size;
    wk_by_name by_name;
    double min_val; /* default -1 */
    double max_val; /* default 1 */
} wk_hardtanh_options;
#ifndef __cplusplus
#define wk_hardtanh_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, min_val) wk_do_(wk_o_, max_val)
#endif
WK_RESULT_API wk_tensor *wk_hardtanh_at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options);
WK_API wk_tensor *wk_hardtanh__at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options);

/* glu: Multiplies the first half of x along dim by the logistic function of the second half. */
WK_RESULT_API wk_tensor *wk_glu_at(wk_site site, wk_tensor *x, int64_t dim);

/* swiglu: Multiplies silu of the first half of x along dim by the second half. */
WK_RESULT_API wk_tensor *wk_swiglu_at(wk_site site, wk_tensor *x, int64_t dim);

/* geglu: Multiplies gelu of the first half of x along dim by the second half. */
WK_RESULT_API wk_tensor *wk_geglu_at(wk_site site, wk_tensor *x, int64_t dim);

#ifdef __cplusplus
}
#endif
#endif

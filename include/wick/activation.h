/* SPDX-License-Identifier: Apache-2.0 */
/* wick/activation.h: activation functions.
 *
 * Shapes, devices, wk_NAME_, fusion and errors are as described in pointwise.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#ifndef WICK_ACTIVATION_H
#define WICK_ACTIVATION_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "activation_calls.h"

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* wk_relu(x): Replaces negative elements by 0.
 *     out = max(x, 0)
 * Dtypes:    any but bool
 * Gradient:  0 at 0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_relu_ writes the result into x and
 *            returns x
 * Example:   wk_relu(x) is {0, 2} for x = {-1, 2}
 * PyTorch:   torch.relu */
#define wk_relu(...)  WK_EXACT_NEW_(1, wk_relu, "x", __VA_ARGS__)
#define wk_relu_(...) WK_EXACT_(wk_tensor *, 1, wk_relu_, "x", __VA_ARGS__)

/* wk_relu6(x): Clamps x to [0, 6].
 *     out = min(max(x, 0), 6)
 * Dtypes:    any but bool
 * Gradient:  0 at 0 and at 6
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_relu6_ writes the result into x and
 *            returns x
 * Example:   wk_relu6(x) is {0, 2, 6} for x = {-1, 2, 9}
 * PyTorch:   torch.nn.functional.relu6 */
#define wk_relu6(...)  WK_EXACT_NEW_(1, wk_relu6, "x", __VA_ARGS__)
#define wk_relu6_(...) WK_EXACT_(wk_tensor *, 1, wk_relu6_, "x", __VA_ARGS__)

/* wk_selu(x): Computes the scaled exponential linear unit.
 *     out = 1.0507 x if x > 0, else 1.7581 (e^x - 1)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_selu_ writes the result into x and
 *            returns x
 * Example:   wk_selu(x) is {-1.11133, 1.0507} for x = {-1, 1}
 * PyTorch:   torch.selu */
#define wk_selu(...)  WK_EXACT_NEW_(1, wk_selu, "x", __VA_ARGS__)
#define wk_selu_(...) WK_EXACT_(wk_tensor *, 1, wk_selu_, "x", __VA_ARGS__)

/* wk_silu(x): Computes the sigmoid linear unit, also called swish.
 *     out = x sigmoid(x)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_silu_ writes the result into x and
 *            returns x
 * Example:   wk_silu(x) is {0, 0.731059} for x = {0, 1}
 * PyTorch:   torch.nn.functional.silu */
#define wk_silu(...)  WK_EXACT_NEW_(1, wk_silu, "x", __VA_ARGS__)
#define wk_silu_(...) WK_EXACT_(wk_tensor *, 1, wk_silu_, "x", __VA_ARGS__)

/* wk_mish(x): Computes the Mish activation.
 *     out = x tanh(softplus(x))
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_mish_ writes the result into x and
 *            returns x
 * Example:   wk_mish(x) is {0, 0.865098} for x = {0, 1}
 * PyTorch:   torch.nn.functional.mish */
#define wk_mish(...)  WK_EXACT_NEW_(1, wk_mish, "x", __VA_ARGS__)
#define wk_mish_(...) WK_EXACT_(wk_tensor *, 1, wk_mish_, "x", __VA_ARGS__)

/* wk_hardsigmoid(x): Computes a piecewise linear approximation of the logistic function.
 *     out = relu6(x + 3) / 6
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_hardsigmoid_ writes the result into x and
 *            returns x
 * Example:   wk_hardsigmoid(x) is {0, 0.5, 1} for x = {-4, 0, 4}
 * PyTorch:   torch.nn.functional.hardsigmoid */
#define wk_hardsigmoid(...)  WK_EXACT_NEW_(1, wk_hardsigmoid, "x", __VA_ARGS__)
#define wk_hardsigmoid_(...) WK_EXACT_(wk_tensor *, 1, wk_hardsigmoid_, "x", __VA_ARGS__)

/* wk_hardswish(x): Computes a piecewise approximation of silu.
 *     out = x relu6(x + 3) / 6
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_hardswish_ writes the result into x and
 *            returns x
 * Example:   wk_hardswish(x) is {-0.0, 0.666667, 4} for x = {-4, 1, 4}
 * PyTorch:   torch.nn.functional.hardswish */
#define wk_hardswish(...)  WK_EXACT_NEW_(1, wk_hardswish, "x", __VA_ARGS__)
#define wk_hardswish_(...) WK_EXACT_(wk_tensor *, 1, wk_hardswish_, "x", __VA_ARGS__)

/* wk_softsign(x): Computes the softsign function.
 *     out = x / (1 + |x|)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_softsign(x) is {-0.5, 0.75} for x = {-1, 3}
 * PyTorch:   torch.nn.functional.softsign */
#define wk_softsign(...) WK_EXACT_NEW_(1, wk_softsign, "x", __VA_ARGS__)

/* wk_logsigmoid(x): Computes the logarithm of the logistic function.
 *     out = log(sigmoid(x))
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_logsigmoid(x) is {-0.693147, -0.313262} for x = {0, 1}
 * PyTorch:   torch.nn.functional.logsigmoid */
#define wk_logsigmoid(...) WK_EXACT_NEW_(1, wk_logsigmoid, "x", __VA_ARGS__)

/* wk_tanhshrink(x): Subtracts the hyperbolic tangent of x from x.
 *     out = x - tanh(x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_tanhshrink(x) is {-0.238406, 1.035972} for x = {-1, 2}
 * PyTorch:   torch.nn.functional.tanhshrink */
#define wk_tanhshrink(...) WK_EXACT_NEW_(1, wk_tanhshrink, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_softshrink(x): Moves x towards 0 by .lambd.
 *     out = x - lambd if x > lambd, x + lambd if x < -lambd, else 0
 * Options:   .lambd: default 0.5
 * Dtypes:    floating
 * Gradient:  0 at -lambd and at lambd
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .lambd is negative
 * Example:   wk_softshrink(x) is {-1.5, 0, 0.5} for x = {-2, 0.25, 1}
 * PyTorch:   torch.nn.functional.softshrink */
#define wk_softshrink(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_softshrink, wk_softshrink_options, __VA_ARGS__))

/* wk_hardshrink(x): Replaces elements between -.lambd and .lambd by 0.
 *     out = 0 if -lambd <= x <= lambd, else x
 * Options:   .lambd: default 0.5
 * Dtypes:    floating
 * Gradient:  0 at -lambd and at lambd
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_hardshrink(x) is {-2, 0, 1} for x = {-2, 0.25, 1}
 * PyTorch:   torch.hardshrink */
#define wk_hardshrink(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_hardshrink, wk_hardshrink_options, __VA_ARGS__))

#endif

/* wk_threshold(x, threshold, value): Replaces elements that do not exceed threshold by value.
 *     out = x if x > threshold, else value
 * Dtypes:    any but bool; out as x; for integers a number outside the range of the dtype counts as its nearest
 *            value
 * Gradient:  0 at threshold
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_threshold_ writes the result into x and
 *            returns x
 * Example:   wk_threshold(x, 0.5, 9) is {9, 9, 1} for x = {-1, 0.5, 1}
 * PyTorch:   torch.threshold */
#define wk_threshold(...)  WK_EXACT_NEW_(3, wk_threshold, "x, threshold, value", __VA_ARGS__)
#define wk_threshold_(...) WK_EXACT_(wk_tensor *, 3, wk_threshold_, "x, threshold, value", __VA_ARGS__)

#ifndef __cplusplus
/* wk_leaky_relu(x): Scales negative elements by .negative_slope.
 *     out = x if x > 0, else negative_slope x
 * Options:   .negative_slope: default 0.01
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_leaky_relu_ writes the result into x and
 *            returns x
 * Example:   wk_leaky_relu(x) is {-0.01, 1} for x = {-1, 1}
 * PyTorch:   torch.nn.functional.leaky_relu */
#define wk_leaky_relu(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_leaky_relu, wk_leaky_relu_options, __VA_ARGS__))
#define wk_leaky_relu_(...) WK_OPT_(wk_tensor *, wk_leaky_relu_, wk_leaky_relu_options, __VA_ARGS__)

#endif

/* wk_prelu(x, weight): Scales negative elements by weight, of which there is one or one per channel (dimension 1).
 *     out = x if x > 0, else weight x
 * Shapes:    weight () or (1), or (C) for x (N, C, ...)
 * Dtypes:    x and weight floating, of one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if weight has more than one dimension or another number of elements than 1 or C;
 *            WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_prelu(x, y) is {-0.5, 3} for x = {-2, 3}, y = {0.25}
 * PyTorch:   torch.prelu */
#define wk_prelu(...) WK_EXACT_NEW_(2, wk_prelu, "x, weight", __VA_ARGS__)

#ifndef __cplusplus
/* wk_rrelu(x): Scales each negative element by a random number of [lower, upper), or by their mean without
 * .training. Backward draws the same numbers again instead of keeping them.
 *     out = x if x > 0, else a x with a from [lower, upper), or a = (lower + upper) / 2
 * Options:   .lower: default 0.125. .upper: default 0.3333333333333333. .training: draw numbers; default false
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .lower exceeds .upper; WK_ERR_DTYPE if x is not floating
 * Example:   wk_rrelu(x, .lower = 0.25, .upper = 0.75) is {-1, 3} for x = {-2, 3}
 * PyTorch:   torch.rrelu */
#define wk_rrelu(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_rrelu, wk_rrelu_options, __VA_ARGS__))

/* wk_elu(x): Computes the exponential linear unit.
 *     out = x if x > 0, else alpha (e^x - 1)
 * Options:   .alpha: default 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_elu_ writes the result into x and returns
 *            x
 * Example:   wk_elu(x, .alpha = 2) is {-1.26424, 1} for x = {-1, 1}
 * PyTorch:   torch.nn.functional.elu */
#define wk_elu(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_elu, wk_elu_options, __VA_ARGS__))
#define wk_elu_(...) WK_OPT_(wk_tensor *, wk_elu_, wk_elu_options, __VA_ARGS__)

/* wk_celu(x): Computes the continuously differentiable exponential linear unit.
 *     out = x if x > 0, else alpha (e^(x / alpha) - 1)
 * Options:   .alpha: default 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_celu_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_ARGUMENT if .alpha is 0
 * Example:   wk_celu(x, .alpha = 2) is {-0.786939, 1} for x = {-1, 1}
 * PyTorch:   torch.celu */
#define wk_celu(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_celu, wk_celu_options, __VA_ARGS__))
#define wk_celu_(...) WK_OPT_(wk_tensor *, wk_celu_, wk_celu_options, __VA_ARGS__)

/* wk_gelu(x): Computes the Gaussian error linear unit.
 *     out = x (1 + erf(x / sqrt(2))) / 2, or with WK_GELU_TANH
 *     out = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
 * Options:   .approximate: WK_GELU_NONE or WK_GELU_TANH; default WK_GELU_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .approximate is neither WK_GELU_NONE nor WK_GELU_TANH
 * Example:   wk_gelu(x, .approximate = WK_GELU_TANH) is {0, 0.841192} for x = {0, 1}
 * PyTorch:   torch.nn.functional.gelu; approximate="tanh" is WK_GELU_TANH */
#define wk_gelu(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_gelu, wk_gelu_options, __VA_ARGS__))

/* wk_softplus(x): Computes a smooth approximation of relu.
 *     out = log(1 + e^(beta x)) / beta, and x if beta x > threshold
 * Options:   .beta: default 1. .threshold: default 20
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_softplus(x) is {0.693147, 30} for x = {0, 30}
 * PyTorch:   torch.nn.functional.softplus */
#define wk_softplus(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_softplus, wk_softplus_options, __VA_ARGS__))

/* wk_hardtanh(x): Clamps x to [min_val, max_val].
 * Options:   .min_val: default -1. .max_val: default 1
 * Dtypes:    any but bool
 * Gradient:  0 at a limit
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_hardtanh_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_ARGUMENT if .min_val is greater than .max_val
 * Example:   wk_hardtanh(x) is {-1, 0.5, 1} for x = {-2, 0.5, 3}
 * PyTorch:   torch.nn.functional.hardtanh */
#define wk_hardtanh(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_hardtanh, wk_hardtanh_options, __VA_ARGS__))
#define wk_hardtanh_(...) WK_OPT_(wk_tensor *, wk_hardtanh_, wk_hardtanh_options, __VA_ARGS__)

/* wk_glu(x, dim): Multiplies the first half of x along dim by the logistic function of the second half. dim may be
 * omitted (-1).
 *     out = a sigmoid(b), with x = (a, b) along dim
 * Shapes:    out has half of x's size along dim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimensions or an odd size along dim; WK_ERR_INDEX if dim is out of range
 * Example:   wk_glu(x) is {0.5, 1} for x = {1, 2, 0, 0}
 * PyTorch:   torch.nn.functional.glu */
#define wk_glu(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_GLU_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_GLU_1(x)      WK_GLU_WK2_(x, -1)
#define WK_GLU_WK2_(...) WK_PLAIN_(wk_glu, __VA_ARGS__)

/* wk_swiglu(x, dim): Multiplies silu of the first half of x along dim by the second half. dim may be omitted (-1).
 *     out = a sigmoid(a) b, with x = (a, b) along dim
 * Shapes:    out has half of x's size along dim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimensions or an odd size along dim; WK_ERR_INDEX if dim is out of range
 * Example:   wk_swiglu(x) is {2.193176, 7.046377} for x = {1, 2, 3, 4}
 * PyTorch:   F.silu(a) * b */
#define wk_swiglu(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_SWIGLU_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_SWIGLU_1(x)      WK_SWIGLU_WK2_(x, -1)
#define WK_SWIGLU_WK2_(...) WK_PLAIN_(wk_swiglu, __VA_ARGS__)

/* wk_geglu(x, dim): Multiplies gelu of the first half of x along dim by the second half. dim may be omitted (-1).
 *     out = gelu(a) b, with x = (a, b) along dim
 * Shapes:    out has half of x's size along dim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimensions or an odd size along dim; WK_ERR_INDEX if dim is out of range
 * Example:   wk_geglu(x) is {2.524034, 7.817999} for x = {1, 2, 3, 4}
 * PyTorch:   F.gelu(a) * b */
#define wk_geglu(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_GEGLU_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_GEGLU_1(x)      WK_GEGLU_WK2_(x, -1)
#define WK_GEGLU_WK2_(...) WK_PLAIN_(wk_geglu, __VA_ARGS__)

#endif

#endif

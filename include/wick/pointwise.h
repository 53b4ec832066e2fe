/* SPDX-License-Identifier: Apache-2.0 */
/* wick/pointwise.h: arithmetic, comparison and functions of elements.
 *
 * Shapes:   operands broadcast: sizes are equal or 1, from the right
 * Dtypes:   mixed dtypes are promoted as in PyTorch; "floating" is f16, bf16, f32 and f64
 * Devices:  operands are on one device; a tensor without dimensions on the CPU is a number, as in PyTorch, and is
 *           copied to the device of the others; its gradient is copied back
 * In place: a call that ends in _ writes its result into the first operand and returns it; the result must fit its
 *           shape and class of dtype
 * Fusion:   consecutive calls run as one pass over memory
 * Errors:   WK_ERR_SHAPE if operands do not broadcast, or do not fit the first operand of a call in place;
 *           WK_ERR_DTYPE if an op does not take a dtype, or the first operand cannot hold the result; WK_ERR_DEVICE if
 *           operands are on different devices; WK_ERR_STATE if a call in place writes a leaf that requires grad, or
 *           elements that share memory */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#ifndef WICK_POINTWISE_H
#define WICK_POINTWISE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "pointwise_calls.h"

/* ---- arithmetic: a tensor or a number on either side ------------------------------------------------------------- */
/* An integer number stays an integer (i64 + 1 is i64), a fraction is a float of the tensor's class (i64 + 0.5 is
 * f32). Either is converted to the dtype of the computation, as in PyTorch: with u8, -1 is 255 and 256 is 0; f16 is
 * compared with 0.1 rounded to f16. */

#ifndef __cplusplus
/* wk_add(a, b): Adds a and b. For bool, logical or.
 *     out = a + b
 * Dtypes:    any; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_add_ writes the result into a and returns
 *            a
 * Example:   wk_add(x, 1) is {2, 3} for x = {1, 2}
 * PyTorch:   torch.add */
#define wk_add(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_add, a, b))
#define wk_add_(a, b) WK_ARITH_1_(wk_add_, a, b)

/* wk_sub(a, b): Subtracts b from a.
 *     out = a - b
 * Dtypes:    any but bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sub_ writes the result into a and returns
 *            a
 * Example:   wk_sub(1, x) is {0, -1} for x = {1, 2}
 * PyTorch:   torch.sub */
#define wk_sub(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_sub, a, b))
#define wk_sub_(a, b) WK_ARITH_1_(wk_sub_, a, b)

/* wk_mul(a, b): Multiplies a by b. For bool, logical and.
 *     out = a b
 * Dtypes:    any; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_mul_ writes the result into a and returns
 *            a
 * Example:   wk_mul(x, y) is {3, 8} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.mul */
#define wk_mul(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_mul, a, b))
#define wk_mul_(a, b) WK_ARITH_1_(wk_mul_, a, b)

/* wk_div(a, b): Divides a by b. With .rounding_mode the quotient is rounded, an integer divided by 0 gives 0, and
 * the gradient is 0.
 *     out = a / b
 * Options:   .rounding_mode: default NULL, no rounding; "floor" or "trunc"
 * Dtypes:    any; without .rounding_mode integers and bool are computed in f32 (1 / 2 is 0.5), with it out has the
 *            promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_div_ writes the result into a and returns
 *            a
 * Errors:    WK_ERR_ARGUMENT if .rounding_mode is another text
 * Example:   wk_div(x, 2, .rounding_mode = "floor") is {-2, 1} for x = {-3, 3}
 * PyTorch:   torch.div */
#define wk_div(a, ...) WK_NEW_TENSOR_(WK_JOIN_(WK_DIV_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__))
#define WK_DIV_1(a, b) WK_ARITH_(wk_div, a, b)
#define WK_DIV_WK2_(a, b, ...)                                                                                         \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded_at, (WK_VALUE_(a), WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)
#define WK_DIV_TEXT_            "wk_div: options must be named: wk_div(a, b, .rounding_mode = \"floor\")"
#define wk_div_(a, ...)         WK_JOIN_(WK_DIV_IN_PLACE_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)
#define WK_DIV_IN_PLACE_1(a, b) WK_ARITH_1_(wk_div_, a, b)
#define WK_DIV_IN_PLACE_WK2_(a, b, ...)                                                                                \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded__at, (a, WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)

/* wk_floor_divide(a, b): Divides a by b and rounds down, as // in Python. An integer divided by 0 gives 0.
 *     out = floor(a / b)
 * Dtypes:    any but bool; out has the promoted dtype
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_floor_divide_ writes the result into a
 *            and returns a
 * Example:   wk_floor_divide(x, 2) is {-2, 1} for x = {-3, 3}
 * PyTorch:   torch.floor_divide */
#define wk_floor_divide(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_floor_divide, a, b))
#define wk_floor_divide_(a, b) WK_ARITH_1_(wk_floor_divide_, a, b)

/* wk_remainder(a, b): Computes the remainder with the sign of b, as % in Python. An integer remainder by 0 is 0.
 *     out = a - b floor(a / b)
 * Dtypes:    any but bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_remainder_ writes the result into a and
 *            returns a
 * Example:   wk_remainder(x, 3) is {2, 1} for x = {-4, 4}
 * PyTorch:   torch.remainder */
#define wk_remainder(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_remainder, a, b))
#define wk_remainder_(a, b) WK_ARITH_1_(wk_remainder_, a, b)

/* wk_fmod(a, b): Computes the remainder with the sign of a, as fmod in C. An integer remainder by 0 is 0.
 *     out = a - b trunc(a / b)
 * Dtypes:    any but bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_fmod_ writes the result into a and
 *            returns a
 * Example:   wk_fmod(x, 3) is {-1, 1} for x = {-4, 4}
 * PyTorch:   torch.fmod */
#define wk_fmod(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_fmod, a, b))
#define wk_fmod_(a, b) WK_ARITH_1_(wk_fmod_, a, b)

/* wk_pow(a, b): Raises a to the power b.
 *     out = a^b
 * Dtypes:    any but bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_pow_ writes the result into a and returns
 *            a
 * Errors:    WK_ERR_ARGUMENT if a has integers and b is a negative number, or a number outside the range of their
 *            dtype
 * Example:   wk_pow(x, 2) is {4, 9} for x = {2, 3}
 * PyTorch:   torch.pow */
#define wk_pow(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_pow, a, b))
#define wk_pow_(a, b) WK_ARITH_1_(wk_pow_, a, b)

/* wk_maximum(a, b): Takes the larger of a and b, NaN if one is NaN.
 * Dtypes:    any; out has the promoted dtype
 * Gradient:  shared equally where a equals b
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_maximum(x, 0) is {0, 2} for x = {-1, 2}
 * PyTorch:   torch.maximum */
#define wk_maximum(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_maximum, a, b))

/* wk_minimum(a, b): Takes the smaller of a and b, NaN if one is NaN.
 * Dtypes:    any; out has the promoted dtype
 * Gradient:  shared equally where a equals b
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_minimum(x, y) is {-1, 1} for x = {-1, 2}, y = {0, 1}
 * PyTorch:   torch.minimum */
#define wk_minimum(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_minimum, a, b))

/* wk_atan2(a, b): Computes the angle of the point (b, a) in radians, in (-pi, pi].
 * Dtypes:    any; integers and bool are computed in f32
 * Gradient:  0 at (0, 0)
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_atan2_ writes the result into a and
 *            returns a
 * Example:   wk_atan2(x, y) is {0.785398, 1.5708} for x = {1, 2}, y = {1, 0}
 * PyTorch:   torch.atan2 */
#define wk_atan2(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_atan2, a, b))
#define wk_atan2_(a, b) WK_ARITH_1_(wk_atan2_, a, b)

/* wk_logaddexp(a, b): Computes log(e^a + e^b) without overflow.
 *     out = log(e^a + e^b)
 * Dtypes:    floating; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_logaddexp(x, y) is {1.313262, 1000} for x = {0, 1000}, y = {1, 0}
 * PyTorch:   torch.logaddexp */
#define wk_logaddexp(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_logaddexp, a, b))

/* wk_hypot(a, b): Computes the length of (a, b) without overflow.
 *     out = sqrt(a^2 + b^2)
 * Dtypes:    floating; out has the promoted dtype
 * Gradient:  0 at (0, 0)
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_hypot_ writes the result into a and
 *            returns a
 * Example:   wk_hypot(x, y) is {5, 5e+30} for x = {3, 3e+30}, y = {4, 4e+30}
 * PyTorch:   torch.hypot */
#define wk_hypot(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_hypot, a, b))
#define wk_hypot_(a, b) WK_ARITH_1_(wk_hypot_, a, b)

/* wk_copysign(a, b): Combines the magnitude of a with the sign of b; a zero has a sign. A NaN in b counts as
 * positive.
 *     out = |a| sign(b)
 * Dtypes:    any; integers and bool are computed in f32
 * Gradient:  1 or -1 for a, 0 where a is 0; 0 for b
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_copysign_ writes the result into a and
 *            returns a
 * Example:   wk_copysign(x, y) is {-1, 2, -3} for x = {1, -2, 3}, y = {-0.5, 4, -0.0}
 * PyTorch:   torch.copysign */
#define wk_copysign(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_copysign, a, b))
#define wk_copysign_(a, b) WK_ARITH_1_(wk_copysign_, a, b)

/* ---- comparison and logic: a tensor or a number on either side --------------------------------------------------- */
/* A comparison has no gradient. In place it writes 0 or 1 in the dtype of a. */

/* wk_eq(a, b): Compares a and b for equality. The result is a tensor: if (wk_eq(a, b)) tests a pointer, which is
 * true unless the call failed; wk_item(wk_all(wk_eq(a, b))) tests the elements.
 *     out = a == b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_eq_ writes the result into a and returns
 *            a
 * Example:   wk_eq(x, y) is {0, 1} for x = {1, 2}, y = {3, 2}
 * PyTorch:   torch.eq */
#define wk_eq(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_eq, a, b))
#define wk_eq_(a, b) WK_ARITH_1_(wk_eq_, a, b)

/* wk_ne(a, b): Compares a and b for inequality.
 *     out = a != b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_ne_ writes the result into a and returns
 *            a
 * Example:   wk_ne(x, 2) is {1, 0} for x = {1, 2}
 * PyTorch:   torch.ne */
#define wk_ne(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_ne, a, b))
#define wk_ne_(a, b) WK_ARITH_1_(wk_ne_, a, b)

/* wk_lt(a, b): Tests whether a is less than b.
 *     out = a < b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_lt_ writes the result into a and returns
 *            a
 * Example:   wk_lt(x, 2) is {1, 0} for x = {1, 2}
 * PyTorch:   torch.lt */
#define wk_lt(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_lt, a, b))
#define wk_lt_(a, b) WK_ARITH_1_(wk_lt_, a, b)

/* wk_le(a, b): Tests whether a is at most b.
 *     out = a <= b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_le_ writes the result into a and returns
 *            a
 * Example:   wk_le(x, 2) is {1, 1} for x = {1, 2}
 * PyTorch:   torch.le */
#define wk_le(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_le, a, b))
#define wk_le_(a, b) WK_ARITH_1_(wk_le_, a, b)

/* wk_gt(a, b): Tests whether a is greater than b.
 *     out = a > b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_gt_ writes the result into a and returns
 *            a
 * Example:   wk_gt(x, 1) is {0, 1} for x = {1, 2}
 * PyTorch:   torch.gt */
#define wk_gt(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_gt, a, b))
#define wk_gt_(a, b) WK_ARITH_1_(wk_gt_, a, b)

/* wk_ge(a, b): Tests whether a is at least b.
 *     out = a >= b
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_ge_ writes the result into a and returns
 *            a
 * Example:   wk_ge(1.5, x) is {1, 0} for x = {1, 2}
 * PyTorch:   torch.ge */
#define wk_ge(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_ge, a, b))
#define wk_ge_(a, b) WK_ARITH_1_(wk_ge_, a, b)

/* wk_logical_and(a, b): Tests whether a and b are both nonzero.
 *     out = a != 0 and b != 0
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_logical_and_ writes the result into a and
 *            returns a
 * Example:   wk_logical_and(x, y) is {0, 1} for x = {0, 2}, y = {1, 1}
 * PyTorch:   torch.logical_and */
#define wk_logical_and(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_and, a, b))
#define wk_logical_and_(a, b) WK_ARITH_1_(wk_logical_and_, a, b)

/* wk_logical_or(a, b): Tests whether a or b is nonzero.
 *     out = a != 0 or b != 0
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_logical_or_ writes the result into a and
 *            returns a
 * Example:   wk_logical_or(x, y) is {0, 1} for x = {0, 2}, y = {0, 1}
 * PyTorch:   torch.logical_or */
#define wk_logical_or(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_or, a, b))
#define wk_logical_or_(a, b) WK_ARITH_1_(wk_logical_or_, a, b)

/* wk_logical_xor(a, b): Tests whether exactly one of a and b is nonzero.
 *     out = (a != 0) != (b != 0)
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_logical_xor_ writes the result into a and
 *            returns a
 * Example:   wk_logical_xor(x, y) is {1, 0} for x = {0, 2}, y = {1, 1}
 * PyTorch:   torch.logical_xor */
#define wk_logical_xor(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_xor, a, b))
#define wk_logical_xor_(a, b) WK_ARITH_1_(wk_logical_xor_, a, b)

/* wk_bitwise_and(a, b): Computes the bitwise and of a and b.
 *     out = a & b
 * Dtypes:    integers and bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_and_ writes the result into a and
 *            returns a
 * Example:   wk_bitwise_and(wk_to_dtype(x, WK_I64), 6) is {4, 2} for x = {5, 3}
 * PyTorch:   torch.bitwise_and */
#define wk_bitwise_and(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_and, a, b))
#define wk_bitwise_and_(a, b) WK_ARITH_1_(wk_bitwise_and_, a, b)

/* wk_bitwise_or(a, b): Computes the bitwise or of a and b.
 *     out = a | b
 * Dtypes:    integers and bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_or_ writes the result into a and
 *            returns a
 * Example:   wk_bitwise_or(wk_to_dtype(x, WK_I64), 6) is {7, 7} for x = {5, 3}
 * PyTorch:   torch.bitwise_or */
#define wk_bitwise_or(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_or, a, b))
#define wk_bitwise_or_(a, b) WK_ARITH_1_(wk_bitwise_or_, a, b)

/* wk_bitwise_xor(a, b): Computes the bitwise exclusive or of a and b.
 *     out = a ^ b
 * Dtypes:    integers and bool; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_xor_ writes the result into a and
 *            returns a
 * Example:   wk_bitwise_xor(wk_to_dtype(x, WK_I64), 6) is {3, 5} for x = {5, 3}
 * PyTorch:   torch.bitwise_xor */
#define wk_bitwise_xor(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_xor, a, b))
#define wk_bitwise_xor_(a, b) WK_ARITH_1_(wk_bitwise_xor_, a, b)

/* wk_bitwise_left_shift(a, b): Shifts the bits of a to the left by b.
 *     out = a 2^b, which wraps; 0 if b is negative or at least the number of bits
 * Dtypes:    integers; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_left_shift_ writes the result
 *            into a and returns a
 * Example:   wk_bitwise_left_shift(wk_to_dtype(x, WK_I64), 2) is {20, 12} for x = {5, 3}
 * PyTorch:   torch.bitwise_left_shift */
#define wk_bitwise_left_shift(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_left_shift, a, b))
#define wk_bitwise_left_shift_(a, b) WK_ARITH_1_(wk_bitwise_left_shift_, a, b)

/* wk_bitwise_right_shift(a, b): Shifts the bits of a to the right by b.
 *     out = a / 2^b, rounded down; 0, or -1 for a negative a, if b is negative or at least the number of bits
 * Dtypes:    integers; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_right_shift_ writes the result
 *            into a and returns a
 * Example:   wk_bitwise_right_shift(wk_to_dtype(x, WK_I64), 1) is {2, 1} for x = {5, 3}
 * PyTorch:   torch.bitwise_right_shift */
#define wk_bitwise_right_shift(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_right_shift, a, b))
#define wk_bitwise_right_shift_(a, b) WK_ARITH_1_(wk_bitwise_right_shift_, a, b)

/* wk_isclose(a, b): Tests whether a and b are close to each other. Infinities are close if they are equal, NaN only
 * to NaN and with .equal_nan.
 *     out = a = b or |a - b| <= atol + rtol |b|
 * Options:   .rtol: tolerance relative to b; default 1e-05. .atol: absolute tolerance; default 1e-08. .equal_nan:
 *            NaN is close to NaN; default false
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .rtol or .atol is negative
 * Example:   wk_isclose(x, y, .atol = 0.1) is {1, 0} for x = {1, 2}, y = {1.05, 3}
 * PyTorch:   torch.isclose, which refuses mixed dtypes */
#define wk_isclose(a, ...) WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_isclose, wk_isclose_options, "a, b", a, __VA_ARGS__))

#endif

/* ---- functions of one tensor: wk_NAME(x), and in place wk_NAME_(x) ----------------------------------------------- */

/* wk_logical_not(x): Tests whether x is 0.
 *     out = x == 0
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_logical_not_ writes the result into x and
 *            returns x
 * Example:   wk_logical_not(x) is {1, 0} for x = {0, 2}
 * PyTorch:   torch.logical_not */
#define wk_logical_not(...)  WK_EXACT_NEW_(1, wk_logical_not, "x", __VA_ARGS__)
#define wk_logical_not_(...) WK_EXACT_(wk_tensor *, 1, wk_logical_not_, "x", __VA_ARGS__)

/* wk_bitwise_not(x): Inverts every bit of x; for bool, logical not.
 *     out = ~x
 * Dtypes:    integers and bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_bitwise_not_ writes the result into x and
 *            returns x
 * Example:   wk_bitwise_not(wk_to_dtype(x, WK_I64)) is {-6, -1} for x = {5, 0}
 * PyTorch:   torch.bitwise_not */
#define wk_bitwise_not(...)  WK_EXACT_NEW_(1, wk_bitwise_not, "x", __VA_ARGS__)
#define wk_bitwise_not_(...) WK_EXACT_(wk_tensor *, 1, wk_bitwise_not_, "x", __VA_ARGS__)

/* wk_isnan(x): Tests whether x is NaN; an integer never is.
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_isnan(x) is {0, 1, 0} for x = {1, NAN, INFINITY}
 * PyTorch:   torch.isnan */
#define wk_isnan(...) WK_EXACT_NEW_(1, wk_isnan, "x", __VA_ARGS__)

/* wk_isinf(x): Tests whether x is an infinity of either sign.
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_isinf(x) is {0, 0, 1} for x = {1, NAN, INFINITY}
 * PyTorch:   torch.isinf */
#define wk_isinf(...) WK_EXACT_NEW_(1, wk_isinf, "x", __VA_ARGS__)

/* wk_isfinite(x): Tests whether x is neither NaN nor an infinity.
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_isfinite(x) is {1, 0, 0} for x = {1, NAN, INFINITY}
 * PyTorch:   torch.isfinite */
#define wk_isfinite(...) WK_EXACT_NEW_(1, wk_isfinite, "x", __VA_ARGS__)

/* wk_neg(x): Negates x.
 *     out = -x
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_neg_ writes the result into x and returns
 *            x
 * Example:   wk_neg(x) is {-1, 2} for x = {1, -2}
 * PyTorch:   torch.neg */
#define wk_neg(...)  WK_EXACT_NEW_(1, wk_neg, "x", __VA_ARGS__)
#define wk_neg_(...) WK_EXACT_(wk_tensor *, 1, wk_neg_, "x", __VA_ARGS__)

/* wk_abs(x): Computes the absolute value of x.
 *     out = |x|
 * Dtypes:    any but bool
 * Gradient:  0 at 0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_abs_ writes the result into x and returns
 *            x
 * Example:   wk_abs(x) is {1, 2} for x = {1, -2}
 * PyTorch:   torch.abs */
#define wk_abs(...)  WK_EXACT_NEW_(1, wk_abs, "x", __VA_ARGS__)
#define wk_abs_(...) WK_EXACT_(wk_tensor *, 1, wk_abs_, "x", __VA_ARGS__)

/* wk_sign(x): Computes the sign of x: -1, 0 or 1.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sign_ writes the result into x and
 *            returns x
 * Example:   wk_sign(x) is {-1, 0, 1} for x = {-3, 0, 2}
 * PyTorch:   torch.sign */
#define wk_sign(...)  WK_EXACT_NEW_(1, wk_sign, "x", __VA_ARGS__)
#define wk_sign_(...) WK_EXACT_(wk_tensor *, 1, wk_sign_, "x", __VA_ARGS__)

/* wk_floor(x): Rounds x down to an integer value.
 * Dtypes:    any but bool
 * Gradient:  0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_floor_ writes the result into x and
 *            returns x
 * Example:   wk_floor(x) is {-2, 1} for x = {-1.5, 1.5}
 * PyTorch:   torch.floor */
#define wk_floor(...)  WK_EXACT_NEW_(1, wk_floor, "x", __VA_ARGS__)
#define wk_floor_(...) WK_EXACT_(wk_tensor *, 1, wk_floor_, "x", __VA_ARGS__)

/* wk_ceil(x): Rounds x up to an integer value.
 * Dtypes:    any but bool
 * Gradient:  0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_ceil_ writes the result into x and
 *            returns x
 * Example:   wk_ceil(x) is {-1, 2} for x = {-1.5, 1.5}
 * PyTorch:   torch.ceil */
#define wk_ceil(...)  WK_EXACT_NEW_(1, wk_ceil, "x", __VA_ARGS__)
#define wk_ceil_(...) WK_EXACT_(wk_tensor *, 1, wk_ceil_, "x", __VA_ARGS__)

/* wk_trunc(x): Rounds x towards 0.
 * Dtypes:    any but bool
 * Gradient:  0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_trunc_ writes the result into x and
 *            returns x
 * Example:   wk_trunc(x) is {-1, 1} for x = {-1.5, 1.5}
 * PyTorch:   torch.trunc */
#define wk_trunc(...)  WK_EXACT_NEW_(1, wk_trunc, "x", __VA_ARGS__)
#define wk_trunc_(...) WK_EXACT_(wk_tensor *, 1, wk_trunc_, "x", __VA_ARGS__)

/* wk_square(x): Squares x.
 *     out = x^2
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_square_ writes the result into x and
 *            returns x
 * Example:   wk_square(x) is {1, 4} for x = {1, -2}
 * PyTorch:   torch.square */
#define wk_square(...)  WK_EXACT_NEW_(1, wk_square, "x", __VA_ARGS__)
#define wk_square_(...) WK_EXACT_(wk_tensor *, 1, wk_square_, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_round(x): Rounds x to the nearest integer value, or to .decimals decimals; ties to even. Negative .decimals
 * round to powers of ten: -3 to thousands.
 * Options:   .decimals: default 0
 * Dtypes:    any but bool; floating if .decimals is not 0
 * Gradient:  0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_round_ writes the result into x and
 *            returns x
 * Example:   wk_round(x, .decimals = 2) is {1.57, 2} for x = {1.5708, 2}
 * PyTorch:   torch.round */
#define wk_round(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_round, wk_round_options, __VA_ARGS__))
#define wk_round_(...) WK_OPT_(wk_tensor *, wk_round_, wk_round_options, __VA_ARGS__)

#endif

/* ---- functions with a floating result ---------------------------------------------------------------------------- */

/* wk_sqrt(x): Computes the square root, NaN for x below 0.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sqrt_ writes the result into x and
 *            returns x
 * Example:   wk_sqrt(x) is {2, 3} for x = {4, 9}
 * PyTorch:   torch.sqrt */
#define wk_sqrt(...)  WK_EXACT_NEW_(1, wk_sqrt, "x", __VA_ARGS__)
#define wk_sqrt_(...) WK_EXACT_(wk_tensor *, 1, wk_sqrt_, "x", __VA_ARGS__)

/* wk_rsqrt(x): Computes the reciprocal of the square root.
 *     out = 1 / sqrt(x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_rsqrt_ writes the result into x and
 *            returns x
 * Example:   wk_rsqrt(x) is {0.5, 2} for x = {4, 0.25}
 * PyTorch:   torch.rsqrt */
#define wk_rsqrt(...)  WK_EXACT_NEW_(1, wk_rsqrt, "x", __VA_ARGS__)
#define wk_rsqrt_(...) WK_EXACT_(wk_tensor *, 1, wk_rsqrt_, "x", __VA_ARGS__)

/* wk_reciprocal(x): Computes the reciprocal.
 *     out = 1 / x
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_reciprocal_ writes the result into x and
 *            returns x
 * Example:   wk_reciprocal(x) is {0.5, -4} for x = {2, -0.25}
 * PyTorch:   torch.reciprocal */
#define wk_reciprocal(...)  WK_EXACT_NEW_(1, wk_reciprocal, "x", __VA_ARGS__)
#define wk_reciprocal_(...) WK_EXACT_(wk_tensor *, 1, wk_reciprocal_, "x", __VA_ARGS__)

/* wk_exp(x): Computes e to the power x.
 *     out = e^x
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_exp_ writes the result into x and returns
 *            x
 * Example:   wk_exp(x) is {1, 2.71828} for x = {0, 1}
 * PyTorch:   torch.exp */
#define wk_exp(...)  WK_EXACT_NEW_(1, wk_exp, "x", __VA_ARGS__)
#define wk_exp_(...) WK_EXACT_(wk_tensor *, 1, wk_exp_, "x", __VA_ARGS__)

/* wk_expm1(x): Computes e^x - 1, accurately near 0.
 *     out = e^x - 1
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_expm1_ writes the result into x and
 *            returns x
 * Example:   wk_expm1(x) is {0, 1.71828} for x = {0, 1}
 * PyTorch:   torch.expm1 */
#define wk_expm1(...)  WK_EXACT_NEW_(1, wk_expm1, "x", __VA_ARGS__)
#define wk_expm1_(...) WK_EXACT_(wk_tensor *, 1, wk_expm1_, "x", __VA_ARGS__)

/* wk_exp2(x): Computes 2 to the power x.
 *     out = 2^x
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_exp2_ writes the result into x and
 *            returns x
 * Example:   wk_exp2(x) is {0.5, 8} for x = {-1, 3}
 * PyTorch:   torch.exp2 */
#define wk_exp2(...)  WK_EXACT_NEW_(1, wk_exp2, "x", __VA_ARGS__)
#define wk_exp2_(...) WK_EXACT_(wk_tensor *, 1, wk_exp2_, "x", __VA_ARGS__)

/* wk_log(x): Computes the natural logarithm, NaN for x below 0.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_log_ writes the result into x and returns
 *            x
 * Example:   wk_log(x) is {0, 0.693147} for x = {1, 2}
 * PyTorch:   torch.log */
#define wk_log(...)  WK_EXACT_NEW_(1, wk_log, "x", __VA_ARGS__)
#define wk_log_(...) WK_EXACT_(wk_tensor *, 1, wk_log_, "x", __VA_ARGS__)

/* wk_log1p(x): Computes log(1 + x), accurately near 0; NaN for x below -1.
 *     out = log(1 + x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_log1p_ writes the result into x and
 *            returns x
 * Example:   wk_log1p(x) is {0, 0.693147} for x = {0, 1}
 * PyTorch:   torch.log1p */
#define wk_log1p(...)  WK_EXACT_NEW_(1, wk_log1p, "x", __VA_ARGS__)
#define wk_log1p_(...) WK_EXACT_(wk_tensor *, 1, wk_log1p_, "x", __VA_ARGS__)

/* wk_log2(x): Computes the logarithm to base 2, NaN for x below 0.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_log2_ writes the result into x and
 *            returns x
 * Example:   wk_log2(x) is {-1, 3} for x = {0.5, 8}
 * PyTorch:   torch.log2 */
#define wk_log2(...)  WK_EXACT_NEW_(1, wk_log2, "x", __VA_ARGS__)
#define wk_log2_(...) WK_EXACT_(wk_tensor *, 1, wk_log2_, "x", __VA_ARGS__)

/* wk_log10(x): Computes the logarithm to base 10, NaN for x below 0.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_log10_ writes the result into x and
 *            returns x
 * Example:   wk_log10(x) is {-1, 2} for x = {0.1, 100}
 * PyTorch:   torch.log10 */
#define wk_log10(...)  WK_EXACT_NEW_(1, wk_log10, "x", __VA_ARGS__)
#define wk_log10_(...) WK_EXACT_(wk_tensor *, 1, wk_log10_, "x", __VA_ARGS__)

/* wk_sin(x): Computes the sine of x in radians.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sin_ writes the result into x and returns
 *            x
 * Example:   wk_sin(x) is {0, 1} for x = {0, 1.5708}
 * PyTorch:   torch.sin */
#define wk_sin(...)  WK_EXACT_NEW_(1, wk_sin, "x", __VA_ARGS__)
#define wk_sin_(...) WK_EXACT_(wk_tensor *, 1, wk_sin_, "x", __VA_ARGS__)

/* wk_cos(x): Computes the cosine of x in radians.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_cos_ writes the result into x and returns
 *            x
 * Example:   wk_cos(x) is {1, -1} for x = {0, 3.14159}
 * PyTorch:   torch.cos */
#define wk_cos(...)  WK_EXACT_NEW_(1, wk_cos, "x", __VA_ARGS__)
#define wk_cos_(...) WK_EXACT_(wk_tensor *, 1, wk_cos_, "x", __VA_ARGS__)

/* wk_tan(x): Computes the tangent of x in radians.
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_tan_ writes the result into x and returns
 *            x
 * Example:   wk_tan(x) is {0, 1} for x = {0, 0.785398}
 * PyTorch:   torch.tan */
#define wk_tan(...)  WK_EXACT_NEW_(1, wk_tan, "x", __VA_ARGS__)
#define wk_tan_(...) WK_EXACT_(wk_tensor *, 1, wk_tan_, "x", __VA_ARGS__)

/* wk_asin(x): Computes the inverse sine in [-pi/2, pi/2], NaN for x outside [-1, 1].
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_asin_ writes the result into x and
 *            returns x
 * Example:   wk_asin(x) is {0, 1.5708} for x = {0, 1}
 * PyTorch:   torch.asin */
#define wk_asin(...)  WK_EXACT_NEW_(1, wk_asin, "x", __VA_ARGS__)
#define wk_asin_(...) WK_EXACT_(wk_tensor *, 1, wk_asin_, "x", __VA_ARGS__)

/* wk_acos(x): Computes the inverse cosine in [0, pi], NaN for x outside [-1, 1].
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_acos_ writes the result into x and
 *            returns x
 * Example:   wk_acos(x) is {1.5708, 0} for x = {0, 1}
 * PyTorch:   torch.acos */
#define wk_acos(...)  WK_EXACT_NEW_(1, wk_acos, "x", __VA_ARGS__)
#define wk_acos_(...) WK_EXACT_(wk_tensor *, 1, wk_acos_, "x", __VA_ARGS__)

/* wk_atan(x): Computes the inverse tangent in (-pi/2, pi/2).
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_atan_ writes the result into x and
 *            returns x
 * Example:   wk_atan(x) is {0, 0.785398} for x = {0, 1}
 * PyTorch:   torch.atan */
#define wk_atan(...)  WK_EXACT_NEW_(1, wk_atan, "x", __VA_ARGS__)
#define wk_atan_(...) WK_EXACT_(wk_tensor *, 1, wk_atan_, "x", __VA_ARGS__)

/* wk_sinh(x): Computes the hyperbolic sine.
 *     out = (e^x - e^-x) / 2
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sinh_ writes the result into x and
 *            returns x
 * Example:   wk_sinh(x) is {0, 1.1752} for x = {0, 1}
 * PyTorch:   torch.sinh */
#define wk_sinh(...)  WK_EXACT_NEW_(1, wk_sinh, "x", __VA_ARGS__)
#define wk_sinh_(...) WK_EXACT_(wk_tensor *, 1, wk_sinh_, "x", __VA_ARGS__)

/* wk_cosh(x): Computes the hyperbolic cosine.
 *     out = (e^x + e^-x) / 2
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_cosh_ writes the result into x and
 *            returns x
 * Example:   wk_cosh(x) is {1, 1.54308} for x = {0, 1}
 * PyTorch:   torch.cosh */
#define wk_cosh(...)  WK_EXACT_NEW_(1, wk_cosh, "x", __VA_ARGS__)
#define wk_cosh_(...) WK_EXACT_(wk_tensor *, 1, wk_cosh_, "x", __VA_ARGS__)

/* wk_tanh(x): Computes the hyperbolic tangent.
 *     out = sinh(x) / cosh(x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_tanh_ writes the result into x and
 *            returns x
 * Example:   wk_tanh(x) is {0, 0.761594} for x = {0, 1}
 * PyTorch:   torch.tanh */
#define wk_tanh(...)  WK_EXACT_NEW_(1, wk_tanh, "x", __VA_ARGS__)
#define wk_tanh_(...) WK_EXACT_(wk_tensor *, 1, wk_tanh_, "x", __VA_ARGS__)

/* wk_sigmoid(x): Computes the logistic function.
 *     out = 1 / (1 + e^-x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_sigmoid_ writes the result into x and
 *            returns x
 * Example:   wk_sigmoid(x) is {0.5, 0.731059} for x = {0, 1}
 * PyTorch:   torch.sigmoid */
#define wk_sigmoid(...)  WK_EXACT_NEW_(1, wk_sigmoid, "x", __VA_ARGS__)
#define wk_sigmoid_(...) WK_EXACT_(wk_tensor *, 1, wk_sigmoid_, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_logit(x): Computes the inverse of the logistic function. With .eps, x is clamped to [eps, 1 - eps] first; a
 * negative .eps counts as none. Without it, x outside [0, 1] gives NaN.
 *     out = log(x / (1 - x))
 * Options:   .eps: clamps x to [eps, 1 - eps] first; default: no clamping
 * Dtypes:    any; integers and bool are computed in f32
 * Gradient:  0 where x is clamped; NaN outside [0, 1] without .eps
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_logit_ writes the result into x and
 *            returns x
 * Example:   wk_logit(x, .eps = 0.25) is {-1.098612, 0, 1.098612} for x = {0, 0.5, 0.75}
 * PyTorch:   torch.logit */
#define wk_logit(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_logit, wk_logit_options, __VA_ARGS__))
#define wk_logit_(...) WK_OPT_(wk_tensor *, wk_logit_, wk_logit_options, __VA_ARGS__)

#endif

/* wk_erf(x): Computes the error function.
 *     out = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_erf_ writes the result into x and returns
 *            x
 * Example:   wk_erf(x) is {0, 0.842701} for x = {0, 1}
 * PyTorch:   torch.erf */
#define wk_erf(...)  WK_EXACT_NEW_(1, wk_erf, "x", __VA_ARGS__)
#define wk_erf_(...) WK_EXACT_(wk_tensor *, 1, wk_erf_, "x", __VA_ARGS__)

/* wk_erfc(x): Computes the complementary error function, accurately for large x.
 *     out = 1 - erf(x)
 * Dtypes:    any; integers and bool are computed in f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_erfc_ writes the result into x and
 *            returns x
 * Example:   wk_erfc(x) is {1, 0.157299} for x = {0, 1}
 * PyTorch:   torch.erfc */
#define wk_erfc(...)  WK_EXACT_NEW_(1, wk_erfc, "x", __VA_ARGS__)
#define wk_erfc_(...) WK_EXACT_(wk_tensor *, 1, wk_erfc_, "x", __VA_ARGS__)

/* ---- functions of several operands ------------------------------------------------------------------------------- */
/* Write a number as it is where an operand may be one. The functions behind the macros take a wk_value: a tensor, a
 * number or WK_NONE. */

#ifndef __cplusplus
/* wk_nan_to_num(x): Replaces NaN and infinities by numbers; integers are copied.
 * Options:   .nan: replaces NaN; default 0. .posinf: replaces infinity; default the largest value of the dtype.
 *            .neginf: replaces -infinity; default the lowest value of the dtype
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_nan_to_num_ writes the result into x and
 *            returns x
 * Example:   wk_nan_to_num(x, .posinf = 9) is {1, 0, 9} for x = {1, NAN, INFINITY}
 * PyTorch:   torch.nan_to_num */
#define wk_nan_to_num(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_nan_to_num, wk_nan_to_num_options, __VA_ARGS__))
#define wk_nan_to_num_(...) WK_OPT_(wk_tensor *, wk_nan_to_num_, wk_nan_to_num_options, __VA_ARGS__)

/* wk_clamp(x, low, high): Limits x to [low, high]. Both limits are written, without names; WK_NONE is no limit. For
 * integers a number outside the range of the dtype counts as its nearest value.
 *     out = min(max(x, low), high)
 * Dtypes:    any but bool; a bool x with one limit that is a bool tensor gives bool, with numbers i64
 * Gradient:  0 where x equals a limit that is a number, as in PyTorch 2.15; shared equally with a limit that is a
 *            tensor
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_clamp_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_ARGUMENT if both limits are WK_NONE
 * Example:   wk_clamp(x, 0, WK_NONE) is {0, 2} for x = {-1, 2}
 * PyTorch:   torch.clamp */
#define wk_clamp(x, ...)         WK_NEW_TENSOR_(WK_JOIN_(WK_CLAMP_, WK_COUNT_4_(__VA_ARGS__))(x, __VA_ARGS__))
#define WK_CLAMP_2(x, low, high) wk_clamp_at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define WK_CLAMP_1(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_3(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_WK4_(...)       WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_TEXT_                                                                                                 \
    "wk_clamp: write low and high after x, in this order and without names, WK_NONE for no limit: wk_clamp(x, 0, "     \
    "WK_NONE)"
#define wk_clamp_(x, ...)                 WK_JOIN_(WK_CLAMP_IN_PLACE_, WK_COUNT_4_(__VA_ARGS__))(x, __VA_ARGS__)
#define WK_CLAMP_IN_PLACE_2(x, low, high) wk_clamp__at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define WK_CLAMP_IN_PLACE_1(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_3(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_WK4_(...)       WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_TEXT_                                                                                        \
    "wk_clamp_: write low and high after x, in this order and without names, WK_NONE for no limit: wk_clamp_(x, 0, "   \
    "WK_NONE)"

/* wk_where(condition, a, b): Takes a where condition is true, else b. A number outside the range of the other
 * operand's integer dtype wraps. wk_nonzero_numpy is torch.where with the condition alone.
 * Dtypes:    condition bool; a and b any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if condition is not bool
 * Example:   wk_where(mask, x, 0) is {1, 0} for x = {1, 2}, mask = {true, false}
 * PyTorch:   torch.where, which refuses a number outside the dtype's range */
#define wk_where(condition, a, b) WK_NEW_TENSOR_(wk_where_at(WK_HERE, condition, WK_VALUE_(a), WK_VALUE_(b)))

/* wk_masked_fill(x, mask, value): Replaces the elements of x by value where mask is true. A number outside the range
 * of x's integer dtype wraps.
 * Shapes:    x and mask broadcast; value is a number or a tensor without dimensions
 * Dtypes:    mask bool; value is converted to x's dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_masked_fill_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_DTYPE if mask is not bool; WK_ERR_SHAPE if value has dimensions
 * Example:   wk_masked_fill(x, mask, 9) is {9, 2} for x = {1, 2}, mask = {true, false}
 * PyTorch:   x.masked_fill(mask, value), which refuses a number outside the dtype's range */
#define wk_masked_fill(x, mask, value)  WK_NEW_TENSOR_(wk_masked_fill_at(WK_HERE, x, mask, WK_VALUE_(value)))
#define wk_masked_fill_(x, mask, value) wk_masked_fill__at(WK_HERE, x, mask, WK_VALUE_(value))

/* wk_lerp(a, b, weight): Interpolates linearly between a and b.
 *     out = a + weight (b - a)
 * Dtypes:    floating; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_lerp_ writes the result into a and
 *            returns a
 * Example:   wk_lerp(x, y, 0.5) is {2, 3} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.lerp */
#define wk_lerp(a, b, weight)  WK_NEW_TENSOR_(wk_lerp_at(WK_HERE, a, b, WK_VALUE_(weight)))
#define wk_lerp_(a, b, weight) wk_lerp__at(WK_HERE, a, b, WK_VALUE_(weight))

/* wk_addcmul(x, a, b): Adds a multiple of the product of a and b to x.
 *     out = x + value a b
 * Options:   .value: default 1
 * Dtypes:    any but bool; for integers .value must be an integer of at most 2^53, as it is a double (wk_mul takes
 *            any int64_t)
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_addcmul_ writes the result into x and
 *            returns x
 * Example:   wk_addcmul(x, y, y, .value = 2) is {19, 34} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.addcmul */
#define wk_addcmul(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addcmul, wk_addc_options, "x, a, b", x, a, __VA_ARGS__))
#define wk_addcmul_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcmul_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)

/* wk_addcdiv(x, a, b): Adds a multiple of the quotient of a and b to x.
 *     out = x + value a / b
 * Options:   .value: default 1
 * Dtypes:    floating; out has the promoted dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_addcdiv_ writes the result into x and
 *            returns x
 * Example:   wk_addcdiv(x, x, y, .value = 3) is {2, 3.5} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.addcdiv */
#define wk_addcdiv(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addcdiv, wk_addc_options, "x, a, b", x, a, __VA_ARGS__))
#define wk_addcdiv_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcdiv_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)

#endif

#endif

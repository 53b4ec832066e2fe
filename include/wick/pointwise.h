/* SPDX-License-Identifier: Apache-2.0 */
/* wick/pointwise.h: arithmetic, comparison and functions element by element.
 *
 * Of all of them: operands are broadcast (sizes are equal or 1, from the right); mixed dtypes meet as PyTorch's do;
 * a form whose name ends in _ writes the result into its first operand, whose shape and class of dtype it must fit,
 * and returns it. "Floats": bool and integers become f32 first. Several calls in a row run as one pass over memory.
 * Operands lie on one device; a 0-d tensor of the CPU is a number, as in PyTorch: it is copied to where the others
 * are, as by wk_to, and its gradient comes back.
 *
 * Errors: sizes that do not broadcast, or a result larger than the target of a form in place, are WK_ERR_SHAPE; a
 * dtype that an op does not take, or a result that the target's dtype cannot hold, WK_ERR_DTYPE; other operands on
 * different devices WK_ERR_DEVICE; writing over a leaf that requires grad, or where elements share memory,
 * WK_ERR_STATE. */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#ifndef WICK_POINTWISE_H
#define WICK_POINTWISE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "pointwise_calls.h"

/* ---- arithmetic: a tensor or a number on either side ------------------------------------------------------------- */
/* A whole number stays whole (i64 + 1 is i64), a fraction is a float of the tensor's class (i64 + 0.5 is f32).
 * Either takes the dtype that is computed in, as in PyTorch: u8 with -1 is u8 with 255 (and with 256 it is with 0),
 * and f16 is compared with 0.1 as f16 has it. */

#ifndef __cplusplus
/* wk_add(a, b): a + b; of bool: or
 *
 *     wk_add(x, 1) is {2, 3} for x = {1, 2} */
#define wk_add(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_add, a, b))
#define wk_add_(a, b) WK_ARITH_1_(wk_add_, a, b)

/* wk_sub(a, b): a - b; not of bool
 *
 *     wk_sub(1, x) is {0, -1} for x = {1, 2} */
#define wk_sub(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_sub, a, b))
#define wk_sub_(a, b) WK_ARITH_1_(wk_sub_, a, b)

/* wk_mul(a, b): a b; of bool: and
 *
 *     wk_mul(x, y) is {3, 8} for x = {1, 2}, y = {3, 4} */
#define wk_mul(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_mul, a, b))
#define wk_mul_(a, b) WK_ARITH_1_(wk_mul_, a, b)

/* wk_div(a, b): a / b, floats: 1 / 2 is 0.5; rounding_mode "floor" or "trunc": a whole number, in the operands'
 * dtype.
 * With a rounding_mode an integer by 0 gives 0, and the gradient is 0.
 * Options: .rounding_mode ("floor" or "trunc"; NULL: no rounding).
 * WK_ERR_ARGUMENT for another mode.
 *
 *     wk_div(x, 2, .rounding_mode = "floor") is {-2, 1} for x = {-3, 3} */
#define wk_div(a, ...) WK_NEW_TENSOR_(WK_JOIN_(WK_DIV_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__))
#define WK_DIV_1(a, b) WK_ARITH_(wk_div, a, b)
#define WK_DIV_WK2_(a, b, ...)                                                                                         \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded_at, (WK_VALUE_(a), WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)
#define WK_DIV_TEXT_            "wk_div: options are written by name: wk_div(a, b, .rounding_mode = \"floor\")"
#define wk_div_(a, ...)         WK_JOIN_(WK_DIV_IN_PLACE_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)
#define WK_DIV_IN_PLACE_1(a, b) WK_ARITH_1_(wk_div_, a, b)
#define WK_DIV_IN_PLACE_WK2_(a, b, ...)                                                                                \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded__at, (a, WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)

/* wk_floor_divide(a, b): floor(a / b), Python's //; an integer by 0 gives 0; no gradient
 *
 *     wk_floor_divide(x, 2) is {-2, 1} for x = {-3, 3} */
#define wk_floor_divide(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_floor_divide, a, b))
#define wk_floor_divide_(a, b) WK_ARITH_1_(wk_floor_divide_, a, b)

/* wk_remainder(a, b): a - b floor(a / b), Python's %: the sign of b; an integer by 0 gives 0
 *
 *     wk_remainder(x, 3) is {2, 1} for x = {-4, 4} */
#define wk_remainder(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_remainder, a, b))
#define wk_remainder_(a, b) WK_ARITH_1_(wk_remainder_, a, b)

/* wk_fmod(a, b): a - b trunc(a / b), C's fmod: the sign of a; an integer by 0 gives 0
 *
 *     wk_fmod(x, 3) is {-1, 1} for x = {-4, 4} */
#define wk_fmod(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_fmod, a, b))
#define wk_fmod_(a, b) WK_ARITH_1_(wk_fmod_, a, b)

/* wk_pow(a, b): a^b; integers to a negative number are an error: convert them first.
 * WK_ERR_ARGUMENT where the dtype of integers a does not hold the number b.
 *
 *     wk_pow(x, 2) is {4, 9} for x = {2, 3} */
#define wk_pow(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_pow, a, b))
#define wk_pow_(a, b) WK_ARITH_1_(wk_pow_, a, b)

/* wk_maximum(a, b): the larger of a and b, NaN if one is; equal operands share the gradient
 *
 *     wk_maximum(x, 0) is {0, 2} for x = {-1, 2} */
#define wk_maximum(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_maximum, a, b))

/* wk_minimum(a, b): the smaller of a and b, NaN if one is; equal operands share the gradient
 *
 *     wk_minimum(x, y) is {-1, 1} for x = {-1, 2}, y = {0, 1} */
#define wk_minimum(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_minimum, a, b))

/* wk_atan2(a, b): the angle of the point (b, a) in (-pi, pi], floats; the gradient at (0, 0) is 0
 *
 *     wk_atan2(x, y) is {0.785398, 1.5708} for x = {1, 2}, y = {1, 0} */
#define wk_atan2(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_atan2, a, b))
#define wk_atan2_(a, b) WK_ARITH_1_(wk_atan2_, a, b)

/* wk_logaddexp(a, b): log(e^a + e^b) without overflow; of floats
 *
 *     wk_logaddexp(x, y) is {1.313262, 1000} for x = {0, 1000}, y = {1, 0} */
#define wk_logaddexp(a, b) WK_NEW_TENSOR_(WK_ARITH_(wk_logaddexp, a, b))

/* wk_hypot(a, b): the length of (a, b), sqrt(a^2 + b^2), without overflow; of floats; the gradient at (0, 0) is 0
 *
 *     wk_hypot(x, y) is {5, 5e+30} for x = {3, 3e+30}, y = {4, 4e+30} */
#define wk_hypot(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_hypot, a, b))
#define wk_hypot_(a, b) WK_ARITH_1_(wk_hypot_, a, b)

/* wk_copysign(a, b): |a| with the sign of b, which a zero has, too; floats.
 * A NaN has no sign of its own here: as b it counts as positive. The gradient goes to a alone, 1 or -1 times; it is
 * 0 where a is 0, and b's is 0.
 *
 *     wk_copysign(x, y) is {-1, 2, -3} for x = {1, -2, 3}, y = {-0.5, 4, -0.0} */
#define wk_copysign(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_copysign, a, b))
#define wk_copysign_(a, b) WK_ARITH_1_(wk_copysign_, a, b)

/* ---- comparison and logic: a tensor or a number on either side --------------------------------------------------- */
/* The result of a comparison and of logic is bool, without a gradient; in place it is 0 or 1 in the dtype of a. */

/* wk_eq(a, b): a == b, element by element, as bools; in a condition of C: wk_item(wk_all(..))
 *
 *     wk_eq(x, y) is {0, 1} for x = {1, 2}, y = {3, 2} */
#define wk_eq(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_eq, a, b))
#define wk_eq_(a, b) WK_ARITH_1_(wk_eq_, a, b)

/* wk_ne(a, b): a != b
 *
 *     wk_ne(x, 2) is {1, 0} for x = {1, 2} */
#define wk_ne(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_ne, a, b))
#define wk_ne_(a, b) WK_ARITH_1_(wk_ne_, a, b)

/* wk_lt(a, b): a < b
 *
 *     wk_lt(x, 2) is {1, 0} for x = {1, 2} */
#define wk_lt(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_lt, a, b))
#define wk_lt_(a, b) WK_ARITH_1_(wk_lt_, a, b)

/* wk_le(a, b): a <= b
 *
 *     wk_le(x, 2) is {1, 1} for x = {1, 2} */
#define wk_le(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_le, a, b))
#define wk_le_(a, b) WK_ARITH_1_(wk_le_, a, b)

/* wk_gt(a, b): a > b
 *
 *     wk_gt(x, 1) is {0, 1} for x = {1, 2} */
#define wk_gt(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_gt, a, b))
#define wk_gt_(a, b) WK_ARITH_1_(wk_gt_, a, b)

/* wk_ge(a, b): a >= b
 *
 *     wk_ge(1.5, x) is {1, 0} for x = {1, 2} */
#define wk_ge(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_ge, a, b))
#define wk_ge_(a, b) WK_ARITH_1_(wk_ge_, a, b)

/* wk_logical_and(a, b): a != 0 and b != 0
 *
 *     wk_logical_and(x, y) is {0, 1} for x = {0, 2}, y = {1, 1} */
#define wk_logical_and(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_and, a, b))
#define wk_logical_and_(a, b) WK_ARITH_1_(wk_logical_and_, a, b)

/* wk_logical_or(a, b): a != 0 or b != 0
 *
 *     wk_logical_or(x, y) is {0, 1} for x = {0, 2}, y = {0, 1} */
#define wk_logical_or(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_or, a, b))
#define wk_logical_or_(a, b) WK_ARITH_1_(wk_logical_or_, a, b)

/* wk_logical_xor(a, b): one of a, b is 0, the other is not
 *
 *     wk_logical_xor(x, y) is {1, 0} for x = {0, 2}, y = {1, 1} */
#define wk_logical_xor(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_logical_xor, a, b))
#define wk_logical_xor_(a, b) WK_ARITH_1_(wk_logical_xor_, a, b)

/* wk_bitwise_and(a, b): a & b, bit by bit, of integers and bool; the result has the operands' dtype
 *
 *     wk_bitwise_and(wk_to_dtype(x, WK_I64), 6) is {4, 2} for x = {5, 3} */
#define wk_bitwise_and(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_and, a, b))
#define wk_bitwise_and_(a, b) WK_ARITH_1_(wk_bitwise_and_, a, b)

/* wk_bitwise_or(a, b): a | b, bit by bit, of integers and bool; the result has the operands' dtype
 *
 *     wk_bitwise_or(wk_to_dtype(x, WK_I64), 6) is {7, 7} for x = {5, 3} */
#define wk_bitwise_or(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_or, a, b))
#define wk_bitwise_or_(a, b) WK_ARITH_1_(wk_bitwise_or_, a, b)

/* wk_bitwise_xor(a, b): a ^ b, bit by bit, of integers and bool; the result has the operands' dtype
 *
 *     wk_bitwise_xor(wk_to_dtype(x, WK_I64), 6) is {3, 5} for x = {5, 3} */
#define wk_bitwise_xor(a, b)  WK_NEW_TENSOR_(WK_ARITH_(wk_bitwise_xor, a, b))
#define wk_bitwise_xor_(a, b) WK_ARITH_1_(wk_bitwise_xor_, a, b)

#endif

/* ---- functions of one tensor: wk_NAME(x), and in place wk_NAME_(x) ----------------------------------------------- */
/* The dtype stays, but for what gives bool. */

/* wk_logical_not(x): x == 0, bool
 *
 *     wk_logical_not(x) is {1, 0} for x = {0, 2} */
#define wk_logical_not(...)  WK_EXACT_NEW_(1, wk_logical_not, "x", __VA_ARGS__)
#define wk_logical_not_(...) WK_EXACT_(wk_tensor *, 1, wk_logical_not_, "x", __VA_ARGS__)

/* wk_bitwise_not(x): ~x, every bit the other way; of bool: not; of integers and bool
 *
 *     wk_bitwise_not(wk_to_dtype(x, WK_I64)) is {-6, -1} for x = {5, 0} */
#define wk_bitwise_not(...)  WK_EXACT_NEW_(1, wk_bitwise_not, "x", __VA_ARGS__)
#define wk_bitwise_not_(...) WK_EXACT_(wk_tensor *, 1, wk_bitwise_not_, "x", __VA_ARGS__)

/* wk_isnan(x): is x NaN? bool; integers never are
 *
 *     wk_isnan(x) is {0, 1, 0} for x = {1, NAN, INFINITY} */
#define wk_isnan(...) WK_EXACT_NEW_(1, wk_isnan, "x", __VA_ARGS__)

/* wk_isinf(x): is x an infinity, of either sign? bool
 *
 *     wk_isinf(x) is {0, 0, 1} for x = {1, NAN, INFINITY} */
#define wk_isinf(...) WK_EXACT_NEW_(1, wk_isinf, "x", __VA_ARGS__)

/* wk_isfinite(x): neither NaN nor an infinity; bool
 *
 *     wk_isfinite(x) is {1, 0, 0} for x = {1, NAN, INFINITY} */
#define wk_isfinite(...) WK_EXACT_NEW_(1, wk_isfinite, "x", __VA_ARGS__)

/* wk_neg(x): -x; not of bool
 *
 *     wk_neg(x) is {-1, 2} for x = {1, -2} */
#define wk_neg(...)  WK_EXACT_NEW_(1, wk_neg, "x", __VA_ARGS__)
#define wk_neg_(...) WK_EXACT_(wk_tensor *, 1, wk_neg_, "x", __VA_ARGS__)

/* wk_abs(x): |x|; the gradient at 0 is 0
 *
 *     wk_abs(x) is {1, 2} for x = {1, -2} */
#define wk_abs(...)  WK_EXACT_NEW_(1, wk_abs, "x", __VA_ARGS__)
#define wk_abs_(...) WK_EXACT_(wk_tensor *, 1, wk_abs_, "x", __VA_ARGS__)

/* wk_sign(x): -1, 0 or 1
 *
 *     wk_sign(x) is {-1, 0, 1} for x = {-3, 0, 2} */
#define wk_sign(...)  WK_EXACT_NEW_(1, wk_sign, "x", __VA_ARGS__)
#define wk_sign_(...) WK_EXACT_(wk_tensor *, 1, wk_sign_, "x", __VA_ARGS__)

/* wk_floor(x): rounded down: the largest whole number that is not above x; the gradient is 0
 *
 *     wk_floor(x) is {-2, 1} for x = {-1.5, 1.5} */
#define wk_floor(...)  WK_EXACT_NEW_(1, wk_floor, "x", __VA_ARGS__)
#define wk_floor_(...) WK_EXACT_(wk_tensor *, 1, wk_floor_, "x", __VA_ARGS__)

/* wk_ceil(x): rounded up: the smallest whole number that is not below x; the gradient is 0
 *
 *     wk_ceil(x) is {-1, 2} for x = {-1.5, 1.5} */
#define wk_ceil(...)  WK_EXACT_NEW_(1, wk_ceil, "x", __VA_ARGS__)
#define wk_ceil_(...) WK_EXACT_(wk_tensor *, 1, wk_ceil_, "x", __VA_ARGS__)

/* wk_trunc(x): rounded towards 0; the gradient is 0
 *
 *     wk_trunc(x) is {-1, 1} for x = {-1.5, 1.5} */
#define wk_trunc(...)  WK_EXACT_NEW_(1, wk_trunc, "x", __VA_ARGS__)
#define wk_trunc_(...) WK_EXACT_(wk_tensor *, 1, wk_trunc_, "x", __VA_ARGS__)

/* wk_square(x): x^2
 *
 *     wk_square(x) is {1, 4} for x = {1, -2} */
#define wk_square(...)  WK_EXACT_NEW_(1, wk_square, "x", __VA_ARGS__)
#define wk_square_(...) WK_EXACT_(wk_tensor *, 1, wk_square_, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_round(x): to the nearest whole number, or one with this many decimals; half to even; the gradient is 0.
 * To a number of decimals of floats only; .decimals = -3: to thousands.
 * Options: .decimals (default 0).
 *
 *     wk_round(x, .decimals = 2) is {1.57, 2} for x = {1.5708, 2} */
#define wk_round(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_round, wk_round_options, __VA_ARGS__))
#define wk_round_(...) WK_OPT_(wk_tensor *, wk_round_, wk_round_options, __VA_ARGS__)

#endif

/* ---- functions of floats: bool and integers become f32 first ----------------------------------------------------- */

/* wk_sqrt(x): square root; NaN below 0
 *
 *     wk_sqrt(x) is {2, 3} for x = {4, 9} */
#define wk_sqrt(...)  WK_EXACT_NEW_(1, wk_sqrt, "x", __VA_ARGS__)
#define wk_sqrt_(...) WK_EXACT_(wk_tensor *, 1, wk_sqrt_, "x", __VA_ARGS__)

/* wk_rsqrt(x): 1 / sqrt(x)
 *
 *     wk_rsqrt(x) is {0.5, 2} for x = {4, 0.25} */
#define wk_rsqrt(...)  WK_EXACT_NEW_(1, wk_rsqrt, "x", __VA_ARGS__)
#define wk_rsqrt_(...) WK_EXACT_(wk_tensor *, 1, wk_rsqrt_, "x", __VA_ARGS__)

/* wk_reciprocal(x): 1 / x
 *
 *     wk_reciprocal(x) is {0.5, -4} for x = {2, -0.25} */
#define wk_reciprocal(...)  WK_EXACT_NEW_(1, wk_reciprocal, "x", __VA_ARGS__)
#define wk_reciprocal_(...) WK_EXACT_(wk_tensor *, 1, wk_reciprocal_, "x", __VA_ARGS__)

/* wk_exp(x): e^x
 *
 *     wk_exp(x) is {1, 2.71828} for x = {0, 1} */
#define wk_exp(...)  WK_EXACT_NEW_(1, wk_exp, "x", __VA_ARGS__)
#define wk_exp_(...) WK_EXACT_(wk_tensor *, 1, wk_exp_, "x", __VA_ARGS__)

/* wk_expm1(x): e^x - 1, exact near 0
 *
 *     wk_expm1(x) is {0, 1.71828} for x = {0, 1} */
#define wk_expm1(...)  WK_EXACT_NEW_(1, wk_expm1, "x", __VA_ARGS__)
#define wk_expm1_(...) WK_EXACT_(wk_tensor *, 1, wk_expm1_, "x", __VA_ARGS__)

/* wk_exp2(x): 2^x
 *
 *     wk_exp2(x) is {0.5, 8} for x = {-1, 3} */
#define wk_exp2(...)  WK_EXACT_NEW_(1, wk_exp2, "x", __VA_ARGS__)
#define wk_exp2_(...) WK_EXACT_(wk_tensor *, 1, wk_exp2_, "x", __VA_ARGS__)

/* wk_log(x): natural logarithm; NaN below 0
 *
 *     wk_log(x) is {0, 0.693147} for x = {1, 2} */
#define wk_log(...)  WK_EXACT_NEW_(1, wk_log, "x", __VA_ARGS__)
#define wk_log_(...) WK_EXACT_(wk_tensor *, 1, wk_log_, "x", __VA_ARGS__)

/* wk_log1p(x): log(1 + x), exact near 0; NaN below -1
 *
 *     wk_log1p(x) is {0, 0.693147} for x = {0, 1} */
#define wk_log1p(...)  WK_EXACT_NEW_(1, wk_log1p, "x", __VA_ARGS__)
#define wk_log1p_(...) WK_EXACT_(wk_tensor *, 1, wk_log1p_, "x", __VA_ARGS__)

/* wk_log2(x): logarithm to base 2; NaN below 0
 *
 *     wk_log2(x) is {-1, 3} for x = {0.5, 8} */
#define wk_log2(...)  WK_EXACT_NEW_(1, wk_log2, "x", __VA_ARGS__)
#define wk_log2_(...) WK_EXACT_(wk_tensor *, 1, wk_log2_, "x", __VA_ARGS__)

/* wk_log10(x): logarithm to base 10; NaN below 0
 *
 *     wk_log10(x) is {-1, 2} for x = {0.1, 100} */
#define wk_log10(...)  WK_EXACT_NEW_(1, wk_log10, "x", __VA_ARGS__)
#define wk_log10_(...) WK_EXACT_(wk_tensor *, 1, wk_log10_, "x", __VA_ARGS__)

/* wk_sin(x): sine, of an angle in radians
 *
 *     wk_sin(x) is {0, 1} for x = {0, 1.5708} */
#define wk_sin(...)  WK_EXACT_NEW_(1, wk_sin, "x", __VA_ARGS__)
#define wk_sin_(...) WK_EXACT_(wk_tensor *, 1, wk_sin_, "x", __VA_ARGS__)

/* wk_cos(x): cosine, of an angle in radians
 *
 *     wk_cos(x) is {1, -1} for x = {0, 3.14159} */
#define wk_cos(...)  WK_EXACT_NEW_(1, wk_cos, "x", __VA_ARGS__)
#define wk_cos_(...) WK_EXACT_(wk_tensor *, 1, wk_cos_, "x", __VA_ARGS__)

/* wk_tan(x): tangent, of an angle in radians
 *
 *     wk_tan(x) is {0, 1} for x = {0, 0.785398} */
#define wk_tan(...)  WK_EXACT_NEW_(1, wk_tan, "x", __VA_ARGS__)
#define wk_tan_(...) WK_EXACT_(wk_tensor *, 1, wk_tan_, "x", __VA_ARGS__)

/* wk_asin(x): inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1]
 *
 *     wk_asin(x) is {0, 1.5708} for x = {0, 1} */
#define wk_asin(...)  WK_EXACT_NEW_(1, wk_asin, "x", __VA_ARGS__)
#define wk_asin_(...) WK_EXACT_(wk_tensor *, 1, wk_asin_, "x", __VA_ARGS__)

/* wk_acos(x): inverse cosine, in [0, pi]; NaN outside [-1, 1]
 *
 *     wk_acos(x) is {1.5708, 0} for x = {0, 1} */
#define wk_acos(...)  WK_EXACT_NEW_(1, wk_acos, "x", __VA_ARGS__)
#define wk_acos_(...) WK_EXACT_(wk_tensor *, 1, wk_acos_, "x", __VA_ARGS__)

/* wk_atan(x): inverse tangent, in (-pi/2, pi/2)
 *
 *     wk_atan(x) is {0, 0.785398} for x = {0, 1} */
#define wk_atan(...)  WK_EXACT_NEW_(1, wk_atan, "x", __VA_ARGS__)
#define wk_atan_(...) WK_EXACT_(wk_tensor *, 1, wk_atan_, "x", __VA_ARGS__)

/* wk_sinh(x): (e^x - e^-x) / 2
 *
 *     wk_sinh(x) is {0, 1.1752} for x = {0, 1} */
#define wk_sinh(...)  WK_EXACT_NEW_(1, wk_sinh, "x", __VA_ARGS__)
#define wk_sinh_(...) WK_EXACT_(wk_tensor *, 1, wk_sinh_, "x", __VA_ARGS__)

/* wk_cosh(x): (e^x + e^-x) / 2
 *
 *     wk_cosh(x) is {1, 1.54308} for x = {0, 1} */
#define wk_cosh(...)  WK_EXACT_NEW_(1, wk_cosh, "x", __VA_ARGS__)
#define wk_cosh_(...) WK_EXACT_(wk_tensor *, 1, wk_cosh_, "x", __VA_ARGS__)

/* wk_tanh(x): sinh(x) / cosh(x)
 *
 *     wk_tanh(x) is {0, 0.761594} for x = {0, 1} */
#define wk_tanh(...)  WK_EXACT_NEW_(1, wk_tanh, "x", __VA_ARGS__)
#define wk_tanh_(...) WK_EXACT_(wk_tensor *, 1, wk_tanh_, "x", __VA_ARGS__)

/* wk_sigmoid(x): 1 / (1 + e^-x)
 *
 *     wk_sigmoid(x) is {0.5, 0.731059} for x = {0, 1} */
#define wk_sigmoid(...)  WK_EXACT_NEW_(1, wk_sigmoid, "x", __VA_ARGS__)
#define wk_sigmoid_(...) WK_EXACT_(wk_tensor *, 1, wk_sigmoid_, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_logit(x): log(x / (1 - x)), the inverse of sigmoid; eps: of x clamped to eps .. 1 - eps; without it NaN outside
 * of 0 .. 1.
 * The gradient is 0 where x is clamped, and NaN outside of 0 .. 1 without eps. A negative eps is none.
 * Options: .eps (default: x is not clamped).
 *
 *     wk_logit(x, .eps = 0.25) is {-1.098612, 0, 1.098612} for x = {0, 0.5, 0.75} */
#define wk_logit(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_logit, wk_logit_options, __VA_ARGS__))
#define wk_logit_(...) WK_OPT_(wk_tensor *, wk_logit_, wk_logit_options, __VA_ARGS__)

#endif

/* wk_erf(x): error function: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x
 *
 *     wk_erf(x) is {0, 0.842701} for x = {0, 1} */
#define wk_erf(...)  WK_EXACT_NEW_(1, wk_erf, "x", __VA_ARGS__)
#define wk_erf_(...) WK_EXACT_(wk_tensor *, 1, wk_erf_, "x", __VA_ARGS__)

/* wk_erfc(x): 1 - erf(x), exact for large x
 *
 *     wk_erfc(x) is {1, 0.157299} for x = {0, 1} */
#define wk_erfc(...)  WK_EXACT_NEW_(1, wk_erfc, "x", __VA_ARGS__)
#define wk_erfc_(...) WK_EXACT_(wk_tensor *, 1, wk_erfc_, "x", __VA_ARGS__)

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* wk_relu(x): max(x, 0); the gradient at 0 is 0
 *
 *     wk_relu(x) is {0, 2} for x = {-1, 2} */
#define wk_relu(...)  WK_EXACT_NEW_(1, wk_relu, "x", __VA_ARGS__)
#define wk_relu_(...) WK_EXACT_(wk_tensor *, 1, wk_relu_, "x", __VA_ARGS__)

/* wk_relu6(x): min(max(x, 0), 6); the gradient at 0 and 6 is 0
 *
 *     wk_relu6(x) is {0, 2, 6} for x = {-1, 2, 9} */
#define wk_relu6(...)  WK_EXACT_NEW_(1, wk_relu6, "x", __VA_ARGS__)
#define wk_relu6_(...) WK_EXACT_(wk_tensor *, 1, wk_relu6_, "x", __VA_ARGS__)

/* wk_selu(x): 1.0507 x for x > 0, else 1.7581 (e^x - 1)
 *
 *     wk_selu(x) is {-1.11133, 1.0507} for x = {-1, 1} */
#define wk_selu(...)  WK_EXACT_NEW_(1, wk_selu, "x", __VA_ARGS__)
#define wk_selu_(...) WK_EXACT_(wk_tensor *, 1, wk_selu_, "x", __VA_ARGS__)

/* wk_silu(x): x sigmoid(x), also called swish
 *
 *     wk_silu(x) is {0, 0.731059} for x = {0, 1} */
#define wk_silu(...)  WK_EXACT_NEW_(1, wk_silu, "x", __VA_ARGS__)
#define wk_silu_(...) WK_EXACT_(wk_tensor *, 1, wk_silu_, "x", __VA_ARGS__)

/* wk_mish(x): x tanh(softplus(x))
 *
 *     wk_mish(x) is {0, 0.865098} for x = {0, 1} */
#define wk_mish(...)  WK_EXACT_NEW_(1, wk_mish, "x", __VA_ARGS__)
#define wk_mish_(...) WK_EXACT_(wk_tensor *, 1, wk_mish_, "x", __VA_ARGS__)

/* wk_hardsigmoid(x): relu6(x + 3) / 6
 *
 *     wk_hardsigmoid(x) is {0, 0.5, 1} for x = {-4, 0, 4} */
#define wk_hardsigmoid(...)  WK_EXACT_NEW_(1, wk_hardsigmoid, "x", __VA_ARGS__)
#define wk_hardsigmoid_(...) WK_EXACT_(wk_tensor *, 1, wk_hardsigmoid_, "x", __VA_ARGS__)

/* wk_hardswish(x): x relu6(x + 3) / 6
 *
 *     wk_hardswish(x) is {-0.0, 0.666667, 4} for x = {-4, 1, 4} */
#define wk_hardswish(...)  WK_EXACT_NEW_(1, wk_hardswish, "x", __VA_ARGS__)
#define wk_hardswish_(...) WK_EXACT_(wk_tensor *, 1, wk_hardswish_, "x", __VA_ARGS__)

/* wk_softsign(x): x / (1 + |x|)
 *
 *     wk_softsign(x) is {-0.5, 0.75} for x = {-1, 3} */
#define wk_softsign(...) WK_EXACT_NEW_(1, wk_softsign, "x", __VA_ARGS__)

/* wk_logsigmoid(x): log(sigmoid(x))
 *
 *     wk_logsigmoid(x) is {-0.693147, -0.313262} for x = {0, 1} */
#define wk_logsigmoid(...) WK_EXACT_NEW_(1, wk_logsigmoid, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_leaky_relu(x): x for x > 0, else negative_slope x.
 * Options: .negative_slope (default 0.01).
 *
 *     wk_leaky_relu(x) is {-0.01, 1} for x = {-1, 1} */
#define wk_leaky_relu(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_leaky_relu, wk_leaky_relu_options, __VA_ARGS__))
#define wk_leaky_relu_(...) WK_OPT_(wk_tensor *, wk_leaky_relu_, wk_leaky_relu_options, __VA_ARGS__)

/* wk_elu(x): x for x > 0, else alpha (e^x - 1).
 * Options: .alpha (default 1).
 *
 *     wk_elu(x, .alpha = 2) is {-1.26424, 1} for x = {-1, 1} */
#define wk_elu(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_elu, wk_elu_options, __VA_ARGS__))
#define wk_elu_(...) WK_OPT_(wk_tensor *, wk_elu_, wk_elu_options, __VA_ARGS__)

/* wk_gelu(x): x (1 + erf(x / sqrt(2))) / 2; approximate "tanh": with tanh.
 * That is x Phi(x), with Phi the distribution function of the normal distribution; or its approximation x (1 +
 * tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
 * Options: .approximate (WK_GELU_NONE or WK_GELU_TANH).
 * In PyTorch: approximate="tanh" is .approximate = WK_GELU_TANH.
 *
 *     wk_gelu(x, .approximate = WK_GELU_TANH) is {0, 0.841192} for x = {0, 1} */
#define wk_gelu(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_gelu, wk_gelu_options, __VA_ARGS__))

/* wk_softplus(x): log(1 + e^(beta x)) / beta; x where beta x > threshold.
 * Options: .beta (default 1), .threshold (default 20).
 *
 *     wk_softplus(x) is {0.693147, 30} for x = {0, 30} */
#define wk_softplus(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_softplus, wk_softplus_options, __VA_ARGS__))

/* wk_hardtanh(x): min_val below it, max_val above it, x between; the gradient at a limit is 0.
 * Options: .min_val (default -1), .max_val (default 1).
 * WK_ERR_ARGUMENT where min_val > max_val.
 *
 *     wk_hardtanh(x) is {-1, 0.5, 1} for x = {-2, 0.5, 3} */
#define wk_hardtanh(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_hardtanh, wk_hardtanh_options, __VA_ARGS__))
#define wk_hardtanh_(...) WK_OPT_(wk_tensor *, wk_hardtanh_, wk_hardtanh_options, __VA_ARGS__)

/* ---- of several operands ----------------------------------------------------------------------------------------- */
/* Where a number may stand in the place of a tensor, it is written as it is; the functions take a wk_value, which is
 * a tensor, a number or WK_NONE, neither. */

/* wk_nan_to_num(x): numbers in place of NaN and the infinities; integers come back as they are.
 * Options: .nan (for NaN; default 0), .posinf (for infinity; default the largest number of the dtype), .neginf (for
 * -infinity; default the lowest).
 *
 *     wk_nan_to_num(x, .posinf = 9) is {1, 0, 9} for x = {1, NAN, INFINITY} */
#define wk_nan_to_num(...)  WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_nan_to_num, wk_nan_to_num_options, __VA_ARGS__))
#define wk_nan_to_num_(...) WK_OPT_(wk_tensor *, wk_nan_to_num_, wk_nan_to_num_options, __VA_ARGS__)

/* wk_clamp(x, low, high): min(max(x, low), high); WK_NONE for no limit on a side.
 * Both limits are written, without names. Of integers a number past what their dtype holds is the last that it does.
 * Where x meets a limit, its gradient is 0 if that is a number, as in PyTorch 2.15; a tensor and x get half each. A
 * bool with one limit that is a bool tensor gives bool, with numbers i64.
 * WK_ERR_ARGUMENT without any limit.
 *
 *     wk_clamp(x, 0, WK_NONE) is {0, 2} for x = {-1, 2} */
#define wk_clamp(x, ...)         WK_NEW_TENSOR_(WK_JOIN_(WK_CLAMP_, WK_COUNT_4_(__VA_ARGS__))(x, __VA_ARGS__))
#define WK_CLAMP_2(x, low, high) wk_clamp_at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define WK_CLAMP_1(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_3(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_WK4_(...)       WK_REFUSE_(wk_tensor *, WK_CLAMP_TEXT_)
#define WK_CLAMP_TEXT_                                                                                                 \
    "wk_clamp: low and high stand behind x in this order and without names, WK_NONE for one that is not there: "       \
    "wk_clamp(x, 0, WK_NONE)"
#define wk_clamp_(x, ...)                 WK_JOIN_(WK_CLAMP_IN_PLACE_, WK_COUNT_4_(__VA_ARGS__))(x, __VA_ARGS__)
#define WK_CLAMP_IN_PLACE_2(x, low, high) wk_clamp__at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define WK_CLAMP_IN_PLACE_1(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_3(...)          WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_WK4_(...)       WK_REFUSE_(wk_tensor *, WK_CLAMP_IN_PLACE_TEXT_)
#define WK_CLAMP_IN_PLACE_TEXT_                                                                                        \
    "wk_clamp_: low and high stand behind x in this order and without names, WK_NONE for one that is not there: "      \
    "wk_clamp_(x, 0, WK_NONE)"

/* wk_where(condition, a, b): a where the condition (bool) holds, else b.
 * A number beyond what the tensor's integer dtype holds wraps, where PyTorch refuses it. For where with the
 * condition alone see wk_nonzero_numpy.
 *
 *     wk_where(mask, x, 0) is {1, 0} for x = {1, 2}, mask = {true, false} */
#define wk_where(condition, a, b) WK_NEW_TENSOR_(wk_where_at(WK_HERE, condition, WK_VALUE_(a), WK_VALUE_(b)))

/* wk_masked_fill(x, mask, value): value (a number or a 0-d tensor, converted to x's dtype) where mask (bool,
 * broadcast) holds, else x.
 * A number beyond what an integer dtype holds wraps, where PyTorch refuses it.
 *
 *     wk_masked_fill(x, mask, 9) is {9, 2} for x = {1, 2}, mask = {true, false} */
#define wk_masked_fill(x, mask, value)  WK_NEW_TENSOR_(wk_masked_fill_at(WK_HERE, x, mask, WK_VALUE_(value)))
#define wk_masked_fill_(x, mask, value) wk_masked_fill__at(WK_HERE, x, mask, WK_VALUE_(value))

/* wk_lerp(a, b, weight): a + weight (b - a), of floats
 *
 *     wk_lerp(x, y, 0.5) is {2, 3} for x = {1, 2}, y = {3, 4} */
#define wk_lerp(a, b, weight)  WK_NEW_TENSOR_(wk_lerp_at(WK_HERE, a, b, WK_VALUE_(weight)))
#define wk_lerp_(a, b, weight) wk_lerp__at(WK_HERE, a, b, WK_VALUE_(weight))

/* wk_addcmul(x, a, b): x + value a b.
 * .value is a double: of integers it must be exact as one, as all whole numbers up to 2^53 are; beyond, see wk_mul.
 * Options: .value (default 1).
 *
 *     wk_addcmul(x, y, y, .value = 2) is {19, 34} for x = {1, 2}, y = {3, 4} */
#define wk_addcmul(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addcmul, wk_addc_options, "x, a, b", x, a, __VA_ARGS__))
#define wk_addcmul_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcmul_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)

/* wk_addcdiv(x, a, b): x + value a / b, of floats.
 * Options: .value (default 1).
 *
 *     wk_addcdiv(x, x, y, .value = 3) is {2, 3.5} for x = {1, 2}, y = {3, 4} */
#define wk_addcdiv(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addcdiv, wk_addc_options, "x, a, b", x, a, __VA_ARGS__))
#define wk_addcdiv_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcdiv_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)

#endif

#endif

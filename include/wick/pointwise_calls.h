/* SPDX-License-Identifier: Apache-2.0 */
/* wick/pointwise_calls.h: the functions behind wick/pointwise.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * tells the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 stands for all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#ifndef WICK_POINTWISE_CALLS_H
#define WICK_POINTWISE_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arithmetic: a tensor or a number on either side ------------------------------------------------------------- */

/* add: a + b; of bool: or */
WK_RESULT_API wk_tensor *wk_add_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_add_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_add_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_add__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_add__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_add__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* sub: a - b; not of bool */
WK_RESULT_API wk_tensor *wk_sub_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_sub_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_sub_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_sub__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_sub__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_sub__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* mul: a b; of bool: and */
WK_RESULT_API wk_tensor *wk_mul_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_mul_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_mul_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mul__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mul__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_mul__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* div: a / b, floats: 1 / 2 is 0.5; rounding_mode "floor" or "trunc": a whole number, in the operands' dtype */
typedef struct wk_div_options {
    size_t size;
    wk_by_name by_name;
    const char *rounding_mode; /* "floor" or "trunc"; NULL: no rounding */
} wk_div_options;
#ifndef __cplusplus
#define wk_div_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_div_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_div_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_div_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_div_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_div_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_div(wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_div_rounded_at(wk_site site, wk_value a, wk_value b, const wk_div_options *options);
WK_API wk_tensor *wk_div__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_div__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_div__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_API wk_tensor *wk_div_rounded__at(wk_site site, wk_tensor *a, wk_value b, const wk_div_options *options);

/* floor_divide: floor(a / b), Python's //; an integer by 0 gives 0; no gradient */
WK_RESULT_API wk_tensor *wk_floor_divide_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_floor_divide_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_floor_divide_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_floor_divide__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_floor_divide__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_floor_divide__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* remainder: a - b floor(a / b), Python's %: the sign of b; an integer by 0 gives 0 */
WK_RESULT_API wk_tensor *wk_remainder_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_remainder_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_remainder_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_remainder__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_remainder__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_remainder__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* fmod: a - b trunc(a / b), C's fmod: the sign of a; an integer by 0 gives 0 */
WK_RESULT_API wk_tensor *wk_fmod_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_fmod_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_fmod_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_fmod__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_fmod__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_fmod__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* pow: a^b; integers to a negative number are an error: convert them first */
WK_RESULT_API wk_tensor *wk_pow_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_pow_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_pow_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_pow__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_pow__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_pow__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* maximum: the larger of a and b, NaN if one is; equal operands share the gradient */
WK_RESULT_API wk_tensor *wk_maximum_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_maximum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_maximum_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum(wk_tensor *a, wk_tensor *b);

/* minimum: the smaller of a and b, NaN if one is; equal operands share the gradient */
WK_RESULT_API wk_tensor *wk_minimum_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_minimum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_minimum_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum(wk_tensor *a, wk_tensor *b);

/* atan2: the angle of the point (b, a) in (-pi, pi], floats; the gradient at (0, 0) is 0 */
WK_RESULT_API wk_tensor *wk_atan2_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_atan2_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_atan2_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_atan2__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_atan2__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_atan2__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logaddexp: log(e^a + e^b) without overflow; of floats */
WK_RESULT_API wk_tensor *wk_logaddexp_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logaddexp_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logaddexp_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp(wk_tensor *a, wk_tensor *b);

/* hypot: the length of (a, b), sqrt(a^2 + b^2), without overflow; of floats; the gradient at (0, 0) is 0 */
WK_RESULT_API wk_tensor *wk_hypot_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_hypot_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_hypot_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_hypot__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_hypot__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_hypot__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* copysign: |a| with the sign of b, which a zero has, too; floats */
WK_RESULT_API wk_tensor *wk_copysign_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_copysign_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_copysign_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_copysign_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_copysign_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_copysign(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_copysign__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_copysign__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_copysign__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ---- comparison and logic: a tensor or a number on either side --------------------------------------------------- */

/* eq: a == b, element by element, as bools; in a condition of C: wk_item(wk_all(..)) */
WK_RESULT_API wk_tensor *wk_eq_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_eq_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_eq_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_eq__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_eq__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_eq__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ne: a != b */
WK_RESULT_API wk_tensor *wk_ne_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_ne_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_ne_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ne__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ne__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_ne__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* lt: a < b */
WK_RESULT_API wk_tensor *wk_lt_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_lt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_lt_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_lt__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_lt__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_lt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* le: a <= b */
WK_RESULT_API wk_tensor *wk_le_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_le_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_le_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_le__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_le__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_le__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* gt: a > b */
WK_RESULT_API wk_tensor *wk_gt_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_gt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_gt_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_gt__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_gt__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_gt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ge: a >= b */
WK_RESULT_API wk_tensor *wk_ge_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_ge_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_ge_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ge__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ge__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_ge__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_and: a != 0 and b != 0 */
WK_RESULT_API wk_tensor *wk_logical_and_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_and__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_and__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_or: a != 0 or b != 0 */
WK_RESULT_API wk_tensor *wk_logical_or_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_or__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_or__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_xor: one of a, b is 0, the other is not */
WK_RESULT_API wk_tensor *wk_logical_xor_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_xor__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_and: a & b, bit by bit, of integers and bool; the result has the operands' dtype */
WK_RESULT_API wk_tensor *wk_bitwise_and_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_and__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_and__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_or: a | b, bit by bit, of integers and bool; the result has the operands' dtype */
WK_RESULT_API wk_tensor *wk_bitwise_or_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_or__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_or__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_xor: a ^ b, bit by bit, of integers and bool; the result has the operands' dtype */
WK_RESULT_API wk_tensor *wk_bitwise_xor_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_xor__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ---- functions of one tensor: wk_NAME(x), and in place wk_NAME_(x) ----------------------------------------------- */

/* logical_not: x == 0, bool */
WK_RESULT_API wk_tensor *wk_logical_not_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_logical_not(wk_tensor *x);
WK_API wk_tensor *wk_logical_not__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_logical_not_(wk_tensor *x);

/* bitwise_not: ~x, every bit the other way; of bool: not; of integers and bool */
WK_RESULT_API wk_tensor *wk_bitwise_not_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_bitwise_not(wk_tensor *x);
WK_API wk_tensor *wk_bitwise_not__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_bitwise_not_(wk_tensor *x);

/* isnan: is x NaN? bool; integers never are */
WK_RESULT_API wk_tensor *wk_isnan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isnan(wk_tensor *x);

/* isinf: is x an infinity, of either sign? bool */
WK_RESULT_API wk_tensor *wk_isinf_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isinf(wk_tensor *x);

/* isfinite: neither NaN nor an infinity; bool */
WK_RESULT_API wk_tensor *wk_isfinite_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isfinite(wk_tensor *x);

/* neg: -x; not of bool */
WK_RESULT_API wk_tensor *wk_neg_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_neg(wk_tensor *x);
WK_API wk_tensor *wk_neg__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_neg_(wk_tensor *x);

/* abs: |x|; the gradient at 0 is 0 */
WK_RESULT_API wk_tensor *wk_abs_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_abs(wk_tensor *x);
WK_API wk_tensor *wk_abs__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_abs_(wk_tensor *x);

/* sign: -1, 0 or 1 */
WK_RESULT_API wk_tensor *wk_sign_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sign(wk_tensor *x);
WK_API wk_tensor *wk_sign__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sign_(wk_tensor *x);

/* floor: rounded down: the largest whole number that is not above x; the gradient is 0 */
WK_RESULT_API wk_tensor *wk_floor_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_floor(wk_tensor *x);
WK_API wk_tensor *wk_floor__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_floor_(wk_tensor *x);

/* ceil: rounded up: the smallest whole number that is not below x; the gradient is 0 */
WK_RESULT_API wk_tensor *wk_ceil_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_ceil(wk_tensor *x);
WK_API wk_tensor *wk_ceil__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_ceil_(wk_tensor *x);

/* trunc: rounded towards 0; the gradient is 0 */
WK_RESULT_API wk_tensor *wk_trunc_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_trunc(wk_tensor *x);
WK_API wk_tensor *wk_trunc__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_trunc_(wk_tensor *x);

/* square: x^2 */
WK_RESULT_API wk_tensor *wk_square_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_square(wk_tensor *x);
WK_API wk_tensor *wk_square__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_square_(wk_tensor *x);

/* round: to the nearest whole number, or one with this many decimals; half to even; the gradient is 0 */
typedef struct wk_round_options {
    size_t size;
    wk_by_name by_name;
    int64_t decimals;
} wk_round_options;
#ifndef __cplusplus
#define wk_round_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_round_at(wk_site site, wk_tensor *x, const wk_round_options *options);
WK_RESULT_API wk_tensor *wk_round(wk_tensor *x);
WK_API wk_tensor *wk_round__at(wk_site site, wk_tensor *x, const wk_round_options *options);
WK_API wk_tensor *wk_round_(wk_tensor *x);

/* ---- functions of floats: bool and integers become f32 first ----------------------------------------------------- */

/* sqrt: square root; NaN below 0 */
WK_RESULT_API wk_tensor *wk_sqrt_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sqrt(wk_tensor *x);
WK_API wk_tensor *wk_sqrt__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sqrt_(wk_tensor *x);

/* rsqrt: 1 / sqrt(x) */
WK_RESULT_API wk_tensor *wk_rsqrt_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_rsqrt(wk_tensor *x);
WK_API wk_tensor *wk_rsqrt__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_rsqrt_(wk_tensor *x);

/* reciprocal: 1 / x */
WK_RESULT_API wk_tensor *wk_reciprocal_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_reciprocal(wk_tensor *x);
WK_API wk_tensor *wk_reciprocal__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_reciprocal_(wk_tensor *x);

/* exp: e^x */
WK_RESULT_API wk_tensor *wk_exp_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_exp(wk_tensor *x);
WK_API wk_tensor *wk_exp__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_exp_(wk_tensor *x);

/* expm1: e^x - 1, exact near 0 */
WK_RESULT_API wk_tensor *wk_expm1_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_expm1(wk_tensor *x);
WK_API wk_tensor *wk_expm1__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_expm1_(wk_tensor *x);

/* exp2: 2^x */
WK_RESULT_API wk_tensor *wk_exp2_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_exp2(wk_tensor *x);
WK_API wk_tensor *wk_exp2__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_exp2_(wk_tensor *x);

/* log: natural logarithm; NaN below 0 */
WK_RESULT_API wk_tensor *wk_log_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log(wk_tensor *x);
WK_API wk_tensor *wk_log__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log_(wk_tensor *x);

/* log1p: log(1 + x), exact near 0; NaN below -1 */
WK_RESULT_API wk_tensor *wk_log1p_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log1p(wk_tensor *x);
WK_API wk_tensor *wk_log1p__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log1p_(wk_tensor *x);

/* log2: logarithm to base 2; NaN below 0 */
WK_RESULT_API wk_tensor *wk_log2_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log2(wk_tensor *x);
WK_API wk_tensor *wk_log2__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log2_(wk_tensor *x);

/* log10: logarithm to base 10; NaN below 0 */
WK_RESULT_API wk_tensor *wk_log10_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log10(wk_tensor *x);
WK_API wk_tensor *wk_log10__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log10_(wk_tensor *x);

/* sin: sine, of an angle in radians */
WK_RESULT_API wk_tensor *wk_sin_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sin(wk_tensor *x);
WK_API wk_tensor *wk_sin__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sin_(wk_tensor *x);

/* cos: cosine, of an angle in radians */
WK_RESULT_API wk_tensor *wk_cos_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_cos(wk_tensor *x);
WK_API wk_tensor *wk_cos__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_cos_(wk_tensor *x);

/* tan: tangent, of an angle in radians */
WK_RESULT_API wk_tensor *wk_tan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_tan(wk_tensor *x);
WK_API wk_tensor *wk_tan__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_tan_(wk_tensor *x);

/* asin: inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1] */
WK_RESULT_API wk_tensor *wk_asin_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_asin(wk_tensor *x);
WK_API wk_tensor *wk_asin__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_asin_(wk_tensor *x);

/* acos: inverse cosine, in [0, pi]; NaN outside [-1, 1] */
WK_RESULT_API wk_tensor *wk_acos_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_acos(wk_tensor *x);
WK_API wk_tensor *wk_acos__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_acos_(wk_tensor *x);

/* atan: inverse tangent, in (-pi/2, pi/2) */
WK_RESULT_API wk_tensor *wk_atan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_atan(wk_tensor *x);
WK_API wk_tensor *wk_atan__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_atan_(wk_tensor *x);

/* sinh: (e^x - e^-x) / 2 */
WK_RESULT_API wk_tensor *wk_sinh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sinh(wk_tensor *x);
WK_API wk_tensor *wk_sinh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sinh_(wk_tensor *x);

/* cosh: (e^x + e^-x) / 2 */
WK_RESULT_API wk_tensor *wk_cosh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_cosh(wk_tensor *x);
WK_API wk_tensor *wk_cosh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_cosh_(wk_tensor *x);

/* tanh: sinh(x) / cosh(x) */
WK_RESULT_API wk_tensor *wk_tanh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_tanh(wk_tensor *x);
WK_API wk_tensor *wk_tanh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_tanh_(wk_tensor *x);

/* sigmoid: 1 / (1 + e^-x) */
WK_RESULT_API wk_tensor *wk_sigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sigmoid(wk_tensor *x);
WK_API wk_tensor *wk_sigmoid__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sigmoid_(wk_tensor *x);

/* logit: log(x / (1 - x)), the inverse of sigmoid; eps: of x clamped to eps .. 1 - eps; without it NaN outside of 0
 * .. 1 */
typedef struct wk_logit_options {
    size_t size;
    wk_by_name by_name;
    double eps; /* default: x is not clamped */
} wk_logit_options;
#ifndef __cplusplus
#define wk_logit_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_logit_at(wk_site site, wk_tensor *x, const wk_logit_options *options);
WK_API wk_tensor *wk_logit__at(wk_site site, wk_tensor *x, const wk_logit_options *options);

/* erf: error function: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x */
WK_RESULT_API wk_tensor *wk_erf_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_erf(wk_tensor *x);
WK_API wk_tensor *wk_erf__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_erf_(wk_tensor *x);

/* erfc: 1 - erf(x), exact for large x */
WK_RESULT_API wk_tensor *wk_erfc_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_erfc(wk_tensor *x);
WK_API wk_tensor *wk_erfc__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_erfc_(wk_tensor *x);

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* relu: max(x, 0); the gradient at 0 is 0 */
WK_RESULT_API wk_tensor *wk_relu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_relu(wk_tensor *x);
WK_API wk_tensor *wk_relu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_relu_(wk_tensor *x);

/* relu6: min(max(x, 0), 6); the gradient at 0 and 6 is 0 */
WK_RESULT_API wk_tensor *wk_relu6_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_relu6(wk_tensor *x);
WK_API wk_tensor *wk_relu6__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_relu6_(wk_tensor *x);

/* selu: 1.0507 x for x > 0, else 1.7581 (e^x - 1) */
WK_RESULT_API wk_tensor *wk_selu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_selu(wk_tensor *x);
WK_API wk_tensor *wk_selu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_selu_(wk_tensor *x);

/* silu: x sigmoid(x), also called swish */
WK_RESULT_API wk_tensor *wk_silu_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_silu(wk_tensor *x);
WK_API wk_tensor *wk_silu__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_silu_(wk_tensor *x);

/* mish: x tanh(softplus(x)) */
WK_RESULT_API wk_tensor *wk_mish_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_mish(wk_tensor *x);
WK_API wk_tensor *wk_mish__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_mish_(wk_tensor *x);

/* hardsigmoid: relu6(x + 3) / 6 */
WK_RESULT_API wk_tensor *wk_hardsigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_hardsigmoid(wk_tensor *x);
WK_API wk_tensor *wk_hardsigmoid__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_hardsigmoid_(wk_tensor *x);

/* hardswish: x relu6(x + 3) / 6 */
WK_RESULT_API wk_tensor *wk_hardswish_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_hardswish(wk_tensor *x);
WK_API wk_tensor *wk_hardswish__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_hardswish_(wk_tensor *x);

/* softsign: x / (1 + |x|) */
WK_RESULT_API wk_tensor *wk_softsign_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_softsign(wk_tensor *x);

/* logsigmoid: log(sigmoid(x)) */
WK_RESULT_API wk_tensor *wk_logsigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_logsigmoid(wk_tensor *x);

/* leaky_relu: x for x > 0, else negative_slope x */
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

/* elu: x for x > 0, else alpha (e^x - 1) */
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

/* gelu: x (1 + erf(x / sqrt(2))) / 2; approximate "tanh": with tanh */
enum { WK_GELU_NONE = 0, WK_GELU_TANH = 1 };
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

/* softplus: log(1 + e^(beta x)) / beta; x where beta x > threshold */
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

/* hardtanh: min_val below it, max_val above it, x between; the gradient at a limit is 0 */
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

/* ---- of several operands ----------------------------------------------------------------------------------------- */

/* nan_to_num: numbers in place of NaN and the infinities; integers come back as they are */
typedef struct wk_nan_to_num_options {
    size_t size;
    wk_by_name by_name;
    double nan;    /* for NaN; default 0 */
    double posinf; /* for infinity; default the largest number of the dtype */
    double neginf; /* for -infinity; default the lowest */
} wk_nan_to_num_options;
#ifndef __cplusplus
#define wk_nan_to_num_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, posinf) wk_do_(wk_o_, neginf)
#endif
WK_RESULT_API wk_tensor *wk_nan_to_num_at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);
WK_API wk_tensor *wk_nan_to_num__at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);

/* clamp: min(max(x, low), high); WK_NONE for no limit on a side */
WK_RESULT_API wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high);
WK_API wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high);

/* where: a where the condition (bool) holds, else b */
WK_RESULT_API wk_tensor *wk_where_at(wk_site site, wk_tensor *condition, wk_value a, wk_value b);

/* masked_fill: value (a number or a 0-d tensor, converted to x's dtype) where mask (bool, broadcast) holds, else x */
WK_RESULT_API wk_tensor *wk_masked_fill_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);
WK_API wk_tensor *wk_masked_fill__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);

/* lerp: a + weight (b - a), of floats */
WK_RESULT_API wk_tensor *wk_lerp_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);
WK_API wk_tensor *wk_lerp__at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);

/* addcmul: x + value a b */
typedef struct wk_addc_options {
    size_t size;
    wk_by_name by_name;
    double value; /* default 1 */
} wk_addc_options;
#ifndef __cplusplus
#define wk_addc_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, value)
#endif
WK_RESULT_API wk_tensor *wk_addcmul_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                       const wk_addc_options *options);
WK_API wk_tensor *wk_addcmul__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                 const wk_addc_options *options);

/* addcdiv: x + value a / b, of floats */
WK_RESULT_API wk_tensor *wk_addcdiv_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                       const wk_addc_options *options);
WK_API wk_tensor *wk_addcdiv__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                 const wk_addc_options *options);

#ifdef __cplusplus
}
#endif
#endif

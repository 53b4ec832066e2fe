/* SPDX-License-Identifier: Apache-2.0 */
/* wick/pointwise_calls.h: the functions behind wick/pointwise.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
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

/* add: Adds a and b. */
WK_RESULT_API wk_tensor *wk_add_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_add_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_add_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_add(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_add__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_add__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_add__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* sub: Subtracts b from a. */
WK_RESULT_API wk_tensor *wk_sub_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_sub_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_sub_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_sub(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_sub__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_sub__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_sub__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* mul: Multiplies a by b. */
WK_RESULT_API wk_tensor *wk_mul_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_mul_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_mul_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mul(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mul__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mul__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_mul__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* div: Divides a by b. */
typedef struct wk_div_options {
    size_t size;
    wk_by_name by_name;
    const char *rounding_mode; /* "floor" or "trunc"; default NULL, no rounding */
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

/* floor_divide: Divides a by b and rounds down, as // in Python. */
WK_RESULT_API wk_tensor *wk_floor_divide_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_floor_divide_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_floor_divide_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_floor_divide(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_floor_divide__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_floor_divide__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_floor_divide__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* remainder: Computes the remainder with the sign of b, as % in Python. */
WK_RESULT_API wk_tensor *wk_remainder_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_remainder_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_remainder_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_remainder(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_remainder__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_remainder__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_remainder__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* fmod: Computes the remainder with the sign of a, as fmod in C. */
WK_RESULT_API wk_tensor *wk_fmod_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_fmod_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_fmod_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_fmod(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_fmod__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_fmod__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_fmod__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* pow: Raises a to the power b. */
WK_RESULT_API wk_tensor *wk_pow_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_pow_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_pow_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_pow(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_pow__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_pow__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_pow__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* maximum: Takes the larger of a and b, NaN if one is NaN. */
WK_RESULT_API wk_tensor *wk_maximum_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_maximum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_maximum_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_maximum(wk_tensor *a, wk_tensor *b);

/* minimum: Takes the smaller of a and b, NaN if one is NaN. */
WK_RESULT_API wk_tensor *wk_minimum_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_minimum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_minimum_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_minimum(wk_tensor *a, wk_tensor *b);

/* atan2: Computes the angle of the point (b, a) in radians, in (-pi, pi]. */
WK_RESULT_API wk_tensor *wk_atan2_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_atan2_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_atan2_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_atan2(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_atan2__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_atan2__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_atan2__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logaddexp: Computes log(e^a + e^b) without overflow. */
WK_RESULT_API wk_tensor *wk_logaddexp_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logaddexp_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logaddexp_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logaddexp(wk_tensor *a, wk_tensor *b);

/* hypot: Computes the length of (a, b) without overflow. */
WK_RESULT_API wk_tensor *wk_hypot_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_hypot_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_hypot_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_hypot(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_hypot__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_hypot__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_hypot__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* copysign: Combines the magnitude of a with the sign of b; a zero has a sign. */
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

/* eq: Compares a and b for equality. */
WK_RESULT_API wk_tensor *wk_eq_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_eq_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_eq_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_eq(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_eq__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_eq__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_eq__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ne: Compares a and b for inequality. */
WK_RESULT_API wk_tensor *wk_ne_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_ne_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_ne_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ne(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ne__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ne__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_ne__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* lt: Tests whether a is less than b. */
WK_RESULT_API wk_tensor *wk_lt_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_lt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_lt_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_lt(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_lt__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_lt__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_lt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* le: Tests whether a is at most b. */
WK_RESULT_API wk_tensor *wk_le_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_le_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_le_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_le(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_le__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_le__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_le__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* gt: Tests whether a is greater than b. */
WK_RESULT_API wk_tensor *wk_gt_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_gt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_gt_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_gt(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_gt__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_gt__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_gt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* ge: Tests whether a is at least b. */
WK_RESULT_API wk_tensor *wk_ge_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_ge_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_ge_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_ge(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ge__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_ge__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_ge__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_and: Tests whether a and b are both nonzero. */
WK_RESULT_API wk_tensor *wk_logical_and_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_and(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_and__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_and__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_or: Tests whether a or b is nonzero. */
WK_RESULT_API wk_tensor *wk_logical_or_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_or(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_or__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_or__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* logical_xor: Tests whether exactly one of a and b is nonzero. */
WK_RESULT_API wk_tensor *wk_logical_xor_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_logical_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_logical_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_logical_xor(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_xor__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_logical_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_logical_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_and: Computes the bitwise and of a and b. */
WK_RESULT_API wk_tensor *wk_bitwise_and_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_and(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_and__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_and__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_or: Computes the bitwise or of a and b. */
WK_RESULT_API wk_tensor *wk_bitwise_or_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_or(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_or__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_or__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_xor: Computes the bitwise exclusive or of a and b. */
WK_RESULT_API wk_tensor *wk_bitwise_xor_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_xor(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_xor__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_left_shift: Shifts the bits of a to the left by b. */
WK_RESULT_API wk_tensor *wk_bitwise_left_shift_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_left_shift_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_left_shift_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_left_shift_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_left_shift_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_left_shift(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_left_shift__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_left_shift__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_left_shift__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* bitwise_right_shift: Shifts the bits of a to the right by b. */
WK_RESULT_API wk_tensor *wk_bitwise_right_shift_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_right_shift_scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_RESULT_API wk_tensor *wk_bitwise_right_shift_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);
WK_RESULT_API wk_tensor *wk_bitwise_right_shift_rscalar_f64_at(wk_site site, double a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_right_shift_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bitwise_right_shift(wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_right_shift__at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bitwise_right_shift__scalar_f64_at(wk_site site, wk_tensor *a, double b);
WK_API wk_tensor *wk_bitwise_right_shift__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b);

/* isclose: Tests whether a and b are close to each other. */
typedef struct wk_isclose_options {
    size_t size;
    wk_by_name by_name;
    double rtol;    /* default 1e-05; tolerance relative to b */
    double atol;    /* default 1e-08; absolute tolerance */
    bool equal_nan; /* NaN is close to NaN; default false */
    char reserved[7];
} wk_isclose_options;
#ifndef __cplusplus
#define wk_isclose_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, rtol) wk_do_(wk_o_, atol)
#endif
WK_RESULT_API wk_tensor *wk_isclose_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_isclose_options *options);

/* ---- functions of one tensor: wk_NAME(x), and in place wk_NAME_(x) ----------------------------------------------- */

/* logical_not: Tests whether x is 0. */
WK_RESULT_API wk_tensor *wk_logical_not_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_logical_not(wk_tensor *x);
WK_API wk_tensor *wk_logical_not__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_logical_not_(wk_tensor *x);

/* bitwise_not: Inverts every bit of x; for bool, logical not. */
WK_RESULT_API wk_tensor *wk_bitwise_not_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_bitwise_not(wk_tensor *x);
WK_API wk_tensor *wk_bitwise_not__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_bitwise_not_(wk_tensor *x);

/* isnan: Tests whether x is NaN; an integer never is. */
WK_RESULT_API wk_tensor *wk_isnan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isnan(wk_tensor *x);

/* isinf: Tests whether x is an infinity of either sign. */
WK_RESULT_API wk_tensor *wk_isinf_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isinf(wk_tensor *x);

/* isfinite: Tests whether x is neither NaN nor an infinity. */
WK_RESULT_API wk_tensor *wk_isfinite_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_isfinite(wk_tensor *x);

/* neg: Negates x. */
WK_RESULT_API wk_tensor *wk_neg_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_neg(wk_tensor *x);
WK_API wk_tensor *wk_neg__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_neg_(wk_tensor *x);

/* abs: Computes the absolute value of x. */
WK_RESULT_API wk_tensor *wk_abs_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_abs(wk_tensor *x);
WK_API wk_tensor *wk_abs__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_abs_(wk_tensor *x);

/* sign: Computes the sign of x: -1, 0 or 1. */
WK_RESULT_API wk_tensor *wk_sign_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sign(wk_tensor *x);
WK_API wk_tensor *wk_sign__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sign_(wk_tensor *x);

/* floor: Rounds x down to an integer value. */
WK_RESULT_API wk_tensor *wk_floor_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_floor(wk_tensor *x);
WK_API wk_tensor *wk_floor__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_floor_(wk_tensor *x);

/* ceil: Rounds x up to an integer value. */
WK_RESULT_API wk_tensor *wk_ceil_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_ceil(wk_tensor *x);
WK_API wk_tensor *wk_ceil__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_ceil_(wk_tensor *x);

/* trunc: Rounds x towards 0. */
WK_RESULT_API wk_tensor *wk_trunc_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_trunc(wk_tensor *x);
WK_API wk_tensor *wk_trunc__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_trunc_(wk_tensor *x);

/* square: Squares x. */
WK_RESULT_API wk_tensor *wk_square_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_square(wk_tensor *x);
WK_API wk_tensor *wk_square__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_square_(wk_tensor *x);

/* round: Rounds x to the nearest integer value, or to .decimals decimals; ties to even. */
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

/* ---- functions with a floating result ---------------------------------------------------------------------------- */

/* sqrt: Computes the square root, NaN for x below 0. */
WK_RESULT_API wk_tensor *wk_sqrt_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sqrt(wk_tensor *x);
WK_API wk_tensor *wk_sqrt__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sqrt_(wk_tensor *x);

/* rsqrt: Computes the reciprocal of the square root. */
WK_RESULT_API wk_tensor *wk_rsqrt_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_rsqrt(wk_tensor *x);
WK_API wk_tensor *wk_rsqrt__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_rsqrt_(wk_tensor *x);

/* reciprocal: Computes the reciprocal. */
WK_RESULT_API wk_tensor *wk_reciprocal_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_reciprocal(wk_tensor *x);
WK_API wk_tensor *wk_reciprocal__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_reciprocal_(wk_tensor *x);

/* exp: Computes e to the power x. */
WK_RESULT_API wk_tensor *wk_exp_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_exp(wk_tensor *x);
WK_API wk_tensor *wk_exp__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_exp_(wk_tensor *x);

/* expm1: Computes e^x - 1, accurately near 0. */
WK_RESULT_API wk_tensor *wk_expm1_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_expm1(wk_tensor *x);
WK_API wk_tensor *wk_expm1__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_expm1_(wk_tensor *x);

/* exp2: Computes 2 to the power x. */
WK_RESULT_API wk_tensor *wk_exp2_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_exp2(wk_tensor *x);
WK_API wk_tensor *wk_exp2__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_exp2_(wk_tensor *x);

/* log: Computes the natural logarithm, NaN for x below 0. */
WK_RESULT_API wk_tensor *wk_log_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log(wk_tensor *x);
WK_API wk_tensor *wk_log__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log_(wk_tensor *x);

/* log1p: Computes log(1 + x), accurately near 0; NaN for x below -1. */
WK_RESULT_API wk_tensor *wk_log1p_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log1p(wk_tensor *x);
WK_API wk_tensor *wk_log1p__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log1p_(wk_tensor *x);

/* log2: Computes the logarithm to base 2, NaN for x below 0. */
WK_RESULT_API wk_tensor *wk_log2_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log2(wk_tensor *x);
WK_API wk_tensor *wk_log2__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log2_(wk_tensor *x);

/* log10: Computes the logarithm to base 10, NaN for x below 0. */
WK_RESULT_API wk_tensor *wk_log10_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_log10(wk_tensor *x);
WK_API wk_tensor *wk_log10__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_log10_(wk_tensor *x);

/* sin: Computes the sine of x in radians. */
WK_RESULT_API wk_tensor *wk_sin_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sin(wk_tensor *x);
WK_API wk_tensor *wk_sin__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sin_(wk_tensor *x);

/* cos: Computes the cosine of x in radians. */
WK_RESULT_API wk_tensor *wk_cos_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_cos(wk_tensor *x);
WK_API wk_tensor *wk_cos__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_cos_(wk_tensor *x);

/* tan: Computes the tangent of x in radians. */
WK_RESULT_API wk_tensor *wk_tan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_tan(wk_tensor *x);
WK_API wk_tensor *wk_tan__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_tan_(wk_tensor *x);

/* asin: Computes the inverse sine in [-pi/2, pi/2], NaN for x outside [-1, 1]. */
WK_RESULT_API wk_tensor *wk_asin_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_asin(wk_tensor *x);
WK_API wk_tensor *wk_asin__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_asin_(wk_tensor *x);

/* acos: Computes the inverse cosine in [0, pi], NaN for x outside [-1, 1]. */
WK_RESULT_API wk_tensor *wk_acos_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_acos(wk_tensor *x);
WK_API wk_tensor *wk_acos__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_acos_(wk_tensor *x);

/* atan: Computes the inverse tangent in (-pi/2, pi/2). */
WK_RESULT_API wk_tensor *wk_atan_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_atan(wk_tensor *x);
WK_API wk_tensor *wk_atan__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_atan_(wk_tensor *x);

/* sinh: Computes the hyperbolic sine. */
WK_RESULT_API wk_tensor *wk_sinh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sinh(wk_tensor *x);
WK_API wk_tensor *wk_sinh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sinh_(wk_tensor *x);

/* cosh: Computes the hyperbolic cosine. */
WK_RESULT_API wk_tensor *wk_cosh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_cosh(wk_tensor *x);
WK_API wk_tensor *wk_cosh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_cosh_(wk_tensor *x);

/* tanh: Computes the hyperbolic tangent. */
WK_RESULT_API wk_tensor *wk_tanh_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_tanh(wk_tensor *x);
WK_API wk_tensor *wk_tanh__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_tanh_(wk_tensor *x);

/* sigmoid: Computes the logistic function. */
WK_RESULT_API wk_tensor *wk_sigmoid_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_sigmoid(wk_tensor *x);
WK_API wk_tensor *wk_sigmoid__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_sigmoid_(wk_tensor *x);

/* logit: Computes the inverse of the logistic function. */
typedef struct wk_logit_options {
    size_t size;
    wk_by_name by_name;
    double eps; /* clamps x to [eps, 1 - eps] first; default: no clamping */
} wk_logit_options;
#ifndef __cplusplus
#define wk_logit_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_logit_at(wk_site site, wk_tensor *x, const wk_logit_options *options);
WK_API wk_tensor *wk_logit__at(wk_site site, wk_tensor *x, const wk_logit_options *options);

/* erf: Computes the error function. */
WK_RESULT_API wk_tensor *wk_erf_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_erf(wk_tensor *x);
WK_API wk_tensor *wk_erf__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_erf_(wk_tensor *x);

/* erfc: Computes the complementary error function, accurately for large x. */
WK_RESULT_API wk_tensor *wk_erfc_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_erfc(wk_tensor *x);
WK_API wk_tensor *wk_erfc__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_erfc_(wk_tensor *x);

/* ---- functions of several operands ------------------------------------------------------------------------------- */

/* nan_to_num: Replaces NaN and infinities by numbers; integers are copied. */
typedef struct wk_nan_to_num_options {
    size_t size;
    wk_by_name by_name;
    double nan;    /* replaces NaN; default 0 */
    double posinf; /* replaces infinity; default the largest value of the dtype */
    double neginf; /* replaces -infinity; default the lowest value of the dtype */
} wk_nan_to_num_options;
#ifndef __cplusplus
#define wk_nan_to_num_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, posinf) wk_do_(wk_o_, neginf)
#endif
WK_RESULT_API wk_tensor *wk_nan_to_num_at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);
WK_API wk_tensor *wk_nan_to_num__at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);

/* clamp: Limits x to [low, high]. */
WK_RESULT_API wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high);
WK_API wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high);

/* where: Takes a where condition is true, else b. */
WK_RESULT_API wk_tensor *wk_where_at(wk_site site, wk_tensor *condition, wk_value a, wk_value b);

/* masked_fill: Replaces the elements of x by value where mask is true. */
WK_RESULT_API wk_tensor *wk_masked_fill_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);
WK_API wk_tensor *wk_masked_fill__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);

/* lerp: Interpolates linearly between a and b. */
WK_RESULT_API wk_tensor *wk_lerp_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);
WK_API wk_tensor *wk_lerp__at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);

/* addcmul: Adds a multiple of the product of a and b to x. */
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

/* addcdiv: Adds a multiple of the quotient of a and b to x. */
WK_RESULT_API wk_tensor *wk_addcdiv_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                       const wk_addc_options *options);
WK_API wk_tensor *wk_addcdiv__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                 const wk_addc_options *options);

#ifdef __cplusplus
}
#endif
#endif

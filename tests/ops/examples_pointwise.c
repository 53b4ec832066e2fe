/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/pointwise.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_add(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_add(x, 1), 2, (const double[]){2, 3}, 1e-5);
}

static void example_sub(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_sub(1, x), 2, (const double[]){0, -1}, 1e-5);
}

static void example_mul(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_mul(x, y), 2, (const double[]){3, 8}, 1e-5);
}

static void example_div(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -3, 3);
    expect_values(wk_div(x, 2, .rounding_mode = "floor"), 2, (const double[]){-2, 1}, 1e-5);
}

static void example_floor_divide(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -3, 3);
    expect_values(wk_floor_divide(x, 2), 2, (const double[]){-2, 1}, 1e-5);
}

static void example_remainder(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -4, 4);
    expect_values(wk_remainder(x, 3), 2, (const double[]){2, 1}, 1e-5);
}

static void example_fmod(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -4, 4);
    expect_values(wk_fmod(x, 3), 2, (const double[]){-1, 1}, 1e-5);
}

static void example_pow(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 2, 3);
    expect_values(wk_pow(x, 2), 2, (const double[]){4, 9}, 1e-5);
}

static void example_maximum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 2);
    expect_values(wk_maximum(x, 0), 2, (const double[]){0, 2}, 1e-5);
}

static void example_minimum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 2);
    wk_tensor *y = wk_of(double, (2), 0, 1);
    expect_values(wk_minimum(x, y), 2, (const double[]){-1, 1}, 1e-5);
}

static void example_atan2(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1, 0);
    expect_values(wk_atan2(x, y), 2, (const double[]){0.785398, 1.5708}, 1e-5);
}

static void example_logaddexp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1000);
    wk_tensor *y = wk_of(double, (2), 1, 0);
    expect_values(wk_logaddexp(x, y), 2, (const double[]){1.313262, 1000}, 1e-5);
}

static void example_hypot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 3, 3e+30);
    wk_tensor *y = wk_of(double, (2), 4, 4e+30);
    expect_values(wk_hypot(x, y), 2, (const double[]){5, 5e+30}, 1e-5);
}

static void example_copysign(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, -2, 3);
    wk_tensor *y = wk_of(double, (3), -0.5, 4, -0.0);
    expect_values(wk_copysign(x, y), 3, (const double[]){-1, 2, -3}, 1e-5);
}

static void example_eq(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 2);
    expect_values(wk_eq(x, y), 2, (const double[]){0, 1}, 1e-5);
}

static void example_ne(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_ne(x, 2), 2, (const double[]){1, 0}, 1e-5);
}

static void example_lt(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_lt(x, 2), 2, (const double[]){1, 0}, 1e-5);
}

static void example_le(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_le(x, 2), 2, (const double[]){1, 1}, 1e-5);
}

static void example_gt(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_gt(x, 1), 2, (const double[]){0, 1}, 1e-5);
}

static void example_ge(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_ge(1.5, x), 2, (const double[]){1, 0}, 1e-5);
}

static void example_logical_and(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 2);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_logical_and(x, y), 2, (const double[]){0, 1}, 1e-5);
}

static void example_logical_or(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 2);
    wk_tensor *y = wk_of(double, (2), 0, 1);
    expect_values(wk_logical_or(x, y), 2, (const double[]){0, 1}, 1e-5);
}

static void example_logical_xor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 2);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_logical_xor(x, y), 2, (const double[]){1, 0}, 1e-5);
}

static void example_bitwise_and(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 3);
    expect_values(wk_bitwise_and(wk_to_dtype(x, WK_I64), 6), 2, (const double[]){4, 2}, 1e-5);
}

static void example_bitwise_or(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 3);
    expect_values(wk_bitwise_or(wk_to_dtype(x, WK_I64), 6), 2, (const double[]){7, 7}, 1e-5);
}

static void example_bitwise_xor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 3);
    expect_values(wk_bitwise_xor(wk_to_dtype(x, WK_I64), 6), 2, (const double[]){3, 5}, 1e-5);
}

static void example_bitwise_left_shift(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 3);
    expect_values(wk_bitwise_left_shift(wk_to_dtype(x, WK_I64), 2), 2, (const double[]){20, 12}, 1e-5);
}

static void example_bitwise_right_shift(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 3);
    expect_values(wk_bitwise_right_shift(wk_to_dtype(x, WK_I64), 1), 2, (const double[]){2, 1}, 1e-5);
}

static void example_isclose(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1.05, 3);
    expect_values(wk_isclose(x, y, .atol = 0.1), 2, (const double[]){1, 0}, 1e-5);
}

static void example_logical_not(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 2);
    expect_values(wk_logical_not(x), 2, (const double[]){1, 0}, 1e-5);
}

static void example_bitwise_not(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 5, 0);
    expect_values(wk_bitwise_not(wk_to_dtype(x, WK_I64)), 2, (const double[]){-6, -1}, 1e-5);
}

static void example_isnan(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, INFINITY);
    expect_values(wk_isnan(x), 3, (const double[]){0, 1, 0}, 1e-5);
}

static void example_isinf(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, INFINITY);
    expect_values(wk_isinf(x), 3, (const double[]){0, 0, 1}, 1e-5);
}

static void example_isfinite(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, INFINITY);
    expect_values(wk_isfinite(x), 3, (const double[]){1, 0, 0}, 1e-5);
}

static void example_neg(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, -2);
    expect_values(wk_neg(x), 2, (const double[]){-1, 2}, 1e-5);
}

static void example_abs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, -2);
    expect_values(wk_abs(x), 2, (const double[]){1, 2}, 1e-5);
}

static void example_sign(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -3, 0, 2);
    expect_values(wk_sign(x), 3, (const double[]){-1, 0, 1}, 1e-5);
}

static void example_floor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1.5, 1.5);
    expect_values(wk_floor(x), 2, (const double[]){-2, 1}, 1e-5);
}

static void example_ceil(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1.5, 1.5);
    expect_values(wk_ceil(x), 2, (const double[]){-1, 2}, 1e-5);
}

static void example_trunc(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1.5, 1.5);
    expect_values(wk_trunc(x), 2, (const double[]){-1, 1}, 1e-5);
}

static void example_square(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, -2);
    expect_values(wk_square(x), 2, (const double[]){1, 4}, 1e-5);
}

static void example_round(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1.5708, 2);
    expect_values(wk_round(x, .decimals = 2), 2, (const double[]){1.57, 2}, 1e-5);
}

static void example_sqrt(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 4, 9);
    expect_values(wk_sqrt(x), 2, (const double[]){2, 3}, 1e-5);
}

static void example_rsqrt(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 4, 0.25);
    expect_values(wk_rsqrt(x), 2, (const double[]){0.5, 2}, 1e-5);
}

static void example_reciprocal(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 2, -0.25);
    expect_values(wk_reciprocal(x), 2, (const double[]){0.5, -4}, 1e-5);
}

static void example_exp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_exp(x), 2, (const double[]){1, 2.71828}, 1e-5);
}

static void example_expm1(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_expm1(x), 2, (const double[]){0, 1.71828}, 1e-5);
}

static void example_exp2(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 3);
    expect_values(wk_exp2(x), 2, (const double[]){0.5, 8}, 1e-5);
}

static void example_log(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_log(x), 2, (const double[]){0, 0.693147}, 1e-5);
}

static void example_log1p(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_log1p(x), 2, (const double[]){0, 0.693147}, 1e-5);
}

static void example_log2(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0.5, 8);
    expect_values(wk_log2(x), 2, (const double[]){-1, 3}, 1e-5);
}

static void example_log10(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0.1, 100);
    expect_values(wk_log10(x), 2, (const double[]){-1, 2}, 1e-5);
}

static void example_sin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1.5708);
    expect_values(wk_sin(x), 2, (const double[]){0, 1}, 1e-5);
}

static void example_cos(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 3.14159);
    expect_values(wk_cos(x), 2, (const double[]){1, -1}, 1e-5);
}

static void example_tan(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 0.785398);
    expect_values(wk_tan(x), 2, (const double[]){0, 1}, 1e-5);
}

static void example_asin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_asin(x), 2, (const double[]){0, 1.5708}, 1e-5);
}

static void example_acos(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_acos(x), 2, (const double[]){1.5708, 0}, 1e-5);
}

static void example_atan(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_atan(x), 2, (const double[]){0, 0.785398}, 1e-5);
}

static void example_sinh(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_sinh(x), 2, (const double[]){0, 1.1752}, 1e-5);
}

static void example_cosh(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_cosh(x), 2, (const double[]){1, 1.54308}, 1e-5);
}

static void example_tanh(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_tanh(x), 2, (const double[]){0, 0.761594}, 1e-5);
}

static void example_sigmoid(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_sigmoid(x), 2, (const double[]){0.5, 0.731059}, 1e-5);
}

static void example_logit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 0, 0.5, 0.75);
    expect_values(wk_logit(x, .eps = 0.25), 3, (const double[]){-1.098612, 0, 1.098612}, 1e-5);
}

static void example_erf(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_erf(x), 2, (const double[]){0, 0.842701}, 1e-5);
}

static void example_erfc(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_erfc(x), 2, (const double[]){1, 0.157299}, 1e-5);
}

static void example_nan_to_num(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, INFINITY);
    expect_values(wk_nan_to_num(x, .posinf = 9), 3, (const double[]){1, 0, 9}, 1e-5);
}

static void example_clamp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 2);
    expect_values(wk_clamp(x, 0, WK_NONE), 2, (const double[]){0, 2}, 1e-5);
}

static void example_where(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *mask = wk_of(bool, (2), true, false);
    expect_values(wk_where(mask, x, 0), 2, (const double[]){1, 0}, 1e-5);
}

static void example_masked_fill(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *mask = wk_of(bool, (2), true, false);
    expect_values(wk_masked_fill(x, mask, 9), 2, (const double[]){9, 2}, 1e-5);
}

static void example_lerp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_lerp(x, y, 0.5), 2, (const double[]){2, 3}, 1e-5);
}

static void example_addcmul(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_addcmul(x, y, y, .value = 2), 2, (const double[]){19, 34}, 1e-5);
}

static void example_addcdiv(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_addcdiv(x, x, y, .value = 3), 2, (const double[]){2, 3.5}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_add),
                                       cmocka_unit_test(example_sub),
                                       cmocka_unit_test(example_mul),
                                       cmocka_unit_test(example_div),
                                       cmocka_unit_test(example_floor_divide),
                                       cmocka_unit_test(example_remainder),
                                       cmocka_unit_test(example_fmod),
                                       cmocka_unit_test(example_pow),
                                       cmocka_unit_test(example_maximum),
                                       cmocka_unit_test(example_minimum),
                                       cmocka_unit_test(example_atan2),
                                       cmocka_unit_test(example_logaddexp),
                                       cmocka_unit_test(example_hypot),
                                       cmocka_unit_test(example_copysign),
                                       cmocka_unit_test(example_eq),
                                       cmocka_unit_test(example_ne),
                                       cmocka_unit_test(example_lt),
                                       cmocka_unit_test(example_le),
                                       cmocka_unit_test(example_gt),
                                       cmocka_unit_test(example_ge),
                                       cmocka_unit_test(example_logical_and),
                                       cmocka_unit_test(example_logical_or),
                                       cmocka_unit_test(example_logical_xor),
                                       cmocka_unit_test(example_bitwise_and),
                                       cmocka_unit_test(example_bitwise_or),
                                       cmocka_unit_test(example_bitwise_xor),
                                       cmocka_unit_test(example_bitwise_left_shift),
                                       cmocka_unit_test(example_bitwise_right_shift),
                                       cmocka_unit_test(example_isclose),
                                       cmocka_unit_test(example_logical_not),
                                       cmocka_unit_test(example_bitwise_not),
                                       cmocka_unit_test(example_isnan),
                                       cmocka_unit_test(example_isinf),
                                       cmocka_unit_test(example_isfinite),
                                       cmocka_unit_test(example_neg),
                                       cmocka_unit_test(example_abs),
                                       cmocka_unit_test(example_sign),
                                       cmocka_unit_test(example_floor),
                                       cmocka_unit_test(example_ceil),
                                       cmocka_unit_test(example_trunc),
                                       cmocka_unit_test(example_square),
                                       cmocka_unit_test(example_round),
                                       cmocka_unit_test(example_sqrt),
                                       cmocka_unit_test(example_rsqrt),
                                       cmocka_unit_test(example_reciprocal),
                                       cmocka_unit_test(example_exp),
                                       cmocka_unit_test(example_expm1),
                                       cmocka_unit_test(example_exp2),
                                       cmocka_unit_test(example_log),
                                       cmocka_unit_test(example_log1p),
                                       cmocka_unit_test(example_log2),
                                       cmocka_unit_test(example_log10),
                                       cmocka_unit_test(example_sin),
                                       cmocka_unit_test(example_cos),
                                       cmocka_unit_test(example_tan),
                                       cmocka_unit_test(example_asin),
                                       cmocka_unit_test(example_acos),
                                       cmocka_unit_test(example_atan),
                                       cmocka_unit_test(example_sinh),
                                       cmocka_unit_test(example_cosh),
                                       cmocka_unit_test(example_tanh),
                                       cmocka_unit_test(example_sigmoid),
                                       cmocka_unit_test(example_logit),
                                       cmocka_unit_test(example_erf),
                                       cmocka_unit_test(example_erfc),
                                       cmocka_unit_test(example_nan_to_num),
                                       cmocka_unit_test(example_clamp),
                                       cmocka_unit_test(example_where),
                                       cmocka_unit_test(example_masked_fill),
                                       cmocka_unit_test(example_lerp),
                                       cmocka_unit_test(example_addcmul),
                                       cmocka_unit_test(example_addcdiv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

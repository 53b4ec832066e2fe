/* SPDX-License-Identifier: Apache-2.0 */
/* Tests element-wise ops where a formula is not enough, against PyTorch: dtypes, kinks, ties, NaN, integers, in-place
 * forms, errors. The sweeps (tests/sweep) test the formulas. */
#include "values.h"

static void expect_dtype(wk_tensor *x, wk_dtype dtype)
{
    if (!x) fail_msg("NULL: %s", wk_error() ? wk_error() : "no error");
    assert_string_equal(wk_dtype_str(wk_dtype_of(x)), wk_dtype_str(dtype));
}

static wk_tensor *leaf(wk_tensor *x)
{
    return wk_requires_grad_(x, true);
}

/* Returns the gradient of the sum of y with respect to x. */
static wk_tensor *slope(wk_tensor *y, wk_tensor *x)
{
    wk_set_grad(x, NULL);
    if (wk_backward(wk_sum(y)) != WK_OK) fail_msg("%s", wk_error());
    return wk_grad_of(x);
}

/* ---- division and powers ----------------------------------------------------------------------------------------- */

static void test_division(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(int64_t, (4), 7, -7, 7, -7), *b = wk_of(int64_t, (4), 2, 2, -2, -2),
              *none = wk_zeros((4), .dtype = WK_I64);
    expect_dtype(wk_div(a, b), WK_F32);
    EXPECT(wk_div(a, b), (4), 3.5, -3.5, -3.5, 3.5);
    expect_dtype(wk_floor_divide(a, b), WK_I64);
    EXPECT(wk_floor_divide(a, b), (4), 3, -4, -4, 3);
    EXPECT(wk_remainder(a, b), (4), 1, 1, -1, -1);
    EXPECT(wk_fmod(a, b), (4), 1, -1, 1, -1);
    EXPECT(wk_floor_divide(a, none), (4), 0, 0, 0, 0);
    EXPECT(wk_remainder(a, none), (4), 0, 0, 0, 0);
    EXPECT(wk_fmod(a, 4), (4), 3, -3, 3, -3);
    EXPECT(wk_remainder(wk_of(double, (3), 5.5, -5.5, 5.5), wk_of(double, (3), 2, 2, -2)), (3), 1.5, 0.5, -0.5);
    EXPECT(wk_div(3, wk_of(float, (2), 2, 4)), (2), 1.5, 0.75);
    expect_error(wk_floor_divide(wk_zeros((2), .dtype = WK_BOOL), wk_zeros((2), .dtype = WK_BOOL)), WK_ERR_DTYPE,
                 "bool");
    EXPECT(wk_div(a, b, .rounding_mode = "floor"), (4), 3, -4, -4, 3);
    EXPECT(wk_div(a, b, .rounding_mode = "trunc"), (4), 3, -3, -3, 3);
    EXPECT(wk_div(a, none, .rounding_mode = "trunc"), (4), 0, 0, 0, 0);
    EXPECT(wk_div(INT64_MIN, wk_full((1), -1), .rounding_mode = "trunc"), (1), (double)INT64_MIN);
    EXPECT(wk_div(wk_of(double, (3), 5.5, -5.5, 5.5), 2, .rounding_mode = "trunc"), (3), 2, -2, 2);
    expect_dtype(wk_div(a, b, .rounding_mode = "floor"), WK_I64);
    expect_dtype(wk_div(a, 2.0, .rounding_mode = "floor"), WK_F32);
    expect_error(wk_div(a, b, .rounding_mode = "up"), WK_ERR_ARGUMENT, "\"up\"");
    wk_tensor *copy = wk_clone(a);
    EXPECT(wk_div_(copy, 2, .rounding_mode = "trunc"), (4), 3, -3, 3, -3);
    expect_error(wk_div_(a, 2), WK_ERR_DTYPE, "f32");
    EXPECT(wk_floor_divide_(a, 2), (4), 3, -4, 3, -4);
}

static void test_powers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3), 0, 2, -3)), *whole = wk_of(int64_t, (3), 2, -3, 0);
    EXPECT(wk_pow(x, 2), (3), 0, 4, 9);
    EXPECT(slope(wk_pow(x, 2), x), (3), 0, 4, -6);
    EXPECT(slope(wk_pow(x, 0), x), (3), 0, 0, 0);
    EXPECT(slope(wk_pow(x, 1.0), x), (3), 1, 1, 1);
    EXPECT(slope(wk_pow(x, wk_of(double, (3), 0, 3, 2)), x), (3), 0, 12, -6);
    EXPECT(slope(wk_pow(0, wk_abs(x)), x), (3), 0, 0, -0.0); /* 0 by the sign of x */
    EXPECT(wk_pow(2, wk_of(float, (2), 3, -1)), (2), 8, 0.5);
    expect_dtype(wk_pow(whole, 3), WK_I64);
    EXPECT(wk_pow(whole, 3), (3), 8, -27, 0);
    expect_dtype(wk_pow(whole, 0.5), WK_F32);
    expect_error(wk_pow(whole, -1), WK_ERR_ARGUMENT, "i64[3]");
    EXPECT(wk_square(whole), (3), 4, 9, 0);
    EXPECT(wk_pow_(wk_of(float, (2), 2, 3), 2), (2), 4, 9);
    EXPECT(wk_exp2(wk_of(double, (3), 10, -1, 0.5)), (3), 1024, 0.5, 1.41421356237);
}

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

static void test_bool(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(bool, (4), true, true, false, false), *b = wk_of(bool, (4), true, false, true, false);
    expect_dtype(wk_add(a, b), WK_BOOL);
    EXPECT(wk_add(a, b), (4), 1, 1, 1, 0);
    EXPECT(wk_mul(a, b), (4), 1, 0, 0, 0);
    EXPECT(wk_maximum(a, b), (4), 1, 1, 1, 0);
    EXPECT(wk_bitwise_and(a, b), (4), 1, 0, 0, 0);
    EXPECT(wk_bitwise_xor(a, b), (4), 0, 1, 1, 0);
    expect_dtype(wk_bitwise_not(a), WK_BOOL);
    EXPECT(wk_bitwise_not(a), (4), 0, 0, 1, 1);
    EXPECT(wk_bitwise_not(wk_of(uint8_t, (2), 0, 5)), (2), 255, 250);
    EXPECT(wk_logical_not(wk_of(float, (3), 0, -0.5f, 2)), (3), 1, 0, 0);
    EXPECT(wk_logical_xor(wk_of(int64_t, (2), 2, 0), wk_of(float, (2), 0.5f, 3)), (2), 0, 1);
    expect_dtype(wk_logical_and(wk_of(float, (1), 2), 1), WK_BOOL);
    expect_error(wk_sub(a, b), WK_ERR_DTYPE, "bool");
    expect_error(wk_neg(a), WK_ERR_DTYPE, "bool");
    expect_error(wk_bitwise_or(wk_ones((2)), wk_ones((2))), WK_ERR_DTYPE, "f32");
    expect_dtype(wk_div(a, b), WK_F32);
}

static void test_classes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *whole = wk_of(int32_t, (3), -2, 0, 3);
    expect_dtype(wk_sqrt(whole), WK_F32);
    expect_dtype(wk_sigmoid(wk_of(bool, (1), true)), WK_F32);
    expect_dtype(wk_floor(whole), WK_I32);
    EXPECT(wk_floor(whole), (3), -2, 0, 3);
    expect_dtype(wk_relu(whole), WK_I32);
    EXPECT(wk_relu(whole), (3), 0, 0, 3);
    EXPECT(wk_neg(wk_of(uint8_t, (2), 1, 0)), (2), 255, 0);
    expect_dtype(wk_clamp(whole, -1, 1), WK_I32);
    EXPECT(wk_clamp(whole, -1, 1), (3), -1, 0, 1);
    expect_dtype(wk_clamp(whole, 0.5, WK_NONE), WK_F32);
    EXPECT(wk_clamp(whole, 0.5, WK_NONE), (3), 0.5, 0.5, 3);
    EXPECT(wk_clamp(whole, 1, WK_NONE), (3), 1, 1, 3);
    EXPECT(wk_clamp(whole, WK_NONE, wk_of(int64_t, (3), 5, 5, 1ll << 40)), (3), -2, 0, 3);
    expect_error(wk_gelu(whole), WK_ERR_DTYPE, "i32");
    expect_error(wk_leaky_relu(whole), WK_ERR_DTYPE, "i32");
    wk_tensor *half = wk_to_dtype(wk_of(float, (2), 1, -1), WK_BF16);
    expect_dtype(wk_leaky_relu(half), WK_BF16);
    expect_dtype(wk_softplus(half, .beta = 2), WK_BF16);
    expect_dtype(wk_addcmul(whole, whole, whole, .value = 2), WK_I32);
    EXPECT(wk_addcmul(whole, whole, whole, .value = 2), (3), 6, 0, 21);
}

/* ---- comparison and choice --------------------------------------------------------------------------------------- */

static void test_comparison(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(float, (4), 1, 2, NAN, INFINITY), *b = wk_of(float, (4), 1, 3, NAN, 0);
    expect_dtype(wk_eq(a, b), WK_BOOL);
    EXPECT(wk_eq(a, b), (4), 1, 0, 0, 0);
    EXPECT(wk_ne(a, b), (4), 0, 1, 1, 1);
    EXPECT(wk_lt(a, b), (4), 0, 1, 0, 0);
    EXPECT(wk_ge(a, 2), (4), 0, 1, 0, 1);
    EXPECT(wk_gt(2, a), (4), 1, 0, 0, 0);
    EXPECT(wk_le(wk_of(int64_t, (2), 0, 1), 0.5), (2), 1, 0);
    EXPECT(wk_isnan(a), (4), 0, 0, 1, 0);
    EXPECT(wk_isinf(wk_neg(a)), (4), 0, 0, 0, 1);
    EXPECT(wk_isfinite(a), (4), 1, 1, 0, 0);
    EXPECT(wk_isfinite(wk_of(int64_t, (1), 3)), (1), 1);
    EXPECT(wk_nan_to_num(wk_of(float, (3), NAN, INFINITY, -INFINITY), .nan = 5, .neginf = WK_EXPLICIT_ZERO), (3), 5,
           0x1.fffffep127, 0);
    EXPECT(wk_lt_(b, 2), (4), 1, 0, 0, 1);
    expect_dtype(b, WK_F32);
    assert_false(wk_requires_grad(wk_gt(leaf(wk_ones((2))), 0)));
}

static void test_where(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *condition = wk_of(bool, (2, 1), true, false), *x = leaf(wk_of(double, (2), 1, 2)),
              *y = leaf(wk_full((), 9.0, .dtype = WK_F64));
    EXPECT(wk_where(condition, x, y), (2, 2), 1, 2, 9, 9);
    EXPECT(slope(wk_where(condition, x, y), x), (2), 1, 1);
    EXPECT(slope(wk_where(condition, x, y), y), (), 2);
    expect_dtype(wk_where(condition, 1, 0), WK_I64);
    expect_dtype(wk_where(condition, 1, 0.5), WK_F32);
    expect_error(wk_where(wk_ones((2)), 1, 0), WK_ERR_DTYPE, "bool");
    EXPECT(wk_masked_fill(x, wk_of(bool, (2), true, false), -1), (2), -1, 2);
    EXPECT(slope(wk_masked_fill(x, wk_of(bool, (2), true, false), y), y), (), 1);
    wk_tensor *whole = wk_of(int64_t, (2), 1, 2);
    expect_dtype(wk_masked_fill(whole, wk_of(bool, (2), true, false), 1.5), WK_I64);
    EXPECT(wk_masked_fill_(whole, wk_of(bool, (2), false, true), 7), (2), 1, 7);
    expect_error(wk_masked_fill(x, wk_of(bool, (2), true, false), wk_ones((2))), WK_ERR_SHAPE, "0-d");
    expect_error(wk_masked_fill(x, whole, 0), WK_ERR_DTYPE, "bool");
}

/* ---- gradients at kinks and ties --------------------------------------------------------------------------------- */

static void test_kinks(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (5), -3, -1, 0, 1, 3));
    EXPECT(slope(wk_abs(x), x), (5), -1, -1, 0, 1, 1);
    EXPECT(slope(wk_relu(x), x), (5), 0, 0, 0, 1, 1);
    EXPECT(slope(wk_leaky_relu(x, .negative_slope = 0.5), x), (5), 0.5, 0.5, 0.5, 1, 1);
    EXPECT(slope(wk_leaky_relu(x, .negative_slope = WK_EXPLICIT_ZERO), x), (5), 0, 0, 0, 1, 1);
    EXPECT(slope(wk_hardtanh(x), x), (5), 0, 0, 1, 0, 0);
    EXPECT(slope(wk_relu6(wk_mul(x, 2)), x), (5), 0, 0, 0, 2, 0);
    EXPECT(slope(wk_hardsigmoid(x), x), (5), 0, 1.0 / 6, 1.0 / 6, 1.0 / 6, 0);
    EXPECT(slope(wk_hardswish(x), x), (5), 0, 1.0 / 6, 0.5, 5.0 / 6, 1);
    EXPECT(slope(wk_clamp(x, -1, 1), x), (5), 0, 0, 1, 0, 0);
    EXPECT(slope(wk_clamp(x, WK_NONE, 0), x), (5), 1, 1, 0, 0, 0);
    EXPECT(slope(wk_floor(x), x), (5), 0, 0, 0, 0, 0);
    EXPECT(slope(wk_sign(x), x), (5), 0, 0, 0, 0, 0);
    EXPECT(slope(wk_maximum(x, 0), x), (5), 0, 0, 0.5, 1, 1);
    EXPECT(slope(wk_elu(x, .alpha = 2), x), (5), 2 * exp(-3), 2 * exp(-1), 2, 1, 1);
    wk_tensor *a = leaf(wk_of(double, (3), 1, 2, 3)), *b = wk_of(double, (3), 3, 2, 1);
    EXPECT(slope(wk_maximum(a, b), a), (3), 0, 0.5, 1);
    EXPECT(slope(wk_minimum(a, b), a), (3), 1, 0.5, 0);
    EXPECT(slope(wk_clamp(b, a, WK_NONE), a), (3), 0, 0.5, 1);
}

static wk_tensor *far_away(wk_tensor *const *in, void *op)
{
    WK_ENABLE_GRAD;
    wk_tensor *x = in[0], *grad, *out = NULL;
    wk_requires_grad_(x, true);
    const wk__op *row = op;
    wk_value args[3] = {wk_value_of_tensor(x)};
    if (row->invoke(row, WK_HERE, args, &out) != 1 || wk_grad((wk_sum(out)), (x), &grad, .create_graph = true) != WK_OK)
        return NULL;
    return wk_add(grad, wk_mul(x, 0.25));
}

/* An overflow in the branch that is not selected must not reach the gradients. */
static void test_large(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk__op *const rows[] = {&wk__op_elu,  &wk__op_selu,    &wk__op_softplus,   &wk__op_silu, &wk__op_gelu,
                                         &wk__op_mish, &wk__op_sigmoid, &wk__op_logsigmoid, &wk__op_tanh};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        wk_tensor *x = leaf(wk_of(double, (2), 800, -800));
        if (!wk_gradcheck(far_away, (void *)(uintptr_t)rows[k], (x))) fail_msg("%s: %s", rows[k]->name, wk_error());
    }
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static void test_in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3), -1, 0.5, 2)), *y = wk_mul(x, 2);
    assert_ptr_equal(wk_sin_(y), y);
    EXPECT(slope(y, x), (3), 2 * cos(-2), 2 * cos(1), 2 * cos(4));
    EXPECT(slope(wk_leaky_relu_(wk_mul(x, 1), .negative_slope = 0.25), x), (3), 0.25, 1, 1);
    EXPECT(slope(wk_clamp_(wk_mul(x, 1), 0, 1), x), (3), 0, 1, 0);
    EXPECT(slope(wk_masked_fill_(wk_mul(x, 3), wk_of(bool, (3), true, false, false), 8), x), (3), 0, 3, 3);
    EXPECT(slope(wk_elu_(wk_mul(x, 1)), x), (3), exp(-1), 1, 1);
    EXPECT(wk_lerp_(wk_of(float, (2), 1, 2), wk_of(float, (2), 3, 6), 0.5), (2), 2, 4);
    EXPECT(wk_addcdiv_(wk_of(float, (2), 1, 2), wk_of(float, (2), 3, 6), wk_of(float, (2), 1, 2), .value = -1), (2), -2,
           -1);
    expect_error(wk_gt_(wk_mul(x, 1), 0), WK_ERR_STATE, "wk_detach");
    expect_error(wk_add_(wk_ones((3)), wk_ones((2, 3))), WK_ERR_SHAPE, "f32[3]");
    expect_error(wk_clamp(x, WK_NONE, WK_NONE), WK_ERR_ARGUMENT,
                 "clamp: low and high are both missing; pass at least one");
    expect_error(wk_gelu(x, .approximate = 7), WK_ERR_ARGUMENT, "WK_GELU_TANH");
}

/* More calls than the ring can queue, so it is flushed within a sequence. */
static void test_in_place_for_long(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { CALLS = 20000 };
    wk_tensor *x = wk_zeros((3)),
              *part = wk_as_strided_at(WK_HERE, x, (const int64_t[]){2}, (const int64_t[]){1}, 1, 1);
    for (int k = 0; k < CALLS; k++) wk_add_(k % 2 ? x : part, 1);
    EXPECT(x, (3), CALLS / 2, CALLS, CALLS);
}

/* ---- values at which simple formulas are inaccurate -------------------------------------------------------------- */

static void test_tails(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), -30, 6, 15, 26);
    expect_values(wk_div(wk_erfc(x), wk_of(double, (4), 2, 2.1519736712498913e-17, 7.2129941724512065e-100,
                                           5.663192408856143e-296)),
                  (double[]){1, 1, 1, 1}, 4, 1e-14);
    wk_tensor *f = wk_of(float, (2), 3, 9);
    expect_values(wk_div(wk_erfc(f), wk_of(double, (2), 2.209049699858544e-05, 4.1370317465138104e-37)),
                  (double[]){1, 1}, 2, 1e-6);
    EXPECT(wk_round(wk_of(float, (5), 0.5f, 1.5f, 2.5f, -0.5f, -1.5f)), (5), 0, 2, 2, -0.0, -2);
    EXPECT(wk_round(wk_of(double, (3), 0.125, -2.678, 3), .decimals = 2), (3), 0.12, -2.68, 3);
    EXPECT(wk_round(wk_of(double, (3), 1250, 1350, -49), .decimals = -2), (3), 1200, 1400, -0.0);
    wk_tensor *third = wk_full((1), 1 / 3.0, .dtype = WK_F64);
    EXPECT(wk_round_(third, .decimals = 3), (1), 0.333);
    EXPECT(third, (1), 0.333);
    expect_error(wk_round(wk_arange(3), .decimals = 1), WK_ERR_DTYPE, "i64");
    EXPECT(wk_softplus(wk_of(double, (3), -100, 0, 100)), (3), 0, 0.69314718056, 100);
    EXPECT(wk_logsigmoid(wk_of(double, (3), -1000, 0, 1000)), (3), -1000, -0.69314718056, 0);
    EXPECT(wk_gelu(wk_of(double, (3), -1, 0, 2)), (3), -0.15865525393, 0, 1.95449973610);
    EXPECT(wk_gelu(wk_of(double, (3), -1, 0, 2), .approximate = WK_GELU_TANH), (3), -0.15880800939, 0, 1.95459769409);
    EXPECT(wk_selu(wk_of(double, (2), -1, 1)), (2), -1.11133072, 1.05070099);
    EXPECT(wk_isnan(wk_relu(wk_of(float, (1), NAN))), (1), 1);
    EXPECT(wk_isnan(wk_maximum(wk_of(float, (2), NAN, 1), wk_of(float, (2), 1, NAN))), (2), 1, 1);
    EXPECT(wk_lerp(wk_of(double, (1), 0.1), wk_of(double, (1), 0.3), 1), (1), 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division),   cmocka_unit_test(test_powers),
        cmocka_unit_test(test_bool),       cmocka_unit_test(test_classes),
        cmocka_unit_test(test_comparison), cmocka_unit_test(test_where),
        cmocka_unit_test(test_kinks),      cmocka_unit_test(test_large),
        cmocka_unit_test(test_in_place),   cmocka_unit_test(test_in_place_for_long),
        cmocka_unit_test(test_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

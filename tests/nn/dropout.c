/* SPDX-License-Identifier: Apache-2.0 */
/* Tests dropout of channels and alpha dropout: whole channels, statistics, modes, and gradients that draw again. */
#include "support/wick.h"

#include <math.h>

static wk_tensor *doubles(wk_tensor *x)
{
    return wk_to_dtype(x, WK_F64);
}

/* Checks that the elements of each of `rows` rows are equal, and that they are 0 or value. Returns how many are 0. */
static int dropped_rows(wk_tensor *x, int rows, double value)
{
    wk_tensor *flat = wk_reshape(doubles(x), (rows, -1)), *least = wk_amin(flat, (1)), *most = wk_amax(flat, (1));
    assert_true(wk_item(wk_all(wk_eq(least, most))));
    int dropped = 0;
    for (int k = 0; k < rows; k++) {
        const double first = wk_item(wk_select(least, 0, k));
        assert_true(first == 0 || first == value);
        dropped += first == 0;
    }
    return dropped;
}

static void channels_are_dropped_as_a_whole(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(7);
    int dropped = dropped_rows(wk_forward(wk_nn_dropout1d(0.5), wk_ones((20, 10, 7))), 200, 2);
    assert_true(dropped > 70 && dropped < 130);
    dropped = dropped_rows(wk_forward(wk_nn_dropout1d(0.5), wk_ones((200, 7))), 200, 2);
    assert_true(dropped > 70 && dropped < 130);
    dropped = dropped_rows(wk_forward(wk_nn_dropout2d(0.75), wk_ones((20, 10, 3, 2))), 200, 4);
    assert_true(dropped > 120 && dropped < 180);
    dropped = dropped_rows(wk_forward(wk_nn_dropout3d(0.5), wk_ones((20, 10, 2, 3, 2), .dtype = WK_BF16)), 200, 2);
    assert_true(dropped > 70 && dropped < 130);
    dropped = dropped_rows(wk_forward(wk_nn_dropout3d(0.5), wk_ones((200, 2, 3, 2))), 200, 2);
    assert_true(dropped > 70 && dropped < 130);
}

/* Elements of mean 0 and variance 1 keep both. */
static void alpha_dropout_keeps_mean_and_variance(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(8);
    wk_tensor *x = wk_randn((400, 250)), *out = wk_forward(wk_nn_alpha_dropout(0.3), x);
    assert_float_equal(wk_item(wk_mean(out)), 0, 0.02);
    assert_float_equal(wk_item(wk_var(out)), 1, 0.02);
    wk_tensor *rows = wk_forward(wk_nn_feature_alpha_dropout(0.3), wk_reshape(x, (400, 250, 1)));
    assert_float_equal(wk_item(wk_mean(rows)), 0, 0.02);
    assert_float_equal(wk_item(wk_var(rows)), 1, 0.02);
    const double a = 1 / sqrt((1.7580993408473766 * 1.7580993408473766 * 0.3 + 1) * 0.7);
    assert_float_equal(wk_item(wk_amin(wk_forward(wk_nn_alpha_dropout(0.3), wk_zeros((1000))))),
                       (float)(1.7580993408473766 * a * (0.3 - 1)), 1e-6);
    EXPECT_VALUES(wk_alpha_dropout(wk_ones((2)), 1, true), 0, 0, 0);
}

static void evaluation_returns_the_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3, 4, 5));
    wk_module *layers[] = {wk_nn_dropout2d(0.5), wk_nn_alpha_dropout(0.5), wk_nn_feature_alpha_dropout(0.5)};
    for (int k = 0; k < 3; k++) assert_true(wk_forward(wk_module_train(layers[k], false), x) == x);
}

/* The gradient of a remaining element is its scale, that of a dropped one 0. */
static void gradients_draw_the_same_numbers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(9);
    wk_tensor *x = wk_ones((5, 6, 4), .requires_grad = true);
    wk_tensor *out = wk_dropout1d(x, 0.5, true);
    wk_backward(wk_sum(out));
    assert_true(wk_item(wk_all(wk_eq(wk_grad_of(x), out)))); /* as x is 1 */
    const double a = 1 / sqrt((1.7580993408473766 * 1.7580993408473766 * 0.5 + 1) * 0.5);
    for (int k = 0; k < 2; k++) {
        wk_tensor *zero = wk_zeros((5, 6, 4), .requires_grad = true);
        wk_tensor *y = k ? wk_feature_alpha_dropout(zero, 0.5, true) : wk_alpha_dropout(zero, 0.5, true);
        wk_backward(wk_sum(y));
        wk_tensor *kept = wk_mul(wk_gt(y, 0), a);
        assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_grad_of(zero), kept)))) < 1e-6);
    }
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_forward(wk_nn_dropout2d(0.5), wk_ones((2, 3, 4))));
    expect_error("dropout2d: expected an input (N, C, H, W), got f32[2,3,4]", NULL);
    assert_null(wk_forward(wk_nn_feature_alpha_dropout(0.5), wk_ones((2))));
    expect_error("feature_alpha_dropout: expected an input (N, C) or (N, C, ...), got f32[2]", NULL);
    assert_null(wk_nn_dropout1d(1.5));
    expect_error("nn_dropout1d: p must be in [0, 1], got 1.5", NULL);
    assert_null(wk_nn_alpha_dropout(-1));
    expect_error("nn_alpha_dropout: p must be in [0, 1], got -1", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_dropped_as_a_whole),
        cmocka_unit_test(alpha_dropout_keeps_mean_and_variance),
        cmocka_unit_test(evaluation_returns_the_input),
        cmocka_unit_test(gradients_draw_the_same_numbers),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests_name("nn_dropout", tests, NULL, NULL);
}

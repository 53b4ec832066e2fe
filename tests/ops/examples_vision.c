/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/vision.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_conv1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 2), 1, 10);
    expect_values(wk_conv1d(x, y, NULL), 2, (const double[]){21, 32}, 1e-5);
}

static void example_conv2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 2), 1, 10);
    expect_values(wk_conv2d(x, y, NULL), 2, (const double[]){21, 32}, 1e-5);
}

static void example_conv3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 1, 2), 1, 10);
    expect_values(wk_conv3d(x, y, NULL), 2, (const double[]){21, 32}, 1e-5);
}

static void example_conv_transpose1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 2), 1, 10);
    expect_values(wk_conv_transpose1d(x, y, NULL), 4, (const double[]){1, 12, 23, 30}, 1e-5);
}

static void example_conv_transpose2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 2), 1, 10);
    expect_values(wk_conv_transpose2d(x, y, NULL), 4, (const double[]){1, 12, 23, 30}, 1e-5);
}

static void example_conv_transpose3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 1, 2), 1, 10);
    expect_values(wk_conv_transpose3d(x, y, NULL), 4, (const double[]){1, 12, 23, 30}, 1e-5);
}

static void example_conv1d_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 2), 1, 10);
    wk_tensor *y = wk_of(double, (1, 1, 2), 1, 2);
    expect_values(wk_conv1d_input((1, 1, 3), x, y), 3, (const double[]){1, 12, 20}, 1e-5);
}

static void example_conv2d_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 2), 1, 10);
    wk_tensor *y = wk_of(double, (1, 1, 1, 2), 1, 2);
    expect_values(wk_conv2d_input((1, 1, 1, 3), x, y), 3, (const double[]){1, 12, 20}, 1e-5);
}

static void example_conv3d_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 1, 2), 1, 10);
    wk_tensor *y = wk_of(double, (1, 1, 1, 1, 2), 1, 2);
    expect_values(wk_conv3d_input((1, 1, 1, 1, 3), x, y), 3, (const double[]){1, 12, 20}, 1e-5);
}

static void example_conv1d_weight(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 2), 1, 2);
    expect_values(wk_conv1d_weight(x, (1, 1, 2), y), 2, (const double[]){5, 8}, 1e-5);
}

static void example_conv2d_weight(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 2), 1, 2);
    expect_values(wk_conv2d_weight(x, (1, 1, 1, 2), y), 2, (const double[]){5, 8}, 1e-5);
}

static void example_conv3d_weight(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 1, 3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (1, 1, 1, 1, 2), 1, 2);
    expect_values(wk_conv3d_weight(x, (1, 1, 1, 1, 2), y), 2, (const double[]){5, 8}, 1e-5);
}

static void example_max_pool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4), 1, 3, 2, 4);
    expect_values(wk_max_pool1d(x, 2), 2, (const double[]){3, 4}, 1e-5);
}

static void example_max_pool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_max_pool2d(x, (1, 2)), 2, (const double[]){3, 4}, 1e-5);
}

static void example_max_pool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_max_pool3d(x, (1, 1, 2)), 2, (const double[]){3, 4}, 1e-5);
}

static void example_avg_pool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4), 1, 3, 2, 4);
    expect_values(wk_avg_pool1d(x, 2), 2, (const double[]){2, 3}, 1e-5);
}

static void example_avg_pool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_avg_pool2d(x, (1, 2)), 2, (const double[]){2, 3}, 1e-5);
}

static void example_avg_pool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_avg_pool3d(x, (1, 1, 2)), 2, (const double[]){2, 3}, 1e-5);
}

static void example_adaptive_avg_pool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_avg_pool1d(x, 2), 2, (const double[]){2, 3}, 1e-5);
}

static void example_adaptive_avg_pool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_avg_pool2d(x, (1, 2)), 2, (const double[]){2, 3}, 1e-5);
}

static void example_adaptive_avg_pool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_avg_pool3d(x, (1, 1, 2)), 2, (const double[]){2, 3}, 1e-5);
}

static void example_adaptive_max_pool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_max_pool1d(x, 2), 2, (const double[]){3, 4}, 1e-5);
}

static void example_adaptive_max_pool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_max_pool2d(x, (1, 2)), 2, (const double[]){3, 4}, 1e-5);
}

static void example_adaptive_max_pool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 4), 1, 3, 2, 4);
    expect_values(wk_adaptive_max_pool3d(x, (1, 1, 2)), 2, (const double[]){3, 4}, 1e-5);
}

static void example_lp_pool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4), 1, 2, 2, 4);
    expect_values(wk_lp_pool1d(x, 2, 2), 2, (const double[]){2.236068, 4.472136}, 1e-5);
}

static void example_lp_pool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 4), 1, 2, 2, 4);
    expect_values(wk_lp_pool2d(x, 2, (1, 2)), 2, (const double[]){2.236068, 4.472136}, 1e-5);
}

static void example_lp_pool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 4), 1, 2, 2, 4);
    expect_values(wk_lp_pool3d(x, 2, (1, 1, 2)), 2, (const double[]){2.236068, 4.472136}, 1e-5);
}

static void example_max_unpool1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 5, 6);
    wk_tensor *y = wk_of(int64_t, (1, 2), 0, 2);
    expect_values(wk_max_unpool1d(x, y, 2), 4, (const double[]){5, 0, 6, 0}, 1e-5);
}

static void example_max_unpool2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 2), 5, 6);
    wk_tensor *y = wk_of(int64_t, (1, 1, 2), 0, 2);
    expect_values(wk_max_unpool2d(x, y, (1, 2)), 4, (const double[]){5, 0, 6, 0}, 1e-5);
}

static void example_max_unpool3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 2), 5, 6);
    wk_tensor *y = wk_of(int64_t, (1, 1, 1, 2), 0, 2);
    expect_values(wk_max_unpool3d(x, y, (1, 1, 2)), 4, (const double[]){5, 0, 6, 0}, 1e-5);
}

static void example_interpolate(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 2), 1, 2);
    expect_values(wk_interpolate(x, .scale_factor = 2), 4, (const double[]){1, 1, 2, 2}, 1e-5);
}

static void example_affine_grid(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *theta = wk_of(double, (1, 2, 3), 1, 0, 0, 0, 1, 0);
    expect_values(wk_affine_grid(theta, (1, 1, 1, 2)), 4, (const double[]){-0.5, 0, 0.5, 0}, 1e-5);
}

static void example_grid_sample(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 3), 1, 2, 5);
    wk_tensor *grid = wk_of(double, (1, 1, 2, 2), -1, 0, 0.5, 0);
    expect_values(wk_grid_sample(x, grid, .align_corners = true), 2, (const double[]){1, 3.5}, 1e-5);
}

static void example_im2col(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 3), 1, 2, 3);
    expect_values(wk_im2col(x, (1, 2)), 4, (const double[]){1, 2, 2, 3}, 1e-5);
}

static void example_col2im(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 2, 3);
    expect_values(wk_col2im(x, (1, 3), (1, 2)), 3, (const double[]){1, 4, 3}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_conv1d),
                                       cmocka_unit_test(example_conv2d),
                                       cmocka_unit_test(example_conv3d),
                                       cmocka_unit_test(example_conv_transpose1d),
                                       cmocka_unit_test(example_conv_transpose2d),
                                       cmocka_unit_test(example_conv_transpose3d),
                                       cmocka_unit_test(example_conv1d_input),
                                       cmocka_unit_test(example_conv2d_input),
                                       cmocka_unit_test(example_conv3d_input),
                                       cmocka_unit_test(example_conv1d_weight),
                                       cmocka_unit_test(example_conv2d_weight),
                                       cmocka_unit_test(example_conv3d_weight),
                                       cmocka_unit_test(example_max_pool1d),
                                       cmocka_unit_test(example_max_pool2d),
                                       cmocka_unit_test(example_max_pool3d),
                                       cmocka_unit_test(example_avg_pool1d),
                                       cmocka_unit_test(example_avg_pool2d),
                                       cmocka_unit_test(example_avg_pool3d),
                                       cmocka_unit_test(example_adaptive_avg_pool1d),
                                       cmocka_unit_test(example_adaptive_avg_pool2d),
                                       cmocka_unit_test(example_adaptive_avg_pool3d),
                                       cmocka_unit_test(example_adaptive_max_pool1d),
                                       cmocka_unit_test(example_adaptive_max_pool2d),
                                       cmocka_unit_test(example_adaptive_max_pool3d),
                                       cmocka_unit_test(example_lp_pool1d),
                                       cmocka_unit_test(example_lp_pool2d),
                                       cmocka_unit_test(example_lp_pool3d),
                                       cmocka_unit_test(example_max_unpool1d),
                                       cmocka_unit_test(example_max_unpool2d),
                                       cmocka_unit_test(example_max_unpool3d),
                                       cmocka_unit_test(example_interpolate),
                                       cmocka_unit_test(example_affine_grid),
                                       cmocka_unit_test(example_grid_sample),
                                       cmocka_unit_test(example_im2col),
                                       cmocka_unit_test(example_col2im)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

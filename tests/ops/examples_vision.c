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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_conv1d),           cmocka_unit_test(example_conv2d),
        cmocka_unit_test(example_conv3d),           cmocka_unit_test(example_conv_transpose1d),
        cmocka_unit_test(example_conv_transpose2d), cmocka_unit_test(example_conv_transpose3d),
        cmocka_unit_test(example_conv1d_input),     cmocka_unit_test(example_conv2d_input),
        cmocka_unit_test(example_conv3d_input),     cmocka_unit_test(example_conv1d_weight),
        cmocka_unit_test(example_conv2d_weight),    cmocka_unit_test(example_conv3d_weight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

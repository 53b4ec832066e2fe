/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/activation.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_relu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 2);
    expect_values(wk_relu(x), 2, (const double[]){0, 2}, 1e-5);
}

static void example_relu6(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -1, 2, 9);
    expect_values(wk_relu6(x), 3, (const double[]){0, 2, 6}, 1e-5);
}

static void example_selu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 1);
    expect_values(wk_selu(x), 2, (const double[]){-1.11133, 1.0507}, 1e-5);
}

static void example_silu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_silu(x), 2, (const double[]){0, 0.731059}, 1e-5);
}

static void example_mish(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_mish(x), 2, (const double[]){0, 0.865098}, 1e-5);
}

static void example_hardsigmoid(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -4, 0, 4);
    expect_values(wk_hardsigmoid(x), 3, (const double[]){0, 0.5, 1}, 1e-5);
}

static void example_hardswish(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -4, 1, 4);
    expect_values(wk_hardswish(x), 3, (const double[]){-0.0, 0.666667, 4}, 1e-5);
}

static void example_softsign(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 3);
    expect_values(wk_softsign(x), 2, (const double[]){-0.5, 0.75}, 1e-5);
}

static void example_logsigmoid(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_logsigmoid(x), 2, (const double[]){-0.693147, -0.313262}, 1e-5);
}

static void example_tanhshrink(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 2);
    expect_values(wk_tanhshrink(x), 2, (const double[]){-0.238406, 1.035972}, 1e-5);
}

static void example_softshrink(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -2, 0.25, 1);
    expect_values(wk_softshrink(x), 3, (const double[]){-1.5, 0, 0.5}, 1e-5);
}

static void example_hardshrink(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -2, 0.25, 1);
    expect_values(wk_hardshrink(x), 3, (const double[]){-2, 0, 1}, 1e-5);
}

static void example_threshold(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -1, 0.5, 1);
    expect_values(wk_threshold(x, 0.5, 9), 3, (const double[]){9, 9, 1}, 1e-5);
}

static void example_leaky_relu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 1);
    expect_values(wk_leaky_relu(x), 2, (const double[]){-0.01, 1}, 1e-5);
}

static void example_prelu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -2, 3);
    wk_tensor *y = wk_of(double, (1), 0.25);
    expect_values(wk_prelu(x, y), 2, (const double[]){-0.5, 3}, 1e-5);
}

static void example_rrelu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -2, 3);
    expect_values(wk_rrelu(x, .lower = 0.25, .upper = 0.75), 2, (const double[]){-1, 3}, 1e-5);
}

static void example_elu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 1);
    expect_values(wk_elu(x, .alpha = 2), 2, (const double[]){-1.26424, 1}, 1e-5);
}

static void example_celu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), -1, 1);
    expect_values(wk_celu(x, .alpha = 2), 2, (const double[]){-0.786939, 1}, 1e-5);
}

static void example_gelu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_gelu(x, .approximate = WK_GELU_TANH), 2, (const double[]){0, 0.841192}, 1e-5);
}

static void example_softplus(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 30);
    expect_values(wk_softplus(x), 2, (const double[]){0.693147, 30}, 1e-5);
}

static void example_hardtanh(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), -2, 0.5, 3);
    expect_values(wk_hardtanh(x), 3, (const double[]){-1, 0.5, 1}, 1e-5);
}

static void example_glu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 0, 0);
    expect_values(wk_glu(x), 2, (const double[]){0.5, 1}, 1e-5);
}

static void example_swiglu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_swiglu(x), 2, (const double[]){2.193176, 7.046377}, 1e-5);
}

static void example_geglu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_geglu(x), 2, (const double[]){2.524034, 7.817999}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_relu),       cmocka_unit_test(example_relu6),
                                       cmocka_unit_test(example_selu),       cmocka_unit_test(example_silu),
                                       cmocka_unit_test(example_mish),       cmocka_unit_test(example_hardsigmoid),
                                       cmocka_unit_test(example_hardswish),  cmocka_unit_test(example_softsign),
                                       cmocka_unit_test(example_logsigmoid), cmocka_unit_test(example_tanhshrink),
                                       cmocka_unit_test(example_softshrink), cmocka_unit_test(example_hardshrink),
                                       cmocka_unit_test(example_threshold),  cmocka_unit_test(example_leaky_relu),
                                       cmocka_unit_test(example_prelu),      cmocka_unit_test(example_rrelu),
                                       cmocka_unit_test(example_elu),        cmocka_unit_test(example_celu),
                                       cmocka_unit_test(example_gelu),       cmocka_unit_test(example_softplus),
                                       cmocka_unit_test(example_hardtanh),   cmocka_unit_test(example_glu),
                                       cmocka_unit_test(example_swiglu),     cmocka_unit_test(example_geglu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

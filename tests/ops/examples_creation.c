/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/creation.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_zeros(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_zeros((2, 2), .dtype = WK_F64), 4, (const double[]){0, 0, 0, 0}, 1e-5);
}

static void example_ones(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_ones((2), .requires_grad = true), 2, (const double[]){1, 1}, 1e-5);
}

static void example_empty(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 3, 4);
    expect_values(wk_copy_(wk_empty((2)), x), 2, (const double[]){3, 4}, 1e-5);
}

static void example_full(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_full((2, 2), 0.5), 4, (const double[]){0.5, 0.5, 0.5, 0.5}, 1e-5);
}

static void example_zeros_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_zeros_like(x), 2, (const double[]){0, 0}, 1e-5);
}

static void example_ones_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_ones_like(x, .dtype = WK_I64), 2, (const double[]){1, 1}, 1e-5);
}

static void example_empty_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_fill_(wk_empty_like(x), 5), 2, (const double[]){5, 5}, 1e-5);
}

static void example_full_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_full_like(x, 0.5), 2, (const double[]){0.5, 0.5}, 1e-5);
}

static void example_arange(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_arange(1, 8, 3), 3, (const double[]){1, 4, 7}, 1e-5);
}

static void example_linspace(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_linspace(0, 1, 5), 5, (const double[]){0, 0.25, 0.5, 0.75, 1}, 1e-5);
}

static void example_eye(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_eye(2), 4, (const double[]){1, 0, 0, 1}, 1e-5);
}

static void example_rand(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_floor(wk_rand((2, 2))), 4, (const double[]){0, 0, 0, 0}, 1e-5);
}

static void example_rand_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_floor(wk_rand_like(x)), 2, (const double[]){0, 0}, 1e-5);
}

static void example_randn(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_isfinite(wk_randn((3))), 3, (const double[]){true, true, true}, 1e-5);
}

static void example_randn_like(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_isfinite(wk_randn_like(x)), 2, (const double[]){true, true}, 1e-5);
}

static void example_randint(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_randint(3, 4, (2)), 2, (const double[]){3, 3}, 1e-5);
}

static void example_randperm(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_sum(wk_randperm(4)), 1, (const double[]){6}, 1e-5);
}

static void example_to(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_to(x, wk_cpu()), 2, (const double[]){1, 2}, 1e-5);
}

static void example_to_dtype(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1.5, -2.5);
    expect_values(wk_to_dtype(x, WK_I32), 2, (const double[]){1, -2}, 1e-5);
}

static void example_clone(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_clone(x), 2, (const double[]){1, 2}, 1e-5);
}

static void example_copy_(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (1), 3);
    expect_values(wk_copy_(x, y), 2, (const double[]){3, 3}, 1e-5);
}

static void example_fill_(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_fill_(x, 7), 2, (const double[]){7, 7}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_zeros),      cmocka_unit_test(example_ones),
                                       cmocka_unit_test(example_empty),      cmocka_unit_test(example_full),
                                       cmocka_unit_test(example_zeros_like), cmocka_unit_test(example_ones_like),
                                       cmocka_unit_test(example_empty_like), cmocka_unit_test(example_full_like),
                                       cmocka_unit_test(example_arange),     cmocka_unit_test(example_linspace),
                                       cmocka_unit_test(example_eye),        cmocka_unit_test(example_rand),
                                       cmocka_unit_test(example_rand_like),  cmocka_unit_test(example_randn),
                                       cmocka_unit_test(example_randn_like), cmocka_unit_test(example_randint),
                                       cmocka_unit_test(example_randperm),   cmocka_unit_test(example_to),
                                       cmocka_unit_test(example_to_dtype),   cmocka_unit_test(example_clone),
                                       cmocka_unit_test(example_copy_),      cmocka_unit_test(example_fill_)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

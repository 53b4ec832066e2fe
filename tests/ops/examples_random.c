/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/random.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_uniform_(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_uniform_(x, 2, 2), 2, (const double[]){2, 2}, 1e-5);
}

static void example_normal_(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_normal_(x, 3, 0), 2, (const double[]){3, 3}, 1e-5);
}

static void example_bernoulli(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_bernoulli(x), 2, (const double[]){0, 1}, 1e-5);
}

static void example_dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_dropout(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_dropout1d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    expect_values(wk_dropout1d(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_dropout2d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 2), 1, 2);
    expect_values(wk_dropout2d(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_dropout3d(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1, 2), 1, 2);
    expect_values(wk_dropout3d(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_alpha_dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_alpha_dropout(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_feature_alpha_dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    expect_values(wk_feature_alpha_dropout(x, 0.5, false), 2, (const double[]){1, 2}, 1e-5);
}

static void example_multinomial(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_multinomial(x, 1), 1, (const double[]){1}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_uniform_),
                                       cmocka_unit_test(example_normal_),
                                       cmocka_unit_test(example_bernoulli),
                                       cmocka_unit_test(example_dropout),
                                       cmocka_unit_test(example_dropout1d),
                                       cmocka_unit_test(example_dropout2d),
                                       cmocka_unit_test(example_dropout3d),
                                       cmocka_unit_test(example_alpha_dropout),
                                       cmocka_unit_test(example_feature_alpha_dropout),
                                       cmocka_unit_test(example_multinomial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/matmul.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_matmul(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_matmul(x, y), 2, (const double[]){3, 7}, 1e-5);
}

static void example_mm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2, 2), 0, 1, 1, 0);
    expect_values(wk_mm(x, y), 4, (const double[]){2, 1, 4, 3}, 1e-5);
}

static void example_bmm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 1, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2, 2, 1), 1, 1, 2, 2);
    expect_values(wk_bmm(x, y), 2, (const double[]){3, 14}, 1e-5);
}

static void example_mv(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_mv(x, y), 2, (const double[]){3, 7}, 1e-5);
}

static void example_dot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_dot(x, y), 1, (const double[]){11}, 1e-5);
}

static void example_outer(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_outer(x, y), 4, (const double[]){3, 4, 6, 8}, 1e-5);
}

static void example_addmm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2, 2), 1, 0, 0, 1);
    expect_values(wk_addmm(x, y, y, .beta = 2), 4, (const double[]){3, 4, 2, 5}, 1e-5);
}

static void example_baddbmm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 1, 1), 1);
    wk_tensor *y = wk_of(double, (1, 1, 1), 3);
    expect_values(wk_baddbmm(x, y, y, .alpha = 2), 1, (const double[]){19}, 1e-5);
}

static void example_linear(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    wk_tensor *y = wk_of(double, (2, 2), 3, 4, 5, 6);
    expect_values(wk_linear(x, y, NULL), 2, (const double[]){11, 17}, 1e-5);
}

static void example_einsum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_einsum("ij,j->i", (x, y)), 2, (const double[]){3, 7}, 1e-5);
}

static void example_tensordot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_tensordot(x, y, (1), (0)), 2, (const double[]){3, 7}, 1e-5);
}

static void example_kron(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    wk_tensor *y = wk_of(double, (2, 1), 1, 3);
    expect_values(wk_kron(x, y), 4, (const double[]){1, 2, 3, 6}, 1e-5);
}

static void example_cross(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 0, 0);
    wk_tensor *y = wk_of(double, (3), 0, 1, 0);
    expect_values(wk_cross(x, y, 0), 3, (const double[]){0, 0, 1}, 1e-5);
}

static void example_rotary(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 0, 1, 0);
    wk_tensor *y = wk_of(int64_t, (2), 0, 1);
    expect_values(wk_rotary(x, y), 4, (const double[]){1, 0, 0.540302, 0.841471}, 1e-5);
}

static void example_scaled_dot_product_attention(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 0, 0, 0);
    wk_tensor *y = wk_of(double, (2, 2), 1, 2, 3, 6);
    expect_values(wk_scaled_dot_product_attention(x, x, y), 4, (const double[]){2, 4, 2, 4}, 1e-5);
}

static void example_dequantize(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_mean(wk_dequantize(wk_quantize(wk_full((32), 127.0)))), 1, (const double[]){127}, 1e-5);
}

static void example_quantize(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_select(wk_quantize(wk_full((32), 127.0)), 0, 2), 1, (const double[]){127}, 1e-5);
}

static void example_quantized_linear(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_values(wk_quantized_linear(wk_ones((1, 32)), wk_quantize(wk_full((2, 32), 127.0)), NULL), 2,
                  (const double[]){4064, 4064}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_matmul),
                                       cmocka_unit_test(example_mm),
                                       cmocka_unit_test(example_bmm),
                                       cmocka_unit_test(example_mv),
                                       cmocka_unit_test(example_dot),
                                       cmocka_unit_test(example_outer),
                                       cmocka_unit_test(example_addmm),
                                       cmocka_unit_test(example_baddbmm),
                                       cmocka_unit_test(example_linear),
                                       cmocka_unit_test(example_einsum),
                                       cmocka_unit_test(example_tensordot),
                                       cmocka_unit_test(example_kron),
                                       cmocka_unit_test(example_cross),
                                       cmocka_unit_test(example_rotary),
                                       cmocka_unit_test(example_scaled_dot_product_attention),
                                       cmocka_unit_test(example_dequantize),
                                       cmocka_unit_test(example_quantize),
                                       cmocka_unit_test(example_quantized_linear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ops whose kernels depend on more than their operands' values: on the compute dtype, or on positions in memory.
 * Runs on every device. */
#include "support/devices.h"
#include <math.h>
#include <wick/device.h>

/* A bool converted to an integer in the same kernel has that integer's bits. */
static void bits_of_a_converted_bool(void **state)
{
    (void)state;
    static const wk_dtype whole[] = {WK_U8, WK_I32, WK_I64};
    EACH_DEVICE(device)
    {
        for (int k = 0; k < 3; k++) {
            WK_SCOPE;
            const wk_dtype dtype = whole[k];
            const double first = dtype == WK_U8 ? 254 : -2, second = first + 1;
            wk_tensor *mask = wk_eq(wk_arange(2, .device = device), 0);
            EXPECT_VALUES(wk_bitwise_not(wk_to_dtype(mask, dtype)), 0, first, second);
            wk_tensor *x = wk_zeros((2), .dtype = dtype, .device = device);
            wk_eq_(x, wk_arange(2, .dtype = dtype, .device = device));
            EXPECT_VALUES(wk_bitwise_not(x), 0, first, second);
            wk_tensor *square = wk_expand(wk_to_dtype(mask, dtype), (2, 2));
            EXPECT_VALUES(wk_bitwise_not(wk_tril(square)), 0, first, second, first, second);
        }
    }
}

/* argmax needs no buffer of positions: the memory limit has room for half of them. Reduces all elements, and rows
 * longer than the limit for two-pass kernels. */
static void argmax_needs_no_positions(void **state)
{
    (void)state;
    enum { ROWS = 4, COLUMNS = 1 << 18 };
    const int64_t at[ROWS] = {77, 0, COLUMNS - 1, 40000};
    uint8_t *bytes = calloc(ROWS, COLUMNS);
    for (int64_t r = 0; r < ROWS; r++) bytes[r * COLUMNS + at[r]] = (uint8_t)(1 + r % 2);
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x =
            wk_to(wk_from_at(WK_HERE, WK_U8, bytes, ROWS * COLUMNS, (const int64_t[]){ROWS, COLUMNS}, 2), device);
        assert_int_equal(wk_sync(), WK_OK);
        wk_memory_set_limit(device, ROWS * COLUMNS * 4);
        EXPECT_VALUES(wk_argmax(x), 0, COLUMNS);
        EXPECT_VALUES(wk_argmin(x), 0, 0);
        EXPECT_VALUES(wk_argmax(x, 1), 0, 77, 0, COLUMNS - 1, 40000);
        EXPECT_VALUES(wk_argmax(wk_transpose(x, 0, 1), 0, .keepdim = true), 0, 77, 0, COLUMNS - 1, 40000);
        EXPECT_VALUES(wk_argmin(x, (1), .keepdim = true), 0, 0, 1, 0, 0);
        wk_memory_set_limit(device, 0);
        EXPECT_VALUES(wk_sum(wk_argmax(x, 0)), 0, 0 + 2 + 3 + 1); /* an index per column: 2 MiB by themselves */
    }
    free(bytes);
    expect_ok();
}

/* -0 and 0 are equal but give results of different sign, in every float dtype and as scalars. */
static void signed_zeros_of_copysign_and_logit(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16};
    const double inf = INFINITY;
    EACH_DEVICE(device)
    {
        for (int k = 0; k < 4; k++) {
            WK_SCOPE;
            WK_DEVICE(device);
            wk_tensor *a = wk_to_dtype(wk_of(double, (8), 1, -0.0, inf, 4, -2, 0, 8, -0x1p-14), dtypes[k]);
            wk_tensor *b = wk_to_dtype(wk_of(double, (8), -0.0, 0, -inf, NAN, inf, -0x1p-14, -0.0, 0x1p-14), dtypes[k]);
            wk_tensor *signs = wk_reciprocal(wk_copysign(a, b)), *odds = wk_logit(b);
            wk_tensor *negative = wk_reciprocal(wk_copysign(a, -0.0));
            EXPECT_VALUES(signs, 0, -1, inf, -0.0, 0.25, 0.5, -inf, -0.125, 0x1p14);
            EXPECT_VALUES(negative, 0, -1, -inf, -0.0, -0.25, -0.5, -inf, -0.125, -0x1p14);
            EXPECT_VALUES(odds, 0.02, -inf, -inf, NAN, NAN, NAN, NAN, -inf, -9.704); /* bf16 has three digits */
        }
    }
}

/* Several batch dimensions; each operand lacks a different one. */
static void batches_of_batches(void **state)
{
    (void)state;
    enum { I = 2, J = 4, K = 3, L = 5, ELEMENTS = I * J * K * L * 6 };
    double wanted[ELEMENTS];
    for (int n = 0; n < ELEMENTS; n++) { /* element [i, j, k, l, row, column] */
        const int column = n % 3, row = n / 3 % 2, l = n / 6 % L, k = n / (6 * L) % K, j = n / (6 * L * K) % J,
                  i = n / (6 * L * K * J), a = ((i * K + k) * L + l) * 4 + row * 2, b = (j * L + l) * 6 + column;
        wanted[n] = a * b + (a + 1) * (b + 3);
    }
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *a = wk_reshape(wk_arange(I * K * L * 4, .dtype = WK_F32), (I, 1, K, L, 2, 2)),
                  *b = wk_reshape(wk_arange(J * L * 6, .dtype = WK_F32), (J, 1, L, 2, 3)), *c = wk_matmul(a, b);
        EXPECT_SHAPE(c, I, J, K, L, 2, 3);
        expect_values(c, ELEMENTS, wanted, 0);
    }
}

/* A kernel or program is compiled once for rows of all lengths. Rows of length 1 are broadcast and need a different
 * one, so they are tried first, last and in between. */
static void kernels_serve_all_row_lengths(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 5, 1, 256, 257, 0, 1, 255, 3};
    float value[257];
    for (int k = 0; k < 257; k++) value[k] = (float)k + 1;
    EACH_DEVICE(device)
    {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            WK_SCOPE;
            const int64_t n = lengths[k];
            wk_tensor *x = wk_to(wk_from_at(WK_HERE, WK_F32, value, (size_t)n * sizeof *value, &n, 1), device);
            assert_true(wk_item(wk_sum(wk_mul(x, wk_arange(n, .device = device)))) ==
                        (double)((n - 1) * n * (n + 1)) / 3);
            assert_true(wk_item(wk_sum(wk_mul(x, x))) == (double)(n * (n + 1) * (2 * n + 1)) / 6);
        }
    }
    expect_ok();
}

/* A scalar argument is converted to an integer in the same way as an element of a tensor. */
static void scalars_are_converted_like_elements(void **state)
{
    (void)state;
    static const double numbers[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 0x1p63, -0x1p63, 3e9, -2.75};
    static const wk_dtype dtypes[] = {WK_I64, WK_I32, WK_U8, WK_BOOL};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            WK_SCOPE;
            wk_tensor *element = wk_to_dtype(wk_of(double, (1), numbers[k]), dtypes[d]);
            assert_true(wk_item(wk_eq(wk_full((1), numbers[k], .dtype = dtypes[d]), element)) == 1);
            assert_true(wk_item(wk_eq(wk_fill_(wk_zeros((1), .dtype = dtypes[d]), numbers[k]), element)) == 1);
        }
}

static wk_tensor *convolved(int kind, wk_tensor *x, wk_tensor *w, wk_tensor *bias)
{
    wk_tensor *images = wk_reshape(x, (2, 6, 9, 8)), *kernels = wk_reshape(w, (6, 6, 2, 3));
    switch (kind) {
    case 0: return wk_conv2d(images, kernels, bias, .padding = WK_PAIR(1, 2));
    case 1: return wk_conv2d(images, kernels, bias, .stride = 2, .dilation = WK_PAIR(2, 1));
    case 2: return wk_conv2d(images, wk_narrow(kernels, 1, 0, 2), bias, .groups = 3);
    case 3: return wk_conv2d(images, wk_narrow(kernels, 1, 0, 1), NULL, .groups = 6);
    case 4: return wk_conv_transpose2d(images, kernels, bias, .stride = 2, .output_padding = 1);
    case 5: return wk_conv1d(wk_reshape(x, (2, 6, 72)), wk_reshape(w, (6, 6, 6)), bias, .padding = WK_SAME);
    case 6: return wk_conv_transpose1d(wk_reshape(x, (2, 6, 72)), wk_reshape(w, (6, 6, 6)), NULL);
    case 7: return wk_conv3d(wk_reshape(x, (2, 6, 3, 3, 8)), wk_reshape(w, (6, 6, 1, 2, 3)), bias);
    default: return wk_conv2d(wk_narrow(images, 1, 0, 2), wk_reshape(w, (108, 2, 1, 1)), NULL);
    }
}

/* Convolutions of integers have the integers of those in f64, and wrap as other integer ops. */
static void convolutions_of_integers(void **state)
{
    (void)state;
    const wk_dtype dtypes[] = {WK_U8, WK_I8, WK_I16, WK_I32, WK_I64};
    EACH_DEVICE(device)
    for (int k = 0; k < 5; k++)
        for (int kind = 0; kind < 9; kind++) {
            WK_SCOPE;
            WK_DEVICE(device);
            wk_tensor *x = wk_randint(0, 2, (864)), *w = wk_randint(0, 2, (216)), *bias = wk_randint(0, 9, (6));
            wk_tensor *y =
                convolved(kind, wk_to_dtype(x, dtypes[k]), wk_to_dtype(w, dtypes[k]), wk_to_dtype(bias, dtypes[k]));
            wk_tensor *expected =
                convolved(kind, wk_to_dtype(x, WK_F64), wk_to_dtype(w, WK_F64), wk_to_dtype(bias, WK_F64));
            expect_ok();
            assert_int_equal(wk_dtype_of(y), dtypes[k]);
            if (wk_item(wk_all(wk_eq(y, wk_to_dtype(expected, dtypes[k])))) != 1)
                fail_msg("%s, kind %d", wk_dtype_str(dtypes[k]), kind);
        }
    WK_SCOPE;
    const int64_t big = ((int64_t)1 << 53) + 1;
    wk_tensor *y = wk_conv1d(wk_of(int64_t, (1, 1, 2), big, 1), wk_of(int64_t, (1, 1, 2), 1, 2), NULL);
    assert_true(wk_item_i64(y) == big + 2);
    y = wk_conv1d(wk_of(int8_t, (1, 1, 1), 100), wk_of(int8_t, (1, 1, 1), 3), NULL);
    assert_true(wk_item_i64(y) == 44);
    assert_null(wk_conv1d(wk_ones((1, 1, 2), .dtype = WK_BOOL), wk_ones((1, 1, 2), .dtype = WK_BOOL), NULL));
    expect_error("conv1d: expected operands of numbers, got bool[1,1,2] and bool[1,1,2]", NULL);
    assert_null(wk_conv1d(wk_ones((1, 1, 2), .dtype = WK_I64), wk_ones((1, 1, 2)), NULL));
    expect_error("conv1d: i64[1,1,2] and f32[1,1,2] have different dtypes", NULL);
}

/* ---- quantised blocks -------------------------------------------------------------------------------------------- */

/* Checks that two tensors on the CPU have the same bits, except those of NaN. */
static void expect_bits(wk_tensor *a, wk_tensor *b, int format)
{
    const uint32_t *x = wk_data(a), *y = wk_data(b);
    assert_non_null(x);
    for (int64_t k = 0; k < wk_numel(a); k++) {
        const bool both_nan = (x[k] & INT32_MAX) > 0x7f800000 && (y[k] & INT32_MAX) > 0x7f800000;
        if (x[k] != y[k] && !both_nan) fail_msg("format %d, element %d: %x, not %x", format, (int)k, x[k], y[k]);
    }
}

/* Blocks of random bytes, with all kinds of scales, and of numbers of many magnitudes. */
static void blocks_have_the_same_bits(void **state)
{
    (void)state;
    static const int bytes[] = {34, 18, 20, 22, 24, 84, 110, 144, 176, 210};
    WK_SCOPE;
    wk_tensor *x = wk_mul(wk_randn((8, 512)), wk_exp(wk_mul(wk_randn((8, 1)), 2))), *row = wk_randn((2, 512));
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        for (int k = WK_BLOCKS_Q8_0; k <= WK_BLOCKS_Q6_K; k++) {
            const wk_block_format format = (wk_block_format)k;
            wk_tensor *blocks = wk_randint(0, 256, (8, 4 * bytes[k]), .dtype = WK_U8);
            wk_tensor *there = wk_to(wk_dequantize(wk_to(blocks, device), .format = format), wk_cpu());
            expect_bits(there, wk_dequantize(blocks, .format = format), k);
        }
        for (int k = WK_BLOCKS_Q8_0; k <= WK_BLOCKS_Q6_K; k++) {
            const wk_block_format format = (wk_block_format)k;
            wk_tensor *blocks = wk_quantize(x, .format = format);
            wk_tensor *there = wk_quantize(wk_to(x, device), .format = format);
            assert_true(wk_item(wk_all(wk_eq(wk_to(there, wk_cpu()), blocks))) == 1);
            wk_tensor *product =
                wk_to(wk_quantized_linear(wk_to(row, device), there, NULL, .format = format), wk_cpu());
            wk_tensor *weight = wk_t(wk_dequantize(blocks, .format = format)), *expected = wk_matmul(row, weight);
            wk_tensor *bound = wk_mul(wk_matmul(wk_abs(row), wk_abs(weight)), 1e-6);
            assert_true(wk_item(wk_all(wk_le(wk_abs(wk_sub(product, expected)), bound))) == 1);
        }
    }
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_batches),
        cmocka_unit_test(bits_of_a_converted_bool),
        cmocka_unit_test(argmax_needs_no_positions),
        cmocka_unit_test(signed_zeros_of_copysign_and_logit),
        cmocka_unit_test(kernels_serve_all_row_lengths),
        cmocka_unit_test(scalars_are_converted_like_elements),
        cmocka_unit_test(convolutions_of_integers),
        cmocka_unit_test(blocks_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

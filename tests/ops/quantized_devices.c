/* SPDX-License-Identifier: Apache-2.0 */
/* Tests quantized_linear on every device: elements, products, bits and memory. Shapes around the limits of kernels are
 * in tests/backend/gpu/quantized.c. */
#include "quantized.h"
#include "support/devices.h"

/* Calls check with each device and format; the device is the default. */
static void on_each_device(void (*check)(wk_block_format format))
{
    EACH_DEVICE(device)
    {
        WK_DEVICE(device);
        for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++) {
            WK_SCOPE;
            check((wk_block_format)format);
        }
    }
    assert_null(wk_error());
}

/* Each element of blocks in rows that are longer or whose elements are not contiguous. */
static void check_elements(wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    wk_tensor *blocks = wk_randint(0, 60, (37, (f->elements == 32 ? 4 : 1) * f->bytes), .dtype = WK_U8);
    expect_elements(blocks, format, 7);
    expect_elements(blocks, format, 70);
}

static void products_with_the_identity_are_the_elements(void **state)
{
    (void)state;
    on_each_device(check_elements);
}

/* Rows of one block and of several, with few and many rows of x. Long sums are accurate with few rows only: tiles add
 * up products one by one. */
static void check_products(wk_block_format format)
{
    static const int64_t rows[] = {1, 3, 8, 9, 40};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        WK_SCOPE;
        const int64_t one = wk__block_formats[format].elements, several = rows[k] > 8 ? 512 : 2304;
        expect_products(wk_randn((rows[k], one)), finite_blocks(one, format), format, 3e-7);
        expect_products(wk_randn((rows[k], several)), finite_blocks(several, format), format, 3e-7);
    }
}

static void products_are_accurate(void **state)
{
    (void)state;
    on_each_device(check_products);
}

/* Scales that are infinite or NaN, and x with elements of one sign: elements of 0 are NaN then. */
static void check_scales(wk_block_format format)
{
    wk_tensor *x = wk_cat((wk_randn((1, 512)), wk_rand((1, 512)), wk_zeros((1, 512))), 0);
    expect_products(x, random_blocks(WEIGHT_ROWS, 512 / wk__block_formats[format].elements, format), format, 3e-7);
}

static void scales_that_are_not_finite_are_multiplied(void **state)
{
    (void)state;
    on_each_device(check_scales);
}

/* Bits depend on nothing but the values: not on the other rows of x, nor on earlier runs, nor on where rows start. */
static void check_bits(wk_block_format format)
{
    compare_rows(format, 1024);
    for (int64_t rows = 3; rows <= 40; rows += 37) {
        wk_tensor *x = wk_randn((rows, 1024)), *blocks = finite_blocks(1024, format);
        wk_tensor *first = wk_quantized_linear(x, blocks, NULL, .format = format);
        wk_sync();
        expect_bytes(wk_quantized_linear(x, blocks, NULL, .format = format), first, "again");
        wk_tensor *odd_x = wk_narrow(wk_pad(x, (1, 0)), 1, 1, 1024);
        wk_tensor *odd_blocks = wk_narrow(wk_pad(blocks, (1, 0)), 1, 1, wk_size(blocks, 1));
        expect_bytes(wk_quantized_linear(odd_x, odd_blocks, NULL, .format = format), first, "from an odd offset");
    }
}

static void bits_depend_on_values_alone(void **state)
{
    (void)state;
    on_each_device(check_bits);
}

static void wide_and_narrow_dtypes(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *blocks = weight(70, 256, WK_BLOCKS_Q8_0), *x = wk_to_dtype(wk_randn((5, 256)), WK_BF16);
        wk_tensor *bias = wk_to_dtype(wk_randn((70)), WK_BF16), *of_f32 = wk_to_dtype(x, WK_F32);
        wk_tensor *wide = wk_quantized_linear(of_f32, blocks, wk_to_dtype(bias, WK_F32));
        expect_bytes(wk_quantized_linear(x, blocks, bias), wk_to_dtype(wide, WK_BF16), "bf16");
        wk_tensor *exact = wk_quantized_linear(wk_to_dtype(x, WK_F64), blocks, wk_to_dtype(bias, WK_F64));
        assert_true(greatest_difference(wide, exact) < 1e-4);
    }
    assert_null(wk_error());
}

static void gradients_are_those_of_the_elements(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *blocks = weight(70, 256, WK_BLOCKS_Q4_0), *grad = wk_randn((12, 70));
        wk_tensor *x = wk_requires_grad_(wk_randn((12, 256)), true);
        wk_tensor *elements = wk_dequantize(blocks, .format = WK_BLOCKS_Q4_0);
        wk_backward(wk_sum(wk_mul(wk_quantized_linear(x, blocks, NULL, .format = WK_BLOCKS_Q4_0), grad)));
        assert_true(greatest_difference(wk_grad_of(x), wk_matmul(grad, elements)) < 1e-4);
    }
    assert_null(wk_error());
}

/* Layers have the same results on a device and on the CPU, up to rounding, for one row of input and for many. */
static void layers_follow_their_network(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_module *net =
            wk_module_quantize(wk_nn_sequential(wk_nn_linear(256, 96), wk_nn_relu(), wk_nn_linear(96, 32)));
        wk_tensor *x = wk_randn((12, 256)), *row = wk_narrow(x, 0, 0, 1);
        wk_tensor *of_x = wk_forward(net, x), *of_row = wk_forward(net, row);
        wk_module_to(net, device);
        assert_true(greatest_difference(here(wk_forward(net, wk_to(x, device))), of_x) < 1e-5);
        assert_true(greatest_difference(here(wk_forward(net, wk_to(row, device))), of_row) < 1e-5);
    }
    assert_null(wk_error());
}

/* The weight as floats has 8 MiB, a panel of it 4 MiB; x and the result have at most 480 KiB. */
static void weights_are_not_expanded(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *blocks = weight(1024, 2048, WK_BLOCKS_Q8_0);
        for (int64_t rows = 1; rows <= 40; rows += 39) {
            wk_tensor *x = wk_randn((rows, 2048));
            wk_sync();
            wk_memory_reset_peak(device);
            wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
            wk_memory_stats_of(device, &before);
            wk_tensor *out = wk_quantized_linear(x, blocks, NULL);
            wk_sync();
            wk_memory_stats_of(device, &after);
            assert_non_null(out);
            if (after.peak - before.live > 1 << 20)
                fail_msg("%s, %lld rows: %lld bytes", wk_device_str(device), (long long)rows,
                         (long long)(after.peak - before.live));
        }
    }
    assert_null(wk_error());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_with_the_identity_are_the_elements),
        cmocka_unit_test(products_are_accurate),
        cmocka_unit_test(scales_that_are_not_finite_are_multiplied),
        cmocka_unit_test(bits_depend_on_values_alone),
        cmocka_unit_test(wide_and_narrow_dtypes),
        cmocka_unit_test(gradients_are_those_of_the_elements),
        cmocka_unit_test(layers_follow_their_network),
        cmocka_unit_test(weights_are_not_expanded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

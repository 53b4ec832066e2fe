/* SPDX-License-Identifier: Apache-2.0 */
/* Tests dequantize and quantized_linear beyond the sweep over samples: bits of all formats, memory, narrow dtypes,
 * errors. */
#include "backend/cpu/isa.h"
#include "base/pool.h"
#include "hostile/scratch.h"
#include "quantized.h"
#include "values.h"

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static void dequantize_has_the_bits_of_the_decoders(void **state)
{
    (void)state;
    for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++) {
        WK_SCOPE;
        const wk__block_format *f = &wk__block_formats[format];
        wk_tensor *blocks = random_blocks(64, 32, (wk_block_format)format);
        wk_tensor *out = wk_dequantize(blocks, .format = (wk_block_format)format);
        const uint8_t *bytes = wk_data(blocks);
        const float *got = wk_data(out);
        for (int64_t b = 0; b < 64 * 32; b++) {
            float expected[WK__BLOCK_ELEMENTS];
            f->decode(bytes + b * f->bytes, expected);
            for (int k = 0; k < f->elements; k++) {
                const float one = got[b * f->elements + k];
                if (memcmp(&one, &expected[k], sizeof one) != 0 && !(isnan(one) && isnan(expected[k])))
                    fail_msg("%s: block %d, element %d: %g, not %g", f->name, (int)b, k, (double)one,
                             (double)expected[k]);
            }
        }
    }
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* More rows than a panel has, and one row or many of x. */
static void products_are_those_of_the_elements(void **state)
{
    (void)state;
    const int64_t rows[] = {1, 3, 8, 40};
    for (int k = 0; k < 4; k++)
        for (int format = WK_BLOCKS_Q8_0; format <= WK_BLOCKS_Q4_0; format++) {
            WK_SCOPE;
            wk_tensor *blocks = weight(1500, 1024, (wk_block_format)format), *x = wk_randn((rows[k], 1024));
            wk_tensor *bias = wk_randn((1500));
            wk_tensor *elements = wk_to_dtype(wk_dequantize(blocks, .format = (wk_block_format)format), WK_F64);
            wk_tensor *exact = wk_linear(wk_to_dtype(x, WK_F64), elements, wk_to_dtype(bias, WK_F64));
            wk_tensor *out = wk_quantized_linear(x, blocks, bias, .format = (wk_block_format)format);
            assert_true(greatest_difference(out, exact) < 2e-4);
            out = wk_quantized_linear(wk_to_dtype(x, WK_F64), blocks, wk_to_dtype(bias, WK_F64),
                                      .format = (wk_block_format)format);
            assert_true(greatest_difference(out, exact) < 1e-11);
        }
}

/* All instruction sets and formats: 7 rows of x, as groups of 4 and single ones, and 70 in several blocks. */
static void kernels_multiply_the_elements(void **state)
{
    (void)state;
    const wk__cpu_isa *const best = wk__cpu_isa_current(), *isa;
    for (int k = 0; (isa = wk__cpu_isa_at(k)); k++)
        for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++) {
            WK_SCOPE;
            const wk__block_format *f = &wk__block_formats[format];
            wk_tensor *blocks = wk_randint(0, 60, (37, (f->elements == 32 ? 4 : 1) * f->bytes), .dtype = WK_U8);
            wk_sync();
            wk__cpu_isa_use(isa);
            expect_elements(blocks, (wk_block_format)format, 7);
            expect_elements(blocks, (wk_block_format)format, 70);
            wk__cpu_isa_use(best);
        }
}

/* Calls `check` with each instruction set and format. */
static void for_each_kernel(void (*check)(wk_block_format format))
{
    const wk__cpu_isa *const best = wk__cpu_isa_current(), *isa;
    for (int k = 0; (isa = wk__cpu_isa_at(k)); k++)
        for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++) {
            wk_sync();
            wk__cpu_isa_use(isa);
            check((wk_block_format)format);
            wk_sync();
            wk__cpu_isa_use(best);
        }
}

/* Elements whose sizes differ by a factor of 2^20 from 4 to 4: each 4 are rounded by themselves. */
static void check_accuracy(wk_block_format format)
{
    WK_SCOPE;
    for (int64_t columns = 256; columns <= 2304; columns += 1024) {
        wk_tensor *power = wk_repeat_interleave(wk_randint(-10, 11, (7, columns / 4)), 4, 1);
        wk_tensor *x = wk_mul(wk_randn((7, columns)), wk_exp2(wk_to_dtype(power, WK_F32)));
        expect_products(x, finite_blocks(columns, format), format, 3e-7);
    }
    if (wk__block_formats[format].elements == 32) /* vectors and groups of blocks that are incomplete */
        for (int64_t columns = 32; columns <= 1120; columns += 32 * (columns < 608 ? 1 : 5))
            expect_products(wk_rand((2, columns)), finite_blocks(columns, format), format, 3e-7);
}

static void products_are_accurate(void **state)
{
    (void)state;
    for_each_kernel(check_accuracy);
}

/* The largest sums of 4 products: equal codes, at both ends of their range, times elements whose bits are all set. */
static void check_large_sums(wk_block_format format)
{
    static const int bytes[] = {0x00, 0x77, 0x80, 0x88, 0xf7};
    WK_SCOPE;
    wk_tensor *x = wk_mul(wk_full((2, 512), 0x1.fffffep0),
                          wk_to_dtype(wk_sub(1, wk_mul(wk_reshape(wk_arange(2), (2, 1)), 2)), WK_F32));
    for (int k = 0; k < 5; k++) {
        const wk__block_format *f = &wk__block_formats[format];
        wk_tensor *blocks = wk_full((WEIGHT_ROWS, 512 / f->elements * f->bytes), bytes[k], .dtype = WK_U8);
        expect_products(x, blocks, format, 3e-6);   /* floats are summed in 16 lanes of one sign */
        wk_fill_(wk_narrow(blocks, 1, 0, 2), 0x3c); /* a scale of 1 in formats that begin with it */
        expect_products(x, blocks, format, 3e-6);
    }
}

static void large_sums_do_not_overflow(void **state)
{
    (void)state;
    for_each_kernel(check_large_sums);
}

/* Rows of x with NaN, infinite, huge, tiny, denormal elements and zeros of both signs. */
static void check_extremes(wk_block_format format)
{
    static const double extreme[] = {(double)NAN,    (double)INFINITY, -(double)INFINITY,
                                     0x1.fffffep127, 0x1p120,          0x1p-126,
                                     0x1p-149,       0x1.8p-140,       -0.0};
    enum { EXTREMES = sizeof extreme / sizeof *extreme };
    WK_SCOPE;
    for (int k = 0; k < EXTREMES; k++) {
        wk_tensor *some = wk_where(wk_lt(wk_rand((4, 512)), 0.01), extreme[k], wk_mul(wk_randn((4, 512)), 0x1p-9));
        wk_tensor *all = wk_mul(wk_full((4, 512), extreme[k]), wk_sign(wk_randn((4, 512))));
        wk_tensor *blocks = finite_blocks(512, format);
        if (extreme[k] < 0x1p119) expect_products(all, blocks, format, 3e-7);
        expect_products(wk_to_dtype(some, WK_F32), blocks, format, 3e-7);
    }
}

static void extreme_elements_are_multiplied(void **state)
{
    (void)state;
    for_each_kernel(check_extremes);
}

/* Scales that are infinite or NaN, and x with elements of one sign: elements of 0 are NaN then. */
static void check_scales(wk_block_format format)
{
    WK_SCOPE;
    wk_tensor *x = wk_cat((wk_randn((1, 512)), wk_rand((1, 512)), wk_zeros((1, 512))), 0);
    for (int k = 0; k < 4; k++)
        expect_products(x, random_blocks(WEIGHT_ROWS, 512 / wk__block_formats[format].elements, format), format, 3e-7);
}

static void scales_that_are_not_finite_are_multiplied(void **state)
{
    (void)state;
    for_each_kernel(check_scales);
}

static void check_rows(wk_block_format format)
{
    compare_rows(format, 1024);
    if (wk__block_formats[format].elements == 32) compare_rows(format, 29 * 32);
}

static void rows_do_not_matter(void **state)
{
    (void)state;
    for_each_kernel(check_rows);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    WK_SCOPE;
    const int threads = wk__thread_count();
    for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++) {
        wk_tensor *blocks = weight(3000, 512, (wk_block_format)format), *x = wk_randn((50, 512));
        for (int64_t rows = 3; rows <= 50; rows += 47) {
            wk_tensor *part = wk_narrow(x, 0, 0, rows);
            wk__set_thread_count(1);
            wk_tensor *alone = wk_quantized_linear(part, blocks, NULL, .format = (wk_block_format)format);
            wk_sync();
            wk__set_thread_count(3);
            wk_tensor *shared = wk_quantized_linear(part, blocks, NULL, .format = (wk_block_format)format);
            wk_sync();
            wk__set_thread_count(threads);
            expect_bytes(shared, alone, "3 threads");
        }
    }
}

static void narrow_dtypes_round_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *blocks = weight(70, 256, WK_BLOCKS_Q8_0), *x = wk_to_dtype(wk_randn((5, 256)), WK_BF16);
    wk_tensor *bias = wk_to_dtype(wk_randn((70)), WK_BF16);
    wk_tensor *wide = wk_quantized_linear(wk_to_dtype(x, WK_F32), blocks, wk_to_dtype(bias, WK_F32));
    expect_bytes(wk_quantized_linear(x, blocks, bias), wk_to_dtype(wide, WK_BF16), "bf16");
}

static void gradients_are_those_of_the_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *blocks = weight(1500, 1024, WK_BLOCKS_Q4_0), *grad = wk_randn((2, 3, 1500));
    wk_tensor *x = wk_requires_grad_(wk_randn((2, 3, 1024)), true), *bias = wk_requires_grad_(wk_zeros((1500)), true);
    wk_tensor *elements = wk_dequantize(blocks, .format = WK_BLOCKS_Q4_0);
    wk_backward(wk_sum(wk_mul(wk_quantized_linear(x, blocks, bias, .format = WK_BLOCKS_Q4_0), grad)));
    assert_true(greatest_difference(wk_grad_of(x), wk_matmul(grad, elements)) < 1e-3);
    assert_true(greatest_difference(wk_grad_of(bias), wk_sum(grad, (0, 1))) < 1e-5);
}

/* Returns the greatest number of bytes in use while x of `rows` rows is multiplied with 4096 x 4096 elements, and while
 * its gradient is computed if it requires one. */
static int64_t peak_of_product(int64_t rows, wk_dtype dtype, bool requires_grad)
{
    WK_SCOPE;
    wk_tensor *blocks = weight(4096, 4096, WK_BLOCKS_Q8_0), *x = wk_randn((rows, 4096), .dtype = dtype);
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_memory_stats_of(wk_cpu(), &before);
    wk_tensor *out = wk_quantized_linear(wk_requires_grad_(x, requires_grad), blocks, NULL);
    if (requires_grad) wk_backward(wk_sum(out));
    assert_non_null(wk_data(requires_grad ? wk_grad_of(x) : out));
    wk_memory_stats_of(wk_cpu(), &after);
    assert_null(wk_error());
    return after.peak - before.live;
}

/* The weight as floats has 64 MiB. */
static void weights_are_not_expanded(void **state)
{
    (void)state;
    const int64_t one = peak_of_product(1, WK_F32, false), many = peak_of_product(40, WK_F32, false);
    if (one > 16 << 20 || many > 16 << 20) fail_msg("%lld bytes, %lld with many rows", (long long)one, (long long)many);
    const int64_t wide = peak_of_product(1, WK_F64, false), grad = peak_of_product(160, WK_F32, true);
    if (wide > 16 << 20 || grad > 32 << 20) fail_msg("%lld bytes for f64, %lld back", (long long)wide, (long long)grad);
}

/* A panel of the weight has at least one row. */
static void rows_are_longer_than_panels(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t columns = (1 << 20) + 32;
    wk_tensor *blocks = wk_quantize(wk_expand(wk_of(float, (2, 1), 1, -2), (2, columns)));
    wk_tensor *x = wk_requires_grad_(wk_ones((1, columns), .dtype = WK_F64), true);
    wk_tensor *out = wk_quantized_linear(x, blocks, NULL);
    wk_tensor *elements = wk_to_dtype(wk_dequantize(blocks), WK_F64);
    assert_true(greatest_difference(out, wk_t(wk_sum(elements, (1), .keepdim = true))) < 1e-6);
    wk_backward(wk_sum(out));
    assert_true(greatest_difference(wk_grad_of(x), wk_sum(elements, (0), .keepdim = true)) < 1e-12);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 64)), *blocks = wk_quantize(wk_ones((3, 64)));
    expect_error(wk_dequantize(blocks, .format = WK_BLOCKS_Q4_K), WK_ERR_SHAPE,
                 "dequantize: the last size of u8[3,68] must be a multiple of 144: a block of q4_k has 144 bytes");
    expect_error(wk_dequantize(blocks, .format = (wk_block_format)10), WK_ERR_ARGUMENT,
                 "to WK_BLOCKS_Q6_K (9), got 10");
    expect_error(wk_dequantize(x), WK_ERR_DTYPE, "blocks must be u8, as wk_quantize returns them, got f32[2,64]");
    expect_error(wk_quantized_linear(wk_ones((2, 32)), blocks, NULL), WK_ERR_SHAPE,
                 "x f32[2,32] must have the last size 64, the elements of a row of blocks u8[3,68]");
    expect_error(wk_quantized_linear(x, wk_flatten(blocks), NULL), WK_ERR_SHAPE,
                 "the blocks must have shape (out, bytes of a row), got u8[204]");
    expect_error(wk_quantized_linear(x, blocks, wk_ones((2))), WK_ERR_SHAPE,
                 "bias f32[2] must have one element per row of the blocks u8[3,68]");
    expect_error(wk_quantized_linear(x, blocks, wk_ones((3), .dtype = WK_F64)), WK_ERR_DTYPE,
                 "bias f64[3] must have the dtype of x f32[2,64]");
    wk_tensor *failed = wk_add(x, wk_ones((3)));
    assert_null(wk_quantized_linear(x, blocks, failed)); /* not an omitted bias */
    expect_error(failed, WK_ERR_SHAPE, "add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dequantize_has_the_bits_of_the_decoders),
        cmocka_unit_test(products_are_those_of_the_elements),
        cmocka_unit_test(kernels_multiply_the_elements),
        cmocka_unit_test(products_are_accurate),
        cmocka_unit_test(large_sums_do_not_overflow),
        cmocka_unit_test(extreme_elements_are_multiplied),
        cmocka_unit_test(scales_that_are_not_finite_are_multiplied),
        cmocka_unit_test(rows_do_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(narrow_dtypes_round_once),
        cmocka_unit_test(gradients_are_those_of_the_elements),
        cmocka_unit_test(weights_are_not_expanded),
        cmocka_unit_test(rows_are_longer_than_panels),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

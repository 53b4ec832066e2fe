/* SPDX-License-Identifier: Apache-2.0 */
/* Tests quantize beyond the sweep over samples: bytes of ggml and of the reference, sizes of errors, elements that are
 * zero, equal, huge, tiny or not finite, panels, errors. */
#include "base/alloc.h"
#include "hostile/scratch.h"
#include "quantized.h"
#include "references/reference.h"
#include "values.h"

/* Calls check with each format. */
static void for_each_format(void (*check)(wk_block_format format, const wk__block_format *f))
{
    for (int k = 0; k < WK__BLOCK_OP_FORMATS; k++) {
        WK_SCOPE;
        check((wk_block_format)k, &wk__block_formats[k]);
        if (wk_error()) fail_msg("%s: %s", wk__block_formats[k].name, wk_error());
    }
}

static bool has_parts(const wk__block_format *f)
{
    return f->elements == WK__BLOCK_ELEMENTS;
}

/* Returns the elements that x becomes. */
static wk_tensor *rounded(wk_tensor *x, wk_block_format format)
{
    return wk_dequantize(wk_quantize(x, .format = format), .format = format);
}

static bool all(wk_tensor *condition)
{
    return wk_item(wk_all(condition)) == 1;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static wk_tensor *fixture_tensor(const char *name)
{
    return wk_load_tensor(fixture_file("gguf", "quantized.safetensors"), name);
}

static void expect_bytes_of_ggml(wk_block_format format, const wk__block_format *f)
{
    if (!has_parts(f))
        expect_bytes(wk_quantize(fixture_tensor("x"), .format = format), fixture_tensor(f->name), f->name);
}

static void blocks_of_32_have_the_bytes_of_ggml(void **state)
{
    (void)state;
    for_each_format(expect_bytes_of_ggml);
}

/* Compares the bytes of x with those of the reference. */
static void compare_with_reference(wk_tensor *x, wk_block_format format, const wk__block_format *f)
{
    const wk_value args[2] = {wk_value_of_tensor(x), {.kind = WK_VALUE_TEXT, .text = f->name}};
    const int64_t count = wk_numel(x);
    reference_call r = {.args = args, .inputs = 1, .in = {{.ndim = 1, .shape = {count}}}};
    wk_tensor *blocks = wk_quantize(x, .format = format);
    const uint8_t *bytes = wk_data(blocks);
    r.in[0].data = wk_data(wk_to_dtype(x, WK_F64));
    op_reference_quantize.reference(&r);
    for (int64_t k = 0; k < wk_numel(blocks); k++)
        if ((double)bytes[k] != r.out[0].data[k])
            fail_msg("%s: byte %d of block %d is %d, not %g", f->name, (int)(k % f->bytes), (int)(k / f->bytes),
                     bytes[k], r.out[0].data[k]);
    wk__free(r.out[0].data);
}

/* Elements of many sizes, by block, by part and within a part, of both signs or one, many of them equal. */
static void compare_many_with_reference(wk_block_format format, const wk__block_format *f)
{
    wk_tensor *x = wk_randn((64, 16, 16)), *steps = wk_to_dtype(wk_randint(-3, 4, (64, 16, 16)), WK_F32);
    wk_tensor *by_block = wk_exp(wk_mul(wk_randn((64, 1, 1)), 4)), *by_part = wk_exp(wk_randn((64, 16, 1)));
    wk_tensor *kinds[] = {
        x,
        wk_mul(x, by_block),
        wk_mul(wk_mul(x, by_block), by_part),
        wk_mul(x, wk_exp(wk_mul(wk_randn((64, 16, 16)), 2))),
        wk_abs(x),
        wk_neg(wk_abs(x)),
        wk_add(x, wk_mul(wk_randn((64, 16, 1)), 4)),
        steps,
        wk_mul(steps, by_part),
        wk_mul(x, 0x1p-22), /* scales are denormal in f16 */
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) compare_with_reference(wk_flatten(kinds[k]), format, f);
}

static void bytes_are_those_of_the_reference(void **state)
{
    (void)state;
    for_each_format(compare_many_with_reference);
}

/* ---- errors of elements ------------------------------------------------------------------------------------------ */

/* Returns the root of the mean squared error of normal numbers. */
static double error_of(wk_block_format format)
{
    WK_SCOPE;
    wk_seed(7);
    wk_tensor *x = wk_randn((128, 1024));
    return sqrt(wk_item(wk_mean(wk_square(wk_sub(rounded(x, format), x)))));
}

/* docs/concepts/language.md has these errors. */
static void errors_are_small(void **state)
{
    (void)state;
    static const struct {
        wk_block_format format;
        double most;
    } formats[] = {
        {WK_BLOCKS_Q2_K, 0.2695}, {WK_BLOCKS_Q3_K, 0.1455}, {WK_BLOCKS_Q4_0, 0.0865}, {WK_BLOCKS_Q4_1, 0.0785},
        {WK_BLOCKS_Q4_K, 0.0725}, {WK_BLOCKS_Q5_0, 0.0430}, {WK_BLOCKS_Q5_1, 0.0382}, {WK_BLOCKS_Q5_K, 0.0356},
        {WK_BLOCKS_Q6_K, 0.0175}, {WK_BLOCKS_Q8_0, 0.0054},
    };
    double before = 1;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const double error = error_of(formats[k].format);
        if (!(error < formats[k].most && error < before))
            fail_msg("%s: %g", wk__block_formats[formats[k].format].name, error);
        before = error;
    }
}

/* ---- kinds of elements ------------------------------------------------------------------------------------------- */

static void check_zeros(wk_block_format format, const wk__block_format *f)
{
    wk_tensor *x = wk_mul(wk_sign(wk_randn((4, 256))), 0); /* of both signs */
    if (!all(wk_eq(rounded(x, format), 0))) fail_msg("%s: zeros", f->name);
    x = wk_randn((4, 256));
    x = wk_where(wk_lt(wk_remainder(wk_arange(256), 128), 64), 0, x); /* some parts are 0 */
    wk_tensor *out = rounded(x, format);
    if (!all(wk_logical_or(wk_ne(x, 0), wk_lt(wk_abs(out), 0.05)))) fail_msg("%s: parts of zeros", f->name);
    out = wk_narrow(out, 1, 0, 64);
    if (!all(wk_eq(out, 0))) fail_msg("%s: a part of zeros", f->name);
}

/* Equal elements keep their value up to the rounding of scales to f16, which is 2^-11 while these are not denormal. */
static void check_constants(wk_block_format format, const wk__block_format *f)
{
    static const double constants[] = {1, -1, 1000, -1000, 0.3, -0.3, 0.7, -0.7};
    for (size_t k = 0; k < sizeof constants / sizeof *constants; k++) {
        wk_tensor *out = rounded(wk_full((2, 256), constants[k]), format);
        const double error = wk_item(wk_amax(wk_abs(wk_sub(out, constants[k])))) / fabs(constants[k]);
        if (!(error < 1e-3)) fail_msg("%s: %g has the error %g", f->name, constants[k], error);
    }
}

/* Elements that are not finite change their block only, to elements that are not finite. */
static void check_not_finite(wk_block_format format, const wk__block_format *f)
{
    static const double values[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, FLT_MAX, -FLT_MAX, 1e12, -1e12};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        for (int everywhere = 0; everywhere < 2; everywhere++) {
            WK_SCOPE;
            wk_tensor *x = wk_randn((3, f->elements)), *expected = wk_quantize(x, .format = format);
            wk_fill_(everywhere ? wk_select(x, 0, 1) : wk_select(wk_select(x, 0, 1), 0, 5), values[k]);
            wk_tensor *blocks = wk_quantize(x, .format = format), *out = wk_dequantize(blocks, .format = format);
            for (int b = 0; b < 3; b += 2) expect_bytes(wk_select(blocks, 0, b), wk_select(expected, 0, b), f->name);
            out = wk_select(out, 0, 1);
            if (!all(has_parts(f) ? wk_isnan(out) : wk_logical_not(wk_isfinite(out))))
                fail_msg("%s: a block with %g is finite", f->name, values[k]);
        }
}

/* A large element keeps its value, and the others become small ones. */
static void check_single_huge(wk_block_format format, const wk__block_format *f)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        wk_tensor *x = wk_randn((2, 256));
        wk_fill_(wk_narrow(x, 1, 40, 1), sign * 6e4);
        wk_tensor *out = rounded(x, format), *error = wk_div(wk_sub(out, x), sign * 6e4);
        if (!(wk_item(wk_amax(wk_abs(error))) < 0.02)) fail_msg("%s: errors are %g", f->name, wk_item(wk_amax(error)));
        if (has_parts(f)) continue;
        out = wk_narrow(out, 1, 64, 64); /* other blocks */
        if (!(wk_item(wk_amax(wk_abs(wk_sub(out, wk_narrow(x, 1, 64, 64))))) < 0.4)) fail_msg("%s: others", f->name);
    }
}

/* Elements whose scale f16 rounds to 0, denormal ones among them. */
static void check_tiny(wk_block_format format, const wk__block_format *f)
{
    static const double sizes[] = {0x1p-149, 0x1p-140, 0x1p-126, 1e-30, 1e-10};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        wk_tensor *x = wk_mul(wk_randint(-3, 4, (2, 256), .dtype = WK_F32), sizes[k]);
        if (!all(wk_eq(rounded(x, format), 0))) fail_msg("%s: elements of %g", f->name, sizes[k]);
        if (!all(wk_eq(rounded(wk_abs(x), format), 0))) fail_msg("%s: elements of %g", f->name, sizes[k]);
    }
}

static void check_kinds(wk_block_format format, const wk__block_format *f)
{
    check_zeros(format, f);
    check_constants(format, f);
    check_not_finite(format, f);
    check_single_huge(format, f);
    check_tiny(format, f);
}

static void kinds_of_elements(void **state)
{
    (void)state;
    for_each_format(check_kinds);
}

/* ---- shapes, dtypes, memory -------------------------------------------------------------------------------------- */

/* Blocks of several panels, strided and of other dtypes, have the bytes of each row alone. */
static void check_panels(wk_block_format format, const wk__block_format *f)
{
    const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16};
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_t(wk_to_dtype(wk_randn((256, 1100)), dtypes[k]));
        wk_tensor *blocks = wk_quantize(x, .format = format), *wide = wk_to_dtype(x, WK_F32);
        assert_int_equal(wk_size(blocks, 0), 1100);
        for (int64_t row = 0; row < 1100; row += 366)
            expect_bytes(wk_contiguous(wk_select(blocks, 0, row)),
                         wk_quantize(wk_contiguous(wk_select(wide, 0, row)), .format = format), f->name);
    }
    wk_tensor *empty = wk_quantize(wk_zeros((3, 0, 256)), .format = format);
    assert_int_equal(wk_ndim(empty), 3);
    assert_int_equal(wk_size(empty, 2), 256 / f->elements * f->bytes);
}

static void panels_and_dtypes(void **state)
{
    (void)state;
    for_each_format(check_panels);
}

/* x has 8 MiB, a panel 256 KiB, of which some 20 tensors exist at a time without fusion, for each of 9 choices. */
static void check_memory(wk_block_format format, const wk__block_format *f)
{
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_tensor *x = wk_ones((2048, 1024));
    assert_non_null(wk_data(x));
    wk_memory_reset_peak(wk_cpu());
    wk_memory_stats_of(wk_cpu(), &before);
    wk_tensor *blocks = wk_quantize(x, .format = format);
    assert_non_null(wk_data(blocks));
    wk_memory_stats_of(wk_cpu(), &after);
    const int64_t extra = after.peak - before.live - wk_numel(blocks);
    if (extra > 64 << 20) fail_msg("%s: %lld bytes", f->name, (long long)extra);
}

static void memory_is_that_of_a_panel(void **state)
{
    (void)state;
    for_each_format(check_memory);
}

/* A weight that requires a gradient becomes blocks, which have none. */
static void blocks_have_no_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_randn((2, 256)), true);
    wk_tensor *blocks = wk_quantize(x, .format = WK_BLOCKS_Q4_K);
    assert_false(wk_requires_grad(blocks));
    assert_null(wk_error());
}

/* Zeros need no division by 0, which would be reported. */
static void check_anomalies(wk_block_format format, const wk__block_format *f)
{
    wk_tensor *x = wk_cat((wk_zeros((1, 256)), wk_randn((1, 256)), wk_ones((1, 256)), wk_full((1, 256), 1e-38)), 0);
    wk_set_detect_anomaly(true);
    wk_tensor *blocks = wk_quantize(wk_cat((x, wk_neg(x)), 0), .format = format);
    wk_set_detect_anomaly(false);
    if (!blocks || !wk_data(blocks)) fail_msg("%s: %s", f->name, wk_error());
}

static void zeros_are_no_anomaly(void **state)
{
    (void)state;
    for_each_format(check_anomalies);
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_error(wk_quantize(wk_ones((33))), WK_ERR_SHAPE,
                 "quantize: the last size of f32[33] must be a multiple of 32: a block of q8_0 has 32 elements");
    expect_error(wk_quantize(wk_ones((2, 128)), .format = WK_BLOCKS_Q4_K), WK_ERR_SHAPE,
                 "quantize: the last size of f32[2,128] must be a multiple of 256: a block of q4_k has 256 elements");
    expect_error(wk_quantize(wk_ones((2, 64)), .format = (wk_block_format)10), WK_ERR_ARGUMENT,
                 "quantize: .format must be a format from WK_BLOCKS_Q8_0 (0) to WK_BLOCKS_Q6_K (9), got 10");
    expect_error(wk_quantize(wk_ones((2, 64)), .format = (wk_block_format)-1), WK_ERR_ARGUMENT, "got -1");
    expect_error(wk_quantize(wk_arange(32)), WK_ERR_DTYPE, "quantize: i64[32] is not floating-point");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_32_have_the_bytes_of_ggml),
        cmocka_unit_test(bytes_are_those_of_the_reference),
        cmocka_unit_test(errors_are_small),
        cmocka_unit_test(kinds_of_elements),
        cmocka_unit_test(panels_and_dtypes),
        cmocka_unit_test(memory_is_that_of_a_panel),
        cmocka_unit_test(blocks_have_no_gradient),
        cmocka_unit_test(zeros_are_no_anomaly),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

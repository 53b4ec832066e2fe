/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 11 and 12 of docs/contributing/invariants.md: memory layouts of results, and rounding. */
#include "support/bits.h"
#include "support/devices.h"

#include "engine/op_queue.h"
#include <math.h>

/* ---- rule 11: layout --------------------------------------------------------------------------------------------- */

static void expect_strides(wk_tensor *x, int ndim, const int64_t *stride, const char *what)
{
    expect_ok();
    assert_non_null(x);
    assert_int_equal(wk_ndim(x), ndim);
    for (int d = 0; d < ndim; d++)
        if (wk_stride(x, d) != stride[d])
            fail_msg("%s: stride %d is %lld, not %lld", what, d, (long long)wk_stride(x, d), (long long)stride[d]);
}

/* (N, C, H, W) in memory as (N, H, W, C) */
static wk_tensor *channels_last(int64_t n, int64_t c, int64_t h, int64_t w)
{
    return wk_permute(wk_ones((n, h, w, c)), (0, 3, 1, 2));
}

static void channels_last_stays_channels_last(void **state)
{
    (void)state;
    WK_SCOPE;
    static const int64_t last[] = {105, 1, 21, 3}, first[] = {105, 35, 7, 1};
    wk_tensor *x = channels_last(2, 3, 5, 7), *dense = wk_ones((2, 3, 5, 7)), *bias = wk_ones((3, 1, 1));
    expect_strides(wk_exp(x), 4, last, "exp");
    expect_strides(wk_add(x, 1), 4, last, "x + 1");
    expect_strides(wk_sub(2, x), 4, last, "2 - x");
    expect_strides(wk_mul(x, x), 4, last, "x x");
    expect_strides(wk_add(x, bias), 4, last, "x + bias");
    expect_strides(wk_add(bias, x), 4, last, "bias + x");
    expect_strides(wk_relu(wk_mul(wk_add(x, bias), 0.5)), 4, last, "a chain");
    expect_strides(wk_gt(x, 0), 4, last, "x > 0");
    expect_strides(wk_where(wk_gt(x, 0), x, 0.0), 4, last, "where");
    expect_strides(wk_clamp(x, 0, 1), 4, last, "clamp");
    expect_strides(wk_gelu(x), 4, last, "gelu");
    expect_strides(wk_to_dtype(x, WK_F64), 4, last, "to_dtype");
    expect_strides(wk_add(x, dense), 4, last, "the first of two as large as each other");
    expect_strides(wk_add(dense, x), 4, first, "the same, the other first");
    expect_strides(wk_exp(wk_slice(channels_last(2, 3, 5, 9), 3, 0, 7)), 4, last, "a part, which has gaps");
    expect_strides(wk_exp(wk_transpose(wk_ones((3, 4)), 0, 1)), 2, (const int64_t[]){1, 4}, "a transposed matrix");
}

/* No operand has the result's shape: the largest operand determines the layout. */
static void the_largest_operand_determines_the_layout(void **state)
{
    (void)state;
    WK_SCOPE;
    static const int64_t last[] = {105, 1, 21, 3}, first[] = {105, 35, 7, 1};
    wk_tensor *one = channels_last(1, 3, 5, 7), *scale = wk_ones((2, 1, 1, 1)), *image = channels_last(2, 1, 5, 7);
    expect_strides(wk_mul(one, scale), 4, last, "one image for all of a batch");
    expect_strides(wk_mul(scale, one), 4, last, "the same, the other first");
    expect_strides(wk_add(wk_ones((1, 3, 5, 7)), scale), 4, first, "dense");
    expect_strides(wk_add(image, wk_ones((1, 3, 1, 1))), 4, first, "one channel");
    wk_tensor *turned = wk_transpose(wk_ones((7, 5)), 0, 1); /* (5, 7), column-major in memory */
    expect_strides(wk_exp(wk_unsqueeze(turned, 1)), 3, (const int64_t[]){1, 1, 5}, "a size of 1 in between");
    expect_strides(wk_add(wk_unsqueeze(turned, 0), wk_ones((2, 1, 1))), 3, (const int64_t[]){35, 1, 5},
                   "a batch of them");
}

static void views_and_copies(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = channels_last(2, 3, 5, 7);
    assert_false(wk_is_contiguous(x));
    assert_true(wk_is_contiguous(wk_clone(x)) && wk_is_contiguous(wk_contiguous(x)));
    wk_tensor *y = wk_permute(wk_exp(x), (0, 2, 3, 1)); /* so this view is dense */
    assert_true(wk_is_contiguous(y));
}

/* ---- rule 12: rounding ------------------------------------------------------------------------------------------- */

/* Each public op rounds its result to its dtype, also in a register. */
static void results_are_rounded_in_registers(void **state)
{
    (void)state;
    static const wk_dtype narrow[] = {WK_BF16, WK_F16};
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        wk_seed(3);
        wk_tensor *a = wk_randn((1000), .dtype = narrow[k]);
        wk_tensor *b = wk_randn((1000), .dtype = narrow[k]);
        wk_tensor *fused = wk_mul(wk_exp(wk_add(a, b)), b);
        /* reference: each step in f32, which is exact for such a sum and product, then rounded and stored */
        wk_tensor *sum = wk_to_dtype(wk_add(wk_to_dtype(a, WK_F32), wk_to_dtype(b, WK_F32)), narrow[k]);
        wk_sync();
        wk_tensor *power = wk_to_dtype(wk_exp(wk_to_dtype(sum, WK_F32)), narrow[k]);
        wk_sync();
        wk_tensor *product = wk_to_dtype(wk_mul(wk_to_dtype(power, WK_F32), wk_to_dtype(b, WK_F32)), narrow[k]);
        expect_same_bits(fused, product, wk_dtype_str(narrow[k]));
        wk_tensor *once =
            wk_mul(wk_exp(wk_add(wk_to_dtype(a, WK_F32), wk_to_dtype(b, WK_F32))), wk_to_dtype(b, WK_F32));
        assert_true(wk_item(wk_sum(wk_ne(wk_to_dtype(once, narrow[k]), fused))) > 10); /* a different value */
    }
}

static void integers_wrap_in_registers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *bytes = wk_of(int8_t, (3), 100, -100, 1), *unsigned_bytes = wk_of(uint8_t, (2), 200, 1),
              *shorts = wk_of(int16_t, (1), 30000), *ints = wk_of(int32_t, (1), INT32_MAX),
              *longs = wk_of(int64_t, (1), INT64_MAX);
    EXPECT_VALUES(wk_gt(wk_add(bytes, bytes), 0), 0, 0, 1, 1);                  /* -56, 56, 2 */
    EXPECT_VALUES(wk_to_dtype(wk_mul(bytes, 3), WK_I64), 0, 44, -44, 3);        /* 300 - 256 */
    EXPECT_VALUES(wk_div(wk_add(unsigned_bytes, unsigned_bytes), 2), 0, 72, 1); /* 144 / 2 */
    EXPECT_VALUES(wk_lt(wk_mul(shorts, 2), 0), 0, 1);
    EXPECT_VALUES(wk_lt(wk_add(ints, 1), 0), 0, 1);
    EXPECT_VALUES(wk_lt(wk_add(longs, 1), 0), 0, 1);
    EXPECT_VALUES(wk_to_dtype(wk_to_dtype(wk_add(wk_to_dtype(bytes, WK_I32), 200), WK_I8), WK_I32), 0, 44, 100, -55);
}

/* Operands are converted to the compute dtype first, as in PyTorch, so that wk_eq(x, c) matches the elements of wk_full
 * with c and x's dtype. */
static void operands_are_converted_to_the_compute_dtype(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *bytes = wk_to(wk_of(uint8_t, (5), 0, 1, 7, 254, 255), device),
                  *less = wk_to(wk_of(int64_t, (), -1), device);
        wk_tensor *chars = wk_to(wk_of(int8_t, (5), 0, 1, 7, -128, 127), device);
        EXPECT_VALUES(wk_eq(bytes, -1), 0, 0, 0, 0, 0, 1);
        EXPECT_VALUES(wk_eq(bytes, less), 0, 0, 0, 0, 0, 1);
        EXPECT_VALUES(wk_lt(bytes, 300), 0, 1, 1, 1, 0, 0);
        EXPECT_VALUES(wk_logical_and(bytes, 256), 0, 0, 0, 0, 0, 0);
        EXPECT_VALUES(wk_maximum(bytes, less), 0, 255, 255, 255, 255, 255);
        EXPECT_VALUES(wk_remainder(bytes, -3), 0, 0, 1, 7, 1, 2);
        EXPECT_VALUES(wk_floor_divide(chars, 300), 0, 0, 0, 0, -3, 2);
        EXPECT_VALUES(wk_div(bytes, -2), 1e-6, -0.0, -0.5, -3.5, -127, -127.5);
        EXPECT_VALUES(wk_eq(wk_to_dtype(bytes, WK_I32), (int64_t)1 << 32), 0, 1, 0, 0, 0, 0);
        EXPECT_VALUES(wk_gt(wk_to_dtype(bytes, WK_I64), -1), 0, 1, 1, 1, 1, 1);
        EXPECT_VALUES(wk_clamp(bytes, -1, 300), 0, 0, 1, 7, 254, 255); /* limits do not wrap */
        EXPECT_VALUES(wk_clamp(chars, WK_NONE, 300), 0, 0, 1, 7, -128, 127);
        EXPECT_VALUES(wk_clamp(wk_to_dtype(chars, WK_I32), -((int64_t)1 << 32), 3), 0, 0, 1, 3, -128, 3);
        EXPECT_VALUES(wk_hardtanh(wk_to_dtype(chars, WK_I32), .min_val = -3, .max_val = INFINITY), 0, 0, 1, 7, -3, 127);
        EXPECT_VALUES(wk_hardtanh(wk_to_dtype(chars, WK_I64), .min_val = -1e30, .max_val = 1e30), 0, 0, 1, 7, -128,
                      127);
        assert_null(wk_pow(chars, 129)); /* as i8 the exponent would be negative */
        expect_error("pow", "i8[5]", "129", "does not fit", NULL);
        assert_null(wk_pow(wk_to_dtype(chars, WK_I16), 40000));
        expect_error("pow", "40000", NULL);
        EXPECT_VALUES(wk_where(wk_gt(bytes, 1), bytes, -1), 0, 255, 255, 7, 254, 255);
        for (wk_dtype dtype = WK_F32; dtype <= WK_BF16; dtype++) {
            wk_tensor *tenth = wk_full((2), 0.1, .dtype = dtype, .device = device);
            EXPECT_VALUES(wk_eq(tenth, 0.1), 0, 1, 1);
            EXPECT_VALUES(wk_ge(tenth, wk_full((), 0.1, .dtype = WK_F64, .device = device)), 0, 1, 1);
            EXPECT_VALUES(wk_gt(wk_mul(tenth, 10), 2049), 0, 0, 0);
        }
        wk_tensor *ten = wk_full((1), 10.0, .dtype = WK_BF16, .device = device); /* arithmetic rounds once, */
        EXPECT_VALUES(wk_mul(ten, 1.02), 0, 10.1875);                            /* not like 1.0234 x 10 */
    }
}

/* Conversion goes through i64: the fraction is truncated, the low bits are kept, and a value outside of i64 becomes its
 * minimum. */
static void floats_outside_of_integer_ranges(void **state)
{
    (void)state;
    static const struct {
        wk_dtype dtype;
        double value[8];
    } expected[] = {{WK_U8, {0, 44, 255, 255, 0, 0, 0, 0}},
                    {WK_I8, {0, 44, -1, -1, 0, 0, 0, 0}},
                    {WK_I16, {0, 300, -1, -1, 0, 0, 0, 24064}},
                    {WK_I32, {0, 300, -1, -1, 0, 0, 0, -1294967296}},
                    {WK_I64, {-0x1p63, 300, -1, -1, -0x1p63, -0x1p63, -0x1p63, 3e9}},
                    {WK_BOOL, {1, 1, 1, 1, 1, 1, 1, 1}}};
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_to(wk_of(float, (8), NAN, 300.5f, -1, -1.9f, 1e20f, -1e20f, INFINITY, 3e9f), device);
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
            wk_tensor *same = wk_to_dtype(wk_mul(wk_to_dtype(x, WK_F64), 1), expected[k].dtype);
            expect_values(wk_to_dtype(x, expected[k].dtype), 8, expected[k].value, 0);
            expect_values(same, 8, expected[k].value, 0);
            wk_tensor *filled = wk_full((1), NAN, .dtype = expected[k].dtype, .device = device);
            EXPECT_VALUES(filled, 0, expected[k].value[0]);
            EXPECT_VALUES(wk_fill_(filled, 1e20), 0, expected[k].value[4]);
        }
    }
}

/* A composed op computes in f32 and rounds once at its end, fused or not. */
static void composed_ops_round_once(void **state)
{
    (void)state;
    static const wk_dtype narrow[] = {WK_BF16, WK_F16};
    for (int mode = 0; mode < 3; mode++)
        for (int k = 0; k < 2; k++) {
            WK_SCOPE;
            wk__engine_config_set(mode == 1, mode == 2);
            wk_seed(4);
            wk_tensor *x = wk_randn((50, 70), .dtype = narrow[k]), *wide = wk_to_dtype(x, WK_F32);
            wk_tensor *y = wk_rand((50, 70), .dtype = narrow[k]), *wide_y = wk_to_dtype(y, WK_F32);
            const char *name = wk_dtype_str(narrow[k]);
            expect_same_bits(wk_softmax(x, 1), wk_to_dtype(wk_softmax(wide, 1), narrow[k]), name);
            expect_same_bits(wk_logsumexp(x, (1)), wk_to_dtype(wk_logsumexp(wide, (1)), narrow[k]), name);
            expect_same_bits(wk_layer_norm(x, (70), NULL, NULL),
                             wk_to_dtype(wk_layer_norm(wide, (70), NULL, NULL), narrow[k]), name);
            expect_same_bits(wk_mse_loss(x, y), wk_to_dtype(wk_mse_loss(wide, wide_y), narrow[k]), name);
            expect_same_bits(wk_var(x, (0)), wk_to_dtype(wk_var(wide, (0)), narrow[k]), name);
            expect_same_bits(wk_gelu(x), wk_to_dtype(wk_gelu(wide), narrow[k]), name);
            expect_same_bits(wk_linear(x, y, NULL), wk_to_dtype(wk_linear(wide, wide_y, NULL), narrow[k]), name);
        }
    wk__engine_config_set(false, false);
    WK_SCOPE;
    wk_tensor *big = wk_full((1000), 60000.0, .dtype = WK_F16);
    EXPECT_VALUES(wk_mean(big), 0, 60000); /* their sum would be infinite */
}

/* The library's gradients are composed ops, a custom function is not. */
static void triple_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(wk_add(in[0], 1.0f / 3), wk_exp(in[0]));
}

static void gradients_round_once(void **state)
{
    (void)state;
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "triple", .inputs = 1, .outputs = 1, .forward = triple_forward};
    WK_SCOPE;
    wk_seed(5);
    wk_tensor *x = wk_requires_grad_(wk_clone(wk_randn((500), .dtype = WK_BF16)), true);
    wk_tensor *up = wk_randn((500), .dtype = WK_BF16);
    wk_tensor *y = wk_tanh(x);
    assert_int_equal(wk_backward(y, .gradient = up), WK_OK);
    wk_tensor *wide_y = wk_to_dtype(wk_detach(y), WK_F32), *wide_up = wk_to_dtype(up, WK_F32);
    wk_tensor *expected = wk_mul(wide_up, wk_sub(1, wk_mul(wide_y, wide_y)));
    expect_same_bits(wk_grad_of(x), wk_to_dtype(expected, WK_BF16), "tanh");

    WK_NO_GRAD;
    wk_tensor *own = wk_apply(&kind, NULL, (x)), *steps = wk_mul(wk_add(x, 1.0f / 3), wk_exp(x));
    expect_same_bits(own, steps, "a user's function");
    wk_tensor *wide = wk_to_dtype(x, WK_F32);
    wk_tensor *once = wk_to_dtype(wk_mul(wk_add(wide, 1.0f / 3), wk_exp(wide)), WK_BF16);
    assert_true(wk_item(wk_sum(wk_ne(own, once))) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_last_stays_channels_last),
        cmocka_unit_test(the_largest_operand_determines_the_layout),
        cmocka_unit_test(views_and_copies),
        cmocka_unit_test(results_are_rounded_in_registers),
        cmocka_unit_test(integers_wrap_in_registers),
        cmocka_unit_test(operands_are_converted_to_the_compute_dtype),
        cmocka_unit_test(floats_outside_of_integer_ranges),
        cmocka_unit_test(composed_ops_round_once),
        cmocka_unit_test(gradients_round_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

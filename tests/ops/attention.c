/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scaled_dot_product_attention beyond the sweep over samples: masks, dropout, narrow dtypes, blocks of rows,
 * errors. */
#include "values.h"

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* Keys that differ in one row only; value k is k + 1. */
static wk_tensor *ones(int64_t rows)
{
    return wk_ones((rows, 2), .dtype = WK_F64);
}

static wk_tensor *counting(int64_t rows)
{
    return wk_reshape(wk_arange(1, rows + 1, .dtype = WK_F64), (-1, 1));
}

static void masked_rows_yield_zero(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *keep = wk_of(bool, (3, 4), 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    wk_tensor *query = wk_requires_grad_(ones(3), true), *key = wk_requires_grad_(ones(4), true);
    wk_tensor *value = wk_requires_grad_(counting(4), true);
    wk_tensor *out = wk_scaled_dot_product_attention(query, key, value, .attn_mask = keep);
    EXPECT(out, (3, 1), 2, 0, 4);
    wk_backward(wk_sum(out));
    EXPECT(wk_grad_of(query), (3, 2), 0, 0, 0, 0, 0, 0);
    EXPECT(wk_grad_of(value), (4, 1), 0.5, 0, 0.5, 1);
    wk_tensor *add = wk_log(wk_to_dtype(keep, WK_F64)); /* 0 and -inf */
    EXPECT(wk_scaled_dot_product_attention(query, key, value, .attn_mask = add), (3, 1), 2, 0, 4);
    wk_tensor *bad = wk_scaled_dot_product_attention(query, key, value, .attn_mask = wk_sqrt(wk_sub(add, 1)));
    assert_true(isnan(wk_item(wk_select(wk_flatten(bad), 0, 0))));
}

static void causal_rows_see_earlier_keys(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT(wk_scaled_dot_product_attention(ones(5), ones(3), counting(3), .is_causal = true), (5, 1), 1, 1.5, 2, 2, 2);
    EXPECT(wk_scaled_dot_product_attention(ones(2), ones(3), counting(3), .is_causal = true), (2, 1), 1, 1.5);
}

static void scale_may_be_zero(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_mul(counting(3), 100);
    EXPECT(wk_scaled_dot_product_attention(x, x, counting(3), .scale = 0), (3, 1), 2, 2, 2);
    EXPECT(wk_scaled_dot_product_attention(x, x, counting(3)), (3, 1), 3, 3, 3);
    EXPECT(wk_scaled_dot_product_attention(x, x, counting(3), .scale = -1), (3, 1), 1, 1, 1);
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* With equal keys and values of 1, a result is the share of kept weights times 1 / (1 - p). */
static void dropout_keeps_the_mean(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(3);
    wk_tensor *zero = wk_zeros((64, 2)), *one = wk_ones((256, 1)), *key = wk_zeros((256, 2));
    wk_tensor *out = wk_scaled_dot_product_attention(zero, key, one, .dropout_p = 0.25);
    assert_true(fabs(wk_item(wk_mean(out)) - 1) < 0.02);
    assert_true(wk_item(wk_amax(out)) > 1 && wk_item(wk_amin(out)) < 1);
    wk_tensor *all = wk_scaled_dot_product_attention(zero, key, one, .dropout_p = 1);
    assert_true(wk_item(wk_amax(wk_abs(all))) == 0);
    wk_seed(3);
    wk_tensor *again = wk_scaled_dot_product_attention(zero, key, one, .dropout_p = 0.25);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(out, again)))) == 0);
}

/* The result is linear in value, so grad value = D^T grad, with the weights D that the call drew. */
static void backward_drops_the_same_weights(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *query = LEAF((2, 6, 3)), *key = LEAF((2, 8, 3)), *value = LEAF((2, 8, 4));
    wk_tensor *out = wk_scaled_dot_product_attention(query, key, value, .dropout_p = 0.5);
    wk_tensor *weight = LEAF((2, 6, 4));
    wk_backward(wk_sum(wk_mul(out, weight)));
    const double loss = wk_item(wk_sum(wk_mul(out, weight)));
    const double same = wk_item(wk_sum(wk_mul(wk_grad_of(value), value)));
    assert_true(fabs(loss - same) < 1e-9 * fabs(loss) + 1e-12);
}

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

/* Narrow dtypes are computed in f32 and rounded once. */
static void narrow_dtypes_round_once(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int k = 0; k < 2; k++) {
        const wk_dtype dtype = k ? WK_BF16 : WK_F16;
        wk_seed(5);
        wk_tensor *query = wk_to_dtype(wk_randn((2, 9, 8)), dtype), *key = wk_to_dtype(wk_randn((2, 7, 8)), dtype);
        wk_tensor *value = wk_to_dtype(wk_randn((2, 7, 5)), dtype), *mask = wk_to_dtype(wk_randn((9, 7)), dtype);
        wk_tensor *out = wk_scaled_dot_product_attention(query, key, value, .attn_mask = mask);
        wk_tensor *wide =
            wk_scaled_dot_product_attention(wk_to_dtype(query, WK_F32), wk_to_dtype(key, WK_F32),
                                            wk_to_dtype(value, WK_F32), .attn_mask = wk_to_dtype(mask, WK_F32));
        assert_int_equal(wk_dtype_of(out), dtype);
        assert_true(wk_item(wk_all(wk_eq(out, wk_to_dtype(wide, dtype)))) == 1);
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 4, 3)), *y = wk_ones((2, 5, 3)), *flat = wk_ones((3));
    expect_error(wk_scaled_dot_product_attention(flat, x, x), WK_ERR_SHAPE,
                 "scaled_dot_product_attention: expected at least 2 dimensions: query f32[3], key f32[2,4,3]");
    expect_error(wk_scaled_dot_product_attention(x, wk_ones((2, 4, 2)), x), WK_ERR_SHAPE,
                 "the last sizes of query f32[2,4,3] and key f32[2,4,2] differ");
    expect_error(wk_scaled_dot_product_attention(x, y, x), WK_ERR_SHAPE,
                 "key f32[2,5,3] and value f32[2,4,3] have different numbers of rows");
    expect_error(wk_scaled_dot_product_attention(wk_ones((4, 4, 3)), x, x), WK_ERR_SHAPE,
                 "do not broadcast; .enable_gqa groups heads");
    expect_error(wk_scaled_dot_product_attention(wk_ones((5, 4, 3)), x, x, .enable_gqa = true), WK_ERR_SHAPE,
                 "must have one number of heads (dimension -3), which divides that of query f32[5,4,3]");
    expect_error(wk_scaled_dot_product_attention(wk_ones((4, 3)), x, x, .enable_gqa = true), WK_ERR_SHAPE,
                 ".enable_gqa needs 3 to 7 dimensions");
    expect_error(wk_scaled_dot_product_attention(x, y, y, .attn_mask = wk_ones((4, 4))), WK_ERR_SHAPE,
                 "attn_mask f32[4,4] does not broadcast to the products of query f32[2,4,3] and key f32[2,5,3]: "
                 "(..., 4, 5)");
    expect_error(wk_scaled_dot_product_attention(x, y, y, .attn_mask = wk_ones((3, 1, 4, 5))), WK_ERR_SHAPE,
                 "does not broadcast to the products");
    expect_error(wk_scaled_dot_product_attention(x, y, y, .attn_mask = wk_ones((4, 5), .dtype = WK_I64)), WK_ERR_DTYPE,
                 "attn_mask i64[4,5] must be bool or have the dtype of query f32[2,4,3]");
    expect_error(wk_scaled_dot_product_attention(x, wk_to_dtype(y, WK_F64), y), WK_ERR_DTYPE,
                 "must have one floating dtype");
    expect_error(wk_scaled_dot_product_attention(x, x, x, .attn_mask = wk_ones((4, 4)), .is_causal = true),
                 WK_ERR_ARGUMENT, ".attn_mask and .is_causal exclude each other");
    expect_error(wk_scaled_dot_product_attention(x, x, x, .dropout_p = 1.5), WK_ERR_ARGUMENT,
                 ".dropout_p must be in [0, 1], got 1.5");
    wk_tensor *failed = wk_add(flat, x = wk_ones((4)));
    assert_null(wk_scaled_dot_product_attention(y, y, y, .attn_mask = failed)); /* not an omitted mask */
    expect_error(failed, WK_ERR_SHAPE, "add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_rows_yield_zero),
        cmocka_unit_test(causal_rows_see_earlier_keys),
        cmocka_unit_test(scale_may_be_zero),
        cmocka_unit_test(dropout_keeps_the_mean),
        cmocka_unit_test(backward_drops_the_same_weights),
        cmocka_unit_test(narrow_dtypes_round_once),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

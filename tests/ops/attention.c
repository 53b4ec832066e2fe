/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scaled_dot_product_attention beyond the sweep over samples: masks, dropout, narrow dtypes, kernels,
 * errors. */
#include "base/pool.h"
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

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Operands of several heads, blocks of rows and blocks of keys. */
typedef struct operands {
    wk_tensor *query, *key, *value, *weight;
} operands;

static operands random_operands(int64_t heads, int64_t rows, int64_t size)
{
    wk_seed(7);
    operands o;
    o.query = wk_randn((heads, rows, size), .requires_grad = true);
    o.key = wk_randn((heads, rows, size), .requires_grad = true);
    o.value = wk_randn((heads, rows, size), .requires_grad = true);
    o.weight = wk_randn((heads, rows, size));
    return o;
}

static int64_t peak_of_training(int64_t rows)
{
    WK_SCOPE;
    const operands o = random_operands(2, rows, 8);
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_memory_stats_of(wk_cpu(), &before);
    wk_tensor *out = wk_scaled_dot_product_attention(o.query, o.key, o.value, .is_causal = true);
    wk_backward(wk_sum(wk_mul(out, o.weight)));
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_null(wk_error());
    return after.peak - before.live;
}

/* The matrix of weights of one head alone would have 16 MiB. */
static void memory_is_linear(void **state)
{
    (void)state;
    const int64_t half = peak_of_training(1024), whole = peak_of_training(2048);
    assert_true(whole < 4 << 20);
    assert_true(whole <= 2 * half + (1 << 20));
}

/* Dropout selects the composition. With these keys a block has 4096 rows, and all its weights 16 MiB. The queue
 * runs several times during the pass. */
static int64_t peak_of_composition(int64_t blocks)
{
    WK_SCOPE;
    wk_seed(7);
    wk_tensor *query = wk_randn((blocks * 4096, 1), .requires_grad = true), *key = wk_randn((1024, 1));
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_memory_stats_of(wk_cpu(), &before);
    wk_backward(wk_sum(wk_scaled_dot_product_attention(query, key, key, .dropout_p = 0.5)));
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_null(wk_error());
    return after.peak - before.live;
}

static void memory_of_the_composition_is_linear(void **state)
{
    (void)state;
    const int64_t few = peak_of_composition(2), many = peak_of_composition(6);
    if (many > few + (1 << 20)) fail_msg("2 blocks need %lld bytes, 6 need %lld", (long long)few, (long long)many);
}

/* Blocks that are joined: rows do not depend on each other. */
static void blocks_are_joined(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(9);
    wk_tensor *in[] = {wk_randn((24, 2), .requires_grad = true), wk_randn((1 << 19, 2), .requires_grad = true),
                       wk_randn((1 << 19, 1), .requires_grad = true)}; /* blocks of 16 rows */
    wk_tensor *mask = wk_zeros((24, 1), .requires_grad = true), *fast[3], *slow[4];
    wk_tensor *out = wk_scaled_dot_product_attention(in[0], in[1], in[2]);
    wk_tensor *other = wk_scaled_dot_product_attention(in[0], in[1], in[2], .attn_mask = mask);
    wk_tensor *all[] = {in[0], in[1], in[2], mask}, *weight = wk_randn((24, 1));
    wk_grad_options options = {.size = sizeof options, .grad_outputs = &weight};
    assert_int_equal(wk_grad_at(WK_HERE, &out, 1, in, 3, fast, &options), WK_OK);
    assert_int_equal(wk_grad_at(WK_HERE, &other, 1, all, 4, slow, &options), WK_OK);
    for (int k = 0; k < 3; k++) assert_true(wk_item(wk_amax(wk_abs(wk_sub(fast[k], slow[k])))) < 1e-5);
    assert_int_equal(wk_size(slow[3], 0), 24);
    assert_true(wk_item(wk_amax(wk_abs(slow[3]))) < 1e-4); /* a mask of rows shifts all their scores */
}

/* Compares the kernel with the composition, which dropout with probability 0 does not select, but a mask that requires
 * grad does for gradients. */
static void kernel_agrees_with_composition(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int masked = 0; masked < 2; masked++) {
        const operands o = random_operands(3, 150, 20);
        wk_tensor *add = masked ? wk_randn((150, 150)) : wk_log(wk_tril(wk_ones((150, 150))));
        wk_tensor *mask = wk_requires_grad_(wk_clone(add), true);
        wk_tensor *in[] = {o.query, o.key, o.value}, *fast[3], *slow[3];
        wk_tensor *out = masked ? wk_scaled_dot_product_attention(o.query, o.key, o.value, .attn_mask = add)
                                : wk_scaled_dot_product_attention(o.query, o.key, o.value, .is_causal = true);
        wk_tensor *other = wk_scaled_dot_product_attention(o.query, o.key, o.value, .attn_mask = mask);
        wk_grad_options options = {.size = sizeof options, .grad_outputs = &o.weight};
        assert_int_equal(wk_grad_at(WK_HERE, &out, 1, in, 3, fast, &options), WK_OK);
        assert_int_equal(wk_grad_at(WK_HERE, &other, 1, in, 3, slow, &options), WK_OK);
        assert_true(wk_item(wk_amax(wk_abs(wk_sub(out, other)))) < 1e-5);
        for (int k = 0; k < 3; k++) assert_true(wk_item(wk_amax(wk_abs(wk_sub(fast[k], slow[k])))) < 1e-4);
    }
}

/* Equal bits with any number of threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    WK_SCOPE;
    const int threads = wk__thread_count();
    wk_tensor *first[4] = {NULL};
    for (int count = 1; count < 4; count++) {
        wk__set_thread_count(count);
        const operands o = random_operands(3, 200, 16);
        wk_tensor *in[] = {o.query, o.key, o.value}, *now[4];
        now[3] = wk_scaled_dot_product_attention(o.query, o.key, o.value);
        wk_grad_options options = {.size = sizeof options, .grad_outputs = &o.weight};
        assert_int_equal(wk_grad_at(WK_HERE, &now[3], 1, in, 3, now, &options), WK_OK);
        for (int k = 0; k < 4; k++) {
            if (count == 1) first[k] = now[k];
            assert_true(wk_item(wk_all(wk_eq(now[k], first[k]))) == 1);
        }
    }
    wk__set_thread_count(threads);
}

/* Operands whose rows are not contiguous, as of a transposed projection; and heads that share keys. */
static void layouts(void **state)
{
    (void)state;
    WK_SCOPE;
    const operands o = random_operands(4, 70, 12);
    wk_tensor *turned = wk_transpose(wk_contiguous(wk_transpose(o.query, 1, 2)), 1, 2);
    wk_tensor *strided = wk_transpose(wk_contiguous(wk_transpose(o.key, 0, 1)), 0, 1);
    wk_tensor *plain = wk_scaled_dot_product_attention(o.query, o.key, o.value);
    wk_tensor *other = wk_scaled_dot_product_attention(turned, strided, o.value);
    assert_true(wk_item(wk_all(wk_eq(plain, other))) == 1);
    wk_tensor *two = wk_narrow(o.key, 0, 0, 2), *values = wk_narrow(o.value, 0, 0, 2);
    wk_tensor *grouped = wk_scaled_dot_product_attention(o.query, two, values, .enable_gqa = true);
    wk_tensor *repeated =
        wk_scaled_dot_product_attention(o.query, wk_repeat_interleave(two, 2, 0), wk_repeat_interleave(values, 2, 0));
    assert_true(wk_item(wk_all(wk_eq(grouped, repeated))) == 1);
}

/* The kernel for one query per head computes the rows that the kernel for several queries computes, up to rounding. */
static void one_query_of(wk_dtype dtype, int64_t keys, int64_t size)
{
    WK_SCOPE;
    wk_seed(11);
    const double allowed = dtype == WK_F32 ? 1e-5 : 1e-13;
    wk_tensor *query = wk_to_dtype(wk_randn((3, 2, size)), dtype), *key = wk_to_dtype(wk_randn((3, keys, size)), dtype);
    wk_tensor *value = wk_to_dtype(wk_randn((3, 5, keys)), dtype), *mask = wk_to_dtype(wk_randn((3, keys, 2)), dtype);
    value = wk_transpose(value, 1, 2);
    wk_set(mask, (1, WK_ALL, 0), -INFINITY); /* a query without visible keys */
    mask = wk_transpose(mask, 1, 2);
    for (int masked = 0; masked < 2; masked++) {
        wk_tensor *const use = masked ? mask : NULL;
        wk_tensor *both = wk_scaled_dot_product_attention(query, key, value, .attn_mask = use);
        for (int q = 0; q < 2; q++) {
            wk_tensor *rows = masked ? wk_narrow(use, 1, q, 1) : NULL;
            wk_tensor *one = wk_scaled_dot_product_attention(wk_narrow(query, 1, q, 1), key, value, .attn_mask = rows);
            assert_true(wk_item(wk_amax(wk_abs(wk_sub(one, wk_narrow(both, 1, q, 1))))) < allowed);
            if (masked && q == 0) assert_true(wk_item(wk_amax(wk_abs(wk_select(one, 0, 1)))) == 0);
        }
    }
    wk_tensor *first = wk_scaled_dot_product_attention(wk_narrow(query, 1, 0, 1), key, value, .is_causal = true);
    assert_true(wk_item(wk_all(wk_eq(first, wk_narrow(value, 1, 0, 1)))) == 1);
}

static void one_query(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 15, 16, 17, 300};
    for (int k = 0; k < 5; k++) {
        one_query_of(WK_F32, counts[k], 20);
        one_query_of(WK_F64, counts[k], 1);
    }
}

/* The gradient reads the logarithm of the sum of each row, which the result stores. */
static void gradients_of_one_query(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(13);
    wk_tensor *query = wk_randn((2, 1, 20), .requires_grad = true), *key = wk_randn((2, 70, 20), .requires_grad = true);
    wk_tensor *value = wk_randn((2, 70, 9), .requires_grad = true), *weight = wk_randn((2, 1, 9));
    wk_tensor *mask = wk_requires_grad_(wk_zeros((1, 70)), true);
    wk_tensor *in[] = {query, key, value}, *fast[3], *slow[3];
    wk_tensor *out = wk_scaled_dot_product_attention(query, key, value);
    wk_tensor *other = wk_scaled_dot_product_attention(query, key, value, .attn_mask = mask);
    wk_grad_options options = {.size = sizeof options, .grad_outputs = &weight};
    assert_int_equal(wk_grad_at(WK_HERE, &out, 1, in, 3, fast, &options), WK_OK);
    assert_int_equal(wk_grad_at(WK_HERE, &other, 1, in, 3, slow, &options), WK_OK);
    for (int k = 0; k < 3; k++) assert_true(wk_item(wk_amax(wk_abs(wk_sub(fast[k], slow[k])))) < 1e-5);
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
    wk_tensor *deep = wk_ones((1, 1, 1, 1, 1, 2, 4, 3));
    expect_error(wk_scaled_dot_product_attention(wk_ones((4, 4, 3)), deep, deep, .enable_gqa = true), WK_ERR_SHAPE,
                 ".enable_gqa needs 3 to 7 dimensions");
    expect_error(wk_scaled_dot_product_attention(wk_ones((4, 4, 3)), x, deep, .enable_gqa = true), WK_ERR_SHAPE,
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
        cmocka_unit_test(memory_is_linear),
        cmocka_unit_test(memory_of_the_composition_is_linear),
        cmocka_unit_test(blocks_are_joined),
        cmocka_unit_test(kernel_agrees_with_composition),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(layouts),
        cmocka_unit_test(one_query),
        cmocka_unit_test(gradients_of_one_query),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

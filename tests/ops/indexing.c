/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reads and writes at computed indices: values, duplicates, gradients, and invalid indices that are detected at
 * the call or later. */
#include "values.h"

static void reads(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6), *i = wk_of(int64_t, (2), 2, -3);
    EXPECT(wk_index_select(x, 1, i), (2, 2), 3, 1, 6, 4);
    EXPECT(wk_index_select(wk_t(x), 0, i), (2, 2), 3, 6, 1, 4);
    EXPECT(wk_index_select(x, 0, wk_of(int32_t, (3), 1, 0, 1)), (3, 3), 4, 5, 6, 1, 2, 3, 4, 5, 6);
    EXPECT(wk_gather(x, 1, wk_of(int64_t, (2, 1), 2, 0)), (2, 1), 3, 4);
    EXPECT(wk_take_along_dim(x, wk_of(int64_t, (1, 3), 1, 0, 1), 0), (1, 3), 4, 2, 6);
    EXPECT(wk_take(x, wk_of(int64_t, (2, 2), 0, 5, -1, 3)), (2, 2), 1, 6, 6, 4);
    EXPECT(wk_embedding(wk_of(int64_t, (1, 2), 1, 1), x), (1, 2, 3), 4, 5, 6, 4, 5, 6);
    EXPECT(wk_index_select(wk_add(x, 1), 0, wk_add(wk_of(int64_t, (1), 0), 1)), (1, 3), 5, 6, 7);
    EXPECT(wk_one_hot(wk_of(int64_t, (2), 2, 0), 3), (2, 3), 0, 0, 1, 1, 0, 0);
    EXPECT(wk_tril(x), (2, 3), 1, 0, 0, 4, 5, 0);
    EXPECT(wk_triu(x, 1), (2, 3), 0, 2, 3, 0, 0, 6);
    EXPECT(wk_tril(wk_ones((2, 2), .dtype = WK_BOOL)), (2, 2), 1, 0, 1, 1);
}

/* Operands whose rows are strided and whose columns are contiguous: kernels read them in square tiles
 * (iter_patch.c). */
static void reads_of_transposed_operands(void **state)
{
    (void)state;
    enum { N = 3, ROWS = 20, COLUMNS = 70 };
    for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        WK_SCOPE;
        wk_tensor *dense = wk_to_dtype(wk_remainder(wk_arange(N * ROWS * COLUMNS), 113), dtype),
                  *x = wk_transpose(wk_reshape(dense, (N, COLUMNS, ROWS)), 1, 2), *copy = wk_clone(x),
                  *i = wk_of(int64_t, (2), 2, 0), *wide = wk_expand(wk_reshape(i, (2, 1, 1)), (2, ROWS, COLUMNS));
        wk_sync();
        wk_tensor *read[][2] = {
            {wk_index_select(x, 0, i), wk_index_select(copy, 0, i)},
            {wk_gather(x, 0, wide), wk_gather(copy, 0, wide)},
            {wk_take_along_dim(x, wk_reshape(i, (2, 1, 1)), 0), wk_take_along_dim(copy, wk_reshape(i, (2, 1, 1)), 0)}};
        for (size_t k = 0; k < sizeof read / sizeof *read; k++) {
            wk_tensor *got = wk_retain(read[k][0]), *want = wk_retain(read[k][1]); /* stored instead of fused */
            wk_sync();
            assert_true(wk_item(wk_all(wk_eq(got, want))) == 1);
            assert_true(wk_item(wk_all(wk_eq(wk_select(got, 0, 1), wk_select(copy, 0, 0)))) == 1);
            wk_free(got);
            wk_free(want);
        }
    }
}

static void writes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (4), 1, 2, 3, 4), *i = wk_of(int64_t, (3), 1, 1, -1),
              *s = wk_of(float, (3), 10, 20, 30);
    EXPECT(wk_scatter_add(x, 0, i, s), (4), 1, 32, 3, 34);
    EXPECT(wk_index_add(x, 0, i, s), (4), 1, 32, 3, 34);
    EXPECT(wk_scatter(x, 0, i, s), (4), 1, 20, 3, 30); /* of duplicate indices the last one wins */
    EXPECT(wk_scatter(x, 0, i, 7.0), (4), 1, 7, 3, 7);
    EXPECT(x, (4), 1, 2, 3, 4);
    EXPECT(wk_index_add(wk_zeros((2, 3)), 1, wk_of(int64_t, (2), 2, 0), wk_of(float, (2, 2), 1, 2, 3, 4)), (2, 3), 2, 0,
           1, 4, 0, 3);
    EXPECT(wk_scatter_add_(wk_slice(x, 0, 1, 4), 0, wk_of(int64_t, (2), 0, 0), wk_of(float, (2), 5, 6)), (3), 13, 3, 4);
    EXPECT(x, (4), 1, 13, 3, 4);
    EXPECT(wk_index_add_(wk_to_dtype(wk_zeros((1)), WK_BF16), 0, wk_zeros((300), .dtype = WK_I64),
                         wk_ones((300), .dtype = WK_BF16)),
           (1), 300);
}

static void selections(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 0, 3, 0, 5, 6);
    EXPECT(wk_masked_select(x, wk_gt(x, 2)), (3), 3, 5, 6);
    EXPECT(wk_masked_select(x, wk_of(bool, (3), 1, 0, 0)), (2), 1, 0);
    EXPECT_EMPTY(wk_masked_select(x, wk_zeros((2, 3), .dtype = WK_BOOL)), (0));
    EXPECT(wk_nonzero(x), (4, 2), 0, 0, 0, 2, 1, 1, 1, 2);
    EXPECT_EMPTY(wk_nonzero(wk_zeros((2))), (0, 1));
}

static void indices_per_dimension(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 0, 3, 0, 5, 6), *places[2];
    assert_int_equal(wk_nonzero_numpy(x, places), 2);
    EXPECT(places[0], (4), 0, 0, 1, 1);
    EXPECT(places[1], (4), 0, 2, 1, 2);
    assert_int_equal(wk_nonzero_numpy(wk_full((), 7), places), 1);
    EXPECT(places[0], (1), 0);
    assert_int_equal(wk_nonzero_numpy(wk_zeros((2, 0)), places), 2);
    EXPECT_EMPTY(places[1], (0));
    places[0] = x;
    assert_int_equal(wk_nonzero_numpy(NULL, places), -1);
    wk_clear_error();
}

static void distinct_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_of(int64_t, (6), 5, -1, 5, 2, 5, -1), (2, 3)), *inverse, *counts;
    EXPECT(wk_unique(x), (3), -1, 2, 5);
    EXPECT(wk_unique(wk_t(x), .return_inverse = &inverse, .return_counts = &counts), (3), -1, 2, 5);
    EXPECT(inverse, (3, 2), 2, 1, 0, 2, 2, 0);
    EXPECT(counts, (3), 2, 1, 3);
    EXPECT(wk_unique(wk_of(bool, (3), 1, 0, 1), .return_counts = &counts), (2), 0, 1);
    EXPECT(counts, (2), 1, 2);
    EXPECT_EMPTY(wk_unique(wk_zeros((2, 0)), .return_inverse = &inverse), (0));
    EXPECT_EMPTY(inverse, (2, 0));
    wk_tensor *odd = wk_unique(wk_of(float, (4), NAN, 1, NAN, 1), .return_counts = &counts);
    EXPECT(wk_isnan(odd), (3), 0, 1, 1);
    EXPECT(counts, (3), 2, 1, 1);
    assert_null(wk_unique(NULL, .return_inverse = &inverse));
    assert_null(inverse);
    wk_clear_error();
}

static void membership(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_of(int64_t, (4), 1, 7, 3, 7), (2, 2)), *many = wk_mul(wk_arange(300), 7);
    EXPECT(wk_isin(x, wk_of(int64_t, (2), 7, 9)), (2, 2), 0, 1, 0, 1);
    EXPECT(wk_isin(x, wk_of(int64_t, (2), 7, 9), .invert = true), (2, 2), 1, 0, 1, 0);
    EXPECT(wk_isin(x, many), (2, 2), 0, 1, 0, 1);
    EXPECT(wk_isin(x, many, .invert = true), (2, 2), 1, 0, 1, 0);
    EXPECT(wk_isin(x, wk_of(int64_t, (1), 3)), (2, 2), 0, 0, 1, 0);
    EXPECT(wk_isin(wk_of(float, (3), NAN, 14, 0.5f), wk_to_dtype(many, WK_F32)), (3), 0, 1, 0);
    EXPECT(wk_isin(wk_of(float, (2), NAN, 2), wk_full((100), NAN)), (2), 0, 0);
    EXPECT(wk_isin(x, wk_zeros((0))), (2, 2), 0, 0, 0, 0);
    assert_int_equal(wk_dtype_of(wk_isin(x, many)), WK_BOOL);
}

static void bad_index_at_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *i = wk_of(int64_t, (2), 0, 7);
    expect_error(wk_index_select(x, 0, i), WK_ERR_INDEX, "index_select: index 7 is out of range for size 2");
    expect_error(wk_embedding(wk_of(int64_t, (1), -3), x), WK_ERR_INDEX, "embedding: index -3");
    expect_error(wk_scatter_add(wk_ones((2)), 0, i, wk_ones((2))), WK_ERR_INDEX, "7");
    expect_error(wk_index_select(x, 0, wk_of(float, (1), 0)), WK_ERR_DTYPE, "i64");
    expect_error(wk_gather(x, 0, wk_of(int64_t, (1), 0)), WK_ERR_SHAPE, "i64[1]");
    expect_error(wk_index_add(x, 0, i, wk_ones((2, 2))), WK_ERR_SHAPE, "f32[2,2]");
    expect_error(wk_masked_select(x, x), WK_ERR_DTYPE, "bool");
    expect_error(wk_one_hot(wk_of(int64_t, (1), 5), 3), WK_ERR_INDEX, "5");
    expect_error(wk_one_hot(wk_zeros((2), .dtype = WK_I8), 3), WK_ERR_DTYPE, "i8");
    expect_error(wk_index_select(wk_ones((0, 3)), 0, wk_of(int64_t, (1), 0)), WK_ERR_INDEX, "index 0");
}

/* An invalid computed index is detected later: dependent values fail, and an in-place target keeps its values. */
static void bad_index_late(void **state)
{
    (void)state;
    WK_SCOPE;
    if (wk__engine_config_get()->sync) skip();
    wk_tensor *x = wk_clone(wk_ones((2))), *i = wk_add(wk_of(int64_t, (1), 3), 4);
    wk_tensor *kept = wk_retain(x);
    float one;
    wk_tensor *y = wk_index_select(x, 0, i);
    assert_non_null(y);
    assert_int_equal(wk_read(y, &one, sizeof one), WK_ERR_INDEX);
    assert_non_null(strstr(wk_error(), "index 7 is out of range for size 2 (valid: [-2, 2))"));
    wk_clear_error();
    wk_sync();
    wk_clear_error();
    wk_tensor *taken = wk_take(wk_clone(wk_ones((2, 2))), wk_add(wk_of(int64_t, (1), -5), -4));
    assert_int_equal(wk_read(taken, &one, sizeof one), WK_ERR_INDEX);
    assert_non_null(strstr(wk_error(), "take: index -9 is out of range for size 4 (valid: [-4, 4))"));
    wk_clear_error();
    wk_tensor *z = wk_scatter_add(x, 0, wk_add(wk_of(int64_t, (1), 3), 4), wk_ones((1)));
    float two[2];
    assert_int_equal(wk_read(z, two, sizeof two), WK_ERR_INDEX);
    wk_clear_error();
    wk_sync();
    wk_clear_error();
    wk_scatter_add_(x, 0, wk_add(wk_of(int64_t, (1), 3), 4), wk_ones((1)));
    wk_sync();
    wk_clear_error();
    EXPECT(x, (2), 1, 1);
    wk_free(kept);
}

static wk_tensor *embedding_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_embedding(wk_of(int64_t, (2, 2), 0, 2, 2, 1), in[0]);
}
static wk_tensor *gather_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_gather(in[0], 1, wk_of(int64_t, (2, 2), 0, 2, 1, 1));
}
static wk_tensor *scatter_add_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_scatter_add(in[0], 0, wk_of(int64_t, (2, 2), 0, 2, 1, 1), in[1]);
}
static wk_tensor *in_place_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_index_add_(wk_mul(in[0], 2), 0, wk_of(int64_t, (2), 1, 1), in[1]);
}
static wk_tensor *masked_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_masked_select(in[0], wk_of(bool, (3), 1, 0, 1));
}

static void shapes_that_do_not_fit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 6)), *i = wk_zeros((2), .dtype = WK_I64), *same = wk_zeros((2, 6), .dtype = WK_I64),
              *longer = wk_zeros((3, 6), .dtype = WK_I64), *number = wk_ones(());
    expect_error(wk_gather(x, 1, i), WK_ERR_SHAPE,
                 "f32[2,6] and the index i64[2] must have the same number of dimensions");
    expect_error(wk_gather(x, 1, longer), WK_ERR_SHAPE,
                 "index i64[3,6] has size 3 in dimension 0, but f32[2,6] has only 2 (sizes may exceed it only along");
    expect_error(wk_scatter(x, 1, longer, x), WK_ERR_SHAPE, "index i64[3,6] has size 3 in dimension 0, but f32[2,6]");
    expect_error(wk_scatter(x, 1, same, wk_ones((3))), WK_ERR_SHAPE, "and the source f32[3] must have the same number");
    expect_error(wk_scatter(x, 1, same, wk_ones((1, 6))), WK_ERR_SHAPE,
                 "index i64[2,6] has size 2 in dimension 0, but the source f32[1,6] has only 1");
    expect_error(wk_scatter(x, 1, i, 2.0), WK_ERR_SHAPE,
                 "f32[2,6] and the index i64[2] must have the same number of dimensions");
    expect_error(wk_scatter(x, 1, same, wk_ones((2, 6), .dtype = WK_F64)), WK_ERR_DTYPE,
                 "the target f32[2,6] and the source f64[2,6] must have the same dtype");
    expect_error(wk_scatter_add(x, 1, longer, x), WK_ERR_SHAPE, "scatter_add: index i64[3,6] has size 3");
    expect_error(wk_index_select(x, 1, same), WK_ERR_SHAPE, "must be a vector, got i64[2,6]");
    expect_error(wk_index_select(number, 0, i), WK_ERR_SHAPE, "f32[] has one element");
    expect_error(wk_index_add(x, 1, same, x), WK_ERR_SHAPE, "the index must be a vector, got i64[2,6]");
    expect_error(wk_index_add(x, 1, i, x), WK_ERR_SHAPE,
                 "except in dimension 1, where it has the size of the index i64[2]");
}

static void gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    CHECK_GRADIENTS(embedding_of, LEAF((3, 2)));
    CHECK_GRADIENTS(gather_of, LEAF((2, 3)));
    CHECK_GRADIENTS(scatter_add_of, LEAF((3, 2)), LEAF((3, 2)));
    CHECK_GRADIENTS(in_place_of, LEAF((3, 2)), LEAF((2, 2)));
    CHECK_GRADIENTS(masked_of, LEAF((2, 3)));
    wk_tensor *x = LEAF((2, 2)), *i = wk_zeros((2), .dtype = WK_I64);
    assert_string_equal(wk__grad_fn_name(wk_index_select(x, 0, i)), "IndexSelectBackward0");
    assert_string_equal(wk__grad_fn_name(wk_embedding(i, x)), "EmbeddingBackward0");
    assert_string_equal(wk__grad_fn_name(wk_take(x, i)), "TakeBackward0");
    assert_string_equal(wk__grad_fn_name(wk_index_add(x, 0, i, x)), "IndexAddBackward0");
    assert_string_equal(wk__grad_fn_name(wk_masked_select(x, wk_gt(x, 0))), "MaskedSelectBackward0");
    assert_string_equal(wk__grad_fn_name(wk_tril(x)), "TrilBackward0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(writes),
        cmocka_unit_test(reads_of_transposed_operands),
        cmocka_unit_test(selections),
        cmocka_unit_test(indices_per_dimension),
        cmocka_unit_test(distinct_elements),
        cmocka_unit_test(membership),
        cmocka_unit_test(bad_index_late),
        cmocka_unit_test(bad_index_at_the_call),
        cmocka_unit_test(gradients),
        cmocka_unit_test(shapes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

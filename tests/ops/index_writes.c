/* SPDX-License-Identifier: Apache-2.0 */
/* Tests writes at indices where the sweep does not: messages, masks, negative indices, calls in place, and ties. */
#include "support/wick.h"
#include <math.h>

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(2, 3), *i = wk_of(int64_t, (2), 0, 1), *bad = wk_of(int64_t, (1), 5),
              *mask = wk_gt(x, 2);
    expect_failure(wk_index_put(x, (bad), x),
                   "index_put: index 5 is out of range for dimension 0 of f32[2,3] (size 2)");
    expect_failure(wk_index_put(x, (i, i, i), x), "more indices than the 2 dimensions of f32[2,3]");
    expect_failure(wk_index_put(x, (mask, i), x), "more indices than the 2 dimensions");
    expect_failure(wk_index_put(x, (wk_gt(i, 0), mask), x),
                   "mask bool[2,3] does not have the sizes of f32[2,3] from dimension 1");
    expect_failure(wk_index_put(x, (i, wk_arange(3)), x), "index tensors do not broadcast");
    expect_failure(wk_index_put(x, (i), wk_ones((4))),
                   "values f32[4] do not broadcast to the selected elements of f32[2,3], [2,3]");
    expect_failure(wk_index_put(x, (x), x), "index must be i64 or i32, got f32");
    wk_tensor *elsewhere = wk_zeros((1), .dtype = WK_I64, .device = test_null());
    expect_failure(wk_index_put(x, (elsewhere), x), "index_put: ");
    expect_failure(wk_index_put(x, (elsewhere, elsewhere), x), "null");
    expect_failure(wk_index_put(x, ((wk_tensor *)NULL), x), "index_put: index is NULL");
    expect_failure(wk_index_copy(x, 0, i, wk_ones((1, 3))), "the source f32[1,3] must have the shape of f32[2,3]");
    expect_failure(wk_index_copy(x, 0, i, wk_ones((2, 3), .dtype = WK_F64)), "must have one dtype");
    expect_failure(wk_index_fill(x, 0, wk_ones((1, 1), .dtype = WK_I64), 1), "the index must be a vector");
    expect_failure(wk_masked_scatter(x, x, x), "mask must be bool");
    expect_failure(wk_scatter_reduce(x, 0, wk_zeros_like(mask, .dtype = WK_I64), x, "max"), "unknown reduce \"max\"");
    expect_failure(wk_searchsorted(x, i), "must be a vector or have the shape of values");
    expect_failure(wk_searchsorted(i, i, .side = "middle"), "unknown .side \"middle\"; expected \"left\" or \"right\"");
    expect_failure(wk_searchsorted(i, i, .side = "left", .right = true), ".side \"left\" contradicts .right");
    expect_failure(wk_embedding_bag(wk_reshape(i, (1, 2)), x, .mode = "min"),
                   "unknown .mode \"min\"; expected \"mean\", \"sum\" or \"max\"");
    expect_failure(wk_scatter_reduce(x, 0, wk_zeros_like(mask, .dtype = WK_I64), x, NULL), "unknown reduce \"NULL\"");
    expect_failure(wk_bincount(wk_of(int64_t, (2), 1, -1)), "bincount: elements must be at least 0, got -1");
    expect_failure(wk_bincount(wk_of(int64_t, (1), INT64_MAX)), "bincount: element 9223372036854775807 is too large");
    expect_failure(wk_bincount(x), "bincount: expected a vector");
    expect_failure(wk_histc(x, .min = 2, .max = 1), "histc: .bins must be at least 1");
    expect_failure(wk_histc(wk_of(float, (2), 1, INFINITY)), "histc: the limits must be finite");
}

static void masks_and_negative_indices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(2, 3), *last = wk_of(int64_t, (1), -1);
    EXPECT_VALUES(wk_index_put(x, (wk_gt(x, 2.5)), wk_of(float, (), 9)), 0, 0, 1, 2, 9, 9, 9);
    EXPECT_VALUES(wk_index_put(x, (wk_gt(x, 3.5)), wk_of(float, (2), 8, 9)), 0, 0, 1, 2, 3, 8, 9);
    EXPECT_VALUES(wk_index_put(x, (wk_of(bool, (2), true, false), last), wk_of(float, (1), 7)), 0, 0, 1, 7, 3, 4, 5);
    EXPECT_VALUES(wk_index_put(x, (last, last), wk_of(int64_t, (1), 7)), 0, 0, 1, 2, 3, 4, 7);
    EXPECT_VALUES(wk_index_fill(x, -1, last, -2), 0, 0, 1, -2, 3, 4, -2);
    EXPECT_VALUES(wk_index_copy(x, 0, last, wk_of(float, (1, 3), 7, 8, 9)), 0, 0, 1, 2, 7, 8, 9);
    wk_tensor *same = wk_of(int64_t, (3), 1, 1, 1);
    EXPECT_VALUES(wk_index_put(x, (same, same), wk_of(float, (3), 7, 8, 9)), 0, 0, 1, 2, 3, 9, 5);
    EXPECT_VALUES(wk_index_put(x, (same, same), wk_of(float, (3), 7, 8, 9), .accumulate = true), 0, 0, 1, 2, 3, 28, 5);
}

/* In-place calls write to x, and gradients reach their operands. */
static void in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_requires_grad_(test_matrix(2, 3), true), *value = wk_of(float, (1), 10, .requires_grad = true);
    wk_tensor *x = wk_mul(leaf, 2), *i = wk_of(int64_t, (1), 0), *j = wk_of(int64_t, (1), 2);
    assert_ptr_equal(wk_index_put_(x, (i, j), value), x);
    EXPECT_VALUES(x, 0, 0, 2, 10, 6, 8, 10);
    wk_backward(wk_sum(x));
    EXPECT_VALUES(wk_grad_of(leaf), 0, 2, 2, 0, 2, 2, 2);
    EXPECT_VALUES(wk_grad_of(value), 0, 1);
    x = test_matrix(2, 3);
    assert_ptr_equal(wk_index_fill_(x, 1, i, 5), x);
    assert_ptr_equal(wk_index_copy_(x, 1, j, wk_of(float, (2, 1), 6, 7)), x);
    EXPECT_VALUES(x, 0, 5, 1, 6, 5, 4, 7);
    assert_ptr_equal(wk_masked_scatter_(x, wk_eq(x, 5), wk_of(float, (2), -1, -2)), x);
    EXPECT_VALUES(x, 0, -1, 1, 6, -2, 4, 7);
    assert_ptr_equal(wk_scatter_reduce_(x, 0, wk_zeros((1, 3), .dtype = WK_I64), wk_ones((1, 3)), "prod"), x);
    EXPECT_VALUES(x, 0, -1, 1, 6, -2, 4, 7);
    expect_failure(wk_index_put_(leaf, (i, j), value), "leaf");
    x = test_matrix(2, 3);
    wk_tensor *row = wk_of(int64_t, (), 1);
    EXPECT_VALUES(wk_index_put(x, (row), wk_of(float, (3), 7, 8, 9)), 0, 0, 1, 2, 7, 8, 9);
    EXPECT_VALUES(wk_set(x, (row, WK_ALL), wk_of(float, (3), 7, 8, 9)), 0, 0, 1, 2, 7, 8, 9);
}

/* Three equal elements share a gradient, as in PyTorch. */
static void ties(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 4, 1, .requires_grad = true);
    wk_tensor *source = wk_of(float, (3), 4, 4, 0, .requires_grad = true), *index = wk_zeros((3), .dtype = WK_I64);
    wk_backward(wk_sum(wk_scatter_reduce(x, 0, index, source, "amax")));
    EXPECT_VALUES(wk_grad_of(x), 1e-6, 1. / 3, 1);
    EXPECT_VALUES(wk_grad_of(source), 1e-6, 1. / 3, 1. / 3, 0);
}

static void nan_in_scans(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *values, *indices;
    assert_int_equal(wk_cummax(wk_of(float, (4), 1, NAN, 3, 2), 0, &values, &indices), WK_OK);
    EXPECT_VALUES(values, 0, 1, NAN, NAN, NAN);
    EXPECT_VALUES(indices, 0, 0, 1, 1, 1);
    assert_int_equal(wk_cummin(wk_of(float, (4), 2, 2, 3, 1), 0, &values, &indices), WK_OK);
    EXPECT_VALUES(indices, 0, 0, 1, 1, 3);
    wk_tensor *sums = wk_logcumsumexp(wk_of(float, (3), -INFINITY, -INFINITY, 1), 0);
    EXPECT_VALUES(sums, 1e-6, -INFINITY, -INFINITY, 1);
}

static void sorted_sequences(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (5), 1, 3, 3, 5, 7), *v = wk_of(float, (5), 3, 8, 0, NAN, 6);
    EXPECT_VALUES(wk_searchsorted(x, v), 0, 1, 5, 0, 5, 4);
    EXPECT_VALUES(wk_searchsorted(x, v, .right = true), 0, 3, 5, 0, 5, 4);
    EXPECT_VALUES(wk_bucketize(v, x, .out_int32 = true), 0, 1, 5, 0, 5, 4);
    wk_tensor *mixed = wk_of(float, (5), 5, 3, 7, 1, 3);
    EXPECT_VALUES(wk_searchsorted(mixed, v, .sorter = wk_argsort(mixed, 0, false)), 0, 1, 5, 0, 5, 4);
    wk_tensor *rows = wk_of(float, (2, 3), 1, 2, 3, 10, 20, 30);
    EXPECT_VALUES(wk_searchsorted(rows, wk_of(float, (2, 2), 2, 9, 2, 25)), 0, 1, 3, 0, 2);
    EXPECT_VALUES(wk_histc(wk_of(float, (6), 0, 1, 2, 3, 4, NAN), .bins = 4, .min = 0, .max = 4), 0, 1, 1, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages),     cmocka_unit_test(masks_and_negative_indices),
                                       cmocka_unit_test(in_place),     cmocka_unit_test(ties),
                                       cmocka_unit_test(nan_in_scans), cmocka_unit_test(sorted_sequences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests einsum, tensordot, kron, cross and cdist where the sweep does not: messages, forms, precision; and wk_equal and
 * wk_allclose. */
#include "support/wick.h"
#include <math.h>

static void malformed_equations(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = test_matrix(2, 3), *b = test_matrix(3, 4);
    expect_failure(wk_einsum("i1,jk", (a, b)), "einsum: unexpected '1' at index 1");
    expect_failure(wk_einsum("ij,jk->i?", (a, b)), "unexpected '?' at index 8");
    expect_failure(wk_einsum("i\303\274,jk", (a, b)), "unexpected byte 0xc3 at index 1");
    expect_failure(wk_einsum("ij,jk->ik,", (a, b)), "unexpected ',' at index 9, after the result");
    expect_failure(wk_einsum("ij,jk-ik", (a, b)), "the result follows ->");
    expect_failure(wk_einsum("ij", (a, b)), "1 operands for 2 tensors");
    expect_failure(wk_einsum("ij,jk,kl", (a, b)), "more operands than the 2 tensors");
    expect_failure(wk_einsum("ij,jk->il", (a, b)), "no operand has label l of the result");
    expect_failure(wk_einsum("ij,jk->ii", (a, b)), "the result has label i twice");
    expect_failure(wk_einsum("ijk", (a)), "einsum: \"ijk\" has 3 labels for operand 0, f32[2,3]");
    expect_failure(wk_einsum("i", (a)), "has 1 labels for operand 0");
    expect_failure(wk_einsum("ij,kj", (a, b)), "label j of \"ij,kj\" has size 4 in operand 1, f32[3,4], and 3 before");
    expect_failure(wk_einsum("ii", (a)), "label i of \"ii\" has size 3");
    expect_failure(wk_einsum("......", (a)), "once for each operand");
    expect_failure(wk_einsum("ij,jk", (a, wk_to_dtype(b, WK_F64))), "different dtypes");
    expect_failure(wk_einsum("ij", (wk_gt(a, 0))), "bool is not supported");
    expect_failure(wk_einsum(NULL, (a)), "the equation is NULL");
    wk_tensor *five = wk_ones((1, 1, 1, 1, 1)), *eight = wk_ones((1, 1, 1, 1, 1, 1, 1, 1));
    expect_failure(wk_einsum("abcde,fghij,abcdefgh->ij", (five, five, eight)), "a product has 10 dimensions");
    expect_failure(wk_einsum("i,ii->i", (wk_ones((3)), wk_ones((1, 3)))),
                   "label i of \"i,ii->i\" has size 3 in operand 1");
    expect_failure(wk_einsum("abcde,fghij->abcdefghij", (wk_ones((1, 1, 1, 1, 1)), wk_ones((1, 1, 1, 1, 1)))),
                   "more than 8");
}

static void refused_tensordot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = test_matrix(2, 3), *b = test_matrix(3, 4);
    expect_failure(wk_tensordot(a, b, (0), (0)),
                   "tensordot: summed dimensions of f32[2,3] and f32[3,4] differ: sizes 2 and 3");
    expect_failure(wk_tensordot(a, b, (0, 1), (0)), "2 dimensions of f32[2,3], but 1 of f32[3,4]");
    expect_failure(wk_tensordot(a, b, (2), (0)), "dimension 2 is out of range");
    expect_failure(wk_tensordot(a, b, (1, -1), (0, 1)), "duplicate dimension 1");
    expect_failure(wk_tensordot(a, b, 9), "tensordot");
    assert_true(wk_equal(wk_tensordot(a, b, 1), wk_matmul(a, b)));
    assert_true(wk_equal(wk_tensordot(a, b, 0), wk_mul(wk_reshape(a, (2, 3, 1, 1)), b)));
}

static void pairs_of_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *deep = wk_ones((1, 1, 1, 1, 1, 1, 1, 2)), *two = wk_of(float, (2), 3, 4);
    EXPECT_VALUES(wk_kron(deep, two), 0, 3, 4, 3, 4);
    EXPECT_SHAPE(wk_kron(deep, two), 1, 1, 1, 1, 1, 1, 1, 4);
    EXPECT_VALUES(wk_kron(wk_full((), 2.0), wk_full((), 3.0)), 0, 6);
    wk_tensor *wide = wk_ones((2, 2, 2, 2, 2, 1, 1, 1)), *large = wk_expand(wk_ones((1)), (INT64_C(1) << 32));
    expect_failure(wk_kron(wide, wide),
                   "kron: f32[2,2,2,2,2,1,1,1] and f32[2,2,2,2,2,1,1,1] together have more than 8");
    expect_failure(wk_kron(large, large), "kron: dimension 0 of the product of f32[4294967296] and f32[4294967296] is");
    expect_failure(wk_cross(deep, two, 0), "cross: f32[1,1,1,1,1,1,1,2] and f32[2] must have the same number");
    expect_failure(wk_cdist(test_matrix(2, 3), wk_ones((2, 3), .dtype = WK_I64)),
                   "cdist: expected floating-point operands, got f32[2,3] and i64[2,3]");
}

/* Products of several operands are rounded once: the sum of the first two exceeds the range of f16. */
static void one_rounding(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 60000, 60000, .dtype = WK_F16), *y = wk_of(float, (2), 1, 1, .dtype = WK_F16);
    wk_tensor *out = wk_einsum("i,i,j->j", (x, y, wk_of(float, (1), 1. / 1024, .dtype = WK_F16)));
    assert_int_equal(wk_dtype_of(out), WK_F16);
    expect_values(out, 1, (const double[]){117.1875}, 1e-1);
}

static void result_is_new(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = test_matrix(2, 3);
    assert_false(wk_same_storage(a, wk_einsum("ij->ji", (a))));
    assert_false(wk_same_storage(a, wk_einsum("...", (a))));
}

static void equal_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = test_matrix(2, 3), *nan = wk_of(float, (2), 1, NAN);
    assert_true(wk_equal(a, test_matrix(2, 3)));
    assert_true(wk_equal(a, wk_to_dtype(a, WK_I64)));
    assert_false(wk_equal(a, wk_add(a, 1)));
    assert_false(wk_equal(a, test_matrix(3, 2)));
    assert_false(wk_equal(nan, nan));
    assert_true(wk_equal(wk_zeros((0)), wk_zeros((0))));
    expect_ok();
    expect_failure(wk_equal(a, NULL), "equal: second operand is NULL");
}

static void close_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(float, (2), 1, 100), *b = wk_of(float, (2), 1, 100.0005f), *nan = wk_of(float, (2), 1, NAN);
    assert_true(wk_allclose(a, b));
    assert_false(wk_allclose(a, b, .rtol = 0));
    assert_true(wk_allclose(a, b, .rtol = 0, .atol = 0.001));
    assert_false(wk_allclose(nan, nan));
    assert_true(wk_allclose(nan, nan, .equal_nan = true));
    expect_ok();
    expect_failure(wk_allclose(a, b, .rtol = -1), "allclose: .rtol and .atol must be at least 0");
    expect_failure(wk_allclose(a, wk_ones((3))), "allclose: shapes do not broadcast");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(malformed_equations), cmocka_unit_test(refused_tensordot),
                                       cmocka_unit_test(pairs_of_tensors),    cmocka_unit_test(one_rounding),
                                       cmocka_unit_test(result_is_new),       cmocka_unit_test(equal_tensors),
                                       cmocka_unit_test(close_tensors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

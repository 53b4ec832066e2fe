/* SPDX-License-Identifier: Apache-2.0 */
/* Tests products: values, shapes, gradients, PyTorch's node names, errors. */
#include "values.h"

static wk_tensor *counting(wk_dtype dtype, int64_t from, const int64_t *shape, int ndim)
{
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype};
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return wk_reshape_at(WK_HERE, wk_arange_from_at(WK_HERE, (double)from, (double)(from + n), 1, &options), shape,
                         ndim);
}
#define COUNTING(dtype, from, shape) counting(dtype, from, DIMS(shape))

static void dimensions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = COUNTING(WK_F32, 0, (2, 3)), *b = COUNTING(WK_F32, 1, (3, 2)), *v = COUNTING(WK_F32, 1, (3));
    EXPECT(wk_matmul(a, b), (2, 2), 13, 16, 40, 52);
    EXPECT(wk_mm(a, b), (2, 2), 13, 16, 40, 52);
    EXPECT(wk_matmul(a, v), (2), 8, 26);
    EXPECT(wk_mv(a, v), (2), 8, 26);
    EXPECT(wk_matmul(v, b), (2), 22, 28);
    EXPECT(wk_matmul(v, v), (), 14);
    EXPECT(wk_dot(v, v), (), 14);
    EXPECT(wk_outer(wk_narrow(v, 0, 0, 2), v), (2, 3), 1, 2, 3, 2, 4, 6);
    EXPECT(wk_matmul(wk_t(b), wk_t(a)), (2, 2), 13, 40, 16, 52);
}

static void batches(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = COUNTING(WK_F32, 0, (2, 2, 2)), *b = COUNTING(WK_F32, 1, (2, 2, 1)),
              *m = COUNTING(WK_F32, 1, (2, 2));
    EXPECT(wk_bmm(a, b), (2, 2, 1), 2, 8, 32, 46);
    EXPECT(wk_matmul(a, m), (2, 2, 2), 3, 4, 11, 16, 19, 28, 27, 40);
    EXPECT(wk_matmul(m, b), (2, 2, 1), 5, 11, 11, 25);
    EXPECT(wk_matmul(wk_unsqueeze(a, 1), wk_unsqueeze(b, 0)), (2, 2, 2, 1), 2, 8, 4, 18, 14, 20, 32, 46);
    EXPECT(wk_matmul(a, COUNTING(WK_F32, 1, (2))), (2, 2), 2, 8, 14, 20);
    EXPECT(wk_matmul(COUNTING(WK_F32, 1, (2)), b), (2, 1), 5, 11);
}

static void products_over_no_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT(wk_matmul(wk_zeros((2, 0)), wk_zeros((0, 2))), (2, 2), 0, 0, 0, 0);
    EXPECT_EMPTY(wk_matmul(wk_zeros((0, 3)), wk_zeros((3, 2))), (0, 2));
    EXPECT(wk_dot(wk_zeros((0)), wk_zeros((0))), (), 0);
    EXPECT(wk_linear(wk_zeros((2, 0)), wk_zeros((2, 0)), wk_ones((2))), (2, 2), 1, 1, 1, 1);
}

/* A vector times rows and times columns of a matrix, in sizes around those of blocks. Sums of small integers are
 * exact. */
static void vectors(void **state)
{
    (void)state;
    static const int64_t steps[] = {1, 9, 513, 4096, 4103, 8209}, counts[] = {1, 3, 17, 2079};
    wk_seed(3);
    for (int i = 0; i < 6 * 4 * 2; i++) {
        WK_SCOPE;
        const wk_dtype dtype = i % 2 ? WK_F64 : WK_F32;
        const int64_t k = steps[i / 8], n = k > 513 && i / 2 % 4 == 3 ? 67 : counts[i / 2 % 4];
        wk_tensor *x = wk_to_dtype(wk_randint(-4, 5, (1, k)), dtype);
        wk_tensor *rows = wk_to_dtype(wk_randint(-4, 5, (n, k)), dtype);
        wk_tensor *expected = wk_sum(wk_mul(x, rows), (1));
        wk_tensor *columns = wk_contiguous(wk_t(rows));
        wk_sync();
        assert_true(wk_item(wk_all(wk_eq(wk_matmul(x, wk_t(rows)), expected))) == 1);
        assert_true(wk_item(wk_all(wk_eq(wk_matmul(x, columns), expected))) == 1);
    }
}

static void dtypes(void **state)
{
    (void)state;
    static const wk_dtype all[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        WK_SCOPE;
        wk_tensor *y = wk_matmul(COUNTING(all[k], 0, (2, 3)), COUNTING(all[k], 1, (3, 2)));
        assert_int_equal(wk_dtype_of(y), all[k]);
        EXPECT(y, (2, 2), 13, 16, 40, 52);
    }
    WK_SCOPE;
    wk_tensor *big = wk_full((1, 1), 100), *i8 = wk_to_dtype(big, WK_I8);
    EXPECT(wk_matmul(i8, i8), (1, 1), 16); /* 10000 wraps around */
}

static void sums(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = COUNTING(WK_F32, 0, (2, 3)), *b = COUNTING(WK_F32, 1, (3, 2)), *x = wk_of(float, (2), 1, 2);
    EXPECT(wk_addmm(x, a, b), (2, 2), 14, 18, 41, 54);
    EXPECT(wk_addmm(x, a, b, .beta = 10, .alpha = 2), (2, 2), 36, 52, 90, 124);
    EXPECT(wk_addmm(wk_full((2), (double)NAN), a, b, .beta = WK_EXPLICIT_ZERO), (2, 2), 13, 16, 40, 52);
    EXPECT(wk_baddbmm(x, wk_unsqueeze(a, 0), wk_unsqueeze(b, 0), .alpha = 0.5), (1, 2, 2), 7.5, 10, 21, 28);
    EXPECT(wk_linear(a, wk_t(b), x), (2, 2), 14, 18, 41, 54);
    EXPECT(wk_linear(a, wk_t(b), NULL), (2, 2), 13, 16, 40, 52);
    EXPECT(wk_linear(wk_unsqueeze(a, 0), wk_t(b), x), (1, 2, 2), 14, 18, 41, 54);
    EXPECT(wk_linear(wk_select(a, 0, 0), wk_t(b), x), (2), 14, 18);
    wk_tensor *whole =
        wk_addmm(wk_of(int64_t, (), 7), COUNTING(WK_I64, 0, (2, 3)), COUNTING(WK_I64, 1, (3, 2)), .beta = 2);
    assert_int_equal(wk_dtype_of(whole), WK_I64);
    EXPECT(whole, (2, 2), 27, 30, 54, 66);
}

/* The product is 1 plus half a unit, which alone rounds to 1 (even); with another quarter of a unit the sum rounds up.
 * Two roundings would give 1. */
static void sums_are_rounded_once(void **state)
{
    (void)state;
    static const struct {
        wk_dtype dtype;
        double unit;
    } halves[] = {{WK_BF16, 0x1p-7}, {WK_F16, 0x1p-10}};
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        const double unit = halves[k].unit;
        wk_tensor *a = wk_to_dtype(wk_of(float, (1, 2), 1, 0x1p-4f), halves[k].dtype);
        wk_tensor *b = wk_to_dtype(wk_of(double, (2, 1), 1, unit / 2 * 0x1p4), halves[k].dtype);
        wk_tensor *x = wk_full((1), unit / 4, .dtype = halves[k].dtype);
        EXPECT(wk_mul(wk_sub(wk_to_dtype(wk_mm(a, b), WK_F64), 1), 1 / unit), (1, 1), 0);
        EXPECT(wk_mul(wk_sub(wk_to_dtype(wk_addmm(x, a, b), WK_F64), 1), 1 / unit), (1, 1), 1);
        EXPECT(wk_mul(wk_sub(wk_to_dtype(wk_linear(a, wk_t(b), x), WK_F64), 1), 1 / unit), (1, 1), 1);
        wk_tensor *sum = wk_baddbmm(x, wk_unsqueeze(a, 0), wk_unsqueeze(b, 0));
        EXPECT(wk_mul(wk_sub(wk_to_dtype(sum, WK_F64), 1), 1 / unit), (1, 1, 1), 1);
        assert_int_equal(wk_dtype_of(sum), halves[k].dtype);
    }
}

static wk_tensor *matmul_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_matmul(in[0], in[1]);
}
static wk_tensor *linear_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_linear(in[0], in[1], in[2]);
}
static wk_tensor *addmm_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_addmm(in[0], in[1], in[2], .beta = 0.5, .alpha = -2);
}
static wk_tensor *outer_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_outer(in[0], in[1]);
}

static void gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    CHECK_GRADIENTS(matmul_of, LEAF((3, 4)), LEAF((4, 2)));
    CHECK_GRADIENTS(matmul_of, LEAF((4)), LEAF((4)));
    CHECK_GRADIENTS(matmul_of, LEAF((3, 4)), LEAF((4)));
    CHECK_GRADIENTS(matmul_of, LEAF((4)), LEAF((4, 2)));
    CHECK_GRADIENTS(matmul_of, LEAF((2, 3, 4)), LEAF((4, 2)));
    CHECK_GRADIENTS(matmul_of, LEAF((3, 4)), LEAF((2, 4, 2)));
    CHECK_GRADIENTS(matmul_of, LEAF((2, 1, 3, 4)), LEAF((3, 4, 2)));
    CHECK_GRADIENTS(matmul_of, LEAF((2, 3, 4)), LEAF((4)));
    CHECK_GRADIENTS(matmul_of, LEAF((4)), LEAF((2, 4, 3)));
    CHECK_GRADIENTS(linear_of, LEAF((3, 4)), LEAF((2, 4)), LEAF((2)));
    CHECK_GRADIENTS(linear_of, LEAF((2, 3, 4)), LEAF((2, 4)), LEAF((2)));
    CHECK_GRADIENTS(linear_of, LEAF((4)), LEAF((2, 4)), LEAF((2)));
    CHECK_GRADIENTS(addmm_of, LEAF((2)), LEAF((3, 4)), LEAF((4, 2)));
    CHECK_GRADIENTS(outer_of, LEAF((3)), LEAF((2)));
}

static void names_of_nodes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = LEAF((3, 3)), *v = LEAF((3)), *s = LEAF((2, 3, 3));
    assert_string_equal(wk__grad_fn_name(wk_matmul(m, m)), "MmBackward0");
    assert_string_equal(wk__grad_fn_name(wk_matmul(m, v)), "MvBackward0");
    assert_string_equal(wk__grad_fn_name(wk_matmul(v, m)), "SqueezeBackward4");
    assert_string_equal(wk__grad_fn_name(wk_matmul(v, v)), "DotBackward0");
    assert_string_equal(wk__grad_fn_name(wk_matmul(s, m)), "UnsafeViewBackward0");
    assert_string_equal(wk__grad_fn_name(wk_bmm(s, s)), "BmmBackward0");
    assert_string_equal(wk__grad_fn_name(wk_linear(m, m, v)), "AddmmBackward0");
    assert_string_equal(wk__grad_fn_name(wk_linear(m, m, NULL)), "MmBackward0");
    assert_string_equal(wk__grad_fn_name(wk_linear(s, m, v)), "ViewBackward0");
    assert_string_equal(wk__grad_fn_name(wk_addmm(v, m, m)), "AddmmBackward0");
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((2, 3)), *b = wk_ones((2, 4));
    expect_error(wk_matmul(a, b), WK_ERR_SHAPE,
                 "matmul: inner dimensions differ: f32[2,3] and f32[2,4] (last size of the first 3, second-to-last "
                 "size of the second 2)");
    expect_error(wk_matmul(a, wk_ones((3, 2), .dtype = WK_F64)), WK_ERR_DTYPE, "f32[2,3] and f64[3,2]");
    expect_error(wk_matmul(a, wk_ones(())), WK_ERR_SHAPE, "f32[]");
    expect_error(wk_matmul(wk_ones((2, 2, 3)), wk_ones((3, 3, 2))), WK_ERR_SHAPE, "batch");
    expect_error(wk_mm(a, wk_ones((3))), WK_ERR_SHAPE, "mm:");
    expect_error(wk_bmm(wk_ones((2, 2, 3)), wk_ones((1, 3, 2))), WK_ERR_SHAPE, "bmm:");
    expect_error(wk_linear(a, wk_ones((5, 4)), NULL), WK_ERR_SHAPE,
                 "linear: inner dimensions differ: f32[2,3] and f32[5,4]");
    expect_error(wk_linear(a, wk_ones((5, 3)), wk_ones((4))), WK_ERR_SHAPE, "bias f32[4]");
    expect_error(wk_addmm(wk_ones((3)), a, wk_ones((3, 2))), WK_ERR_SHAPE, "addmm: f32[3]");
    expect_error(wk_matmul(wk_ones((2, 2), .dtype = WK_BOOL), wk_ones((2, 2), .dtype = WK_BOOL)), WK_ERR_DTYPE, "bool");
    /* a bias whose computation failed is not treated as omitted */
    expect_error(wk_linear(a, wk_ones((5, 3)), wk_matmul(a, b)), WK_ERR_SHAPE, "matmul");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions),
        cmocka_unit_test(batches),
        cmocka_unit_test(products_over_no_elements),
        cmocka_unit_test(vectors),
        cmocka_unit_test(dtypes),
        cmocka_unit_test(sums),
        cmocka_unit_test(sums_are_rounded_once),
        cmocka_unit_test(gradients),
        cmocka_unit_test(names_of_nodes),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reductions, scans, sorts and ops built on rows: known values, corner cases, first and second gradients. */
#include "values.h"

static void test_mean_prod(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6);
    EXPECT(wk_mean(x), (), 3.5);
    EXPECT(wk_mean(x, (0)), (3), 2.5, 3.5, 4.5);
    EXPECT(wk_mean(x, (1), .keepdim = true), (2, 1), 2, 5);
    EXPECT(wk_prod(x, (1)), (2), 6, 120);
    EXPECT(wk_prod(wk_arange(5)), (), 0);
    assert_int_equal(wk_dtype_of(wk_prod(wk_arange(5))), WK_I64);
    EXPECT(wk_mean(wk_arange(4), (), .dtype = WK_F64), (), 1.5);
    expect_error(wk_mean(wk_arange(4)), WK_ERR_DTYPE, "mean");
    expect_error(wk_mean(x, (2)), WK_ERR_INDEX, "f32[2,3]");
    EXPECT(wk_mean(wk_to_dtype(wk_full((3000), 100.0), WK_F16)), (),
           100); /* the sum overflows f16, the mean does not */
}

static void test_extremes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 3, 9, 9, -1, NAN, 2);
    EXPECT(wk_amax(wk_narrow(x, 0, 0, 1)), (), 9);
    assert_true(isnan(wk_item(wk_amax(x))) && isnan(wk_item(wk_amin(x))));
    EXPECT(wk_argmax(x, 1), (2), 1, 1);
    EXPECT(wk_argmax(x, 0), (3), 0, 1, 0);
    EXPECT(wk_argmax(x, 1, .keepdim = true), (2, 1), 1, 1);
    EXPECT(wk_argmin(x, 1), (2), 0, 1);
    EXPECT(wk_argmax(x), (), 4);
    EXPECT(wk_argmax(wk_of(int64_t, (5), 4, 7, 7, 1, 7)), (), 1);
    EXPECT(wk_argmin(wk_of(bool, (4), 1, 0, 1, 0), -1), (), 1);
    EXPECT(wk_argmax(wk_zeros(())), (), 0);
    wk_tensor *y = wk_reshape(wk_of(int64_t, (8), 1, 5, 7, 2, 8, 3, 0, 9), (2, 2, 2));
    EXPECT(wk_argmax(y, 1), (2, 2), 1, 0, 0, 1);
    EXPECT(wk_argmax(y, 0, .keepdim = true), (1, 2, 2), 1, 0, 0, 1);
    expect_error(wk_argmax(wk_zeros((2, 0)), 1), WK_ERR_SHAPE, "argmax");
    expect_error(wk_amax(wk_zeros((0))), WK_ERR_SHAPE, "amax");
    expect_error(wk_argmax(x, 2), WK_ERR_INDEX, "argmax");
    wk_tensor *wide = wk_sin(wk_arange(70000, .dtype = WK_F32)); /* longer than the limit for two-pass kernels */
    double best = wk_item(wk_amax(wide)), at = wk_item(wk_argmax(wide));
    assert_true(wk_item(wk_select(wide, 0, (int64_t)at)) == best);
}

/* Sums, means and products have a dtype option. */
static void test_dtype(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    assert_int_equal(wk_dtype_of(wk_mean(x, (0), .dtype = WK_F64)), WK_F64);
    expect_error(wk_amax(x, (0), .dtype = WK_F64), WK_ERR_ARGUMENT, "amax: .dtype is not supported");
    expect_error(wk_all(x, .dtype = WK_F64), WK_ERR_ARGUMENT, "all: .dtype is not supported");
}

static void test_truth(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 1, 0, 0.25f, -3);
    EXPECT(wk_all(x, (1)), (2), 0, 1);
    EXPECT(wk_any(x, (1)), (2), 1, 1);
    EXPECT(wk_count_nonzero(x, (0)), (2), 2, 1);
    EXPECT(wk_all(wk_zeros((0))), (), 1);
    EXPECT(wk_any(wk_zeros((0))), (), 0);
    EXPECT(wk_any(wk_zeros((2, 0)), (1)), (2), 0, 0);
    EXPECT(wk_any(wk_of(int8_t, (2), 0, -1)), (), 1);
    assert_int_equal(wk_dtype_of(wk_all(x)), WK_BOOL);
}

static void test_spread(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 2, 2, 5);
    EXPECT(wk_var(x, (1)), (2), 1, 3);
    EXPECT(wk_var(x, (1), .correction = WK_EXPLICIT_ZERO), (2), 2.0 / 3, 2);
    EXPECT(wk_std(x, (1), .keepdim = true), (2, 1), 1, sqrt(3));
    EXPECT(wk_norm(wk_of(float, (2), 3, -4)), (), 5);
    EXPECT(wk_norm(wk_of(float, (2), 3, -4), (0), .p = 1), (), 7);
    EXPECT(wk_norm(wk_of(float, (2), 3, -4), (), .p = INFINITY), (), 4);
    EXPECT(wk_norm(wk_of(float, (3), 3, 0, -4), (), .p = -INFINITY), (), 0);
    EXPECT(wk_norm(wk_of(float, (3), 3, 0, -4), (), .p = WK_EXPLICIT_ZERO), (), 2);
    EXPECT(wk_norm(wk_of(float, (2), 1, 2), (), .p = 3), (), 2.0800838);
    EXPECT(wk_logsumexp(wk_of(double, (2), 1000, 1000)), (), 1000.69314718);
    assert_true(isinf(wk_item(wk_logsumexp(wk_full((3), -INFINITY)))));
    expect_error(wk_var(wk_arange(3)), WK_ERR_DTYPE, "var");
}

static void test_distance(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(double, (2, 2), 3, 4, 0, 1), *b = wk_of(double, (2), 0, 0);
    EXPECT(wk_dist(a, b), (), 5.0990195136);
    EXPECT(wk_dist(a, b, .p = 1), (), 8);
    EXPECT(wk_dist(a, b, .p = INFINITY), (), 4);
    EXPECT(wk_dist(a, b, .p = WK_EXPLICIT_ZERO), (), 3);
    expect_error(wk_dist(wk_arange(3), wk_arange(3)), WK_ERR_DTYPE, "i64[3]");
    expect_error(wk_dist(a, wk_ones((3))), WK_ERR_SHAPE, "dist: shapes do not broadcast");
    expect_error(wk_dist(wk_ones((0)), wk_ones((0)), .p = INFINITY), WK_ERR_SHAPE, "over dimensions of size 0");
    EXPECT(wk_cosine_similarity(a, wk_of(double, (2), 1, 0), 1), (2), 0.6, 0);
    EXPECT(wk_cosine_similarity(a, a, 0), (2), 1, 1);
    EXPECT(wk_cosine_similarity(a, wk_zeros((2), .dtype = WK_F64), -1), (2), 0, 0);
    EXPECT(wk_cosine_similarity(a, a, 1, .eps = 10), (2), 0.25, 0.01);
    EXPECT(wk_cosine_similarity(wk_full((2), 300.0, .dtype = WK_F16), wk_full((2), 300.0, .dtype = WK_F16), 0), (), 1);
    expect_error(wk_cosine_similarity(a, b, 2), WK_ERR_INDEX, "dimension 2");
    expect_error(wk_cosine_similarity(a, wk_ones((3), .dtype = WK_F64), 0), WK_ERR_SHAPE, "f64[3]");
}

static void test_softmax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 0, 1, 1000, 1000);
    EXPECT(wk_softmax(x, 1), (2, 2), 0.26894142, 0.73105858, 0.5, 0.5);
    EXPECT(wk_softmin(x, -1), (2, 2), 0.73105858, 0.26894142, 0.5, 0.5);
    EXPECT(wk_log_softmax(x, 1), (2, 2), -1.31326169, -0.31326169, -0.69314718, -0.69314718);
    EXPECT(wk_softmax(wk_transpose(wk_narrow(x, 0, 0, 1), 0, 1), 0), (2, 1), 0.26894142, 0.73105858);
    EXPECT(wk_softmax(wk_zeros(()), 0), (), 1);
    EXPECT(wk_softmax(wk_of(float, (2), 0, -INFINITY), 0), (2), 1, 0);
    expect_error(wk_softmax(x, 2), WK_ERR_INDEX, "softmax");
    expect_error(wk_softmax(wk_arange(3), 0), WK_ERR_DTYPE, "softmax");
}

static void test_scans(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6);
    EXPECT(wk_cumsum(x, 1), (2, 3), 1, 3, 6, 4, 9, 15);
    EXPECT(wk_cumsum(x, 0), (2, 3), 1, 2, 3, 5, 7, 9);
    EXPECT(wk_cumprod(wk_transpose(x, 0, 1), 0), (3, 2), 1, 4, 2, 20, 6, 120);
    EXPECT(wk_cumsum(wk_of(bool, (3), 1, 0, 1), 0), (3), 1, 1, 2);
    assert_int_equal(wk_dtype_of(wk_cumsum(wk_of(bool, (1), 1), 0)), WK_I64);
    EXPECT(wk_cumsum(wk_add(x, 1), -1), (2, 3), 2, 5, 9, 5, 11, 18);
    EXPECT(wk_cumsum(wk_full((), 3), 0), (), 3);
    EXPECT_EMPTY(wk_cumsum(wk_zeros((0, 3)), 0), (0, 3));
}

static void test_sorting(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 4), 3, 1, 2, 1, NAN, 0, -1, 5), *values, *indices;
    assert_int_equal(wk_sort(wk_narrow(x, 0, 0, 1), 1, false, &values, &indices), WK_OK);
    EXPECT(values, (1, 4), 1, 1, 2, 3);
    EXPECT(indices, (1, 4), 1, 3, 2, 0);
    EXPECT(wk_argsort(x, 1, true), (2, 4), 0, 2, 1, 3, 0, 3, 1, 2);
    assert_int_equal(wk_topk(wk_narrow(x, 0, 0, 1), 2, -1, true, &values, &indices), WK_OK);
    EXPECT(values, (1, 2), 3, 2);
    EXPECT(indices, (1, 2), 0, 2);
    assert_int_equal(wk_topk(x, 1, 0, false, &values, NULL), WK_OK);
    EXPECT(values, (1, 4), 3, 0, -1, 1);
    assert_int_equal(wk_kthvalue(x, 2, 1, false, &values, &indices), WK_OK);
    EXPECT(values, (2), 1, 0);
    EXPECT(indices, (2), 3, 1);
    EXPECT(wk_median(wk_of(float, (4), 4, 1, 3, 2)), (), 2);
    assert_true(isnan(wk_item(wk_median(x))));
    assert_int_equal(wk_median_dim(x, 1, true, &values, &indices), WK_OK);
    assert_int_equal(wk_ndim(values), 2);
    EXPECT(indices, (2, 1), 3, 0);
    assert_int_equal(wk_sort(wk_full((), 2), 0, false, &values, &indices), WK_OK);
    EXPECT(values, (), 2);
    assert_int_not_equal(wk_topk(x, 5, 1, true, &values, &indices), WK_OK);
    assert_null(values);
    expect_error(indices, WK_ERR_ARGUMENT, "topk");
    assert_int_not_equal(wk_sort(NULL, 0, false, &values, &indices), WK_OK);
    wk_clear_error();
}

/* Without a scope, unrequested results do not leak. */
static void test_unowned(void **state)
{
    (void)state;
    wk_tensor *x = wk_of(float, (3), 2, 3, 1), *values;
    assert_int_equal(wk_sort(x, 0, false, &values, NULL), WK_OK);
    EXPECT(values, (3), 1, 2, 3);
    wk_free(values);
    wk_free(x);
}

static void test_layer_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 3, -2, 2), *w = wk_of(double, (2), 2, 3), *b = wk_of(double, (2), 1, 0);
    EXPECT(wk_layer_norm(x, (2), NULL, NULL, 0), (2, 2), -1, 1, -1, 1);
    EXPECT(wk_layer_norm(x, (2), w, b, 0), (2, 2), -1, 3, -1, 3);
    EXPECT(wk_layer_norm(x, (2, 2), NULL, NULL), (2, 2), 0, 1.0690440, -1.6035660, 0.5345220);
    char message[200];
    int count = 1;
    const int64_t shape[] = {2};
    wk_value in[] = {{.kind = WK_VALUE_TENSOR, .tensor = wk_ones((2, 2))},
                     {.kind = WK_VALUE_INTS, .ints = shape, .count = 1}},
             out;
    assert_int_equal(wk_call(NULL, "layer_norm", in, 2, &out, &count, NULL, message, sizeof message), WK_OK);
    EXPECT(out.tensor, (2, 2), 0, 0, 0, 0); /* the schema's eps, not 0 */
    expect_error(wk_layer_norm(x, (3), NULL, NULL, 0), WK_ERR_SHAPE, "layer_norm");
    expect_error(wk_layer_norm(x, (2), wk_zeros((3)), NULL, 0), WK_ERR_SHAPE, "f64[2,2]");
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

#define FUNCTION(name, call)                                                                                           \
    static wk_tensor *name(wk_tensor *const *in, void *context)                                                        \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        return call;                                                                                                   \
    }
FUNCTION(f_mean, wk_mean(in[0], (1)))
FUNCTION(f_prod, wk_prod(in[0], (0)))
FUNCTION(f_amax, wk_amax(in[0], (1), .keepdim = true))
FUNCTION(f_amin, wk_amin(in[0], (0)))
FUNCTION(f_var, wk_var(in[0], (1)))
FUNCTION(f_std, wk_std(in[0], (0), .keepdim = true))
FUNCTION(f_norm, wk_norm(in[0], (1)))
FUNCTION(f_norm1, wk_norm(in[0], (1), .p = 1))
FUNCTION(f_norm3, wk_norm(in[0], (), .p = 3))
FUNCTION(f_norm_inf, wk_norm(in[0], (1), .p = INFINITY))
FUNCTION(f_logsumexp, wk_logsumexp(in[0], (0)))
FUNCTION(f_softmax, wk_softmax(in[0], 1))
FUNCTION(f_softmin, wk_softmin(in[0], 0))
FUNCTION(f_log_softmax, wk_log_softmax(in[0], 1))
FUNCTION(f_cumsum, wk_cumsum(in[0], 1))
FUNCTION(f_cumprod, wk_cumprod(in[0], 1))
FUNCTION(f_median, wk_median(in[0]))
FUNCTION(f_layer_norm, wk_layer_norm(in[0], (4), in[1], in[2]))
FUNCTION(f_plain_layer_norm, wk_layer_norm(in[0], (3, 4), NULL, NULL))

static wk_tensor *f_sort(wk_tensor *const *in, void *context)
{
    (void)context;
    wk_tensor *values;
    wk_sort(in[0], 1, true, &values, NULL);
    return values;
}
/* Long lines, of which few elements are selected instead of sorted: equal elements, NaN, infinite elements and zeros of
 * both signs keep the order of a sort. */
static void selections_are_the_first_of_a_sort(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_I64, WK_BOOL};
    static const int64_t lengths[] = {256, 1000, 5003}, counts[] = {4, 15, 1};
    wk_seed(5);
    for (int i = 0; i < 7 * 3 * 2; i++) {
        WK_SCOPE;
        const wk_dtype dtype = dtypes[i / 6];
        const int64_t n = lengths[i / 2 % 3], k = counts[i / 2 % 3];
        wk_tensor *x = wk_mul(wk_randn((3, n, 2)), 2.0), *values, *at, *sorted, *order, *one, *place;
        if (i / 6 < 4) {
            x = wk_where(wk_lt(wk_rand((3, n, 2)), 0.3), (double)INFINITY, x);
            x = wk_where(wk_lt(wk_rand((3, n, 2)), n == 256 ? 0.99 : 0.2), (double)NAN, x);
            if (n > 256) x = wk_where(wk_lt(wk_rand((3, n, 2)), 0.1), -0.0, x);
        }
        x = wk_to_dtype(x, dtype);
        assert_int_equal(wk_topk(x, k, 1, i % 2, &values, &at), WK_OK);
        assert_int_equal(wk_sort(x, 1, i % 2, &sorted, &order), WK_OK);
        assert_true(wk_item(wk_all(wk_eq(at, wk_narrow(order, 1, 0, k)))) == 1);
        wk_tensor *same = wk_eq(values, wk_narrow(sorted, 1, 0, k));
        assert_true(wk_item(wk_all(wk_logical_or(same, wk_isnan(values)))) == 1);
        assert_int_equal(wk_sort(x, 1, false, &sorted, &order), WK_OK);
        assert_int_equal(wk_kthvalue(x, k, 1, false, &one, &place), WK_OK);
        assert_true(wk_item(wk_all(wk_eq(place, wk_select(order, 1, k - 1)))) == 1);
        assert_int_equal(wk_size(one, -1), 2);
    }
    WK_SCOPE;
    wk_tensor *deep = wk_rand((1, 1, 1, 1, 1, 1, 1, 300)), *values, *sorted;
    wk_topk(deep, 3, -1, true, &values, NULL);
    wk_sort(deep, -1, true, &sorted, NULL);
    assert_true(wk_item(wk_all(wk_eq(values, wk_narrow(sorted, -1, 0, 3)))) == 1);
}

static void gradients_of_selections(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_remainder(wk_mul(wk_arange(700, .dtype = WK_F32), 37), 701), true);
    wk_tensor *values, *at, *least;
    assert_int_equal(wk_topk(x, 3, 0, true, &values, &at), WK_OK);
    assert_int_equal(wk_kthvalue(x, 2, 0, true, &least, NULL), WK_OK);
    wk_backward(wk_add(wk_sum(wk_mul(values, wk_arange_from(1, 4, 1))), wk_sum(least)));
    wk_tensor *expected = wk_zeros((700)), *one = wk_eq(x, 1);
    expected = wk_scatter_add(expected, 0, at, wk_to_dtype(wk_arange_from(1, 4, 1), WK_F32));
    assert_true(wk_item(wk_all(wk_eq(wk_grad_of(x), wk_add(expected, wk_to_dtype(one, WK_F32))))) == 1);
}

/* Only the bias or the weight needs a gradient, so the operands of the others are not saved. */
static void gradients_of_norms_without_that_of_x(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_randn((5, 4)), *weight = wk_ones((4), .requires_grad = true), *scale = wk_ones((4));
    wk_tensor *bias[2] = {wk_zeros((4), .requires_grad = true), wk_zeros((4), .requires_grad = true)};
    wk_backward(wk_sum(wk_layer_norm(x, (4), NULL, bias[0])));
    wk_backward(wk_sum(wk_layer_norm(x, (4), scale, bias[1])));
    wk_backward(wk_sum(wk_layer_norm(x, (4), weight, NULL)));
    for (int k = 0; k < 2; k++) EXPECT(wk_grad_of(bias[k]), (4), 5, 5, 5, 5);
    assert_non_null(wk_grad_of(weight));
    assert_null(wk_error());
}

static wk_tensor *f_topk(wk_tensor *const *in, void *context)
{
    (void)context;
    wk_tensor *values;
    wk_topk(in[0], 2, 0, true, &values, NULL);
    return values;
}
static wk_tensor *f_kthvalue(wk_tensor *const *in, void *context)
{
    (void)context;
    wk_tensor *values;
    wk_kthvalue(in[0], 2, 1, false, &values, NULL);
    return values;
}

static void test_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    function *const f[] = {f_mean,    f_prod,        f_amax,    f_amin,     f_var,       f_std,
                           f_norm,    f_norm1,       f_norm3,   f_norm_inf, f_logsumexp, f_softmax,
                           f_softmin, f_log_softmax, f_cumsum,  f_cumprod,  f_median,    f_plain_layer_norm,
                           f_sort,    f_topk,        f_kthvalue};
    for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
        WK_SCOPE;
        print_message("gradient %zu\n", k);
        CHECK_GRADIENTS(f[k], LEAF((3, 4)));
    }
    CHECK_GRADIENTS(f_layer_norm, LEAF((3, 4)), LEAF((4)), LEAF((4)));
}

/* Zeros among factors and ties, which finite differences cannot check. */
static void test_gradients_at_corners(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(double, (5), 2, 3, 0, 5, 0), true);
    wk_backward(wk_sum(wk_cumprod(x, 0)));
    EXPECT(wk_grad_of(x), (5), 4, 2, 36, 0, 0);
    wk_tensor *y = wk_requires_grad_(wk_of(double, (2, 3), 2, 0, 4, 0, 0, 3), true);
    wk_backward(wk_sum(wk_prod(y, (1))));
    EXPECT(wk_grad_of(y), (2, 3), 0, 8, 0, 0, 0, 0);
    wk_tensor *z = wk_requires_grad_(wk_of(double, (4), 1, 3, 3, 2), true);
    wk_backward(wk_amax(z));
    EXPECT(wk_grad_of(z), (4), 0, 0.5, 0.5, 0);
    wk_tensor *n = wk_requires_grad_(wk_zeros((2), .dtype = WK_F64), true);
    wk_backward(wk_norm(n));
    EXPECT(wk_grad_of(n), (2), 0, 0);
}

/* In a row of many pieces a NaN is both maximum and minimum, at any position. */
static void test_nan_in_long_rows(void **state)
{
    (void)state;
    enum { COLUMNS = 300000 };
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_BF16};
    for (int d = 0; d < 3; d++)
        for (int64_t place = 0; place < COLUMNS; place += COLUMNS / 7) {
            WK_SCOPE;
            wk_tensor *x = wk_ones((1, COLUMNS), .dtype = dtypes[d]);
            wk_fill_(wk_narrow(x, 1, 5, 1), 9);
            wk_fill_(wk_narrow(x, 1, COLUMNS - 5, 1), -9);
            assert_true(wk_item(wk_amax(x, (1))) == 9 && wk_item(wk_amin(x, (1))) == -9);
            wk_fill_(wk_narrow(x, 1, place, 1), NAN);
            assert_true(isnan(wk_item(wk_amax(x, (1)))) && isnan(wk_item(wk_amin(x, (1)))));
        }
}

/* The length of a row of constants, in the kernel that fills it. */
static void a_cosine_of_constants(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 1, 2), 2, 0.125), *y = wk_of(float, (1, 2), 1.5, -0.375);
    wk_fill_(x, -2);
    assert_float_equal(wk_item(wk_cosine_similarity(x, y, 2)), -0.51449576, 1e-6);
}

/* Norms of f16 are computed without f32 copies of their operands in memory, unless each op runs alone. */
static void norms_of_f16_store_no_copies(void **state)
{
    (void)state;
    const wk__engine_config *config = wk__engine_config_get();
    if (config->nofuse || config->sync) skip();
    WK_SCOPE;
    wk_tensor *x = wk_rand((256, 512), .dtype = WK_F16), *y = wk_rand((256, 512), .dtype = WK_F16);
    wk_memory_stats stats = {.size = sizeof stats};
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    assert_true(wk_item(wk_norm(x)) > 0 && wk_item(wk_dist(x, y)) > 0 && wk_item(wk_std(x)) > 0);
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    assert_true(stats.peak - stats.live < 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_prod),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_nan_in_long_rows),
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_dtype),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(selections_are_the_first_of_a_sort),
        cmocka_unit_test(gradients_of_selections),
        cmocka_unit_test(gradients_of_norms_without_that_of_x),
        cmocka_unit_test(test_unowned),
        cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_at_corners),
        cmocka_unit_test(a_cosine_of_constants),
        cmocka_unit_test(norms_of_f16_store_no_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

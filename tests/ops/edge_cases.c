/* SPDX-License-Identifier: Apache-2.0 */
/* Tests first and second gradients at singular points: zeros among factors, ties, kinks, the origin, NaN. Expected
 * values are PyTorch 2.15's, or come from the same function composed of smooth calls. */
#include "values.h"

static wk_tensor *leaf(wk_tensor *x)
{
    return wk_requires_grad_(x, true);
}

/* Returns the gradient of the sum of y with respect to x, differentiable again; zeros if y does not depend on x. */
static wk_tensor *slope(wk_tensor *y, wk_tensor *x)
{
    wk_tensor *grad = NULL;
    if (!wk_requires_grad(y)) return wk_zeros_like(x);
    if (wk_grad((wk_sum(y)), (x), &grad, .create_graph = true, .allow_unused = true) != WK_OK)
        fail_msg("%s", wk_error());
    return grad ? grad : wk_zeros_like(x);
}

/* EXPECT for values that may be NaN or infinite. */
static void expect_same(wk_tensor *x, const double *want, int count)
{
    double have[16];
    wk_tensor *wide = wk_to_dtype(x, WK_F64);
    assert_int_equal(wk_numel(wide), count);
    if (wk_read(wide, have, (size_t)count * sizeof *have) != WK_OK) fail_msg("%s", wk_error());
    for (int k = 0; k < count; k++)
        if (isnan(want[k]) ? !isnan(have[k]) : have[k] != want[k] && !(fabs(have[k] - want[k]) <= 1e-7))
            fail_msg("element %d is %.17g, not %.17g", k, have[k], want[k]);
}
#define EXPECT_SAME(x, ...)                                                                                            \
    expect_same(x, (const double[]){__VA_ARGS__}, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* ---- zeros among factors ----------------------------------------------------------------------------------------- */

/* The product along a dimension, by a sequence of mul; its gradients need no special case for zeros. */
static wk_tensor *multiplied(wk_tensor *x, int64_t dim, bool running)
{
    wk_tensor *part[8];
    int count = (int)wk_size(x, (int)dim);
    for (int k = 0; k < count; k++) {
        part[k] = wk_select(x, dim, k);
        if (k) part[k] = wk_mul(part[k - 1], part[k]);
    }
    return running ? wk_stack_at(WK_HERE, part, count, dim) : part[count - 1];
}

/* Compares gradients up to the third order of a weighted sum of both. */
static void expect_same_slopes(wk_tensor *x, wk_tensor *y, wk_tensor *by_mul)
{
    for (int order = 1; order <= 3; order++) {
        wk_tensor *weight = wk_add(wk_arange(wk_numel(y)), order);
        y = slope(wk_mul(wk_reshape(y, (-1)), weight), x);
        by_mul = slope(wk_mul(wk_reshape(by_mul, (-1)), weight), x);
        double want[12];
        assert_int_equal(wk_read(wk_to_dtype(by_mul, WK_F64), want, sizeof want), WK_OK);
        expect_same(y, want, 12);
    }
}

static void zeros_among_factors(void **state)
{
    (void)state;
    static const double given[][12] = {{2, -1, 4, 5, 1, 3, -2, 1, 2, 1, 1, 3},
                                       {2, 0, 4, 5, 0, 3, -2, 1, 2, 1, 1, 0},
                                       {0, 0, 4, 5, 1, 0, -2, 0, 2, 0, 0, 3},
                                       {0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0}};
    static const wk_dtype dtypes[] = {WK_F64, WK_F32, WK_F16, WK_BF16};
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        for (int d = 0; d < 2; d++) {
            WK_SCOPE;
            wk_tensor *x = leaf(wk_to_dtype(wk_from(given[k], (3, 4)), dtypes[d]));
            for (int64_t dim = 0; dim < 2; dim++) {
                expect_same_slopes(x, wk_prod(x, (dim)), multiplied(x, dim, false));
                expect_same_slopes(x, wk_cumprod(x, dim), multiplied(x, dim, true));
            }
            expect_same_slopes(x, wk_prod(x), multiplied(multiplied(x, 0, false), 0, false));
        }
    WK_SCOPE;
    for (int d = 0; d < 4; d++) {
        wk_tensor *x = leaf(wk_to_dtype(wk_of(double, (4), 2, 0, 4, 5), dtypes[d]));
        EXPECT(slope(slope(wk_prod(x), x), x), (4), 20, 38, 10, 8);
        EXPECT(slope(slope(wk_cumprod(x, 0), x), x), (4), 25, 45, 12, 8);
    }
    wk_tensor *number = leaf(wk_full((), 0.0)), *none = leaf(wk_zeros((0, 3)));
    EXPECT(slope(wk_mul(wk_prod(number), number), number), (), 0);
    EXPECT(slope(slope(wk_mul(wk_cumprod(number, 0), number), number), number), (), 2);
    EXPECT_EMPTY(slope(wk_prod(none, (0)), none), (0, 3));
    EXPECT_EMPTY(slope(wk_cumprod(none, 0), none), (0, 3));
}

/* Reduced dimensions around kept ones, and rows longer than one block of the scan. */
static void products_over_several_dimensions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3, 2, 2), 2, 0, 1, 3, 0, 1, -1, 2, 4, 1, 2, 2));
    expect_same_slopes(x, wk_prod(x, (0, 2), .keepdim = true),
                       wk_reshape(multiplied(multiplied(x, 2, false), 0, false), (1, 2, 1)));
    wk_tensor *row = leaf(wk_to_dtype(wk_ne(wk_arange(70), 33), WK_F64));
    double second[70];
    assert_int_equal(wk_read(slope(slope(wk_prod(row), row), row), second, sizeof second), WK_OK);
    /* pairs without element 33 contain the zero */
    for (int k = 0; k < 70; k++) assert_true(second[k] == (k == 33 ? 69 : 1));
}

/* ---- ties -------------------------------------------------------------------------------------------------------- */

static void equal_elements_share_the_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (2, 3), 1, 0, 3, 0.5, 0, -0.25)), *values;
    EXPECT(slope(wk_median(x), x), (2, 3), 0, 0.5, 0, 0, 0.5, 0);
    EXPECT(slope(slope(wk_square(wk_add(wk_median(x), 1)), x), x), (2, 3), 0, 1, 0, 0, 1, 0);
    EXPECT(slope(wk_amin(wk_abs(x)), x), (2, 3), 0, 0, 0, 0, 0, -0.0); /* by the sign of x */
    wk_tensor *nan = leaf(wk_of(double, (4), NAN, 1, 2, NAN)), *half = leaf(wk_zeros((4), .dtype = WK_F16));
    EXPECT(slope(wk_median(nan), nan), (4), 0.5, 0, 0, 0.5);
    EXPECT(slope(wk_median(half), half), (4), 0.25, 0.25, 0.25, 0.25);
    wk_tensor *number = leaf(wk_full((), 3.0));
    EXPECT(slope(wk_median(number), number), (), 1);
    assert_string_equal(wk__grad_fn_name(wk_median(x)), "MedianBackward0");
    /* Along a dimension the gradient goes to the index returned with the value. */
    assert_int_equal(wk_median_dim(x, 1, false, &values, NULL), WK_OK);
    EXPECT(slope(values, x), (2, 3), 1, 0, 0, 0, 1, 0);
}

/* ---- kinks ------------------------------------------------------------------------------------------------------- */

#define P(...) __VA_ARGS__
#define CORNER(call, points, first, second)                                                                            \
    do {                                                                                                               \
        const double points_[] = {points};                                                                             \
        const int64_t count_ = sizeof points_ / sizeof *points_;                                                       \
        wk_tensor *x = leaf(wk_from(points_, (count_))), *grad_ = slope(call, x);                                      \
        EXPECT_SAME(grad_, first);                                                                                     \
        EXPECT_SAME(slope(grad_, x), second);                                                                          \
    } while (0)

static void slopes_at_kinks(void **state)
{
    (void)state;
    WK_SCOPE;
    CORNER(wk_elu(x, .alpha = 2), P(-1, -0.0, 0, 1), P(0.7357588823428847, 2, 2, 1), P(0.7357588823428847, 0, 0, 0));
    CORNER(wk_selu(x), P(-1, 0), P(0.646768603034814, 1.7580993408473766), P(0.646768603034814, 0));
    CORNER(wk_celu(x, .alpha = 2), P(-1, -0.0, 0, 1), P(0.6065306597126334, 1, 1, 1), P(0.3032653298563167, 0, 0, 0));
    CORNER(wk_softshrink(x), P(-1, -0.5, 0, 0.5, 1), P(1, 0, 0, 0, 1), P(0, 0, 0, 0, 0));
    CORNER(wk_hardshrink(x), P(-1, -0.5, 0, 0.5, 1), P(1, 0, 0, 0, 1), P(0, 0, 0, 0, 0));
    CORNER(wk_threshold(x, 0.5, 9), P(0, 0.5, 1), P(0, 0, 1), P(0, 0, 0));
    CORNER(wk_prelu(x, wk_of(double, (1), 0.25)), P(-1, 0, 1), P(0.25, 0.25, 1), P(0, 0, 0));
    CORNER(wk_rrelu(x, .lower = 0, .upper = 0.5), P(-1, 0, 1), P(0.25, 0.25, 1), P(0, 0, 0));
    CORNER(wk_tanhshrink(x), P(-1, 0, 1), P(0.5800256583859739, 0, 0.5800256583859739),
           P(-0.6397000084492246, 0, 0.6397000084492246));
    CORNER(wk_softplus(x, .beta = 2, .threshold = 1), P(0.25, 0.5, 0.75), P(0.6224593312018546, 0.7310585786300049, 1),
           P(0.470007424403189, 0, 0));
    CORNER(wk_leaky_relu(x, .negative_slope = 0.5), P(-1, -0.0, 0, 1), P(0.5, 0.5, 0.5, 1), P(0, 0, 0, 0));
    CORNER(wk_hardswish(x), P(-3, 0, 3), P(0, 0.5, 1), P(0, 1.0 / 3, 0));
    CORNER(wk_softsign(x), P(-1, 0, 1), P(0.25, 1, 0.25), P(0.25, 0, -0.25));
    CORNER(wk_huber_loss(x, wk_zeros_like(x), .reduction = WK_REDUCE_NONE), P(-1, 0, 0.5, 1), P(-1, 0, 0.5, 1),
           P(0, 1, 1, 0));
}

static void nan_is_not_a_limit(void **state)
{
    (void)state;
    WK_SCOPE;
    CORNER(wk_hardtanh(x), P(-1, NAN, 1), P(0, 1, 0), P(0, 0, 0));
    CORNER(wk_relu6(x), P(0, NAN, 6), P(0, 1, 0), P(0, 0, 0));
    CORNER(wk_hardsigmoid(x), P(-3, NAN, 0, 3), P(0, 0, 1.0 / 6, 0), P(0, 0, 0, 0));
    CORNER(wk_softshrink(x), P(-0.5, NAN, 0.5), P(0, 1, 0), P(0, 0, 0));
    CORNER(wk_hardshrink(x), P(-0.5, NAN, 0.5), P(0, 1, 0), P(0, 0, 0));
    CORNER(wk_threshold(x, 0, 1), P(0, NAN), P(0, 1), P(0, 0));
    CORNER(wk_rrelu(x, .lower = 0.5, .upper = 0.5, .training = true), P(NAN, 0, 1), P(1, 0.5, 1), P(0, 0, 0));
    CORNER(wk_prelu(x, wk_of(double, (1), 0.5)), P(NAN, 0, 1), P(0.5, 0.5, 1), P(0, 0, 0));
    wk_tensor *x = leaf(wk_of(double, (2), NAN, 3)), *zero = wk_zeros_like(x), *y = wk_ones_like(x);
    EXPECT_SAME(slope(wk_huber_loss(x, zero, .reduction = WK_REDUCE_SUM), x), NAN, 1);
    EXPECT_SAME(slope(wk_smooth_l1_loss(x, zero, .reduction = WK_REDUCE_SUM), x), NAN, 1);
    EXPECT_SAME(slope(wk_cosine_similarity(x, y, 0), x), NAN, NAN);
}

/* One slope per channel, for which the other dimensions are summed, and one for all. */
static void gradients_of_slopes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2, 2), -1, 2, -3, -4, -5, -6, 7, 8);
    wk_tensor *each = leaf(wk_of(double, (2), 0.5, 0.25)), *all = leaf(wk_full((), 0.5, .dtype = WK_F64));
    EXPECT(slope(wk_prelu(x, each), each), (2), -12, -7);
    EXPECT(slope(wk_prelu(x, all), all), (), -19);
}

/* ---- poles ------------------------------------------------------------------------------------------------------- */

static void atan2_at_the_origin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *y = leaf(wk_of(double, (5), 0, -0.0, 1, 1e-200, 3)), *x = leaf(wk_of(double, (5), 0, -0.0, 0, 0, 4));
    wk_tensor *angle = wk_atan2(y, x), *by_y = slope(angle, y), *by_x = slope(angle, x);
    EXPECT_SAME(by_y, 0, 0, 0, 0, 0.16);
    EXPECT_SAME(by_x, 0, 0, -1, 0, -0.12);
    EXPECT_SAME(slope(by_y, y), 0, 0, 0, 0, -0.0384);
    EXPECT_SAME(slope(by_y, x), 0, 0, 1, 0, -0.0112);
    EXPECT_SAME(slope(wk_atan2(y, 4), y), 0.25, 0.25, 4.0 / 17, 0.25, 0.16);
    EXPECT_SAME(slope(wk_atan2(0.0, x), x), 0, 0, 0, 0, 0);
}

static void gradients_of_hypot(void **state)
{
    (void)state;
    WK_SCOPE;
    const double inf = INFINITY;
    wk_tensor *a = leaf(wk_of(double, (5), 0, -0.0, 1e-200, 0x3p600, -inf)),
              *b = leaf(wk_of(double, (5), 0, -3, 0, -0x4p600, NAN));
    wk_tensor *length = wk_hypot(a, b);
    EXPECT_SAME(length, 0, 3, 1e-200, 0x5p600, inf);
    EXPECT_SAME(wk_hypot(b, a), 0, 3, 1e-200, 0x5p600, inf);
    EXPECT_SAME(slope(length, a), 0, 0, 1, 0.6, NAN);
    EXPECT_SAME(slope(length, b), 0, -1, 0, -0.8, NAN);
    EXPECT_SAME(slope(wk_hypot(a, 0), a), 0, 0, 1, 1, NAN);
    wk_tensor *x = leaf(wk_of(double, (3), 0, 3, 4)), *y = leaf(wk_of(double, (3), 0, 4, -3));
    wk_tensor *by_x = slope(wk_hypot(x, y), x);
    EXPECT_SAME(slope(by_x, x), 0, 0.128, 0.072);
    EXPECT_SAME(slope(by_x, y), 0, -0.096, 0.096);
}

static void gradients_of_logaddexp(void **state)
{
    (void)state;
    WK_SCOPE;
    const double inf = INFINITY, half = log(2);
    wk_tensor *a = leaf(wk_of(double, (8), 1e300, -1e300, 5, inf, -inf, inf, -inf, NAN)),
              *b = leaf(wk_of(double, (8), 1e300, -1e300, 1000, 1, 1, inf, -inf, inf));
    wk_tensor *sum = wk_logaddexp(a, b);
    EXPECT_SAME(sum, 1e300, -1e300, 1000, inf, 1, inf, -inf, NAN);
    EXPECT_SAME(slope(sum, a), 0.5, 0.5, 0, 1, 0, NAN, NAN, NAN);
    EXPECT_SAME(slope(sum, b), 0.5, 0.5, 1, 0, 1, NAN, NAN, NAN);
    wk_tensor *x = leaf(wk_of(double, (3), 0, 1000, -1000));
    EXPECT_SAME(wk_logaddexp(x, x), half, 1000 + half, half - 1000);
    EXPECT_SAME(slope(wk_logaddexp(x, x), x), 1, 1, 1);
    EXPECT_SAME(slope(wk_logaddexp(0, x), x), 0.5, 1, 0);
}

static void gradients_of_copysign(void **state)
{
    (void)state;
    WK_SCOPE;
    const double inf = INFINITY;
    wk_tensor *a = leaf(wk_of(double, (8), 0, -0.0, 2, -2, 1e-200, -inf, NAN, 0x1p-1074)),
              *b = leaf(wk_of(double, (8), -1, 1, -0.0, 0, -1e-200, -inf, -1, NAN));
    wk_tensor *turned = wk_copysign(a, b);
    EXPECT_SAME(wk_reciprocal(turned), -inf, inf, -0.5, 0.5, -1e200, 0, NAN, inf);
    wk_tensor *by_a = slope(turned, a);
    EXPECT_SAME(by_a, 0, 0, -1, -1, -1, 1, 0, 1);
    EXPECT_SAME(slope(turned, b), 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT_SAME(slope(by_a, a), 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT_SAME(slope(wk_copysign(a, -0.0), a), 0, 0, -1, 1, -1, 1, 0, -1);
    wk_tensor *column = leaf(wk_of(double, (2, 1), 3, -4));
    EXPECT_SAME(slope(wk_copysign_(wk_mul(wk_expand(column, (2, 3)), 1), -1), column), -3, 3);
    EXPECT_SAME(slope(wk_copysign(column, wk_of(double, (3), 1, 1, -1)), column), 1, -1);
}

static void logit_of_0_and_1(void **state)
{
    (void)state;
    WK_SCOPE;
    const double inf = INFINITY;
    wk_tensor *x = leaf(wk_of(double, (9), 0, -0.0, 1, 0.5, -1, 2, inf, -inf, NAN));
    EXPECT_SAME(wk_logit(x), -inf, -inf, inf, 0, NAN, NAN, NAN, NAN, NAN);
    EXPECT_SAME(slope(wk_logit(x), x), inf, inf, inf, 4, NAN, NAN, NAN, NAN, NAN);
    EXPECT_SAME(slope(wk_logit(x, .eps = -1), x), inf, inf, inf, 4, NAN, NAN, NAN, NAN, NAN);
    EXPECT_SAME(wk_logit(x, .eps = 0), -inf, -inf, inf, 0, -inf, inf, inf, -inf, NAN);
    EXPECT_SAME(slope(wk_logit(x, .eps = 0), x), inf, inf, inf, 4, 0, 0, 0, 0, NAN);
    const double most = log(3);
    EXPECT_SAME(wk_logit(x, .eps = 0.25), -most, -most, most, 0, -most, most, most, -most, NAN);
    wk_tensor *limited = slope(wk_logit_(wk_mul(x, 1), .eps = 0.25), x);
    EXPECT_SAME(limited, 0, 0, 0, 4, 0, 0, 0, 0, NAN);
    EXPECT_SAME(slope(limited, x), 0, 0, 0, 0, 0, 0, 0, 0, NAN);
    wk_tensor *edge = leaf(wk_of(double, (2), 0.25, 0.75));
    EXPECT_SAME(slope(wk_logit(edge, .eps = 0.25), edge), 16.0 / 3, 16.0 / 3);
    /* both directions round eps and 1 - eps in the same way */
    wk_tensor *narrow = leaf(wk_of(float, (2), 0.1f, 1 - 0.1f));
    EXPECT_SAME(wk_gt(slope(wk_logit(narrow, .eps = 0.1), narrow), 0), 1, 1);
}

/* The remainder depends on the quotient, which is an integer without gradient. */
static void gradients_of_remainders(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = leaf(wk_of(double, (4), 1, 7, -7, 1)), *b = leaf(wk_of(double, (4), 0, 2, 2, -INFINITY));
    EXPECT_SAME(slope(wk_fmod(a, b), b), -INFINITY, -3, 3, 0);
    EXPECT_SAME(slope(wk_remainder(a, b), b), -INFINITY, -3, 4, 1);
    for (int floored = 0; floored < 2; floored++) {
        wk_tensor *rest = slope(floored ? wk_remainder(a, b) : wk_fmod(a, b), b);
        EXPECT_SAME(slope(rest, a), 0, 0, 0, 0);
        EXPECT_SAME(slope(rest, b), 0, 0, 0, 0);
    }
    wk_tensor *one = wk_of(double, (1), 1), *tenth = leaf(wk_of(double, (1), 0.1));
    EXPECT(slope(wk_remainder(one, tenth), tenth), (1), -9); /* 1 / 0.1 rounds to 10, but only 9 fit */
}

static void gradients_of_counting_norms(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (4), INFINITY, NAN, 0, 2));
    EXPECT_SAME(slope(wk_norm(x, .p = WK_EXPLICIT_ZERO), x), 0, 0, 0, 0);
    EXPECT_SAME(slope(wk_dist(x, wk_ones_like(x), .p = WK_EXPLICIT_ZERO), x), 0, 0, 0, 0);
}

/* A mean over weights that are all 0 is 0 / 0; the scores of other classes do not contribute. */
static void classes_without_weight(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3, 2), 1, 2, 3, 4, 5, 6)), *none = wk_zeros((2), .dtype = WK_F64);
    wk_tensor *labels = wk_of(int64_t, (3), 1, -100, 0), *loss = wk_nll_loss(x, labels, .weight = none);
    EXPECT_SAME(loss, NAN);
    EXPECT_SAME(slope(loss, x), 0, NAN, 0, 0, NAN, 0);
    EXPECT_SAME(slope(wk_nll_loss(x, labels, .weight = none, .reduction = WK_REDUCE_SUM), x), 0, 0, 0, 0, 0, 0);
    EXPECT_SAME(slope(wk_cross_entropy(x, labels, .weight = none), x), NAN, NAN, 0, 0, NAN, NAN);
    wk_tensor *weight = wk_of(double, (2), 3, 1);
    EXPECT_SAME(slope(wk_nll_loss(x, labels, .weight = weight), x), 0, -0.25, 0, 0, -0.75, 0);
}

/* ---- empty operands ---------------------------------------------------------------------------------------------- */

static void no_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((2, 0)), *values, *places;
    expect_error(wk_median(x), WK_ERR_SHAPE,
                 "median: cannot reduce f32[2,0] over dimensions of size 0; check wk_numel first");
    assert_int_equal(wk_median_dim(x, 1, false, &values, &places), WK_ERR_SHAPE);
    expect_error(values, WK_ERR_SHAPE, "median_dim: cannot reduce f32[2,0] over");
    assert_int_equal(wk_kthvalue(x, 1, 1, false, &values, &places), WK_ERR_SHAPE);
    expect_error(places, WK_ERR_SHAPE, "kthvalue: cannot reduce f32[2,0] over");
    expect_error(wk_amax(x), WK_ERR_SHAPE, "size 0");
    expect_error(wk_amin(x, (1)), WK_ERR_SHAPE, "size 0");
    expect_error(wk_argmax(x), WK_ERR_SHAPE, "size 0");
    expect_error(wk_argmin(x, (1)), WK_ERR_SHAPE, "size 0");
    assert_int_equal(wk_median_dim(x, 0, false, &values, &places), WK_OK);
    EXPECT_EMPTY(values, (0));
    EXPECT_EMPTY(wk_amax(x, (0)), (0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_among_factors),
        cmocka_unit_test(products_over_several_dimensions),
        cmocka_unit_test(equal_elements_share_the_gradient),
        cmocka_unit_test(slopes_at_kinks),
        cmocka_unit_test(nan_is_not_a_limit),
        cmocka_unit_test(gradients_of_slopes),
        cmocka_unit_test(atan2_at_the_origin),
        cmocka_unit_test(gradients_of_hypot),
        cmocka_unit_test(gradients_of_logaddexp),
        cmocka_unit_test(gradients_of_copysign),
        cmocka_unit_test(logit_of_0_and_1),
        cmocka_unit_test(gradients_of_remainders),
        cmocka_unit_test(gradients_of_counting_norms),
        cmocka_unit_test(classes_without_weight),
        cmocka_unit_test(no_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

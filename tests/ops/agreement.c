/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls at the limits of what PyTorch defines, with expected values from PyTorch 2.15: gradients at extremes and
 * at ties, defaults without a dimension, 0-d operands, fractional values for integer parameters. */
#include "values.h"
#include <wick/call.h>

static wk_tensor *leaf(wk_tensor *x)
{
    return wk_requires_grad_(x, true);
}

/* Returns the gradient of the sum of y with respect to x. */
static wk_tensor *slope(wk_tensor *y, wk_tensor *x)
{
    wk_tensor *sum = wk_sum(y), *grad = NULL;
    wk_grad_options options = {.size = sizeof options, .retain_graph = true};
    if (wk_grad_at(WK_HERE, &sum, 1, &x, 1, &grad, &options) != WK_OK) fail_msg("%s", wk_error());
    return grad;
}

/* Calls an op by name as a binding does. Returns its first result, or NULL with the message in `message`. */
static char message[300];
static wk_tensor *by_name(const char *name, const wk_value *arguments, int count)
{
    wk_value result;
    int results = 1;
    wk_call_options options = {.size = sizeof options, .site = WK_HERE};
    wk_code code = wk_call(wk__context(), name, arguments, count, &result, &results, &options, message, sizeof message);
    return code == WK_OK ? result.tensor : NULL;
}
#define BY_NAME(name, ...)                                                                                             \
    by_name(name, (const wk_value[]){__VA_ARGS__}, (int)(sizeof((const wk_value[]){__VA_ARGS__}) / sizeof(wk_value)))
#define T(x) wk_value_of_tensor(x)
#define I(n) wk_value_of_int(n)
#define F(x) wk_value_of_float(x)

#define EXPECT_CLOSE(x, ...)                                                                                           \
    do {                                                                                                               \
        const double close_[] = {__VA_ARGS__};                                                                         \
        double have_[sizeof close_ / sizeof *close_];                                                                  \
        wk_tensor *wide_ = wk_to_dtype(x, WK_F64);                                                                     \
        assert_int_equal(wk_read(wide_, have_, sizeof have_), WK_OK);                                                  \
        for (size_t k_ = 0; k_ < sizeof close_ / sizeof *close_; k_++)                                                 \
            if (!(fabs(have_[k_] - close_[k_]) <= 1e-12 * fabs(close_[k_])))                                           \
                fail_msg("element %zu is %.17g, not %.17g", k_, have_[k_], close_[k_]);                                \
    } while (0)

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* computed from the result it would be 0 here: elu is within half a unit of -1 */
static void gradients_far_below_0(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (5), -100, -20, -8.7, 0, 1));
    EXPECT_CLOSE(slope(wk_elu(x), x), 3.720075976020836e-44, 2.061153622438558e-09, 0.00016658581098763354, 1, 1);
    EXPECT_CLOSE(slope(wk_elu(x, .alpha = 0.5), x), 1.860037988010418e-44, 1.030576811219279e-09, 8.329290549381677e-05,
                 0.5, 1);
    EXPECT_CLOSE(slope(wk_elu_(wk_mul(x, 1)), x), 3.720075976020836e-44, 2.061153622438558e-09, 0.00016658581098763354,
                 1, 1);
    EXPECT_CLOSE(slope(wk_selu(x), x), 6.540263121344393e-44, 3.6237128249944113e-09, 0.0002928744044918842,
                 1.7580993408473766, 1.0507009873554805);
    wk_tensor *half = leaf(wk_to_dtype(wk_of(float, (1), -8.7f), WK_F16));
    EXPECT_CLOSE(slope(wk_elu(half), half), 0.00016605854034423828);
}

/* The gradient needs only the operand: the result may be overwritten. */
static void the_result_may_be_overwritten(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (2), -1, 1)), *elu = wk_elu(wk_mul(x, 1)), *selu = wk_selu(wk_mul(x, 1));
    EXPECT(slope(wk_mul_(elu, 2), x), (2), 0.7357588823428847, 2);
    EXPECT(slope(wk_mul_(selu, 2), x), (2), 1.293537206069628, 2.101401974710961);
}

static void gradients_at_a_limit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (5), 0, 1, 2, 3, 4.5));
    wk_tensor *low = leaf(wk_full((5), 1.0, .dtype = WK_F64)), *high = leaf(wk_full((5), 3.0, .dtype = WK_F64));
    wk_tensor *both = wk_clamp(x, low, high), *crossed = wk_clamp(x, high, low), *equal = wk_clamp(x, low, low);
    EXPECT(slope(both, x), (5), 0, 0.5, 1, 0.5, 0);
    EXPECT(slope(both, low), (5), 1, 0.5, 0, 0, 0);
    EXPECT(slope(both, high), (5), 0, 0, 0, 0.5, 1);
    EXPECT(slope(crossed, x), (5), 0, 0, 0, 0, 0);
    EXPECT(slope(crossed, low), (5), 1, 1, 1, 1, 1); /* the upper limit of this one */
    EXPECT(slope(equal, x), (5), 0, 1, 0, 0, 0);
    wk_tensor *above = wk_clamp(x, low, WK_NONE), *below = wk_clamp(x, WK_NONE, high);
    EXPECT(slope(above, x), (5), 0, 0.5, 1, 1, 1);
    EXPECT(slope(above, low), (5), 1, 0.5, 0, 0, 0);
    EXPECT(slope(below, x), (5), 1, 1, 1, 0.5, 0);
    EXPECT(slope(below, high), (5), 0, 0, 0, 0.5, 1);
    EXPECT(slope(wk_clamp(x, 1, 3), x), (5), 0, 0, 1, 0, 0);
    wk_tensor *far = leaf(wk_of(double, (4), -INFINITY, 1, INFINITY, NAN));
    EXPECT(slope(wk_clamp(far, 1, WK_NONE), far), (4), 0, 0, 1, 0);
    EXPECT(slope(wk_clamp(far, WK_NONE, 1), far), (4), 1, 0, 0, 0);
    wk_tensor *nan = leaf(wk_of(double, (5), NAN, 1, 1, 1, 2)), *a = leaf(wk_of(double, (5), 0, NAN, 0, 1, NAN)),
              *b = leaf(wk_of(double, (5), 2, 2, NAN, 1, NAN)), *odd = wk_clamp(nan, a, b);
    EXPECT(slope(odd, nan), (5), 1, 1, 1, 1, 1);
    EXPECT(slope(odd, a), (5), 0, 0, 0, 0, 0);
    EXPECT(slope(odd, b), (5), 0, 0, 0, 0, 0);
    wk_tensor *one = wk_clamp(nan, a, WK_NONE);
    EXPECT(slope(one, nan), (5), 1, 1, 1, 0.5, 1);
    EXPECT(slope(one, a), (5), 1, 1, 0, 0.5, 1);
}

static void limits_of_bools(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(bool, (2), true, false), *yes = wk_of(bool, (2), true, true);
    assert_int_equal(wk_dtype_of(wk_clamp(x, 0, 1)), WK_I64);
    EXPECT(wk_clamp(x, 0, 1), (2), 1, 0);
    assert_int_equal(wk_dtype_of(wk_clamp(x, yes, WK_NONE)), WK_BOOL);
    EXPECT(wk_clamp(x, yes, WK_NONE), (2), 1, 1);
    EXPECT(wk_clamp(x, WK_NONE, wk_logical_not(yes)), (2), 0, 0);
    expect_error(wk_clamp(x, x, yes), WK_ERR_DTYPE, "clamp: dtype bool");
    EXPECT(wk_clamp(wk_of(int32_t, (2), 3, 0), yes, WK_NONE), (2), 3, 1);
}

/* ---- no dimension given ------------------------------------------------------------------------------------------ */

static void defaults_use_all_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_arange(6, .dtype = WK_F64), (2, 3)), *number = wk_full((), 5.0);
    EXPECT(wk_repeat_interleave(x, 2), (12), 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5);
    EXPECT(wk_repeat_interleave(x, 2, 0), (4, 3), 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
    EXPECT(wk_repeat_interleave(number, 3), (3), 5, 5, 5);
    EXPECT(BY_NAME("repeat_interleave", T(x), I(2)), (12), 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5);
    wk_tensor *places = wk_of(int64_t, (2, 2), 5, 0, 1, 1);
    EXPECT(wk_take_along_dim(x, places), (4), 5, 0, 1, 1);
    EXPECT(BY_NAME("take_along_dim", T(x), T(places)), (4), 5, 0, 1, 1);
    EXPECT(wk_take_along_dim(number, wk_zeros((), .dtype = WK_I64)), (1), 5);
    expect_error(wk_take_along_dim(x, wk_of(int64_t, (1), 6)), WK_ERR_INDEX, "take_along_dim: index 6");
    leaf(x);
    EXPECT(slope(wk_mul(wk_repeat_interleave(x, 2), wk_arange(12, .dtype = WK_F64)), x), (2, 3), 1, 5, 9, 13, 17, 21);
    EXPECT(slope(wk_take_along_dim(x, places), x), (2, 3), 1, 2, 0, 0, 0, 1);
    assert_string_equal(wk__grad_fn_name(wk_repeat_interleave(x, 2)), "ViewBackward0");
    assert_string_equal(wk__grad_fn_name(wk_take_along_dim(x, places)), "GatherBackward0");
}

static void an_empty_list_squeezes_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_zeros((1, 2, 1)));
    EXPECT(wk_squeeze(x, ()), (1, 2, 1), 0, 0);
    EXPECT(BY_NAME("squeeze", T(x), {.kind = WK_VALUE_INTS}), (1, 2, 1), 0, 0);
    EXPECT(BY_NAME("squeeze", T(x)), (2), 0, 0);
    assert_string_equal(wk__grad_fn_name(wk_squeeze(x, ())), "SqueezeBackward2");
}

static void classes_are_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(int64_t, (3), 0, 2, 1);
    EXPECT(wk_one_hot(x, -1), (3, 3), 1, 0, 0, 0, 0, 1, 0, 1, 0);
    EXPECT(wk_one_hot(wk_add(x, 1), -1), (3, 4), 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0);
    EXPECT(BY_NAME("one_hot", T(wk_full_i64_at(WK_HERE, NULL, 0, 2, NULL))), (3), 0, 0, 1);
    expect_error(wk_one_hot(wk_zeros((0), .dtype = WK_I64), -1), WK_ERR_SHAPE, "number of classes");
    expect_error(wk_one_hot(wk_of(int64_t, (2), -1, 1), -1), WK_ERR_INDEX, "-1");
    expect_error(wk_one_hot(x, -2), WK_ERR_ARGUMENT, "-2");
}

/* ---- 0-d operands ------------------------------------------------------------------------------------------------ */

static void scalars_act_as_vectors_of_size_1(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = leaf(wk_full((), 3.0, .dtype = WK_F64)), *v = leaf(wk_of(double, (2), 3, 5));
    wk_tensor *zero = wk_zeros((), .dtype = WK_I64), *one = wk_ones((), .dtype = WK_I64),
              *zeros = wk_of(int64_t, (2), 0, 0);
    EXPECT(wk_gather(z, 0, zero), (), 3);
    EXPECT(wk_gather(z, -1, zeros), (2), 3, 3);
    EXPECT(wk_gather(v, 0, one), (), 5);
    EXPECT(slope(wk_gather(z, 0, zeros), z), (), 2);
    EXPECT(slope(wk_gather(v, 0, one), v), (2), 0, 1);
    expect_error(wk_gather(z, 0, one), WK_ERR_INDEX, "index 1");
    wk_tensor *s = leaf(wk_full((), 7.0, .dtype = WK_F64)), *w = leaf(wk_of(double, (2), 7, 8));
    EXPECT(wk_scatter(z, 0, zero, s), (), 7);
    EXPECT(wk_scatter(z, 0, zero, 9.0), (), 9);
    EXPECT(wk_scatter(z, 0, zeros, w), (), 8);
    EXPECT(wk_scatter(v, 0, one, s), (2), 3, 7);
    EXPECT(slope(wk_scatter(z, 0, zero, s), z), (), 0);
    EXPECT(slope(wk_scatter(z, 0, zero, s), s), (), 1);
    EXPECT(slope(wk_scatter(v, 0, one, s), v), (2), 1, 0);
    EXPECT(slope(wk_scatter(v, 0, one, w), w), (2), 1, 0);
    EXPECT(slope(wk_scatter(z, 0, wk_of(int64_t, (1), 0), s), s), (), 1);
    EXPECT(wk_scatter_add(z, 0, zeros, w), (), 18);
    EXPECT(wk_scatter_add(v, 0, one, s), (2), 3, 12);
    EXPECT(slope(wk_scatter_add(v, 0, one, s), s), (), 1);
    EXPECT(slope(wk_scatter_add(v, 0, one, w), w), (2), 1, 0);
    EXPECT(wk_unfold(z, 0, 1, 5), (1), 3);
    EXPECT_EMPTY(wk_unfold(z, -1, 0, 1), (0));
    EXPECT(slope(wk_mul(wk_unfold(z, 0, 1, 1), 4), z), (), 4);
    EXPECT(slope(wk_unfold(z, 0, 0, 1), z), (), 0);
    expect_error(wk_unfold(z, 0, 2, 1), WK_ERR_ARGUMENT, "unfold");
    expect_error(wk_roll(z, (1), (0)), WK_ERR_INDEX, "roll: f64[] has no dimensions");
    EXPECT(wk_roll(z, (1), ()), (), 3);
}

/* Nothing is selected, so the dtype and the other sizes of the index do not matter. */
static void an_index_without_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_ones((2, 2))), *bytes = wk_zeros((0, 2), .dtype = WK_U8), *none = wk_zeros((0));
    EXPECT_EMPTY(wk_gather(x, 0, bytes), (0, 2));
    EXPECT_EMPTY(wk_gather(x, 0, none), (0));
    EXPECT_EMPTY(wk_gather(x, 0, wk_zeros((0, 5), .dtype = WK_I64)), (0, 5));
    EXPECT(wk_scatter(x, 0, bytes, x), (2, 2), 1, 1, 1, 1);
    EXPECT(wk_scatter_add(x, 0, none, x), (2, 2), 1, 1, 1, 1);
    EXPECT(slope(wk_gather(x, 0, bytes), x), (2, 2), 0, 0, 0, 0);
    EXPECT(slope(wk_scatter(x, 0, bytes, wk_ones((2, 2))), x), (2, 2), 1, 1, 1, 1);
    EXPECT(slope(wk_scatter_add(wk_ones((2, 2)), 0, none, x), x), (2, 2), 0, 0, 0, 0);
    expect_error(wk_gather(x, 0, wk_zeros((1, 2), .dtype = WK_U8)), WK_ERR_DTYPE, "u8");
    expect_error(wk_index_select(x, 0, wk_zeros((0), .dtype = WK_U8)), WK_ERR_DTYPE, "u8");
}

static void a_weight_of_one_dimension(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (2, 2), 1, 2, 3, 4)), *w = leaf(wk_of(double, (2), 5, 6));
    wk_tensor *bias = leaf(wk_full((), 5.0, .dtype = WK_F64)), *cube = wk_reshape(x, (1, 2, 2));
    EXPECT(wk_linear(x, w, NULL), (2), 17, 39);
    EXPECT(wk_linear(wk_select(x, 0, 0), w, NULL), (), 17);
    EXPECT(wk_linear(wk_select(x, 0, 0), w, bias), (), 22);
    EXPECT(wk_linear(cube, w, bias), (1, 2), 22, 44);
    wk_tensor *twice = wk_mul(wk_linear(x, w, NULL), 2);
    EXPECT(slope(twice, x), (2, 2), 10, 12, 10, 12);
    EXPECT(slope(twice, w), (2), 8, 12);
    EXPECT(slope(wk_linear(cube, w, bias), bias), (), 2);
    assert_string_equal(wk__grad_fn_name(wk_linear(x, w, NULL)), "MvBackward0");
    assert_string_equal(wk__grad_fn_name(wk_linear(wk_select(x, 0, 0), w, NULL)), "DotBackward0");
    assert_string_equal(wk__grad_fn_name(wk_linear(cube, w, bias)), "AddBackward0");
    expect_error(wk_linear(x, bias, NULL), WK_ERR_SHAPE, "f64[]");
    expect_error(wk_linear(x, w, w), WK_ERR_SHAPE, "bias");
}

/* ---- fractions for integer parameters ---------------------------------------------------------------------------- */

static void fractional_steps_of_integers(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT(wk_arange_from(0.5, 5.5, 1, .dtype = WK_I64), (5), 0, 1, 2, 3, 4);
    EXPECT(wk_arange_from(0.5, 5.5, 1.5, .dtype = WK_I32), (4), 0, 1, 2, 3);
    EXPECT(wk_arange_from(-1.5, 2.7, 1, .dtype = WK_I64), (5), -1, 0, 1, 2, 3);
    EXPECT(wk_arange_from(5, 0.5, -1, .dtype = WK_I64), (5), 5, 4, 3, 2, 1);
    EXPECT(wk_arange_from(1, 3, 0.5, .dtype = WK_I64), (4), 1, 1, 1, 1);
    EXPECT(wk_arange_from(3.7, 0.2, -1.9, .dtype = WK_U8), (2), 3, 2);
    EXPECT(BY_NAME("arange", F(-0.5), I(3), I(1), {.kind = WK_VALUE_DTYPE, .i = WK_I64}), (4), 0, 1, 2, 3);
    EXPECT(wk_linspace(-1.5, 2.7, 5, .dtype = WK_I64), (5), -1, 0, 0, 1, 2);
    EXPECT(wk_linspace(2.9, 2.1, 3, .dtype = WK_I32), (3), 2, 2, 2);
    EXPECT(wk_linspace(-3.9, 3.9, 4, .dtype = WK_I64), (4), -3, -1, 1, 3);
    EXPECT(wk_linspace(10, 0, 4, .dtype = WK_I64), (4), 10, 6, 3, 0);
    EXPECT(wk_linspace(2.7, 9, 1, .dtype = WK_I64), (1), 2);
}

/* The mean over no labels is 0 / 0, and its gradient is 0. */
static void all_labels_ignored(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (2, 2), 1, 2, 3, 4)), *none = wk_of(int64_t, (2), -100, -100);
    for (int smooth = 0; smooth < 2; smooth++)
        EXPECT(slope(wk_cross_entropy(x, none, .label_smoothing = 0.1 * smooth), x), (2, 2), 0, 0, 0, 0);
    EXPECT(slope(wk_nll_loss(x, none), x), (2, 2), 0, 0, 0, 0);
    EXPECT(slope(wk_nll_loss(x, wk_of(int64_t, (2), -100, 1)), x), (2, 2), 0, 0, 0, -1);
    wk_tensor *deep = leaf(wk_of(double, (1, 2, 2), 1, 2, 3, 4)), *one = wk_of(int64_t, (1, 2), -100, 0);
    EXPECT(slope(wk_nll_loss(deep, one), deep), (1, 2, 2), 0, -1, 0, 0);
}

static void refused_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *i = wk_ones((1, 2, 2), .dtype = WK_I64), *f = wk_ones((2)), *m = wk_select(i, 0, 0);
    expect_error(wk_baddbmm(i, i, i, .beta = 0.5), WK_ERR_ARGUMENT, "baddbmm: beta must be an integer");
    expect_error(wk_baddbmm(i, i, i, .alpha = 0.5), WK_ERR_ARGUMENT, "baddbmm: alpha must be an integer");
    expect_error(wk_addmm(m, m, m, .alpha = 0.5), WK_ERR_ARGUMENT, "addmm: alpha must be an integer");
    EXPECT(wk_baddbmm(i, i, i, .beta = 2), (1, 2, 2), 4, 4, 4, 4);
    expect_error(wk_mean(f, .dtype = WK_I64), WK_ERR_DTYPE, "mean: .dtype must be floating-point");
    expect_error(wk_mean(f, (0), .dtype = WK_BOOL), WK_ERR_DTYPE, "mean: .dtype must be floating-point");
    EXPECT(wk_mean(m, .dtype = WK_F32), (), 1);
    expect_error(wk_hardtanh(f, .min_val = 2, .max_val = -1), WK_ERR_ARGUMENT, "hardtanh: min_val 2 must not exceed");
    expect_error(wk_hardtanh_(f, .min_val = 2, .max_val = -1), WK_ERR_ARGUMENT, "hardtanh");
    EXPECT(wk_hardtanh(f, .min_val = 1, .max_val = 1), (2), 1, 1);
    assert_null(BY_NAME("hardtanh", T(f), F(2), F(-1)));
    assert_non_null(strstr(message, "min_val"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_far_below_0),
        cmocka_unit_test(the_result_may_be_overwritten),
        cmocka_unit_test(gradients_at_a_limit),
        cmocka_unit_test(limits_of_bools),
        cmocka_unit_test(defaults_use_all_elements),
        cmocka_unit_test(an_empty_list_squeezes_nothing),
        cmocka_unit_test(classes_are_counted),
        cmocka_unit_test(scalars_act_as_vectors_of_size_1),
        cmocka_unit_test(an_index_without_elements),
        cmocka_unit_test(a_weight_of_one_dimension),
        cmocka_unit_test(fractional_steps_of_integers),
        cmocka_unit_test(all_labels_ignored),
        cmocka_unit_test(refused_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

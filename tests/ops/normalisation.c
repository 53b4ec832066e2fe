/* SPDX-License-Identifier: Apache-2.0 */
/* Tests normalisation ops beyond the sweep over samples: running statistics, long rows, errors. */
#include "values.h"

/* ---- running statistics ------------------------------------------------------------------------------------------ */

static wk_tensor *waves(void)
{
    return wk_sin(wk_mul(wk_reshape(wk_arange(12, .dtype = WK_F64), (2, 3, 2)), 1.7));
}

/* Values of torch.nn.functional.batch_norm(x, mean, var, None, None, True, 0.3). */
static void training_updates_running_statistics(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = waves(), *mean = wk_of(double, (3), 0.5, -1, 2), *var = wk_of(double, (3), 1, 2, 3);
    EXPECT(wk_select(wk_batch_norm(x, mean, var, NULL, NULL, true, 0.3), 1, 0), (2, 2), 0.1206631429, 1.5872909549,
           -0.9144201543, -0.7935339435);
    EXPECT(mean, (3), 0.3255239758, -0.6944090047, 1.4136652960);
    EXPECT(var, (3), 0.8828691575, 1.5816606888, 2.2819915950);
    wk_batch_norm(x, mean, NULL, NULL, NULL, true, 1.0);
    EXPECT(wk_sub(mean, wk_mean(x, (0, 2))), (3), 0, 0, 0);
    wk_batch_norm(x, mean, NULL, NULL, NULL, true, 0);
    EXPECT(wk_sub(mean, wk_mean(x, (0, 2))), (3), 0, 0, 0);
}

/* Values of torch.nn.functional.instance_norm(x, mean, var, None, None, True, 0.3). */
static void statistics_of_samples_are_averaged(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *mean = wk_of(double, (3), 0.5, -1, 2), *var = wk_of(double, (3), 1, 2, 3);
    EXPECT(wk_select(wk_instance_norm(waves(), mean, var, NULL, NULL, true, 0.3), 1, 0), (2, 2), -0.9999796630,
           0.9999796630, -0.9970198254, 0.9970198254);
    EXPECT(mean, (3), 0.3255239758, -0.6944090047, 1.4136652960);
    EXPECT(var, (3), 0.7742560096, 1.4497325058, 2.1564475991);
}

static void evaluation_reads_running_statistics(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 2), 3, 10), *mean = wk_of(float, (2), 1, 4), *var = wk_of(float, (2), 4, 9);
    EXPECT(wk_batch_norm(x, mean, var, NULL, NULL, false, 0.1, 0), (1, 2), 1, 2);
    EXPECT(wk_batch_norm(x, mean, var, wk_of(float, (2), 2, 3), wk_of(float, (2), -1, 1), false, 0.1, 0), (1, 2), 1, 7);
    EXPECT(mean, (2), 1, 4);
    EXPECT(var, (2), 4, 9);
}

/* Running statistics may be wider than the input, and they may be narrower. */
static void running_statistics_keep_their_dtype(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_to_dtype(waves(), WK_BF16), *wide = wk_zeros((3)), *narrow = wk_zeros((3), .dtype = WK_BF16);
    wk_tensor *mean = wk_mean(wk_to_dtype(x, WK_F32), (0, 2));
    assert_int_equal(wk_dtype_of(wk_batch_norm(x, wide, narrow, NULL, NULL, true, 1)), WK_BF16);
    EXPECT(wk_sub(wide, mean), (3), 0, 0, 0);
    assert_int_equal(wk_dtype_of(narrow), WK_BF16);
    wk_batch_norm(wk_to_dtype(x, WK_F32), narrow, NULL, NULL, NULL, true, 1);
    EXPECT(wk_sub(narrow, wk_to_dtype(mean, WK_BF16)), (3), 0, 0, 0);
}

/* Without elements there is nothing to learn from. */
static void an_empty_batch_leaves_running_statistics(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *mean = wk_ones((3)), *var = wk_ones((3));
    EXPECT_EMPTY(wk_batch_norm(wk_zeros((0, 3, 2)), mean, var, NULL, NULL, true), (0, 3, 2));
    EXPECT(wk_cat((mean, var), 0), (6), 1, 1, 1, 1, 1, 1);
}

/* ---- long rows --------------------------------------------------------------------------------------------------- */

/* Returns f32 values (6, 2, 80, 80), 38,400 in each channel. Channel 0 is far from 0. Channel 1 begins with an outlier
 * and a constant sample. Sums of squares about 0, or about a first element, would lose all digits of either. */
static wk_tensor *difficult(void)
{
    wk_tensor *x = wk_sin(wk_mul(wk_reshape(wk_arange(76800, .dtype = WK_F64), (6, 2, 80, 80)), 1.7));
    wk_add_(wk_select(x, 1, 0), 5000.0);
    wk_tensor *other = wk_select(x, 1, 1);
    wk_fill_(wk_select(other, 0, 0), 3.0);
    wk_fill_(wk_select(wk_select(wk_select(other, 0, 0), 0, 0), 0, 0), 3000.0);
    return wk_to_dtype(x, WK_F32);
}

static double greatest(wk_tensor *x)
{
    return wk_item(wk_amax(wk_abs(x)));
}

static void long_rows_keep_their_digits(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = difficult(), *exact = wk_to_dtype(x, WK_F64);
    wk_tensor *mean = wk_zeros((2)), *var = wk_zeros((2));
    wk_tensor *have = wk_batch_norm(x, mean, var, NULL, NULL, true, 1, 0);
    wk_tensor *want_mean = wk_mean(exact, (0, 2, 3)), *want_var = wk_var(exact, (0, 2, 3));
    assert_true(greatest(wk_sub(wk_div(mean, want_mean), 1.0)) < 1e-6);
    assert_true(greatest(wk_sub(wk_div(var, want_var), 1.0)) < 4e-6);
    wk_tensor *want = wk_div(wk_sub(exact, wk_reshape(want_mean, (1, 2, 1, 1))),
                             wk_sqrt(wk_mul(wk_reshape(want_var, (1, 2, 1, 1)), 38399.0 / 38400)));
    assert_true(greatest(wk_sub(have, want)) < 1e-3);
    /* the outlier's value is 195: half the relative error of the variance, and rounding */
    wk_tensor *outlying = wk_select(want, 1, 1);
    assert_true(greatest(wk_sub(wk_select(have, 1, 1), outlying)) < 2.2e-6 * greatest(outlying));
}

/* Gradients of long rows have kernels of their own. Those of short rows are checked by the sweep, so values of few
 * distinct rows must have the same gradients. */
static void gradients_of_long_rows(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *in[2], *grad[2][3];
    wk_tensor *few = wk_reshape(waves(), (2, 3, 2, 1));
    for (int k = 0; k < 2; k++) {
        in[k] = wk_requires_grad_(k ? wk_contiguous(wk_expand(few, (2, 3, 2, 10000))) : wk_detach(few), true);
        wk_tensor *weight = wk_requires_grad_(wk_of(double, (3), 0.5, 2, -1), true);
        wk_tensor *bias = wk_requires_grad_(wk_zeros((3), .dtype = WK_F64), true);
        wk_tensor *out = wk_batch_norm(in[k], NULL, NULL, weight, bias, true);
        wk_tensor *loss = wk_sum(wk_mean(wk_mul(wk_mul(out, out), out), (3)));
        wk_grad((loss), (in[k], weight, bias), grad[k]);
    }
    EXPECT_EMPTY(wk_narrow(grad[1][0], 0, 0, 0), (0, 3, 2, 10000));
    assert_true(greatest(wk_sub(wk_sum(grad[1][0], (3), .keepdim = true), grad[0][0])) < 1e-9);
    assert_true(greatest(wk_sub(grad[1][1], grad[0][1])) < 1e-9);
    assert_true(greatest(wk_sub(grad[1][2], grad[0][2])) < 1e-9);
}

/* The same for groups, of which one has 2 channels of 20,000 elements. */
static void gradients_of_long_groups(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *in[2], *grad[2][3];
    wk_tensor *few = wk_reshape(waves(), (1, 6, 2, 1));
    for (int k = 0; k < 2; k++) {
        in[k] = wk_requires_grad_(k ? wk_contiguous(wk_expand(few, (1, 6, 2, 10000))) : wk_detach(few), true);
        wk_tensor *weight = wk_requires_grad_(wk_of(double, (6), 0.5, 2, -1, 1, 3, 0), true);
        wk_tensor *bias = wk_requires_grad_(wk_zeros((6), .dtype = WK_F64), true);
        wk_tensor *out = wk_group_norm(in[k], 3, weight, bias);
        wk_tensor *loss = wk_sum(wk_mean(wk_mul(wk_mul(out, out), out), (3)));
        wk_grad((loss), (in[k], weight, bias), grad[k]);
    }
    assert_true(greatest(wk_sub(wk_sum(grad[1][0], (3), .keepdim = true), grad[0][0])) < 1e-9);
    assert_true(greatest(wk_sub(grad[1][1], grad[0][1])) < 1e-9);
    assert_true(greatest(wk_sub(grad[1][2], grad[0][2])) < 1e-9);
}

/* ---- other ops --------------------------------------------------------------------------------------------------- */

/* Values of torch.nn.functional.rms_norm, whose default eps is that of the dtype in which it computes. */
static void eps_of_rms_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_full((1), 1e-3);
    EXPECT(wk_rms_norm(x, (1), NULL), (1), 0.9452449083);
    EXPECT(wk_rms_norm(wk_to_dtype(x, WK_BF16), (1), NULL), (1), 0.9453125);
    assert_true(fabs(wk_item(wk_rms_norm(wk_to_dtype(x, WK_F64), (1), NULL)) - 1) < 1e-9);
    EXPECT(wk_rms_norm(x, (1), NULL, 0), (1), 1);
}

static void vectors_shorter_than_eps(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(double, (2, 2), 0, 0, 3, 4), true);
    wk_tensor *unit = wk_normalize(x);
    EXPECT(unit, (2, 2), 0, 0, 0.6, 0.8);
    wk_backward(wk_sum(wk_mul(unit, wk_of(double, (2, 2), 0, 0, 1, 0))));
    EXPECT(wk_grad_of(x), (2, 2), 0, 0, 0.128, -0.096);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((4, 3)), *three = wk_ones((3)), *four = wk_ones((4));
    expect_error(wk_batch_norm(three, NULL, NULL, NULL, NULL, true), WK_ERR_SHAPE, "batch_norm: f32[3] must have at");
    expect_error(wk_batch_norm(wk_ones((1, 3)), NULL, NULL, NULL, NULL, true), WK_ERR_SHAPE,
                 "more than one element per channel, got f32[1,3]; use larger batches");
    expect_error(wk_batch_norm(x, four, three, NULL, NULL), WK_ERR_SHAPE,
                 "running_mean must have the shape (3) of the channels of f32[4,3], got f32[4]");
    expect_error(wk_batch_norm(x, three, three, four, NULL), WK_ERR_SHAPE, "weight must have the shape (3)");
    expect_error(wk_batch_norm(x, three, three, three, wk_ones((3), .dtype = WK_I64)), WK_ERR_DTYPE,
                 "bias must be floating-point, got i64[3]");
    expect_error(wk_batch_norm(wk_ones((4, 3), .dtype = WK_I64), three, three, NULL, NULL), WK_ERR_DTYPE, "i64[4,3]");
    expect_error(wk_batch_norm(x, three, NULL, NULL, NULL), WK_ERR_ARGUMENT, "running_var is NULL");
    expect_error(wk_batch_norm(x, NULL, three, NULL, NULL), WK_ERR_ARGUMENT, "running_mean is NULL");
    expect_error(wk_batch_norm(x, three, three, NULL, NULL, false, 0.1, -1), WK_ERR_ARGUMENT, "eps must be at least 0");
    wk_tensor *leaf = wk_ones((3), .requires_grad = true);
    expect_error(wk_batch_norm(x, leaf, three, NULL, NULL, true), WK_ERR_STATE, "running_mean requires grad");
    EXPECT(wk_batch_norm(x, leaf, three, NULL, NULL, false), (4, 3), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    expect_error(wk_instance_norm(x, NULL, NULL, NULL, NULL), WK_ERR_SHAPE, "f32[4,3] must have at least 3 dimensions");
    expect_error(wk_instance_norm(wk_ones((2, 3, 1)), NULL, NULL, NULL, NULL), WK_ERR_SHAPE,
                 "more than one element per channel of a sample, got f32[2,3,1]");
    expect_error(wk_group_norm(x, 2, NULL, NULL), WK_ERR_ARGUMENT,
                 "groups must be positive and divide the 3 channels of f32[4,3], got 2");
    expect_error(wk_group_norm(x, 0, NULL, NULL), WK_ERR_ARGUMENT, "got 0");
    expect_error(wk_group_norm(three, 1, NULL, NULL), WK_ERR_SHAPE, "expected 2 to 7 dimensions");
    expect_error(wk_rms_norm(x, (4), NULL), WK_ERR_SHAPE, "the last dimensions of f32[4,3] must be");
    expect_error(wk_rms_norm(x, (3), four), WK_ERR_SHAPE, "and weight, f32[4], must be");
    expect_error(wk_local_response_norm(x, 2), WK_ERR_SHAPE, "expected 3 to 7 dimensions, (N, C, ...), got f32[4,3]");
    expect_error(wk_local_response_norm(wk_ones((1, 2, 3)), 0), WK_ERR_ARGUMENT, "size must be at least 1, got 0");
    expect_error(wk_normalize(x, 2, 2), WK_ERR_INDEX, "dimension 2 is out of range for f32[4,3]");
    wk_tensor *failed = wk_add(three, four);
    assert_null(wk_batch_norm(x, three, three, failed, NULL)); /* a failed weight is not an omitted one */
    expect_error(failed, WK_ERR_SHAPE, "add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_updates_running_statistics),
        cmocka_unit_test(statistics_of_samples_are_averaged),
        cmocka_unit_test(evaluation_reads_running_statistics),
        cmocka_unit_test(running_statistics_keep_their_dtype),
        cmocka_unit_test(an_empty_batch_leaves_running_statistics),
        cmocka_unit_test(long_rows_keep_their_digits),
        cmocka_unit_test(gradients_of_long_rows),
        cmocka_unit_test(gradients_of_long_groups),
        cmocka_unit_test(eps_of_rms_norm),
        cmocka_unit_test(vectors_shorter_than_eps),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests_name("ops_normalisation", tests, NULL, NULL);
}

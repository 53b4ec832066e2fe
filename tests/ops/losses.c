/* SPDX-License-Identifier: Apache-2.0 */
/* Tests losses: known values, labels of each dtype, errors, first and second gradients. */
#include "engine/op_queue.h"
#include "values.h"

static void test_elementwise(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(float, (3), 1, 2, 5), *b = wk_of(float, (3), 1, 4, 2);
    EXPECT(wk_mse_loss(a, b), (), 13.0 / 3);
    EXPECT(wk_mse_loss(a, b, .reduction = WK_REDUCE_SUM), (), 13);
    EXPECT(wk_mse_loss(a, b, .reduction = WK_REDUCE_NONE), (3), 0, 4, 9);
    EXPECT(wk_l1_loss(a, b), (), 5.0 / 3);
    EXPECT(wk_smooth_l1_loss(a, b, .reduction = WK_REDUCE_NONE, .beta = 2.5), (3), 0, 0.8, 1.75);
    EXPECT(wk_smooth_l1_loss(a, b, .reduction = WK_REDUCE_SUM, .beta = WK_EXPLICIT_ZERO), (), 5);
    EXPECT(wk_huber_loss(a, b, .reduction = WK_REDUCE_NONE, .delta = 2), (3), 0, 2, 4);
    expect_error(wk_mse_loss(a, wk_zeros((3, 1))), WK_ERR_SHAPE, "f32[3,1]");
    wk_tensor *p = wk_of(float, (2), 0.5f, 0), *t = wk_of(float, (2), 1, 1);
    EXPECT(wk_binary_cross_entropy(p, t, .reduction = WK_REDUCE_NONE), (2), 0.69314718, 100);
    EXPECT(wk_binary_cross_entropy_with_logits(wk_of(double, (2), 0, 1000), wk_of(double, (2), 1, 0)), (),
           (0.69314718 + 1000) / 2);
    wk_tensor *x = wk_of(double, (3), 0.5, -1, 2), *y = wk_of(double, (3), 1, 0, 0.25),
              *w = wk_of(double, (3), 3, 1, 2);
    EXPECT(wk_binary_cross_entropy_with_logits(x, y, .pos_weight = w, .reduction = WK_REDUCE_NONE), (3), 1.42223095,
           0.31326169, 1.65866001);
    EXPECT(wk_binary_cross_entropy_with_logits(x, y, .pos_weight = w, .weight = wk_of(double, (1), 2),
                                               .reduction = WK_REDUCE_SUM),
           (), 2 * (1.42223095 + 0.31326169 + 1.65866001));
    expect_error(wk_binary_cross_entropy_with_logits(x, y, .pos_weight = wk_ones((2))), WK_ERR_SHAPE,
                 "pos_weight f32[2]");
    expect_error(wk_binary_cross_entropy(y, y, .weight = wk_ones((2, 3))), WK_ERR_SHAPE, "weight f32[2,3]");
    EXPECT(wk_kl_div(wk_log(wk_of(float, (1, 2), 0.5f, 0.5f)), wk_of(float, (1, 2), 1, 0),
                     .reduction = WK_REDUCE_BATCHMEAN),
           (), 0.69314718);
}

static void test_cross_entropy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 3), 0, 0, 0, 1, 2, 3), *y = wk_of(int64_t, (2), 1, 2);
    const double first = 1.0986122887, second = 0.4076059644;
    EXPECT(wk_cross_entropy(x, y), (), (first + second) / 2);
    EXPECT(wk_cross_entropy(x, y, .reduction = WK_REDUCE_NONE), (2), first, second);
    EXPECT(wk_cross_entropy(x, y, .reduction = WK_REDUCE_SUM), (), first + second);
    EXPECT(wk_cross_entropy(x, y, .ignore_index = 2), (), first);
    EXPECT(wk_cross_entropy(x, wk_of(int64_t, (2), -100, 2)), (), second);
    EXPECT(wk_cross_entropy(x, y, .weight = wk_of(double, (3), 9, 1, 3)), (), (first + 3 * second) / 4);
    EXPECT(wk_cross_entropy(x, y, .label_smoothing = 0.3, .reduction = WK_REDUCE_NONE), (2), first,
           0.7 * second + 0.1 * (3 * second + 3));
    EXPECT(wk_cross_entropy(x, wk_of(double, (2, 3), 0, 1, 0, 0, 0, 1)), (), (first + second) / 2);
    EXPECT(wk_cross_entropy(wk_select(x, 0, 1), wk_full((), 2)), (), second);
    EXPECT(wk_cross_entropy(wk_transpose(wk_reshape(x, (1, 2, 3)), 1, 2), wk_reshape(y, (1, 2)),
                            .reduction = WK_REDUCE_NONE),
           (1, 2), first, second);
    EXPECT(wk_nll_loss(wk_log_softmax(x, 1), y), (), (first + second) / 2);
    EXPECT(wk_cross_entropy(wk_of(double, (1, 2), 0, -INFINITY), wk_of(int64_t, (1), 0)), (), 0);
    assert_true(isnan(wk_item(wk_cross_entropy(x, wk_full((2), -100)))));
}

/* Returns scores of 1500 classes, of which the softmax has those of x and 0. The loss gathers. */
static wk_tensor *of_many(wk_tensor *x)
{
    return wk_pad(x, (0, 1500 - wk_size(x, 1)), .value = -1e4);
}

static void test_many_classes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 3), 0, 0, 0, 1, 2, 3), *y = wk_of(int64_t, (2), 1, 2), *many = of_many(x);
    const double first = 1.0986122887, second = 0.4076059644;
    EXPECT(wk_cross_entropy(many, y), (), (first + second) / 2);
    EXPECT(wk_cross_entropy(many, y, .reduction = WK_REDUCE_NONE), (2), first, second);
    EXPECT(wk_cross_entropy(many, y, .reduction = WK_REDUCE_SUM), (), first + second);
    EXPECT(wk_cross_entropy(many, y, .ignore_index = 2), (), first);
    EXPECT(wk_cross_entropy(many, wk_of(int64_t, (2), 1, -100), .reduction = WK_REDUCE_NONE), (2), first, 0);
    wk_tensor *weight = wk_add(wk_arange(1500, .dtype = WK_F64), 1);
    EXPECT(wk_cross_entropy(many, y, .weight = weight), (), (2 * first + 3 * second) / 5);
    EXPECT(wk_cross_entropy(many, y, .label_smoothing = 0.3, .reduction = WK_REDUCE_NONE), (2),
           0.7 * first + 0.3 * (first + 1497.0 / 1500 * 1e4),
           0.7 * second + 0.3 * (second + 3.0 / 1500 + 1497.0 / 1500 * (1e4 + 3)));
    EXPECT(wk_cross_entropy(wk_select(many, 0, 1), wk_full((), 2)), (), second);
    EXPECT(wk_cross_entropy(wk_transpose(wk_reshape(many, (1, 2, 1500)), 1, 2), wk_reshape(y, (1, 2)),
                            .reduction = WK_REDUCE_NONE),
           (1, 2), first, second);
    EXPECT(wk_nll_loss(wk_log_softmax(many, 1), y, .weight = weight), (), (2 * first + 3 * second) / 5);
    assert_true(isnan(wk_item(wk_cross_entropy(many, wk_full((2), -100)))));
    EXPECT(wk_cross_entropy(wk_fill_(wk_clone(wk_narrow(many, 1, 0, 1024)), -INFINITY), wk_full((2), -100),
                            .reduction = WK_REDUCE_SUM),
           (), 0);
    expect_error(wk_cross_entropy(many, wk_of(int64_t, (2), 0, 1500)), WK_ERR_INDEX, "label 1500");
}

/* As in PyTorch a weight is a constant, except where the target is a probability. */
static void test_gradients_of_weights(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((2, 3)), *p = wk_sigmoid(x), *w = wk_requires_grad_(wk_ones((3), .dtype = WK_F64), true);
    wk_tensor *labels = wk_of(int64_t, (2), 0, 2);
    expect_error(wk_binary_cross_entropy(p, p, .weight = w), WK_ERR_STATE, "weight f64[3]");
    expect_error(wk_binary_cross_entropy_with_logits(x, p, .weight = w), WK_ERR_STATE, "weight f64[3]");
    expect_error(wk_binary_cross_entropy_with_logits(x, p, .pos_weight = w), WK_ERR_STATE, "pos_weight f64[3]");
    expect_error(wk_cross_entropy(x, labels, .weight = w), WK_ERR_STATE, "weight f64[3]");
    expect_error(wk_nll_loss(x, labels, .weight = w), WK_ERR_STATE, "wk_detach");
    assert_non_null(wk_cross_entropy(x, p, .weight = w));
    assert_non_null(wk_cross_entropy(x, labels, .weight = wk_detach(w)));
    WK_NO_GRAD;
    assert_non_null(wk_cross_entropy(x, labels, .weight = w));
}

/* A loss without optional operands works while an error is pending; with optional ones it cannot know whether a NULL
 * means "omitted". */
static void test_pending_error(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3)), *failed = wk_add(x, wk_ones((2)));
    assert_null(failed);
    assert_non_null(wk_mse_loss(x, x));
    assert_null(wk_binary_cross_entropy(x, x, .weight = failed));
    wk_clear_error();
}

static void test_bad_labels(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    expect_error(wk_cross_entropy(x, wk_of(int64_t, (2), 0, 3)), WK_ERR_INDEX, "label 3");
    expect_error(wk_cross_entropy(x, wk_of(int64_t, (2), -1, 0)), WK_ERR_INDEX, "label -1");
    expect_error(wk_cross_entropy(x, wk_ones((2))), WK_ERR_DTYPE, "i64");
    expect_error(wk_cross_entropy(x, wk_of(int64_t, (3), 0, 0, 0)), WK_ERR_SHAPE, "i64[3]");
    expect_error(wk_cross_entropy(x, wk_of(int64_t, (2), 0, 0), .weight = wk_ones((2))), WK_ERR_SHAPE, "weight");
    /* labels unknown at the call fail when they are read (in mode WICK_EAGER all are known) */
    for (int bad = -1; bad <= 3; bad += 4) {
        wk_tensor *loss = wk_cross_entropy(x, wk_add(wk_zeros((2), .dtype = WK_I64), bad));
        assert_true(isnan(wk_item(loss)));
        assert_int_equal(wk_error_code(), WK_ERR_INDEX);
        char named[80];
        snprintf(named, sizeof named, "cross_entropy: label %d is out of range for ", bad);
        if (!strstr(wk_error(), named)) fail_msg("\"%s\" does not name %s", wk_error(), named);
        wk_clear_error();
        wk_sync(); /* reported again to the recording thread */
        wk_clear_error();
    }
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

#define FUNCTION(name, call)                                                                                           \
    static wk_tensor *name(wk_tensor *const *in, void *context)                                                        \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        return call;                                                                                                   \
    }
#define PROBABILITY(x) wk_sigmoid(x)
FUNCTION(f_mse, wk_mse_loss(in[0], in[1]))
FUNCTION(f_l1, wk_l1_loss(in[0], in[1], .reduction = WK_REDUCE_NONE))
FUNCTION(f_smooth, wk_smooth_l1_loss(in[0], in[1], .beta = 0.7))
FUNCTION(f_huber, wk_huber_loss(in[0], in[1], .reduction = WK_REDUCE_SUM))
FUNCTION(f_bce, wk_binary_cross_entropy(PROBABILITY(in[0]), PROBABILITY(in[1])))
FUNCTION(f_bce_logits,
         wk_binary_cross_entropy_with_logits(in[0], PROBABILITY(in[1]), .weight = wk_of(double, (4), 1, 2, 0, 3)))
FUNCTION(f_pos, wk_binary_cross_entropy_with_logits(in[0], PROBABILITY(in[1]), .weight = wk_of(double, (4), 1, 2, 0, 3),
                                                    .pos_weight = wk_of(double, (4), 2, 1, 0.5, 3)))
FUNCTION(f_kl, wk_kl_div(in[0], PROBABILITY(in[1])))
FUNCTION(f_kl_logs, wk_kl_div(in[0], in[1], .log_target = true, .reduction = WK_REDUCE_BATCHMEAN))
FUNCTION(f_soft, wk_cross_entropy(in[0], in[1], .weight = wk_of(double, (4), 1, 2, 0.5, 3), .label_smoothing = 0.2))
FUNCTION(f_labels, wk_cross_entropy(in[0], wk_of(int64_t, (3), 1, 3, 0)))
FUNCTION(f_weighted, wk_cross_entropy(in[0], wk_of(int64_t, (3), 1, -100, 0),
                                      .weight = wk_of(double, (4), 1, 2, 0.5, 3), .label_smoothing = 0.2))
FUNCTION(f_rows, wk_cross_entropy(in[0], wk_of(int64_t, (3), 1, 3, 0), .reduction = WK_REDUCE_NONE))
FUNCTION(f_points, wk_cross_entropy(wk_reshape(in[0], (1, 3, 4)), wk_of(int64_t, (1, 4), 1, 2, 0, 1),
                                    .reduction = WK_REDUCE_NONE))
FUNCTION(f_many, wk_cross_entropy(of_many(in[0]), wk_of(int64_t, (3), 1, -100, 1400),
                                  .weight = wk_rsqrt(wk_add(wk_arange(1500, .dtype = WK_F64), 1))))
FUNCTION(f_many_rows, wk_cross_entropy(of_many(in[0]), wk_of(int64_t, (3), 1, 3, 0), .reduction = WK_REDUCE_NONE))
FUNCTION(f_many_points, wk_cross_entropy(wk_transpose(wk_reshape(of_many(in[0]), (1, 3, 1500)), 1, 2),
                                         wk_of(int64_t, (1, 3), 1, 3, 0)))
FUNCTION(f_nll, wk_nll_loss(in[0], wk_of(int64_t, (3), 1, 3, 0)))

static void test_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    function *const of_two[] = {f_mse, f_l1, f_smooth, f_huber, f_bce, f_bce_logits, f_pos, f_kl, f_kl_logs, f_soft};
    for (size_t k = 0; k < sizeof of_two / sizeof *of_two; k++) {
        WK_SCOPE;
        wk_tensor *other = wk_requires_grad_(wk_detach(wk_mul(wk_cos(LEAF((3, 4))), 1.3)), true);
        print_message("loss of two operands: %zu\n", k);
        CHECK_GRADIENTS(of_two[k], LEAF((3, 4)), other);
    }
    function *const of_labels[] = {f_labels, f_weighted, f_rows, f_points, f_many, f_many_rows, f_many_points, f_nll};
    for (size_t k = 0; k < sizeof of_labels / sizeof *of_labels; k++) {
        WK_SCOPE;
        print_message("loss of labels: %zu\n", k);
        CHECK_GRADIENTS(of_labels[k], LEAF((3, 4)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),   cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_many_classes),  cmocka_unit_test(test_gradients_of_weights),
        cmocka_unit_test(test_pending_error), cmocka_unit_test(test_bad_labels),
        cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

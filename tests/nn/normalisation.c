/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the layers that normalise: initial values, buffers, modes, errors. */
#include "support/wick.h"

/* Values of torch.nn.BatchNorm1d(2). */
static void training_and_evaluation(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_batch_norm1d(2, .dtype = WK_F64);
    wk_tensor *x = wk_of(double, (3, 2), 1, 2, 3, -4, 5, 9);
    EXPECT_VALUES(wk_module_parameter(m, "weight"), 0, 1, 1);
    EXPECT_VALUES(wk_module_parameter(m, "bias"), 0, 0, 0);
    EXPECT_VALUES(wk_module_buffer(m, "running_mean"), 0, 0, 0);
    EXPECT_VALUES(wk_module_buffer(m, "running_var"), 0, 1, 1);
    EXPECT_VALUES(wk_forward(m, x), 1e-9, -1.224742575, -0.0627455694, 0, -1.1921658186, 1.2247425750, 1.2549113879);
    EXPECT_VALUES(wk_module_buffer(m, "running_mean"), 1e-9, 0.3, 0.2333333333);
    EXPECT_VALUES(wk_module_buffer(m, "running_var"), 1e-9, 1.3, 5.133333333);
    wk_tensor *batches = wk_module_buffer(m, "num_batches_tracked");
    assert_int_equal(wk_dtype_of(batches), WK_I64);
    assert_int_equal(wk_ndim(batches), 0);
    assert_int_equal((int)wk_item(batches), 1);
    wk_module_train(m, false);
    EXPECT_VALUES(wk_forward(m, x), 1e-9, 0.6139382522, 0.7797483399, 2.3680475443, -1.8684535692, 4.1221568363,
                  3.8693172338);
    assert_int_equal((int)wk_item(batches), 1);
    assert_string_equal(wk_tensors_name(wk_parameters(m), 1), "bias");
    assert_string_equal(wk_tensors_name(wk_buffers(m), 2), "num_batches_tracked");
}

/* Values of torch.nn.BatchNorm2d(2, momentum=None) after three batches. */
static void cumulative_statistics_are_means_of_batches(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_batch_norm2d(2, .cumulative = true, .dtype = WK_F64);
    for (int k = 1; k <= 3; k++)
        wk_forward(m, wk_mul(wk_reshape(wk_arange(8, .dtype = WK_F64), (2, 2, 2, 1)), (double)k));
    EXPECT_VALUES(wk_module_buffer(m, "running_mean"), 1e-9, 5, 9);
    EXPECT_VALUES(wk_module_buffer(m, "running_var"), 1e-9, 26.4444444444, 26.4444444444);
}

static void options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 1, 1, 1, 1), 1, 3);
    wk_module *bare = wk_nn_batch_norm3d(1, .no_affine = true, .no_running_stats = true, .eps = 3.0);
    assert_int_equal(wk_tensors_count(wk_parameters(bare)) + wk_tensors_count(wk_buffers(bare)), 0);
    EXPECT_VALUES(wk_forward(bare, x), 1e-6, -0.5, 0.5);
    wk_module_train(bare, false); /* without running statistics the batch's are used */
    EXPECT_VALUES(wk_forward(bare, x), 1e-6, -0.5, 0.5);
    wk_module *scaled = wk_nn_batch_norm3d(1, .no_bias = true, .momentum = 1, .eps = 0);
    assert_int_equal(wk_tensors_count(wk_parameters(scaled)), 1);
    EXPECT_VALUES(wk_forward(scaled, x), 1e-6, -1, 1);
    EXPECT_VALUES(wk_module_buffer(scaled, "running_mean"), 1e-6, 2);
    EXPECT_VALUES(wk_module_buffer(scaled, "running_var"), 1e-6, 2);
    wk_module *still = wk_nn_batch_norm1d(1, .momentum = 0);
    wk_forward(still, wk_of(float, (2, 1), 1, 3));
    EXPECT_VALUES(wk_module_buffer(still, "running_mean"), 0, 0);
}

static void a_layer_is_trained_saved_and_moved(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_batch_norm2d(2);
    wk_backward(wk_sum(wk_mul(wk_forward(m, wk_rand((2, 2, 3, 3))), wk_rand((2, 2, 3, 3)))));
    assert_non_null(wk_grad_of(wk_module_parameter(m, "weight")));
    assert_non_null(wk_grad_of(wk_module_parameter(m, "bias")));
    assert_non_null(wk_module_to(m, test_null()));
    assert_non_null(wk_forward(m, wk_ones((2, 2, 3, 3), .device = test_null())));
    wk_sync();
    expect_ok();
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_forward(wk_nn_batch_norm1d(3), wk_ones((2, 3, 4, 5))));
    expect_error("batch_norm1d: expected an input (N, C, L) or (N, C), got f32[2,3,4,5]", NULL);
    assert_null(wk_forward(wk_nn_batch_norm2d(3), wk_ones((2, 3, 4))));
    expect_error("batch_norm2d: expected an input (N, C, H, W), got f32[2,3,4]", NULL);
    assert_null(wk_forward(wk_nn_batch_norm2d(3), wk_ones((2, 4, 5, 5))));
    expect_error("expected an input with 3 channels in dimension 1, got f32[2,4,5,5]", NULL);
    assert_null(wk_forward(wk_nn_batch_norm1d(3), wk_ones((1, 3))));
    expect_error("batch_norm: training needs more than one element per channel", NULL);
    assert_null(wk_nn_batch_norm1d(-1));
    expect_error("nn_batch_norm1d: features and .eps must be at least 0, got -1", NULL);
    assert_null(wk_nn_batch_norm2d(1, .eps = -1));
    expect_error("nn_batch_norm2d: features and .eps must be at least 0, got 1 and -1", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_and_evaluation),
        cmocka_unit_test(cumulative_statistics_are_means_of_batches),
        cmocka_unit_test(options),
        cmocka_unit_test(a_layer_is_trained_saved_and_moved),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests_name("nn_normalisation", tests, NULL, NULL);
}

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

static void a_failed_batch_is_not_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_batch_norm1d(2, .cumulative = true);
    assert_null(wk_forward(m, wk_ones((1, 2))));
    expect_error("more than one element per channel", NULL);
    assert_int_equal((int)wk_item(wk_module_buffer(m, "num_batches_tracked")), 0);
}

/* Values of torch.nn.InstanceNorm1d(3, affine=True, track_running_stats=True). */
static void instance_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_sin(wk_mul(wk_reshape(wk_arange(12, .dtype = WK_F64), (2, 3, 2)), 1.7));
    wk_module *m = wk_nn_instance_norm1d(3, .affine = true, .running_stats = true, .dtype = WK_F64);
    assert_non_null(wk_forward(m, x));
    EXPECT_VALUES(wk_module_buffer(m, "running_mean"), 1e-9, -0.0081586747, 0.0018636651, 0.0045550987);
    EXPECT_VALUES(wk_module_buffer(m, "running_var"), 1e-9, 0.9247520032, 0.9165775019, 0.9188158664);
    wk_module_train(m, false);
    wk_tensor *out = wk_forward(m, wk_select(x, 0, 0)); /* without a batch */
    EXPECT_SHAPE(out, 3, 2);
    EXPECT_VALUES(out, 1e-9, 0.0084840776, 1.0397007214, -0.2688621209, -0.9689702750, 0.5107257672, 0.8282600383);
    wk_module *plain = wk_nn_instance_norm2d(7);
    assert_int_equal(wk_tensors_count(wk_parameters(plain)) + wk_tensors_count(wk_buffers(plain)), 0);
    EXPECT_VALUES(wk_forward(plain, wk_of(float, (1, 1, 2), 1, 3)), 1e-4, -1, 1);
}

/* Values of torch.nn.GroupNorm(2, 4), RMSNorm((2,)), LocalResponseNorm(3, alpha=0.5, beta=1, k=2). */
static void other_layers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *group = wk_nn_group_norm(2, 4, .dtype = WK_F64);
    wk_tensor *x = wk_sin(wk_mul(wk_reshape(wk_arange(8, .dtype = WK_F64), (1, 4, 2)), 1.7));
    EXPECT_VALUES(wk_forward(group, x), 1e-9, 0.0688647582, 1.5089070747, -0.3022182899, -1.2755535430, 0.7558725811,
                  1.2155795254, -1.0474516942, -0.9240004124);
    assert_int_equal(wk_tensors_count(wk_parameters(group)), 2);
    assert_int_equal(wk_tensors_count(wk_parameters(wk_nn_group_norm(2, 4, .no_bias = true))), 1);
    assert_int_equal(wk_tensors_count(wk_parameters(wk_nn_group_norm(2, 4, .no_affine = true))), 0);
    wk_module *root = wk_nn_rms_norm((2));
    EXPECT_VALUES(wk_forward(root, wk_of(float, (1, 2), 3, 4)), 1e-4, 0.8485, 1.1314);
    assert_int_equal(wk_tensors_count(wk_parameters(root)), 1);
    EXPECT_VALUES(wk_forward(wk_nn_rms_norm((1), .no_affine = true, .eps = 3), wk_of(float, (1, 1), 1)), 1e-6, 0.5);
    wk_module *response = wk_nn_local_response_norm(3, .alpha = 0.5, .beta = 1, .k = 2);
    EXPECT_VALUES(wk_forward(response, wk_of(float, (1, 3, 1), 1, 2, 3)), 1e-4, 0.3529, 0.4615, 0.7200);
    EXPECT_VALUES(wk_forward(wk_nn_local_response_norm(1, .alpha = 0), wk_of(float, (1, 1, 1), 2)), 0, 2);
}

static void lazy_layers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *batch = wk_nn_lazy_batch_norm2d(), *instance = wk_nn_lazy_instance_norm1d(.affine = true, .eps = 0.5);
    assert_null(wk_parameters(batch));
    expect_error("lazy", NULL);
    assert_non_null(wk_forward(batch, wk_rand((2, 5, 3, 3), .dtype = WK_F64)));
    EXPECT_SHAPE(wk_module_parameter(batch, "weight"), 5);
    EXPECT_SHAPE(wk_module_buffer(batch, "running_var"), 5);
    assert_int_equal(wk_dtype_of(wk_module_parameter(batch, "bias")), WK_F64);
    assert_null(wk_forward(batch, wk_ones((2, 4, 3, 3))));
    expect_error("lazy_batch_norm2d: expected an input with 5 channels in dimension 1, got f32[2,4,3,3]", NULL);
    assert_non_null(wk_forward(instance, wk_rand((6, 3))));
    EXPECT_SHAPE(wk_module_parameter(instance, "weight"), 6);
    assert_null(wk_nn_lazy_batch_norm_at(WK_HERE, 4, NULL));
    expect_error("nn_lazy_batch_norm: dims must be 1, 2 or 3, got 4", NULL);
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
    assert_null(wk_forward(wk_nn_instance_norm2d(3), wk_ones((2, 3))));
    expect_error("instance_norm2d: expected an input (N, C, H, W) or (C, H, W), got f32[2,3]", NULL);
    assert_null(wk_forward(wk_nn_instance_norm1d(3, .affine = true), wk_ones((4, 2))));
    expect_error("expected an input with 3 channels in dimension 0, got f32[4,2]", NULL);
    assert_null(wk_nn_group_norm(3, 4));
    expect_error("nn_group_norm: groups must be positive and divide channels, got 3 and 4", NULL);
    assert_null(wk_nn_group_norm(2, 4, .eps = -1));
    expect_error("nn_group_norm: .eps must be at least 0, got -1", NULL);
    assert_null(wk_nn_rms_norm((2), .eps = -1));
    expect_error("nn_rms_norm: .eps must be at least 0, got -1", NULL);
    assert_null(wk_nn_rms_norm(()));
    expect_error("nn_rms_norm: the shape must have 1 to 8 dimensions, got 0", NULL);
    assert_null(wk_nn_local_response_norm(0));
    expect_error("nn_local_response_norm: size must be at least 1, got 0", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_and_evaluation),
        cmocka_unit_test(cumulative_statistics_are_means_of_batches),
        cmocka_unit_test(a_failed_batch_is_not_counted),
        cmocka_unit_test(instance_norm),
        cmocka_unit_test(other_layers),
        cmocka_unit_test(lazy_layers),
        cmocka_unit_test(options),
        cmocka_unit_test(a_layer_is_trained_saved_and_moved),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests_name("nn_normalisation", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the convolution layers: parameters, initial values, padding modes, lazy forms and messages. */
#include "support/wick.h"
#include <math.h>

static void expect_same(wk_tensor *a, wk_tensor *b)
{
    expect_ok();
    assert_true(a && b && wk_item(wk_amax(wk_abs(wk_sub(a, b)))) < 1e-6);
}

static void a_layer_is_its_op(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m =
        wk_nn_conv2d(4, 6, (3, 2), .stride = WK_PAIR(2, 1), .padding = 1, .dilation = WK_PAIR(1, 2), .groups = 2);
    wk_tensor *weight = wk_module_parameter(m, "weight"), *bias = wk_module_parameter(m, "bias"),
              *x = wk_rand((2, 4, 7, 8));
    EXPECT_SHAPE(weight, 6, 2, 3, 2);
    EXPECT_SHAPE(bias, 6);
    wk_tensor *y = wk_forward(m, x);
    EXPECT_SHAPE(y, 2, 6, 4, 8);
    expect_same(
        y, wk_conv2d(x, weight, bias, .stride = WK_PAIR(2, 1), .padding = 1, .dilation = WK_PAIR(1, 2), .groups = 2));
    EXPECT_SHAPE(wk_forward(m, wk_rand((4, 7, 8))), 6, 4, 8);
    EXPECT_SHAPE(wk_forward(wk_nn_conv1d(3, 5, 4), wk_rand((2, 3, 9))), 2, 5, 6);
    EXPECT_SHAPE(wk_forward(wk_nn_conv3d(3, 5, (1, 2, 3), .no_bias = true), wk_rand((2, 3, 4, 5, 6))), 2, 5, 4, 4, 4);
    expect_ok();
}

/* Gradients by the input of a batch, for which the weight is copied, and of its samples, for which it is not; and of
 * the gradient. */
static void gradients_of_a_batch_are_those_of_its_samples(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *weight = wk_rand((5, 3, 3, 2), .dtype = WK_F64, .requires_grad = true), *part[8];
    wk_tensor *y = wk_rand((8, 5, 12, 12), .dtype = WK_F64);
    wk_tensor *x = wk_conv2d_input((8, 3, 14, 13), weight, y);
    wk_tensor *strided = wk_conv2d_input((8, 3, 26, 25), weight, y, .stride = 2);
    for (int k = 0; k < 8; k++) part[k] = wk_conv2d_input((1, 3, 14, 13), weight, wk_unsqueeze(wk_select(y, 0, k), 0));
    wk_tensor *samples = wk_cat(WK_ARRAY(part, 8), 0);
    expect_same(x, samples);
    for (int k = 0; k < 8; k++)
        part[k] = wk_conv2d_input((1, 3, 26, 25), weight, wk_unsqueeze(wk_select(y, 0, k), 0), .stride = 2);
    expect_same(strided, wk_cat(WK_ARRAY(part, 8), 0));
    wk_tensor *grad, *of_samples;
    assert_int_equal(wk_grad((wk_sum(wk_mul(x, x))), (weight), &grad), WK_OK);
    assert_int_equal(wk_grad((wk_sum(wk_mul(samples, samples))), (weight), &of_samples), WK_OK);
    expect_same(wk_div(grad, wk_amax(wk_abs(grad))), wk_div(of_samples, wk_amax(wk_abs(grad))));
}

static void a_transposed_layer_is_its_op(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m =
        wk_nn_conv_transpose2d(4, 6, 3, .stride = 2, .padding = 1, .output_padding = WK_PAIR(1, 0), .groups = 2);
    wk_tensor *x = wk_rand((2, 4, 5, 4));
    EXPECT_SHAPE(wk_module_parameter(m, "weight"), 4, 3, 3, 3);
    wk_tensor *y = wk_forward(m, x);
    EXPECT_SHAPE(y, 2, 6, 10, 7);
    expect_same(y, wk_conv_transpose2d(x, wk_module_parameter(m, "weight"), wk_module_parameter(m, "bias"), .stride = 2,
                                       .padding = 1, .output_padding = WK_PAIR(1, 0), .groups = 2));
    EXPECT_SHAPE(wk_forward(wk_nn_conv_transpose1d(3, 5, 4), wk_rand((2, 3, 9))), 2, 5, 12);
    EXPECT_SHAPE(wk_forward(wk_nn_conv_transpose3d(3, 5, 2), wk_rand((1, 3, 2, 3, 4))), 1, 5, 3, 4, 5);
    expect_ok();
}

/* Uniform in +-1 / sqrt(fan_in). */
static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *m = wk_nn_conv2d(16, 64, 5, .groups = 2), *t = wk_nn_conv_transpose2d(64, 16, 5, .groups = 2);
    const double bound = 1 / sqrt(8 * 25);
    wk_tensor *values[] = {wk_module_parameter(m, "weight"), wk_module_parameter(m, "bias"),
                           wk_module_parameter(t, "weight"), wk_module_parameter(t, "bias")};
    for (int k = 0; k < 4; k++) {
        const double most = wk_item(wk_amax(wk_abs(values[k])));
        assert_true(most <= bound && most > 0.8 * bound);
        if (k % 2 == 0) assert_true(fabs(wk_item(wk_std(values[k])) * sqrt(3) / bound - 1) < 0.02);
    }
    assert_null(wk_tensors_find(wk_parameters(wk_nn_conv1d(2, 2, 1, .no_bias = true)), "bias"));
    expect_ok();
}

static void padding_modes(void **state)
{
    (void)state;
    WK_SCOPE;
    const int modes[] = {WK_PAD_REFLECT, WK_PAD_REPLICATE, WK_PAD_CIRCULAR};
    wk_tensor *x = wk_rand((2, 3, 6, 7));
    for (int k = 0; k < 3; k++) {
        wk_module *m = wk_nn_conv2d(3, 4, 3, .padding = WK_PAIR(1, 2), .padding_mode = modes[k]);
        wk_tensor *wide = wk_pad(x, (2, 2, 1, 1), .mode = modes[k]);
        expect_same(wk_forward(m, x),
                    wk_conv2d(wide, wk_module_parameter(m, "weight"), wk_module_parameter(m, "bias")));
    }
    wk_module *same = wk_nn_conv2d(3, 4, (2, 3), .padding = WK_SAME, .padding_mode = WK_PAD_CIRCULAR);
    EXPECT_SHAPE(wk_forward(same, x), 2, 4, 6, 7);
    EXPECT_SHAPE(wk_forward(wk_nn_conv2d(3, 4, (2, 4), .padding = WK_SAME), x), 2, 4, 6, 7);
    expect_ok();
}

static void lazy_layers_take_their_channels_from_the_input(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_lazy_conv2d(6, 3, .groups = 2), *t = wk_nn_lazy_conv_transpose1d(6, 3, .no_bias = true);
    assert_null(wk_parameters(m));
    expect_error("lazy", NULL);
    EXPECT_SHAPE(wk_forward(m, wk_rand((2, 4, 5, 5), .dtype = WK_F64)), 2, 6, 3, 3);
    EXPECT_SHAPE(wk_module_parameter(m, "weight"), 6, 2, 3, 3);
    assert_int_equal(wk_dtype_of(wk_module_parameter(m, "bias")), WK_F64);
    EXPECT_SHAPE(wk_forward(t, wk_rand((4, 5))), 6, 7);
    EXPECT_SHAPE(wk_module_parameter(t, "weight"), 4, 6, 3);
    expect_ok();
    assert_null(wk_forward(wk_nn_lazy_conv2d(6, 3, .groups = 2), wk_rand((2, 3, 5, 5))));
    expect_error("groups", "in 3", NULL);
    assert_null(wk_forward(wk_nn_lazy_conv2d(6, 3), wk_rand((5, 5))));
    expect_error("3 or 4 dimensions, got 2", NULL);
}

static void layers_are_printed_as_by_pytorch(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_string_equal(wk_module_str(wk_nn_conv2d(1, 6, 5)), "Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1))");
    assert_string_equal(wk_module_str(wk_nn_conv2d(1, 6, 5, .padding = WK_SAME, .dilation = 2, .no_bias = true,
                                                   .padding_mode = WK_PAD_REFLECT)),
                        "Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=same, dilation=(2, 2), bias=False, "
                        "padding_mode=reflect)");
    assert_string_equal(wk_module_str(wk_nn_conv_transpose2d(2, 4, 3, .stride = 2, .padding = WK_PAIR(0, 1),
                                                             .output_padding = 1, .groups = 2, .dilation = 2)),
                        "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), padding=(0, 1), dilation=(2, 2), "
                        "output_padding=(1, 1), groups=2)");
    wk_module *lazy = wk_nn_lazy_conv1d(6, 3);
    assert_string_equal(wk_module_str(lazy), "LazyConv1d(0, 6, kernel_size=(3,), stride=(1,))");
    assert_non_null(wk_forward(lazy, wk_rand((2, 5, 7))));
    assert_string_equal(wk_module_str(lazy), "Conv1d(5, 6, kernel_size=(3,), stride=(1,))");
    expect_ok();
}

static void mistakes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_conv2d(3, 4, (3, 3, 3)));
    expect_error("nn_conv2d", "kernel has 3 numbers for 2 dimensions", "(a, b)", NULL);
    assert_null(wk_nn_conv2d(3, 4, 0));
    expect_error("nn_conv2d", "kernel must be at least 1, got 0", NULL);
    assert_null(wk_nn_conv2d(-1, 4, 3));
    expect_error("nn_conv2d", "got -1 and 4", NULL);
    assert_null(wk_nn_conv2d(3, 4, 3, .groups = 2));
    expect_error("nn_conv2d", "groups", "in 3, out 4", NULL);
    assert_null(wk_nn_conv2d(3, 4, 3, .stride = WK_PAIR(1, 0)));
    expect_error("nn_conv2d", "stride must be at least 1, got 0", NULL);
    assert_null(wk_nn_conv1d(3, 4, 3, .padding = WK_PAIR(1, 0)));
    expect_error("nn_conv1d", "padding has 2 numbers for 1 dimension", NULL);
    assert_null(wk_nn_conv2d(3, 4, 3, .stride = 2, .padding = WK_SAME, .padding_mode = WK_PAD_REFLECT));
    expect_error("nn_conv2d", "WK_SAME needs stride 1, got 2", NULL);
    assert_null(wk_nn_conv2d(3, 4, 3, .padding_mode = 9));
    expect_error("nn_conv2d", "padding_mode 9", "WK_PAD_REFLECT", NULL);
    assert_null(wk_nn_conv_transpose2d(3, 4, 3, .padding = WK_SAME));
    expect_error("nn_conv_transpose2d", "padding must be given in numbers", NULL);
    assert_null(wk_forward(wk_nn_conv2d(1, 4, 3), wk_rand((8, 8))));
    expect_error("expected an input of 4 dimensions (samples, channels, 2 spatial), or of 3 for one sample: f32[8,8]",
                 "; add the missing first dimension with wk_unsqueeze(x, 0)", NULL);
    assert_null(wk_forward(wk_nn_lazy_conv2d(4, 3), wk_rand((8, 8))));
    expect_error("expected an input of 3 or 4 dimensions, got 2; add", "wk_unsqueeze(x, 0)", NULL);
    assert_null(wk_forward(wk_nn_conv2d(3, 4, 3), wk_rand((2, 5, 8, 8))));
    expect_error("the input has 5 channels, but the weight expects 3", NULL);
    assert_null(wk_forward(wk_nn_conv_transpose2d(3, 4, 3, .output_padding = 1), wk_rand((2, 3, 8, 8))));
    expect_error("output_padding (1)", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_is_its_op),
        cmocka_unit_test(a_transposed_layer_is_its_op),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(padding_modes),
        cmocka_unit_test(lazy_layers_take_their_channels_from_the_input),
        cmocka_unit_test(layers_are_printed_as_by_pytorch),
        cmocka_unit_test(gradients_of_a_batch_are_those_of_its_samples),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

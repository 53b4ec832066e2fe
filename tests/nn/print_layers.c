/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text of every kind of layer. Expected texts are those of PyTorch 2.15 for the same arguments; numbers that
 * are double in C are float in Python. */
#include "support/wick.h"

/* A layer and its text. */
typedef struct layer {
    wk_module *module;
    const char *text;
} layer;

static void expect_texts(const layer *layers, int count)
{
    expect_ok();
    for (int k = 0; k < count; k++) {
        const char *given = wk_module_str(layers[k].module);
        expect_ok();
        assert_string_equal(given, layers[k].text);
    }
}

static void normalisation(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_batch_norm1d(4), "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, "
                                "track_running_stats=True)"},
        {wk_nn_batch_norm2d(4, .eps = 0.001, .momentum = 0.01, .no_bias = true),
         "BatchNorm2d(4, eps=0.001, momentum=0.01, affine=True, bias=False, track_running_stats=True)"},
        {wk_nn_batch_norm3d(4, .cumulative = true, .no_affine = true, .no_running_stats = true),
         "BatchNorm3d(4, eps=1e-05, momentum=None, affine=False, bias=False, track_running_stats=False)"},
        {wk_nn_lazy_batch_norm1d(), "LazyBatchNorm1d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, "
                                    "track_running_stats=True)"},
        {wk_nn_instance_norm1d(4), "InstanceNorm1d(4, eps=1e-05, momentum=0.1, affine=False, bias=False, "
                                   "track_running_stats=False)"},
        {wk_nn_instance_norm2d(4, .affine = true, .momentum = 0),
         "InstanceNorm2d(4, eps=1e-05, momentum=0.0, affine=True, bias=True, track_running_stats=False)"},
        {wk_nn_instance_norm3d(4, .eps = 0.1, .running_stats = true),
         "InstanceNorm3d(4, eps=0.1, momentum=0.1, affine=False, bias=False, track_running_stats=True)"},
        {wk_nn_lazy_instance_norm2d(.affine = true, .running_stats = true),
         "LazyInstanceNorm2d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"},
        {wk_nn_group_norm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"},
        {wk_nn_group_norm(2, 4, .eps = 0.5, .no_affine = true), "GroupNorm(2, 4, eps=0.5, affine=False, bias=False)"},
        {wk_nn_rms_norm((4)), "RMSNorm((4,), eps=None, elementwise_affine=True)"},
        {wk_nn_rms_norm((4, 3), .eps = 1e-6, .no_affine = true),
         "RMSNorm((4, 3), eps=1e-06, elementwise_affine=False)"},
        {wk_nn_layer_norm((4)), "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)"},
        {wk_nn_local_response_norm(5), "LocalResponseNorm(5, alpha=0.0001, beta=0.75, k=1.0)"},
        {wk_nn_local_response_norm(5, .alpha = 0.001, .beta = 0.5, .k = 2),
         "LocalResponseNorm(5, alpha=0.001, beta=0.5, k=2.0)"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void recurrent(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_rnn(3, 4, .num_layers = 2, .no_bias = true, .batch_first = true, .dropout = 0.5, .bidirectional = true),
         "RNN(3, 4, num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)"},
        {wk_nn_rnn(3, 4, .nonlinearity = WK_RNN_RELU), "RNN(3, 4)"},
        {wk_nn_gru(3, 4), "GRU(3, 4)"},
        {wk_nn_lstm(3, 4, .proj_size = 2), "LSTM(3, 4, proj_size=2)"},
        {wk_nn_rnn_cell(3, 4, .no_bias = true, .nonlinearity = WK_RNN_RELU),
         "RNNCell(3, 4, bias=False, nonlinearity=relu)"},
        {wk_nn_gru_cell(3, 4), "GRUCell(3, 4)"},
        {wk_nn_lstm_cell(3, 4), "LSTMCell(3, 4)"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void lazy_layers_after_a_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *batch = wk_nn_lazy_batch_norm2d(), *instance = wk_nn_lazy_instance_norm1d(.affine = true);
    assert_non_null(wk_forward(batch, wk_ones((2, 3, 4, 4))));
    assert_non_null(wk_forward(instance, wk_ones((2, 3, 4))));
    const layer layers[] = {
        {batch, "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"},
        {instance, "InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=False)"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void activations(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_celu(), "CELU(alpha=1.0)"},
        {wk_nn_celu(.alpha = 0.5), "CELU(alpha=0.5)"},
        {wk_nn_elu(), "ELU(alpha=1.0)"},
        {wk_nn_elu(.alpha = 0), "ELU(alpha=0.0)"},
        {wk_nn_gelu(), "GELU(approximate='none')"},
        {wk_nn_gelu(.approximate = WK_GELU_TANH), "GELU(approximate='tanh')"},
        {wk_nn_hardshrink(), "Hardshrink(0.5)"},
        {wk_nn_hardshrink(.lambd = 0.25), "Hardshrink(0.25)"},
        {wk_nn_hardsigmoid(), "Hardsigmoid()"},
        {wk_nn_hardswish(), "Hardswish()"},
        {wk_nn_hardtanh(), "Hardtanh(min_val=-1.0, max_val=1.0)"},
        {wk_nn_hardtanh(.max_val = 3), "Hardtanh(min_val=-1.0, max_val=3.0)"},
        {wk_nn_leaky_relu(), "LeakyReLU(negative_slope=0.01)"},
        {wk_nn_leaky_relu(.negative_slope = 0.2), "LeakyReLU(negative_slope=0.2)"},
        {wk_nn_log_sigmoid(), "LogSigmoid()"},
        {wk_nn_mish(), "Mish()"},
        {wk_nn_prelu(), "PReLU(num_parameters=1)"},
        {wk_nn_prelu(.num_parameters = 3, .init = 0.5), "PReLU(num_parameters=3)"},
        {wk_nn_relu(), "ReLU()"},
        {wk_nn_relu6(), "ReLU6()"},
        {wk_nn_rrelu(), "RReLU(lower=0.125, upper=0.3333333333333333)"},
        {wk_nn_rrelu(.lower = 0.25, .upper = 0.5), "RReLU(lower=0.25, upper=0.5)"},
        {wk_nn_selu(), "SELU()"},
        {wk_nn_sigmoid(), "Sigmoid()"},
        {wk_nn_silu(), "SiLU()"},
        {wk_nn_softplus(), "Softplus(beta=1.0, threshold=20.0)"},
        {wk_nn_softplus(.beta = 2, .threshold = 10), "Softplus(beta=2.0, threshold=10.0)"},
        {wk_nn_softshrink(), "Softshrink(0.5)"},
        {wk_nn_softshrink(.lambd = 1), "Softshrink(1.0)"},
        {wk_nn_softsign(), "Softsign()"},
        {wk_nn_tanh(), "Tanh()"},
        {wk_nn_tanhshrink(), "Tanhshrink()"},
        {wk_nn_glu(), "GLU(dim=-1)"},
        {wk_nn_glu(0), "GLU(dim=0)"},
        {wk_nn_softmax(1), "Softmax(dim=1)"},
        {wk_nn_softmin(1), "Softmin(dim=1)"},
        {wk_nn_log_softmax(-1), "LogSoftmax(dim=-1)"},
        {wk_nn_threshold(0.5, 2), "Threshold(threshold=0.5, value=2.0)"},
        {wk_nn_dropout1d(0.5), "Dropout1d(p=0.5, inplace=False)"},
        {wk_nn_dropout2d(0.5), "Dropout2d(p=0.5, inplace=False)"},
        {wk_nn_dropout3d(0.5), "Dropout3d(p=0.5, inplace=False)"},
        {wk_nn_alpha_dropout(0.5), "AlphaDropout(p=0.5, inplace=False)"},
        {wk_nn_feature_alpha_dropout(0.5), "FeatureAlphaDropout(p=0.5, inplace=False)"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void convolutions(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_conv1d(3, 4, 5), "Conv1d(3, 4, kernel_size=(5,), stride=(1,))"},
        {wk_nn_conv2d(3, 4, (3, 5), .stride = 2, .padding = WK_PAIR(1, 2), .no_bias = true),
         "Conv2d(3, 4, kernel_size=(3, 5), stride=(2, 2), padding=(1, 2), bias=False)"},
        {wk_nn_conv3d(4, 4, 1, .groups = 2), "Conv3d(4, 4, kernel_size=(1, 1, 1), stride=(1, 1, 1), groups=2)"},
        {wk_nn_lazy_conv2d(4, 3), "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1))"},
        {wk_nn_conv_transpose1d(3, 4, 5), "ConvTranspose1d(3, 4, kernel_size=(5,), stride=(1,))"},
        {wk_nn_conv_transpose2d(3, 4, 5, .stride = 2, .output_padding = 1),
         "ConvTranspose2d(3, 4, kernel_size=(5, 5), stride=(2, 2), output_padding=(1, 1))"},
        {wk_nn_conv_transpose3d(3, 4, 1), "ConvTranspose3d(3, 4, kernel_size=(1, 1, 1), stride=(1, 1, 1))"},
        {wk_nn_lazy_conv_transpose1d(4, 3), "LazyConvTranspose1d(0, 4, kernel_size=(3,), stride=(1,))"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void pooling(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_max_pool1d(3), "MaxPool1d(kernel_size=3, stride=3, padding=0, dilation=1, ceil_mode=False)"},
        {wk_nn_max_pool2d(3, .stride = 2), "MaxPool2d(kernel_size=3, stride=2, padding=0, dilation=1, "
                                           "ceil_mode=False)"},
        {wk_nn_max_pool2d((3, 2), .stride = WK_PAIR(2, 1), .padding = WK_PAIR(1, 0), .dilation = WK_PAIR(1, 2),
                          .ceil_mode = true),
         "MaxPool2d(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), ceil_mode=True)"},
        {wk_nn_max_pool3d((3, 2, 1), .return_indices = true),
         "MaxPool3d(kernel_size=(3, 2, 1), stride=(3, 2, 1), padding=0, dilation=1, ceil_mode=False)"},
        {wk_nn_avg_pool1d(3), "AvgPool1d(kernel_size=(3,), stride=(3,), padding=(0,))"},
        {wk_nn_avg_pool1d(3, .stride = 2, .padding = 1, .ceil_mode = true),
         "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))"},
        {wk_nn_avg_pool2d((3, 2), .stride = WK_PAIR(2, 1), .padding = 1),
         "AvgPool2d(kernel_size=(3, 2), stride=(2, 1), padding=1)"},
        {wk_nn_avg_pool3d(3, .stride = 2, .padding = WK_TRIPLE(1, 0, 1)),
         "AvgPool3d(kernel_size=3, stride=2, padding=(1, 0, 1))"},
        {wk_nn_lp_pool1d(2, 3), "LPPool1d(norm_type=2.0, kernel_size=3, stride=None, ceil_mode=False)"},
        {wk_nn_lp_pool2d(1.5, (3, 2), .stride = WK_PAIR(2, 2), .ceil_mode = true),
         "LPPool2d(norm_type=1.5, kernel_size=(3, 2), stride=(2, 2), ceil_mode=True)"},
        {wk_nn_lp_pool3d(2, 3, .stride = 2), "LPPool3d(norm_type=2.0, kernel_size=3, stride=2, ceil_mode=False)"},
        {wk_nn_adaptive_avg_pool1d(5), "AdaptiveAvgPool1d(output_size=5)"},
        {wk_nn_adaptive_avg_pool2d((-1, 5)), "AdaptiveAvgPool2d(output_size=(None, 5))"},
        {wk_nn_adaptive_avg_pool3d(1), "AdaptiveAvgPool3d(output_size=1)"},
        {wk_nn_adaptive_max_pool1d(5), "AdaptiveMaxPool1d(output_size=5)"},
        {wk_nn_adaptive_max_pool2d((7, 5)), "AdaptiveMaxPool2d(output_size=(7, 5))"},
        {wk_nn_adaptive_max_pool3d(1, .return_indices = true), "AdaptiveMaxPool3d(output_size=1)"},
        {wk_nn_max_unpool1d(3), "MaxUnpool1d(kernel_size=(3,), stride=(3,), padding=(0,))"},
        {wk_nn_max_unpool2d(3, .stride = 2, .padding = 1),
         "MaxUnpool2d(kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))"},
        {wk_nn_max_unpool3d(3), "MaxUnpool3d(kernel_size=(3, 3, 3), stride=(3, 3, 3), padding=(0, 0, 0))"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void padding(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_zero_pad1d(1), "ZeroPad1d((1, 1))"},
        {wk_nn_zero_pad2d((1, -1, 3, 4)), "ZeroPad2d((1, -1, 3, 4))"},
        {wk_nn_zero_pad3d(1), "ZeroPad3d((1, 1, 1, 1, 1, 1))"},
        {wk_nn_reflection_pad1d((1, 2)), "ReflectionPad1d((1, 2))"},
        {wk_nn_reflection_pad2d(1), "ReflectionPad2d((1, 1, 1, 1))"},
        {wk_nn_reflection_pad3d(1), "ReflectionPad3d((1, 1, 1, 1, 1, 1))"},
        {wk_nn_replication_pad1d(1), "ReplicationPad1d((1, 1))"},
        {wk_nn_replication_pad2d(1), "ReplicationPad2d((1, 1, 1, 1))"},
        {wk_nn_replication_pad3d(1), "ReplicationPad3d((1, 1, 1, 1, 1, 1))"},
        {wk_nn_circular_pad1d(1), "CircularPad1d((1, 1))"},
        {wk_nn_circular_pad2d(1), "CircularPad2d((1, 1, 1, 1))"},
        {wk_nn_circular_pad3d(1), "CircularPad3d((1, 1, 1, 1, 1, 1))"},
        {wk_nn_constant_pad1d(1, 0.5), "ConstantPad1d(padding=(1, 1), value=0.5)"},
        {wk_nn_constant_pad2d(1, 3), "ConstantPad2d(padding=(1, 1, 1, 1), value=3.0)"},
        {wk_nn_constant_pad3d((1, 2, 3, 4, 5, 6), 0), "ConstantPad3d(padding=(1, 2, 3, 4, 5, 6), value=0.0)"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

static void shuffling_and_resampling(void **state)
{
    (void)state;
    WK_SCOPE;
    const layer layers[] = {
        {wk_nn_pixel_shuffle(2), "PixelShuffle(upscale_factor=2)"},
        {wk_nn_pixel_unshuffle(2), "PixelUnshuffle(downscale_factor=2)"},
        {wk_nn_channel_shuffle(2), "ChannelShuffle(groups=2)"},
        {wk_nn_upsample(5), "Upsample(size=5, mode='nearest')"},
        {wk_nn_upsample((5, 6), .mode = WK_INTERPOLATE_BILINEAR, .align_corners = true),
         "Upsample(size=(5, 6), mode='bilinear')"},
        {wk_nn_upsample(5, .mode = WK_INTERPOLATE_LINEAR), "Upsample(size=5, mode='linear')"},
        {wk_nn_upsample(5, .mode = WK_INTERPOLATE_TRILINEAR), "Upsample(size=5, mode='trilinear')"},
        {wk_nn_upsample(5, .mode = WK_INTERPOLATE_AREA), "Upsample(size=5, mode='area')"},
        {wk_nn_upsample(5, .mode = WK_INTERPOLATE_NEAREST_EXACT), "Upsample(size=5, mode='nearest-exact')"},
        {wk_nn_upsample(0, .scale_factor = 2), "Upsample(scale_factor=2.0, mode='nearest')"},
        {wk_nn_upsample(0, .scale_factor = 2.5, .mode = WK_INTERPOLATE_BICUBIC),
         "Upsample(scale_factor=2.5, mode='bicubic')"},
        {wk_nn_upsample(0, .scales_h = 2, .scales_w = 1.5), "Upsample(scale_factor=(2.0, 1.5), mode='nearest')"},
        {wk_nn_upsample(0, .scale_factor = 3, .scales_d = 2), "Upsample(scale_factor=(2.0, 3.0, 3.0), mode='nearest')"},
        {wk_nn_upsample(0, .scales_w = 2), "Upsample(scale_factor=(2.0,), mode='nearest')"},
        {wk_nn_upsampling_nearest2d((5, 6)), "UpsamplingNearest2d(size=(5, 6), mode='nearest')"},
        {wk_nn_upsampling_bilinear2d(0, .scale_factor = 2), "UpsamplingBilinear2d(scale_factor=2.0, mode='bilinear')"},
        {wk_nn_unfold(3), "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)"},
        {wk_nn_unfold((3, 2), .dilation = 2, .padding = WK_PAIR(1, 0), .stride = 2),
         "Unfold(kernel_size=(3, 2), dilation=2, padding=(1, 0), stride=2)"},
        {wk_nn_fold(5, 3), "Fold(output_size=5, kernel_size=3, dilation=1, padding=0, stride=1)"},
        {wk_nn_fold((5, 6), (3, 2), .dilation = 2, .padding = 1, .stride = WK_PAIR(2, 2)),
         "Fold(output_size=(5, 6), kernel_size=(3, 2), dilation=2, padding=1, stride=(2, 2))"},
    };
    expect_texts(layers, sizeof layers / sizeof *layers);
}

/* Networks bear the names of torchvision's classes. */
static void networks(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device null = test_null();
    const layer nets[] = {{wk_nn_alexnet(.device = null), "AlexNet(\n  (features): Sequential(\n"},
                          {wk_nn_densenet(121, .device = null), "DenseNet(\n  (features): Sequential(\n"},
                          {wk_nn_googlenet(.device = null), "GoogLeNet(\n  (conv1): "},
                          {wk_nn_mobilenet_v2(.device = null), "MobileNetV2(\n  (features): Sequential(\n"},
                          {wk_nn_resnet(18, .device = null), "ResNet(\n  (conv1): Conv2d(3, 64, "},
                          {wk_nn_vgg(11, .device = null), "VGG(\n  (features): Sequential(\n"},
                          {wk_nn_vit(.device = null), "VisionTransformer(\n  (conv_proj): Conv2d(3, 768, "}};
    for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
        const char *given = wk_module_str(nets[k].module);
        expect_ok();
        assert_ptr_equal(strstr(given, nets[k].text), given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalisation), cmocka_unit_test(recurrent),    cmocka_unit_test(lazy_layers_after_a_call),
        cmocka_unit_test(activations),   cmocka_unit_test(convolutions), cmocka_unit_test(pooling),
        cmocka_unit_test(padding),       cmocka_unit_test(networks),     cmocka_unit_test(shuffling_and_resampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

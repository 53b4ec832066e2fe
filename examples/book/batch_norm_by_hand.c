/* SPDX-License-Identifier: Apache-2.0 */
/* LeNet with batch normalisation, written as a layer of the program: training normalises with the mean and variance of
 * the batch, evaluation with their moving averages. Dive into Deep Learning, Batch Normalization. batch_norm.c uses the
 * layer of the library instead.
 *
 *     batch_norm_by_hand [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

/* ---- the layer --------------------------------------------------------------------------------------------------- */

/* The mean over all dimensions but that of the channels: x is (N, C) or (N, C, H, W). */
static wk_tensor *channel_mean(wk_tensor *x)
{
    return wk_ndim(x) == 2 ? wk_mean(x, (0), .keepdim = true) : wk_mean(x, (0, 2, 3), .keepdim = true);
}

static wk_tensor *batch_norm(wk_module *self, wk_tensor *x)
{
    const double momentum = 0.1, eps = 1e-5;
    wk_tensor *mean = wk_module_buffer(self, "moving_mean"), *var = wk_module_buffer(self, "moving_var");
    if (wk_module_training(self)) {
        wk_tensor *old_mean = mean, *old_var = var;
        mean = channel_mean(x);
        var = channel_mean(wk_pow(wk_sub(x, mean), 2));
        WK_NO_GRAD;
        wk_module_set_buffer(self, "moving_mean", wk_lerp(old_mean, mean, momentum));
        wk_module_set_buffer(self, "moving_var", wk_lerp(old_var, var, momentum));
    }
    wk_tensor *normal = wk_div(wk_sub(x, mean), wk_sqrt(wk_add(var, eps)));
    return wk_add(wk_mul(wk_module_parameter(self, "gamma"), normal), wk_module_parameter(self, "beta"));
}

/* dims: 2 after a linear layer, 4 after a convolution. The shapes (1, C) and (1, C, 1, 1) broadcast with x. */
static wk_module *new_batch_norm(int64_t channels, int dims)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "batch_norm", .forward1 = batch_norm};
    const int64_t shape[] = {1, channels, 1, 1};
    wk_module *m = wk_module_new(&kind);
    wk_module_add_parameter(m, "gamma", wk_ones(WK_ARRAY(shape, dims)));
    wk_module_add_parameter(m, "beta", wk_zeros(WK_ARRAY(shape, dims)));
    wk_module_set_buffer(m, "moving_mean", wk_zeros(WK_ARRAY(shape, dims)));
    wk_module_set_buffer(m, "moving_var", wk_ones(WK_ARRAY(shape, dims)));
    return m;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){
            .name = "LeNet with batch norm by hand", .size = 28, .batch = 128, .lr = 1, .epochs = 5, .train = 9000},
        argc, argv);
    wk_module *net =
        wk_nn_sequential(wk_nn_conv2d(1, 6, 5), new_batch_norm(6, 4), wk_nn_sigmoid(), wk_nn_avg_pool2d(2),
                         wk_nn_conv2d(6, 16, 5), new_batch_norm(16, 4), wk_nn_sigmoid(), wk_nn_avg_pool2d(2),
                         wk_nn_flatten(), wk_nn_linear(256, 120), new_batch_norm(120, 2), wk_nn_sigmoid(),
                         wk_nn_linear(120, 84), new_batch_norm(84, 2), wk_nn_sigmoid(), wk_nn_linear(84, 10));
    init_weights(net);
    const int status = train(net, &s);
    wk_print(wk_flatten(wk_detach(wk_module_parameter(net, "1.gamma")))); /* the scale of each channel after training */
    wk_print(wk_flatten(wk_detach(wk_module_parameter(net, "1.beta"))));
    return status;
}

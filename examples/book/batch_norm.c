/* SPDX-License-Identifier: Apache-2.0 */
/* LeNet with the library's batch normalisation. Dive into Deep Learning, Batch Normalization. batch_norm_by_hand.c
 * writes the layer itself.
 *
 *     batch_norm [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "LeNet with batch norm", .size = 28, .batch = 128, .lr = 1, .epochs = 5, .train = 9000},
        argc, argv);
    wk_module *net =
        wk_nn_sequential(wk_nn_conv2d(1, 6, 5), wk_nn_batch_norm2d(6), wk_nn_sigmoid(), wk_nn_avg_pool2d(2),
                         wk_nn_conv2d(6, 16, 5), wk_nn_batch_norm2d(16), wk_nn_sigmoid(), wk_nn_avg_pool2d(2),
                         wk_nn_flatten(), wk_nn_linear(256, 120), wk_nn_batch_norm1d(120), wk_nn_sigmoid(),
                         wk_nn_linear(120, 84), wk_nn_batch_norm1d(84), wk_nn_sigmoid(), wk_nn_linear(84, 10));
    init_weights(net);
    const int status = train(net, &s);
    wk_print(wk_detach(wk_module_parameter(net, "1.weight"))); /* gamma and beta of the first layer */
    wk_print(wk_detach(wk_module_parameter(net, "1.bias")));
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* LeNet: two convolutional layers, each followed by pooling, find features; three linear layers classify them. Dive
 * into Deep Learning, Convolutional Neural Networks (LeNet).
 *
 *     lenet [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

static wk_module *new_lenet(void)
{
    return wk_nn_sequential(                                                      /* (N, 1, 28, 28) */
                            wk_nn_conv2d(1, 6, 5, .padding = 2), wk_nn_sigmoid(), /* padding keeps 28 x 28 */
                            wk_nn_avg_pool2d(2, .stride = 2),                     /* (N, 6, 14, 14) */
                            wk_nn_conv2d(6, 16, 5), wk_nn_sigmoid(),              /* (N, 16, 10, 10) */
                            wk_nn_avg_pool2d(2, .stride = 2),                     /* (N, 16, 5, 5) */
                            wk_nn_flatten(),                                      /* (N, 400) */
                            wk_nn_linear(16 * 5 * 5, 120), wk_nn_sigmoid(), wk_nn_linear(120, 84), wk_nn_sigmoid(),
                            wk_nn_linear(84, 10));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "LeNet", .size = 28, .batch = 32, .lr = 0.9, .epochs = 10, .train = 9000}, argc, argv);
    wk_module *net = new_lenet();
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* AlexNet: larger and deeper than LeNet, with ReLU instead of the sigmoid, maximum pooling, and dropout in its linear
 * layers. Dive into Deep Learning, Deep Convolutional Neural Networks (AlexNet).
 *
 *     alexnet [DEVICE [EPOCHS [DIGITS [SVG]]]]
 *
 * The program prints the shapes of the network as it is in the book, for images of 224 x 224, and trains one with a
 * quarter of the channels on digits of 64 x 64, with a smaller first stride. */
#include "train.h"

/* ratio: by which channels and hidden units are divided. stride: of the first convolution, 4 in the book. */
static wk_module *new_alexnet(int64_t ratio, int64_t stride)
{
    const int64_t c1 = 96 / ratio, c2 = 256 / ratio, c3 = 384 / ratio, hidden = 4096 / ratio;
    return wk_nn_sequential(
        /* a large window catches objects; the stride makes the output small */
        wk_nn_conv2d(1, c1, 11, .stride = stride, .padding = 1), wk_nn_relu(), wk_nn_max_pool2d(3, .stride = 2),
        /* a smaller window, padded so that the size stays, and more channels */
        wk_nn_conv2d(c1, c2, 5, .padding = 2), wk_nn_relu(), wk_nn_max_pool2d(3, .stride = 2),
        /* three convolutions in a row */
        wk_nn_conv2d(c2, c3, 3, .padding = 1), wk_nn_relu(), wk_nn_conv2d(c3, c3, 3, .padding = 1), wk_nn_relu(),
        wk_nn_conv2d(c3, c2, 3, .padding = 1), wk_nn_relu(), wk_nn_max_pool2d(3, .stride = 2), wk_nn_flatten(),
        /* most parameters are here, and dropout keeps them from fitting the training set alone */
        wk_nn_lazy_linear(hidden), wk_nn_relu(), wk_nn_dropout(0.5), wk_nn_linear(hidden, hidden), wk_nn_relu(),
        wk_nn_dropout(0.5), wk_nn_linear(hidden, 10));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "AlexNet", .size = 64, .batch = 32, .lr = 0.05, .epochs = 3, .train = 6000}, argc, argv);
    show_shapes(new_alexnet(1, 4), 224);
    wk_module *net = new_alexnet(4, 2);
    show_shapes(net, s.size); /* the lazy layer has its parameters now */
    init_weights(net);
    return train(net, &s);
}

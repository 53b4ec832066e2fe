/* SPDX-License-Identifier: Apache-2.0 */
/* Network in Network: after each convolution, two 1 x 1 convolutions are a small network that is applied to each pixel;
 * the last block has a channel for each class, whose mean is its score. Dive into Deep Learning, Network in Network
 * (NiN).
 *
 *     nin [DEVICE [EPOCHS [DIGITS [SVG]]]]
 *
 * The program prints the shapes of the network as it is in the book, for images of 224 x 224, and trains one with a
 * quarter of the channels on digits of 64 x 64, with a smaller first stride. */
#include "train.h"

static wk_module *new_block(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
    return wk_nn_sequential(wk_nn_conv2d(in, out, kernel, .stride = stride, .padding = padding), wk_nn_relu(),
                            wk_nn_conv2d(out, out, 1), wk_nn_relu(), wk_nn_conv2d(out, out, 1), wk_nn_relu());
}

/* ratio: by which channels are divided. stride: of the first convolution, 4 in the book. */
static wk_module *new_nin(int64_t ratio, int64_t stride)
{
    const int64_t c1 = 96 / ratio, c2 = 256 / ratio, c3 = 384 / ratio;
    return wk_nn_sequential(new_block(1, c1, 11, stride, 0), wk_nn_max_pool2d(3, .stride = 2),
                            new_block(c1, c2, 5, 1, 2), wk_nn_max_pool2d(3, .stride = 2), new_block(c2, c3, 3, 1, 1),
                            wk_nn_max_pool2d(3, .stride = 2), wk_nn_dropout(0.5), new_block(c3, 10, 3, 1, 1),
                            wk_nn_adaptive_avg_pool2d((1, 1)), wk_nn_flatten());
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "NiN", .size = 64, .batch = 32, .lr = 0.1, .epochs = 5, .train = 9000}, argc, argv);
    show_shapes(new_nin(1, 4), 224);
    wk_module *net = new_nin(4, 2);
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* VGG-11: a network of blocks, each of some 3 x 3 convolutions and a pooling layer that halves the size. Dive into Deep
 * Learning, Networks Using Blocks (VGG).
 *
 *     vgg [DEVICE [EPOCHS [DIGITS [SVG]]]]
 *
 * As in the book, the network that is trained has a quarter of the channels. Its digits are 32 x 32, not 224 x 224. */
#include "train.h"

typedef struct block {
    int convolutions;
    int64_t channels;
} block;

static wk_module *new_block(int64_t in, block b)
{
    wk_module *m = wk_nn_sequential();
    for (int k = 0; k < b.convolutions; k++) {
        wk_module_append(m, wk_nn_conv2d(k == 0 ? in : b.channels, b.channels, 3, .padding = 1));
        wk_module_append(m, wk_nn_relu());
    }
    wk_module_append(m, wk_nn_max_pool2d(2, .stride = 2));
    return m;
}

/* ratio: by which channels and hidden units are divided. */
static wk_module *new_vgg11(int64_t ratio)
{
    static const block blocks[] = {{1, 64}, {1, 128}, {2, 256}, {2, 512}, {2, 512}};
    wk_module *m = wk_nn_sequential();
    int64_t in = 1;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        const block b = {blocks[k].convolutions, blocks[k].channels / ratio};
        wk_module_append(m, new_block(in, b));
        in = b.channels;
    }
    wk_module_append(m, wk_nn_flatten());
    for (int k = 0; k < 2; k++) {
        wk_module_append(m, wk_nn_lazy_linear(4096 / ratio));
        wk_module_append(m, wk_nn_relu());
        wk_module_append(m, wk_nn_dropout(0.5));
    }
    wk_module_append(m, wk_nn_linear(4096 / ratio, 10));
    return m;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "VGG-11", .size = 32, .batch = 16, .lr = 0.05, .epochs = 4, .train = 9000}, argc, argv);
    show_shapes(new_vgg11(1), 224);
    wk_module *net = new_vgg11(4);
    show_shapes(net, s.size); /* lazy layers have their parameters now */
    init_weights(net);
    return train(net, &s);
}

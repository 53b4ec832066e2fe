/* SPDX-License-Identifier: Apache-2.0 */
/* DenseNet: a dense block concatenates the output of each convolution with all inputs before it; transitions between
 * blocks halve channels, height and width. Dive into Deep Learning, Densely Connected Networks (DenseNet).
 *
 *     densenet [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

enum { BLOCKS = 4, CONVOLUTIONS = 4, GROWTH = 32 }; /* GROWTH: channels that each convolution adds */

/* ---- the dense block --------------------------------------------------------------------------------------------- */

static wk_tensor *dense_forward(wk_module *self, wk_tensor *x)
{
    for (int k = 0; k < wk_module_child_count(self); k++)
        x = wk_cat((x, wk_forward(wk_module_child_by_index(self, k), x)), 1);
    return x;
}

static wk_module *new_dense_block(int64_t in)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "dense_block", .forward1 = dense_forward};
    wk_module *m = wk_module_new(&kind);
    for (int k = 0; k < CONVOLUTIONS; k++)
        wk_module_append(m, wk_nn_sequential(wk_nn_batch_norm2d(in + k * GROWTH), wk_nn_relu(),
                                             wk_nn_conv2d(in + k * GROWTH, GROWTH, 3, .padding = 1)));
    return m;
}

static wk_module *new_transition(int64_t in)
{
    return wk_nn_sequential(wk_nn_batch_norm2d(in), wk_nn_relu(), wk_nn_conv2d(in, in / 2, 1),
                            wk_nn_avg_pool2d(2, .stride = 2));
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

static wk_module *new_densenet(void)
{
    int64_t channels = 64;
    wk_module *m = wk_nn_sequential(wk_nn_sequential(wk_nn_conv2d(1, channels, 7, .stride = 2, .padding = 3),
                                                     wk_nn_batch_norm2d(channels), wk_nn_relu(),
                                                     wk_nn_max_pool2d(3, .stride = 2, .padding = 1)));
    for (int k = 0; k < BLOCKS; k++) {
        wk_module_append(m, new_dense_block(channels));
        channels += CONVOLUTIONS * GROWTH;
        if (k == BLOCKS - 1) break;
        wk_module_append(m, new_transition(channels));
        channels /= 2;
    }
    wk_module_append(m, wk_nn_sequential(wk_nn_batch_norm2d(channels), wk_nn_relu(), wk_nn_adaptive_avg_pool2d((1, 1)),
                                         wk_nn_flatten()));
    wk_module_append(m, wk_nn_linear(channels, 10));
    return m;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "DenseNet", .size = 48, .batch = 32, .lr = 0.1, .epochs = 3, .train = 3000}, argc, argv);
    wk_module *net = new_densenet();
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

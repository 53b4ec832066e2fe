/* SPDX-License-Identifier: Apache-2.0 */
/* ResNet-18: a residual block adds its input to what its convolutions compute, so that a deeper network can always
 * compute the same as a shallower one. Dive into Deep Learning, Residual Networks (ResNet) and ResNeXt.
 *
 *     resnet [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

/* ---- the residual block ------------------------------------------------------------------------------------------ */

typedef struct residual {
    wk_module *conv1, *bn1, *conv2, *bn2;
    wk_module *conv3; /* 1 x 1, gives the input the shape of the output; NULL if it has that already */
} residual;

static wk_tensor *residual_forward(wk_module *self, wk_tensor *x)
{
    const residual *block = wk_module_state(self);
    wk_tensor *y = wk_relu(wk_forward(block->bn1, wk_forward(block->conv1, x)));
    y = wk_forward(block->bn2, wk_forward(block->conv2, y));
    return wk_relu(wk_add(y, block->conv3 ? wk_forward(block->conv3, x) : x));
}

static wk_module *new_residual(int64_t in, int64_t out, int64_t stride)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "residual", .state = sizeof(residual), .forward1 = residual_forward};
    wk_module *m = wk_module_new(&kind);
    residual *block = wk_module_state(m);
    block->conv1 = wk_module_add(m, "conv1", wk_nn_conv2d(in, out, 3, .stride = stride, .padding = 1));
    block->bn1 = wk_module_add(m, "bn1", wk_nn_batch_norm2d(out));
    block->conv2 = wk_module_add(m, "conv2", wk_nn_conv2d(out, out, 3, .padding = 1));
    block->bn2 = wk_module_add(m, "bn2", wk_nn_batch_norm2d(out));
    if (in != out || stride != 1) block->conv3 = wk_module_add(m, "conv3", wk_nn_conv2d(in, out, 1, .stride = stride));
    return m;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* A stage has two blocks; the first halves height and width, unless this is the first stage. */
static wk_module *new_stage(int64_t in, int64_t out)
{
    return wk_nn_sequential(new_residual(in, out, in == out ? 1 : 2), new_residual(out, out, 1));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "ResNet-18", .size = 48, .batch = 32, .lr = 0.05, .epochs = 2, .train = 3000}, argc, argv);
    wk_module *stem = wk_nn_sequential(wk_nn_conv2d(1, 64, 7, .stride = 2, .padding = 3), wk_nn_batch_norm2d(64),
                                       wk_nn_relu(), wk_nn_max_pool2d(3, .stride = 2, .padding = 1));
    wk_module *net =
        wk_nn_sequential(stem, new_stage(64, 64), new_stage(64, 128), new_stage(128, 256), new_stage(256, 512),
                         wk_nn_adaptive_avg_pool2d((1, 1)), wk_nn_flatten(), wk_nn_linear(512, 10));
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

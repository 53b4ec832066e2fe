/* SPDX-License-Identifier: Apache-2.0 */
/* RegNetX: a network of the design space that a search over many networks led to. Its blocks are those of ResNeXt,
 * whose 3 x 3 convolution has groups of channels. Dive into Deep Learning, Designing Convolution Network
 * Architectures.
 *
 *     regnet [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

enum { GROUP_WIDTH = 16 }; /* channels of a group */

/* ---- the ResNeXt block ------------------------------------------------------------------------------------------- */

typedef struct resnext {
    wk_module *body, *shortcut; /* shortcut is NULL: the input itself */
} resnext;

static wk_tensor *resnext_forward(wk_module *self, wk_tensor *x)
{
    const resnext *block = wk_module_state(self);
    return wk_relu(wk_add(wk_forward(block->body, x), block->shortcut ? wk_forward(block->shortcut, x) : x));
}

static wk_module *new_resnext(int64_t in, int64_t out, int64_t stride)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "resnext", .state = sizeof(resnext), .forward1 = resnext_forward};
    wk_module *m = wk_module_new(&kind);
    resnext *block = wk_module_state(m);
    wk_module *body =
        wk_nn_sequential(wk_nn_conv2d(in, out, 1), wk_nn_batch_norm2d(out), wk_nn_relu(),
                         wk_nn_conv2d(out, out, 3, .stride = stride, .padding = 1, .groups = out / GROUP_WIDTH),
                         wk_nn_batch_norm2d(out), wk_nn_relu(), wk_nn_conv2d(out, out, 1), wk_nn_batch_norm2d(out));
    block->body = wk_module_add(m, "body", body);
    if (in == out && stride == 1) return m;
    wk_module *shortcut = wk_nn_sequential(wk_nn_conv2d(in, out, 1, .stride = stride), wk_nn_batch_norm2d(out));
    block->shortcut = wk_module_add(m, "shortcut", shortcut);
    return m;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* The first block of a stage halves height and width. */
static wk_module *new_stage(int depth, int64_t in, int64_t out)
{
    wk_module *m = wk_nn_sequential(new_resnext(in, out, 2));
    for (int k = 1; k < depth; k++) wk_module_append(m, new_resnext(out, out, 1));
    return m;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "RegNetX", .size = 48, .batch = 32, .lr = 0.05, .epochs = 3, .train = 6000}, argc, argv);
    wk_module *stem =
        wk_nn_sequential(wk_nn_conv2d(1, 32, 3, .stride = 2, .padding = 1), wk_nn_batch_norm2d(32), wk_nn_relu());
    wk_module *net = wk_nn_sequential(stem, new_stage(4, 32, 32), new_stage(6, 32, 80),
                                      wk_nn_adaptive_avg_pool2d((1, 1)), wk_nn_flatten(), wk_nn_linear(80, 10));
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

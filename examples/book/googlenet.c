/* SPDX-License-Identifier: Apache-2.0 */
/* GoogLeNet: Inception blocks look at their input with windows of several sizes at once. Dive into Deep Learning,
 * Networks with Parallel Concatenations (GoogLeNet).
 *
 *     googlenet [DEVICE [EPOCHS [DIGITS [SVG]]]] */
#include "train.h"

/* ---- the Inception block ----------------------------------------------------------------------------------------- */

typedef struct inception {
    wk_module *path[4];
} inception;

static wk_tensor *inception_forward(wk_module *self, wk_tensor *x)
{
    const inception *block = wk_module_state(self);
    wk_tensor *out[4];
    for (int k = 0; k < 4; k++) out[k] = wk_forward(block->path[k], x);
    return wk_cat((out[0], out[1], out[2], out[3]), 1); /* the channels of all paths */
}

/* Paths: a 1 x 1 convolution to c1 channels; 1 x 1 to c2[0], then 3 x 3 to c2[1]; 1 x 1 to c3[0], then 5 x 5 to c3[1];
 * pooling, then 1 x 1 to c4. All keep height and width. */
static wk_module *new_inception(int64_t in, int64_t c1, const int64_t c2[2], const int64_t c3[2], int64_t c4)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "inception", .state = sizeof(inception), .forward1 = inception_forward};
    wk_module *m = wk_module_new(&kind);
    inception *block = wk_module_state(m);
    wk_module *path[] = {
        wk_nn_sequential(wk_nn_conv2d(in, c1, 1), wk_nn_relu()),
        wk_nn_sequential(wk_nn_conv2d(in, c2[0], 1), wk_nn_relu(), wk_nn_conv2d(c2[0], c2[1], 3, .padding = 1),
                         wk_nn_relu()),
        wk_nn_sequential(wk_nn_conv2d(in, c3[0], 1), wk_nn_relu(), wk_nn_conv2d(c3[0], c3[1], 5, .padding = 2),
                         wk_nn_relu()),
        wk_nn_sequential(wk_nn_max_pool2d(3, .stride = 1, .padding = 1), wk_nn_conv2d(in, c4, 1), wk_nn_relu())};
    for (int k = 0; k < 4; k++) block->path[k] = wk_module_append(m, path[k]);
    return m;
}
#define PAIR(a, b) ((const int64_t[]){a, b})

/* ---- the network ------------------------------------------------------------------------------------------------- */

static wk_module *new_googlenet(void)
{
    wk_module *b1 = wk_nn_sequential(wk_nn_conv2d(1, 64, 7, .stride = 2, .padding = 3), wk_nn_relu(),
                                     wk_nn_max_pool2d(3, .stride = 2, .padding = 1));
    wk_module *b2 = wk_nn_sequential(wk_nn_conv2d(64, 64, 1), wk_nn_relu(), wk_nn_conv2d(64, 192, 3, .padding = 1),
                                     wk_nn_relu(), wk_nn_max_pool2d(3, .stride = 2, .padding = 1));
    wk_module *b3 = wk_nn_sequential(new_inception(192, 64, PAIR(96, 128), PAIR(16, 32), 32),
                                     new_inception(256, 128, PAIR(128, 192), PAIR(32, 96), 64),
                                     wk_nn_max_pool2d(3, .stride = 2, .padding = 1));
    wk_module *b4 = wk_nn_sequential(new_inception(480, 192, PAIR(96, 208), PAIR(16, 48), 64),
                                     new_inception(512, 160, PAIR(112, 224), PAIR(24, 64), 64),
                                     new_inception(512, 128, PAIR(128, 256), PAIR(24, 64), 64),
                                     new_inception(512, 112, PAIR(144, 288), PAIR(32, 64), 64),
                                     new_inception(528, 256, PAIR(160, 320), PAIR(32, 128), 128),
                                     wk_nn_max_pool2d(3, .stride = 2, .padding = 1));
    wk_module *b5 = wk_nn_sequential(new_inception(832, 256, PAIR(160, 320), PAIR(32, 128), 128),
                                     new_inception(832, 384, PAIR(192, 384), PAIR(48, 128), 128),
                                     wk_nn_adaptive_avg_pool2d((1, 1)), wk_nn_flatten());
    return wk_nn_sequential(b1, b2, b3, b4, b5, wk_nn_linear(1024, 10));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const settings s = read_arguments(
        (settings){.name = "GoogLeNet", .size = 32, .batch = 16, .lr = 0.1, .epochs = 5, .train = 9000}, argc, argv);
    wk_module *net = new_googlenet();
    init_weights(net);
    show_shapes(net, s.size);
    return train(net, &s);
}

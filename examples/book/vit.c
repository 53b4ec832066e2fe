/* SPDX-License-Identifier: Apache-2.0 */
/* A vision transformer: a convolution maps each patch of the picture to a vector; blocks of attention and linear layers
 * encode these vectors and that of a class token, from which a linear layer computes the scores. Dive into Deep
 * Learning, Transformers for Vision.
 *
 *     vit [DEVICE [EPOCHS [DIGITS [SVG]]]]
 *
 * The digits are 32 x 32 and the patches 8 x 8, not 96 x 96 and 16 x 16 as in the book; a vector has 64 numbers, not
 * 512. wk_nn_vit is the network of torchvision. */
#include "train.h"

/* Sizes of a network. */
typedef struct sizes {
    int64_t image, patch; /* height and width in pixels */
    int64_t hidden, mlp;  /* numbers in a vector, and between the linear layers of a block */
    int64_t heads, blocks;
    double dropout;
} sizes;

/* ---- a block ----------------------------------------------------------------------------------------------------- */

typedef struct block {
    wk_module *norm1, *attention, *norm2, *mlp;
} block;

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    const block *b = wk_module_state(self);
    x = wk_add(x, wk_forward(b->attention, wk_forward(b->norm1, x)));
    return wk_add(x, wk_forward(b->mlp, wk_forward(b->norm2, x)));
}

static wk_module *new_block(const sizes *s)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "vit_block", .state = sizeof(block), .forward1 = block_forward};
    wk_module *m = wk_module_new(&kind);
    block *b = wk_module_state(m);
    b->norm1 = wk_module_add(m, "norm1", wk_nn_layer_norm((s->hidden)));
    b->attention = wk_module_add(
        m, "attention", wk_nn_multihead_attention(s->hidden, s->heads, .dropout = s->dropout, .batch_first = true));
    b->norm2 = wk_module_add(m, "norm2", wk_nn_layer_norm((s->hidden)));
    b->mlp = wk_module_add(m, "mlp",
                           wk_nn_sequential(wk_nn_linear(s->hidden, s->mlp), wk_nn_gelu(), wk_nn_dropout(s->dropout),
                                            wk_nn_linear(s->mlp, s->hidden), wk_nn_dropout(s->dropout)));
    return m;
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

typedef struct patches {
    wk_module *conv, *dropout;
    wk_tensor *cls, *position; /* (1, 1, hidden), (1, 1 + patches, hidden) */
} patches;

/* (N, 1, H, W) -> (N, 1 + patches, hidden) */
static wk_tensor *patches_forward(wk_module *self, wk_tensor *x)
{
    const patches *p = wk_module_state(self);
    x = wk_transpose(wk_flatten(wk_forward(p->conv, x), 2), 1, 2);
    wk_tensor *cls = wk_expand(p->cls, (wk_size(x, 0), 1, wk_size(x, 2)));
    return wk_forward(p->dropout, wk_add(wk_cat((cls, x), 1), p->position));
}

static wk_module *new_patches(const sizes *s)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "patches", .state = sizeof(patches), .forward1 = patches_forward};
    const int64_t side = s->image / s->patch;
    wk_module *m = wk_module_new(&kind);
    patches *p = wk_module_state(m);
    p->conv = wk_module_add(m, "conv", wk_nn_conv2d(1, s->hidden, s->patch, .stride = s->patch));
    p->dropout = wk_module_add(m, "dropout", wk_nn_dropout(s->dropout));
    p->cls = wk_module_add_parameter(m, "cls", wk_zeros((1, 1, s->hidden)));
    p->position = wk_module_add_parameter(m, "position", wk_randn((1, side * side + 1, s->hidden)));
    return m;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Passes the vector of the class token on. */
static wk_tensor *first(wk_tensor *x, void *user)
{
    (void)user;
    return wk_select(x, 1, 0);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const sizes size = {.image = 32, .patch = 8, .hidden = 64, .mlp = 256, .heads = 4, .blocks = 2, .dropout = 0.1};
    const settings s = read_arguments(
        (settings){
            .name = "Vision transformer", .size = size.image, .batch = 32, .lr = 0.1, .epochs = 10, .train = 9000},
        argc, argv);
    wk_module *blocks = wk_nn_sequential();
    for (int64_t k = 0; k < size.blocks; k++) wk_module_append(blocks, new_block(&size));
    wk_module *net = wk_nn_sequential(new_patches(&size), blocks, wk_nn_function(first, NULL),
                                      wk_nn_layer_norm((size.hidden)), wk_nn_linear(size.hidden, 10));
    show_shapes(net, s.size);
    return train(net, &s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Translation by a transformer with two encoder layers for the English sentence and two decoder layers for the French
 * one. Dive into Deep Learning, The Transformer Architecture.
 *
 *     transformer [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "translation.h"
#include <math.h>

enum { WIDTH = 32, HEADS = 4, LAYERS = 2, FFN = 64 };
static const double dropout = 0.1;

typedef struct translator {
    wk_module *x_embedding, *y_embedding, *dropout, *transformer, *head;
} translator;

/* Returns the sums of the vectors of words and of their positions (N, t, WIDTH). */
static wk_tensor *embedded(const translator *m, wk_module *embedding, wk_tensor *ids)
{
    wk_tensor *positions = wk_sinusoidal_positions(wk_size(ids, 1), WIDTH, .device = wk_device_of(ids));
    return wk_forward(m->dropout, wk_add(wk_mul(wk_forward(embedding, ids), sqrt(WIDTH)), positions));
}

/* ids (N, STEPS), (N, t) -> scores (N, t, words) */
static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)inputs, (void)outputs;
    const translator *m = wk_module_state(self);
    wk_tensor *padding = wk_eq(in[0], PAD);
    wk_tensor *y = wk_forward_transformer(m->transformer, embedded(m, m->x_embedding, in[0]),
                                          embedded(m, m->y_embedding, in[1]), .src_key_padding_mask = padding,
                                          .memory_key_padding_mask = padding, .tgt_is_causal = true);
    out[0] = wk_forward(m->head, y);
    return out[0] ? 1 : -1;
}

static wk_module *new_translator(const int64_t words[2])
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "translator", .state = sizeof(translator), .forward = forward};
    wk_module *self = wk_module_new(&kind);
    translator *m = wk_module_state(self);
    m->x_embedding = wk_module_add(self, "x_embedding", wk_nn_embedding(words[0], WIDTH));
    m->y_embedding = wk_module_add(self, "y_embedding", wk_nn_embedding(words[1], WIDTH));
    m->dropout = wk_module_add(self, "dropout", wk_nn_dropout(dropout));
    m->transformer =
        wk_module_add(self, "transformer",
                      wk_nn_transformer(WIDTH, HEADS, .num_encoder_layers = LAYERS, .num_decoder_layers = LAYERS,
                                        .dim_feedforward = FFN, .dropout = dropout, .batch_first = true));
    m->head = wk_module_add(self, "head", wk_nn_linear(WIDTH, words[1]));
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(200, argc, argv);
    const sentences s = new_sentences();
    return train_translation(new_translator(s.words), &s, &(training){.name = "Transformer", .batch = 64, .lr = 0.005},
                             &r, false);
}

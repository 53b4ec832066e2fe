/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence to sequence: a GRU encodes an English sentence, and another GRU, which starts from the last state of the
 * first, generates the French one. Dive into Deep Learning, Sequence-to-Sequence Learning for Machine Translation.
 *
 *     seq2seq [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * The book downloads its sentences; here a grammar generates them. */
#include "translation.h"

enum { EMBEDDED = 32, HIDDEN = 32, LAYERS = 2 };
static const double dropout = 0.1;

typedef struct seq2seq {
    wk_module *x_embedding, *encoder, *y_embedding, *decoder, *head;
} seq2seq;

/* ids (N, STEPS), (N, t) -> scores (N, t, words) */
static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)inputs, (void)outputs;
    const seq2seq *m = wk_module_state(self);
    wk_tensor *read[2]; /* outputs, last state of each layer */
    wk_forward_n(m->encoder, (wk_forward(m->x_embedding, wk_t(in[0]))), read, 2);
    /* the input of each step includes the last state of the encoder's last layer */
    wk_tensor *y = wk_forward(m->y_embedding, wk_t(in[1]));
    wk_tensor *context = wk_expand(wk_narrow(read[1], 0, -1, 1), (wk_size(y, 0), -1, -1));
    y = wk_rnn_forward(m->decoder, wk_cat((y, context), 2), .h0 = read[1]);
    out[0] = wk_transpose(wk_forward(m->head, y), 0, 1);
    return out[0] ? 1 : -1;
}

static wk_module *new_seq2seq(const int64_t words[2])
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "seq2seq", .state = sizeof(seq2seq), .forward = forward};
    wk_module *self = wk_module_new(&kind);
    seq2seq *m = wk_module_state(self);
    m->x_embedding = wk_module_add(self, "x_embedding", wk_nn_embedding(words[0], EMBEDDED));
    m->encoder = wk_module_add(self, "encoder", wk_nn_gru(EMBEDDED, HIDDEN, .num_layers = LAYERS, .dropout = dropout));
    m->y_embedding = wk_module_add(self, "y_embedding", wk_nn_embedding(words[1], EMBEDDED));
    m->decoder =
        wk_module_add(self, "decoder", wk_nn_gru(EMBEDDED + HIDDEN, HIDDEN, .num_layers = LAYERS, .dropout = dropout));
    m->head = wk_module_add(self, "head", wk_nn_linear(HIDDEN, words[1]));
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(300, argc, argv);
    const sentences s = new_sentences();
    wk_module *net = new_seq2seq(s.words);
    init_matrices(net);
    return train_translation(net, &s, &(training){.name = "GRU to GRU", .batch = 64, .lr = 0.005}, &r, false);
}

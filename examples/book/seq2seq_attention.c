/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence to sequence with attention: for each French word, additive attention weights the states of the encoder
 * according to the state of the decoder. Dive into Deep Learning, The Bahdanau Attention Mechanism. seq2seq.c is the
 * same without attention.
 *
 *     seq2seq_attention [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "translation.h"
#include <math.h>

enum { EMBEDDED = 32, HIDDEN = 32, LAYERS = 2 };
static const double dropout = 0.1;

/* ---- attention --------------------------------------------------------------------------------------------------- */

typedef struct additive {
    wk_module *query, *key, *value, *dropout;
} additive;

/* Returns the sum of keys (N, steps, HIDDEN), weighted by their scores for a query (N, HIDDEN): (N, HIDDEN). Weights
 * are 0 where padding (N, steps) is true. Sets *weights (N, steps). */
static wk_tensor *attend(const additive *a, wk_tensor *query, wk_tensor *keys, wk_tensor *padding, wk_tensor **weights)
{
    wk_tensor *sum = wk_add(wk_unsqueeze(wk_forward(a->query, query), 1), wk_forward(a->key, keys));
    wk_tensor *scores = wk_squeeze(wk_forward(a->value, wk_tanh(sum)), (2));
    *weights = wk_softmax(wk_masked_fill(scores, padding, -INFINITY), 1);
    return wk_squeeze(wk_bmm(wk_unsqueeze(wk_forward(a->dropout, *weights), 1), keys), (1));
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

typedef struct attentive {
    wk_module *x_embedding, *encoder, *y_embedding, *decoder, *head;
    additive attention;
} attentive;

/* ids (N, STEPS), (N, t) -> scores (N, t, words), weights (N, t, STEPS) */
static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)inputs;
    const attentive *m = wk_module_state(self);
    const int64_t steps = wk_size(in[1], 1);
    wk_tensor *state, *padding = wk_eq(in[0], PAD), *after[STEPS], *weights[STEPS];
    wk_tensor *keys = wk_rnn_forward(m->encoder, wk_forward(m->x_embedding, wk_t(in[0])), .h_n = &state);
    keys = wk_transpose(keys, 0, 1);
    wk_tensor *y = wk_forward(m->y_embedding, wk_t(in[1]));
    for (int64_t t = 0; t < steps && t < STEPS; t++) {
        wk_tensor *context = attend(&m->attention, wk_select(state, 0, -1), keys, padding, &weights[t]);
        wk_tensor *x = wk_cat((context, wk_select(y, 0, t)), 1);
        after[t] = wk_rnn_forward(m->decoder, wk_unsqueeze(x, 0), .h0 = state, .h_n = &state);
    }
    out[0] = wk_transpose(wk_forward(m->head, wk_cat(WK_ARRAY(after, steps), 0)), 0, 1);
    if (outputs > 1) out[1] = wk_stack(WK_ARRAY(weights, steps), 1);
    return outputs;
}

static wk_module *new_attentive(const int64_t words[2])
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "seq2seq_attention", .state = sizeof(attentive), .forward = forward};
    wk_module *self = wk_module_new(&kind);
    attentive *m = wk_module_state(self);
    m->x_embedding = wk_module_add(self, "x_embedding", wk_nn_embedding(words[0], EMBEDDED));
    m->encoder = wk_module_add(self, "encoder", wk_nn_gru(EMBEDDED, HIDDEN, .num_layers = LAYERS, .dropout = dropout));
    m->attention = (additive){
        .query = wk_module_add(self, "query", wk_nn_linear(HIDDEN, HIDDEN, .no_bias = true)),
        .key = wk_module_add(self, "key", wk_nn_linear(HIDDEN, HIDDEN, .no_bias = true)),
        .value = wk_module_add(self, "value", wk_nn_linear(HIDDEN, 1, .no_bias = true)),
        .dropout = wk_module_add(self, "dropout", wk_nn_dropout(dropout)),
    };
    m->y_embedding = wk_module_add(self, "y_embedding", wk_nn_embedding(words[1], EMBEDDED));
    m->decoder =
        wk_module_add(self, "decoder", wk_nn_gru(EMBEDDED + HIDDEN, HIDDEN, .num_layers = LAYERS, .dropout = dropout));
    m->head = wk_module_add(self, "head", wk_nn_linear(HIDDEN, words[1]));
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(250, argc, argv);
    const sentences s = new_sentences();
    wk_module *net = new_attentive(s.words);
    init_matrices(net);
    return train_translation(net, &s, &(training){.name = "GRU with attention", .batch = 64, .lr = 0.005}, &r, true);
}

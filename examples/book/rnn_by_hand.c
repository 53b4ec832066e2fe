/* SPDX-License-Identifier: Apache-2.0 */
/* A recurrent network written as a layer of the program: h' = tanh(W_xh x + W_hh h + b_h), one step after the other.
 * Dive into Deep Learning, Implementation of Recurrent Neural Networks from Scratch. rnn.c uses the layer of the
 * library instead.
 *
 *     rnn_by_hand [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

enum { HIDDEN = 512, MOST_STEPS = 64 };

typedef struct by_hand {
    wk_tensor *w_xh, *w_hh, *b_h, *w_hq, *b_q;
    int64_t count;
} by_hand;

/* ids (batch, steps), and optionally h (batch, HIDDEN) */
static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const by_hand *m = wk_module_state(self);
    const int steps = (int)wk_size(in[0], 1);
    wk_tensor *x = wk_to_dtype(wk_one_hot(in[0], m->count), WK_F32), *scores[MOST_STEPS];
    wk_tensor *h = inputs > 1 ? in[1] : wk_zeros((wk_size(in[0], 0), HIDDEN), .device = wk_device_of(x));
    for (int t = 0; t < steps && t < MOST_STEPS; t++) {
        wk_tensor *now = wk_matmul(wk_select(x, 1, t), m->w_xh);
        h = wk_tanh(wk_add(wk_add(now, wk_matmul(h, m->w_hh)), m->b_h));
        scores[t] = wk_add(wk_matmul(h, m->w_hq), m->b_q);
    }
    out[0] = wk_cat(WK_ARRAY(scores, steps), 0);
    if (outputs > 1) out[1] = h;
    return outputs;
}

static wk_tensor *normal(int64_t rows, int64_t columns)
{
    return wk_mul(wk_randn((rows, columns)), 0.01);
}

static wk_module *new_by_hand(int64_t count)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "rnn_by_hand", .state = sizeof(by_hand), .forward = forward};
    wk_module *self = wk_module_new(&kind);
    by_hand *m = wk_module_state(self);
    m->w_xh = wk_module_add_parameter(self, "W_xh", normal(count, HIDDEN));
    m->w_hh = wk_module_add_parameter(self, "W_hh", normal(HIDDEN, HIDDEN));
    m->b_h = wk_module_add_parameter(self, "b_h", wk_zeros((HIDDEN)));
    m->w_hq = wk_module_add_parameter(self, "W_hq", normal(HIDDEN, count));
    m->b_q = wk_module_add_parameter(self, "b_q", wk_zeros((count)));
    m->count = count;
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r = read_words((reading){.name = "RNN by hand", .lr = 1, .epochs = 500, .states = 1}, argc, argv);
    const characters text = read_characters(&r);
    return train_characters(new_by_hand(text.count), &text, &r);
}

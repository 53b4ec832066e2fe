/* SPDX-License-Identifier: Apache-2.0 */
/* Decomposable attention: each word of a sentence is compared with the words of the other sentence that attention
 * aligns with it. The order of the words has no influence. Dive into Deep Learning, Natural Language Inference: Using
 * Attention.
 *
 *     entailment_attention [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * The book uses SNLI and GloVe vectors; here the pairs are generated and the vectors are learned. */
#include "entailment.h"

enum { VECTOR = 100, HIDDEN = 200 };

typedef struct decomposable {
    wk_module *embedding, *attend, *compare, *aggregate;
} decomposable;

/* Creates two linear layers with dropout. */
static wk_module *new_mlp(int64_t in)
{
    return wk_nn_sequential(wk_nn_dropout(0.2), wk_nn_linear(in, HIDDEN), wk_nn_relu(), wk_nn_dropout(0.2),
                            wk_nn_linear(HIDDEN, HIDDEN), wk_nn_relu());
}

/* Compares each word of x (N, WORDS, VECTOR) with a mean of the words of the other sentence, weighted by the softmax of
 * weights (N, WORDS, WORDS). Returns the sum of the results over the words of x (N, HIDDEN). */
static wk_tensor *compared(const decomposable *m, wk_tensor *x, wk_tensor *weights, wk_tensor *others)
{
    wk_tensor *aligned = wk_bmm(wk_softmax(weights, -1), others);
    return wk_sum(wk_forward(m->compare, wk_cat((x, aligned), 2)), (1));
}

/* ids (N, 2, WORDS) -> scores (N, RELATIONS) */
static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const decomposable *m = wk_module_state(self);
    wk_tensor *a = wk_forward(m->embedding, wk_select(x, 1, 0)), *b = wk_forward(m->embedding, wk_select(x, 1, 1));
    wk_tensor *e = wk_bmm(wk_forward(m->attend, a), wk_transpose(wk_forward(m->attend, b), 1, 2));
    return wk_forward(m->aggregate, wk_cat((compared(m, a, e, b), compared(m, b, wk_transpose(e, 1, 2), a)), 1));
}

static wk_module *new_decomposable(int64_t count)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "decomposable_attention", .state = sizeof(decomposable), .forward1 = forward};
    wk_module *self = wk_module_new(&kind);
    decomposable *m = wk_module_state(self);
    m->embedding = wk_module_add(self, "embedding", wk_nn_embedding(count, VECTOR));
    m->attend = wk_module_add(self, "attend", new_mlp(VECTOR));
    m->compare = wk_module_add(self, "compare", new_mlp(2 * VECTOR));
    m->aggregate = wk_module_add(self, "aggregate", new_mlp(2 * HIDDEN));
    wk_module_append(m->aggregate, wk_nn_linear(HIDDEN, RELATIONS));
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(8, argc, argv);
    const texts pairs = new_pairs();
    wk_module *net = new_decomposable(pairs.count);
    classify(net, &pairs, &(classifier_training){.name = "Decomposable attention", .batch = 64, .lr = 0.001}, &r);
    return predict_relations(net, &pairs, &r);
}

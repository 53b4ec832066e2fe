/* SPDX-License-Identifier: Apache-2.0 */
/* Sentiment analysis with a bidirectional LSTM over word vectors that are not trained. Dive into Deep Learning,
 * Sentiment Analysis: Using Recurrent Neural Networks.
 *
 *     sentiment_lstm [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * The book uses film reviews of up to 500 words and GloVe vectors; here the reviews are generated and the vectors are
 * random. */
#include "reviews.h"
#include <string.h>

enum { VECTOR = 100, HIDDEN = 100, LAYERS = 2 };

typedef struct bilstm {
    wk_module *embedding, *lstm, *head;
} bilstm;

/* ids (N, WORDS) -> scores (N, 2), from the outputs of the first and the last step */
static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const bilstm *m = wk_module_state(self);
    wk_tensor *y = wk_forward(m->lstm, wk_forward(m->embedding, wk_t(x)));
    return wk_forward(m->head, wk_cat((wk_select(y, 0, 0), wk_select(y, 0, -1)), 1));
}

static wk_module *new_bilstm(int64_t count)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "bilstm", .state = sizeof(bilstm), .forward1 = forward};
    wk_module *self = wk_module_new(&kind);
    bilstm *m = wk_module_state(self);
    m->embedding = wk_module_add(self, "embedding", wk_nn_embedding(count, VECTOR));
    m->lstm = wk_module_add(self, "lstm", wk_nn_lstm(VECTOR, HIDDEN, .num_layers = LAYERS, .bidirectional = true));
    m->head = wk_module_add(self, "head", wk_nn_linear(4 * HIDDEN, 2));
    WK_NO_GRAD;
    wk_tensors *parameters = wk_parameters(self);
    for (int k = 0; k < wk_tensors_count(parameters); k++)
        if (strstr(wk_tensors_name(parameters, k), ".weight")) wk_init_xavier_uniform_(wk_tensors_get(parameters, k));
    wk_tensor *vectors = wk_module_parameter(self, "embedding.weight");
    wk_normal_(vectors, 0, 1);
    wk_requires_grad_(vectors, false);
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(5, argc, argv);
    const texts reviews = new_reviews();
    wk_module *net = new_bilstm(reviews.count);
    classify(net, &reviews, &(classifier_training){.name = "BiLSTM", .batch = 64, .lr = 0.01}, &r);
    return predict_reviews(net, &reviews, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* textCNN: convolutions over 3, 4 and 5 adjacent words detect phrases at any position. Dive into Deep Learning,
 * Sentiment Analysis: Using Convolutional Neural Networks.
 *
 *     sentiment_cnn [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "reviews.h"

enum { VECTOR = 100, CHANNELS = 100, SHORTEST = 3, KERNELS = 3 };

typedef struct text_cnn {
    wk_module *trained, *fixed; /* embeddings, with and without a gradient */
    wk_module *convs[KERNELS], *dropout, *head;
} text_cnn;

/* ids (N, WORDS) -> scores (N, 2) */
static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const text_cnn *m = wk_module_state(self);
    x = wk_transpose(wk_cat((wk_forward(m->trained, x), wk_forward(m->fixed, x)), 2), 1, 2);
    wk_tensor *found[KERNELS]; /* (N, CHANNELS): the maximum of each channel */
    for (int k = 0; k < KERNELS; k++) found[k] = wk_amax(wk_relu(wk_forward(m->convs[k], x)), (2));
    return wk_forward(m->head, wk_forward(m->dropout, wk_cat(WK_ARRAY(found, KERNELS), 1)));
}

static wk_module *new_text_cnn(int64_t count)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "text_cnn", .state = sizeof(text_cnn), .forward1 = forward};
    wk_module *self = wk_module_new(&kind);
    text_cnn *m = wk_module_state(self);
    m->trained = wk_module_add(self, "trained", wk_nn_embedding(count, VECTOR));
    m->fixed = wk_module_add(self, "fixed", wk_nn_embedding(count, VECTOR));
    wk_module *convs = wk_module_add(self, "convs", wk_nn_module_list());
    for (int k = 0; k < KERNELS; k++) {
        m->convs[k] = wk_module_append(convs, wk_nn_conv1d(2 * VECTOR, CHANNELS, SHORTEST + k));
        wk_init_xavier_uniform_(wk_module_parameter(m->convs[k], "weight"));
    }
    m->dropout = wk_module_add(self, "dropout", wk_nn_dropout(0.5));
    m->head = wk_module_add(self, "head", wk_nn_linear(KERNELS * CHANNELS, 2));
    wk_init_xavier_uniform_(wk_module_parameter(m->head, "weight"));
    /* as in the book, both embeddings start with the same vectors, and only one is trained */
    wk_tensor *vectors = wk_module_parameter(m->fixed, "weight");
    wk_requires_grad_(vectors, false);
    WK_NO_GRAD;
    wk_copy_(wk_module_parameter(m->trained, "weight"), vectors);
    return self;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(5, argc, argv);
    const texts reviews = new_reviews();
    wk_module *net = new_text_cnn(reviews.count);
    classify(net, &reviews, &(classifier_training){.name = "textCNN", .batch = 64, .lr = 0.001}, &r);
    return predict_reviews(net, &reviews, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* BERT, pre-trained without labels to predict masked words in pairs of sentences, then fine-tuned to classify the
 * relation of the two. Dive into Deep Learning, Pretraining BERT and Natural Language Inference: Fine-Tuning BERT.
 *
 *     entailment_bert [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * EPOCHS is the number of epochs of fine-tuning. The book pre-trains on WikiText-2 and fine-tunes on SNLI. */
#include "entailment.h"

enum { WIDTH = 128, LAYERS = 2, HEADS = 4, FFN = 256, TOKENS = 2 * WORDS + 3, BATCH = 128, PASSES = 6 };
static const double masked = 0.15; /* fraction of the words */

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

/* Converts pairs of ids (N, 2, WORDS) to the input of BERT (N, TOKENS): <cls>, premise, <sep>, hypothesis, <sep>. */
static wk_tensor *joined(wk_tensor *x)
{
    const int64_t n = wk_size(x, 0);
    wk_tensor *sep = wk_full((n, 1), SEP, .device = wk_device_of(x));
    return wk_cat((wk_full_like(sep, CLS), wk_select(x, 1, 0), sep, wk_select(x, 1, 1), sep), 1);
}

/* Returns the hidden states (N, TOKENS, WIDTH) of joined pairs. */
static wk_tensor *encode(wk_module *bert, wk_tensor *ids)
{
    wk_tensor *second = wk_ge(wk_arange(0, TOKENS, .device = wk_device_of(ids)), WORDS + 2);
    wk_tensor *types = wk_expand(wk_to_dtype(second, WK_I64), (wk_size(ids, 0), TOKENS));
    return wk_forward_bert(bert, ids, .token_type_ids = types, .attention_mask = wk_ne(ids, PAD));
}

/* ---- pre-training ------------------------------------------------------------------------------------------------ */

/* Selects 15 % of the words and replaces 80 % of these by MASK and 10 % by random words; the other 10 % do not
 * change. Sets *labels to the original words at the selected positions and to -100, which wk_cross_entropy ignores,
 * elsewhere. */
static wk_tensor *with_masks(wk_tensor *ids, int64_t count, wk_tensor **labels)
{
    wk_tensor *chosen = wk_lt(wk_rand_like(ids, .dtype = WK_F32), masked), *kind = wk_rand_like(ids, .dtype = WK_F32);
    chosen = wk_logical_and(chosen, wk_gt(ids, MASK)); /* no special tokens */
    *labels = wk_where(chosen, ids, wk_full_like(ids, -100));
    wk_tensor *random = wk_randint(MASK + 1, count, (wk_size(ids, 0), TOKENS), .device = wk_device_of(ids));
    wk_tensor *by_mask = wk_logical_and(chosen, wk_lt(kind, 0.8));
    wk_tensor *by_word = wk_logical_and(chosen, wk_ge(kind, 0.9));
    return wk_where(by_word, random, wk_masked_fill(ids, by_mask, MASK));
}

/* Trains BERT with a temporary head on the training texts, for PASSES passes or for the number of epochs of fine-tuning
 * if that is smaller. Returns the loss of the last pass. */
static double pre_train(wk_module *bert, const texts *t, const run *r)
{
    WK_SCOPE;
    wk_module *head = wk_nn_sequential(wk_nn_linear(WIDTH, WIDTH), wk_nn_gelu(), wk_nn_layer_norm((WIDTH)),
                                       wk_nn_linear(WIDTH, t->count));
    wk_module *both = wk_module_to(wk_nn_module_list(bert, head), r->device);
    wk_optim *adam = wk_optim_adam(wk_parameters(both), .lr = 1e-3);
    wk_dataset *pairs = wk_data_slice(wk_data_tensors(t->x, NULL), 0, t->trained);
    wk_loader *batches =
        wk_data_loader(pairs, .batch_size = BATCH, .shuffle = true, .seed = r->seed, .device = r->device);
    const int passes = r->epochs < PASSES ? r->epochs : PASSES;
    double last = 0;
    for (int pass = 1; pass <= passes && !wk_error(); pass++) {
        WK_SCOPE;
        wk_history *losses = wk_history_new();
        WK_EACH(batch, batches)
        {
            wk_tensor *labels, *ids = with_masks(joined(batch->x), t->count, &labels);
            wk_tensor *scores = wk_reshape(wk_forward(head, encode(bert, ids)), (-1, t->count));
            wk_tensor *loss = wk_cross_entropy(scores, wk_reshape(labels, (-1)));
            wk_optim_zero_grad(adam);
            wk_backward(loss);
            wk_optim_step(adam);
            wk_history_add(losses, loss);
        }
        last = wk_history_mean(losses);
        printf("pass %d  loss of masked words %.3f\n", pass, last);
        fflush(stdout);
    }
    return last;
}

/* ---- fine-tuning ------------------------------------------------------------------------------------------------- */

typedef struct classifier {
    wk_module *bert, *head;
} classifier;

/* ids (N, 2, WORDS) -> scores (N, RELATIONS), from the hidden state of <cls> */
static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const classifier *m = wk_module_state(self);
    return wk_forward(m->head, wk_select(encode(m->bert, joined(x)), 1, 0));
}

static wk_module *new_classifier(wk_module *bert)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "bert_classifier", .state = sizeof(classifier), .forward1 = forward};
    wk_module *self = wk_module_new(&kind);
    classifier *m = wk_module_state(self);
    m->bert = wk_module_add(self, "bert", bert);
    m->head = wk_module_add(self, "head",
                            wk_nn_sequential(wk_nn_linear(WIDTH, WIDTH), wk_nn_tanh(), wk_nn_linear(WIDTH, RELATIONS)));
    return self;
}

static wk_module *new_bert(int64_t count)
{
    return wk_nn_bert(.vocab_size = count, .hidden_size = WIDTH, .num_hidden_layers = LAYERS,
                      .num_attention_heads = HEADS, .intermediate_size = FFN, .max_position_embeddings = TOKENS);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(8, argc, argv);
    const texts pairs = new_pairs();
    wk_module *bert = new_bert(pairs.count);
    const double loss = pre_train(bert, &pairs, &r);
    wk_module *net = new_classifier(bert);
    classify(net, &pairs, &(classifier_training){.name = "BERT", .batch = BATCH / 2, .lr = 1e-3}, &r);
    printf("result: loss of masked words %.3f\n", loss);
    return predict_relations(net, &pairs, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Models of characters: command line, text and training. */
#include "characters.h"
#include "run.h"
#include <math.h>
#include <stdlib.h>

enum { LETTERS = 10000, STEPS = 35, BATCH = 32, MOST_EPOCHS = 10000, REPORTS = 10, PREDICTED = 50 };

/* ---- the command line and the text ------------------------------------------------------------------------------- */

reading read_words(reading usual, int argc, char **argv)
{
    reading r = usual;
    r.device = argc > 1 ? wk_device_parse(argv[1]) : wk_try_gpu(0);
    const int epochs = argc > 2 ? atoi(argv[2]) : 0;
    if (r.device.kind < 0 || epochs < 0 || epochs > MOST_EPOCHS || argc > 5) {
        fprintf(stderr, "usage: %s [DEVICE [EPOCHS [FILE [SVG]]]], e.g. %s cpu 100 timemachine.txt curve.svg\n",
                argv[0], argv[0]);
        exit(2);
    }
    if (epochs) r.epochs = epochs;
    r.file = argc > 3 ? argv[3] : "data/text/tinyshakespeare.txt";
    if (argc > 4) r.svg = argv[4];
    wk_seed(1);
    return r;
}

characters read_characters(const reading *r)
{
    characters c = {.vocabulary = wk_text_chars(r->file, .lower = true, .letters_only = true, .unknown = "<unk>")};
    c.ids = wk_text_ids(c.vocabulary);
    if (c.ids && wk_size(c.ids, 0) > LETTERS) c.ids = wk_narrow(c.ids, 0, 0, LETTERS);
    c.count = wk_text_vocabulary(c.vocabulary);
    return c;
}

/* ---- a model ----------------------------------------------------------------------------------------------------- */

typedef struct model {
    wk_module *layer, *head;
    int64_t hidden, count;
} model;

static int model_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const model *m = wk_module_state(self);
    wk_tensor *x = wk_to_dtype(wk_one_hot(wk_transpose(in[0], 0, 1), m->count), WK_F32); /* (steps, batch, count) */
    wk_tensor *of_layer[1 + MOST_STATES] = {x, inputs > 1 ? in[1] : NULL, inputs > 2 ? in[2] : NULL};
    wk_forward_n(m->layer, WK_ARRAY(of_layer, inputs), out, outputs);
    out[0] = wk_forward(m->head, wk_reshape(out[0], (-1, m->hidden)));
    return out[0] ? outputs : -1;
}

wk_module *new_model(wk_module *layer, int64_t hidden, int64_t count)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "character_model", .state = sizeof(model), .forward = model_forward};
    wk_module *self = wk_module_new(&kind);
    model *m = wk_module_state(self);
    m->layer = wk_module_add(self, "layer", layer);
    m->head = wk_module_add(self, "head", wk_nn_linear(hidden, count));
    m->hidden = hidden;
    m->count = count;
    return self;
}

/* ---- prediction -------------------------------------------------------------------------------------------------- */

/* Prints `prefix` and the characters that the model considers most likely after it, one by one. */
static void predict(wk_module *net, const characters *text, const reading *r, const char *prefix)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *begin = wk_to(wk_text_encode(text->vocabulary, prefix), r->device);
    wk_tensor *in[1 + MOST_STATES] = {wk_unsqueeze(begin, 0)}, *out[1 + MOST_STATES], *said[PREDICTED];
    for (int k = 0, inputs = 1; k < PREDICTED && !wk_error(); k++, inputs = 1 + r->states) {
        wk_forward_n(net, WK_ARRAY(in, inputs), out, 1 + r->states);
        said[k] = in[0] = wk_argmax(wk_narrow(out[0], 0, -1, 1), 1, .keepdim = true);
        for (int s = 1; s <= r->states; s++) in[s] = out[s];
    }
    if (!wk_error()) printf("%s%s\n", prefix, wk_text_decode(text->vocabulary, wk_cat(WK_ARRAY(said, PREDICTED), 1)));
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Takes a step on a batch and returns the loss. state[] is carried from step to step; its first is NULL at the
 * beginning of an epoch. */
static wk_tensor *step(wk_module *net, wk_optim *sgd, const reading *r, wk_batch *batch, wk_tensor *state[])
{
    wk_tensor *in[1 + MOST_STATES] = {batch->x, state[0], state[1]}, *out[1 + MOST_STATES];
    wk_forward_n(net, WK_ARRAY(in, state[0] ? 1 + r->states : 1), out, 1 + r->states);
    wk_tensor *loss = wk_cross_entropy(out[0], wk_reshape(wk_transpose(batch->y, 0, 1), (-1)));
    wk_optim_zero_grad(sgd);
    wk_backward(loss);
    wk_clip_grad_norm_(wk_parameters(net), 1.0);
    wk_optim_step(sgd);
    for (int s = 0; s < r->states && !r->random; s++) wk_carry(&state[s], wk_detach(out[1 + s]));
    return loss;
}

int train_characters(wk_module *net, const characters *text, const reading *r)
{
    wk_module_to(net, r->device);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = r->lr);
    wk_history *perplexity = wk_history_new();
    printf("%s: %lld parameters, %lld characters of %s, batches of %d x %d, learning rate %g\n", r->name,
           (long long)wk_parameter_count(net), (long long)wk_numel(text->ids), r->file, BATCH, STEPS, r->lr);
    double spent = 0, last = NAN;
    int64_t tokens = 0;
    for (int epoch = 1; epoch <= r->epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_dataset *windows = r->random
                                  ? wk_text_windows(text->ids, STEPS, .offset = epoch % STEPS)
                                  : wk_text_windows(text->ids, STEPS, .offset = epoch % STEPS, .batch_size = BATCH);
        wk_loader *batches =
            wk_data_loader(windows, .batch_size = BATCH, .shuffle = r->random, .drop_last = true, .device = r->device);
        wk_tensor *state[MOST_STATES] = {NULL};
        wk_history *losses = wk_history_new();
        const double begin = seconds();
        WK_EACH(batch, batches)
        {
            wk_history_add(losses, step(net, sgd, r, batch, state));
            tokens += BATCH * STEPS;
        }
        last = exp(wk_history_mean(losses));
        spent += seconds() - begin;
        wk_history_add(perplexity, wk_full((), last));
        if (epoch == 1 || epoch % (r->epochs / REPORTS + 1) == 0 || epoch == r->epochs)
            printf("epoch %d perplexity %.3f\n", epoch, last);
    }
    if (r->svg) {
        wk_plot *plot = wk_plot_new(.title = r->name, .x_label = "epoch");
        wk_plot_history(plot, "perplexity", perplexity, .first = 1);
        wk_plot_save(plot, r->svg);
    }
    if (wk_error()) return wk_report_error(stderr);
    printf("%.1f tokens/sec on %s\n", (double)tokens / spent, wk_device_str(r->device));
    predict(net, text, r, "the ");
    return wk_report_error(stderr);
}

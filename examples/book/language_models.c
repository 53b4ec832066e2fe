/* SPDX-License-Identifier: Apache-2.0 */
/* An RNN, a GRU, an LSTM and a deep GRU with 32 units, trained on windows of a text and tested on the windows that
 * follow them. Dive into Deep Learning, Recurrent Neural Networks and Modern Recurrent Neural Networks.
 *
 *     language_models [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * EPOCHS is the number of epochs of the RNN and the deep GRU, 100 in the book; the others are trained for half as
 * many. */
#include "characters.h"
#include "run.h"
#include <math.h>

enum { STEPS = 32, TRAINED = 10000, TESTED = 5000, BATCH = 1024, HIDDEN = 32 };

/* Returns the mean cross entropy of the next characters. */
static wk_tensor *loss_of(wk_module *net, const wk_batch *batch)
{
    wk_tensor *scores = wk_forward(net, batch->x); /* (STEPS * N, characters), step by step */
    return wk_cross_entropy(scores, wk_reshape(wk_t(batch->y), (-1)));
}

/* Returns the perplexity on the batches. */
static double test(wk_module *net, wk_loader *batches)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_history *losses = wk_history_new();
    WK_EACH(batch, batches) wk_history_add(losses, loss_of(net, batch), .weight = (double)wk_size(batch->x, 0));
    return wk_text_perplexity(wk_history_mean(losses));
}

/* Trains a network and prints its perplexity on the training and the test windows. Adds a curve of the former to the
 * plot. */
static void train_model(const char *name, wk_module *layer, double lr, int epochs, wk_dataset *windows, int64_t count,
                        const run *r, wk_plot *plot)
{
    WK_SCOPE;
    wk_module *net = wk_module_to(new_model(layer, HIDDEN, count), r->device);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = lr);
    wk_loader *batches = wk_data_loader(wk_data_slice(windows, 0, TRAINED), .batch_size = BATCH, .shuffle = true,
                                        .seed = r->seed, .device = r->device);
    wk_loader *test_batches =
        wk_data_loader(wk_data_slice(windows, TRAINED, TRAINED + TESTED), .batch_size = BATCH, .device = r->device);
    wk_history *perplexity = wk_history_new();
    const double begin = seconds();
    double last = NAN;
    for (int epoch = 1; epoch <= epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_history *losses = wk_history_new();
        WK_EACH(batch, batches)
        {
            wk_tensor *loss = loss_of(net, batch);
            wk_optim_zero_grad(sgd);
            wk_backward(loss);
            wk_clip_grad_norm_(wk_parameters(net), 1.0);
            wk_optim_step(sgd);
            wk_history_add(losses, loss, .weight = (double)wk_size(batch->x, 0));
        }
        last = wk_text_perplexity(wk_history_mean(losses));
        wk_history_add(perplexity, wk_full((), last));
    }
    const double speed = (double)epochs * TRAINED * STEPS / (seconds() - begin);
    printf("%s: %lld parameters, %d epochs, learning rate %g, %.0f tokens/sec\n", name,
           (long long)wk_parameter_count(net), epochs, lr, speed);
    printf("result: %s perplexity %.2f, test %.2f\n", name, last, test(net, test_batches));
    fflush(stdout);
    wk_plot_history(plot, name, perplexity, .first = 1);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(40, argc, argv);
    const int half = (r.epochs + 1) / 2;
    wk_text *text = wk_text_chars("data/text/tinyshakespeare.txt", .lower = true, .letters_only = true);
    wk_dataset *windows = wk_text_windows(wk_text_ids(text), STEPS, .stride = 1);
    const int64_t count = wk_text_vocabulary(text);
    wk_plot *plot = wk_plot_new(.title = "Training perplexity", .x_label = "epoch");
    train_model("RNN", wk_nn_rnn(count, HIDDEN), 1, r.epochs, windows, count, &r, plot);
    train_model("GRU", wk_nn_gru(count, HIDDEN), 4, half, windows, count, &r, plot);
    train_model("LSTM", wk_nn_lstm(count, HIDDEN), 4, half, windows, count, &r, plot);
    train_model("GRU of two layers", wk_nn_gru(count, HIDDEN, .num_layers = 2), 2, r.epochs, windows, count, &r, plot);
    if (r.svg) wk_plot_save(plot, r.svg);
    return wk_report_error(stderr);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: training steps and forward passes of models of characters, as in Dive into Deep Learning. */
#include "bench.h"

enum { SYMBOLS = 28, STEPS = 35, BATCH = 32 };

/* Measures a step, and the forward pass of the layer alone. */
static void measure(bench *b, const char *name, const char *ask, wk_module *rnn, int64_t hidden, int64_t layers)
{
    WK_SCOPE;
    const int64_t steps = b->tiny ? 2 : STEPS, batch = b->tiny ? 2 : BATCH;
    bench_network layer = {.net = rnn};
    layer.x = wk_to_dtype(wk_one_hot(wk_randint(0, SYMBOLS, (steps, batch)), SYMBOLS), WK_F32);
    bench_network model = {.net = wk_nn_sequential(rnn, wk_nn_flatten(0, 1), wk_nn_linear(hidden, SYMBOLS)),
                           .x = layer.x,
                           .labels = wk_randint(0, SYMBOLS, (steps * batch)),
                           .clip_norm = 1};
    model.optim = wk_optim_sgd(wk_parameters(model.net), .lr = 1);
    wk_sync();
    for (int forward = 0; forward < 2; forward++) {
        char text[64], question[32];
        snprintf(text, sizeof text, "%s of %s, %lld x %lld", forward ? "forward" : "step", name, (long long)layers,
                 (long long)hidden);
        snprintf(question, sizeof question, "%s_%s", ask, forward ? "forward" : "step");
        bench_task task = {.name = text,
                           .question = {.name = question},
                           .run = forward ? bench_forward : bench_step,
                           .user = forward ? &layer : &model};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%lld %lld %lld %lld", (long long)steps,
                 (long long)batch, (long long)hidden, (long long)layers);
        bench_measure(b, &task);
    }
}

void bench_recurrent(bench *b)
{
    WK_SCOPE;
    const int64_t hidden = b->tiny ? 8 : 256;
    wk_seed(1);
    measure(b, "RNN", "rnn", wk_nn_rnn(SYMBOLS, hidden), hidden, 1);
    measure(b, "GRU", "gru", wk_nn_gru(SYMBOLS, hidden), hidden, 1);
    measure(b, "LSTM", "lstm", wk_nn_lstm(SYMBOLS, hidden), hidden, 1);
    measure(b, "LSTM", "lstm", wk_nn_lstm(SYMBOLS, hidden, .num_layers = 2), hidden, 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: training steps and forward passes of models of characters, as in Dive into Deep Learning. */
#include "bench.h"

enum { SYMBOLS = 28, STEPS = 35, BATCH = 32 };

/* A model of characters with one batch. */
typedef struct model {
    wk_module *rnn, *head, *net;
    wk_optim *sgd;
    wk_tensor *x, *labels;
    int64_t hidden;
} model;

static double run_step(void *user)
{
    const model *m = user;
    const double start = cli_clock();
    {
        WK_SCOPE;
        wk_tensor *h = wk_reshape(wk_forward(m->rnn, m->x), (-1, m->hidden));
        wk_tensor *loss = wk_cross_entropy(wk_forward(m->head, h), m->labels);
        wk_optim_zero_grad(m->sgd);
        wk_backward(loss);
        wk_clip_grad_norm_(wk_parameters(m->net), 1.0);
        wk_optim_step(m->sgd);
    }
    wk_sync();
    return cli_clock() - start;
}

static double run_forward(void *user)
{
    const model *m = user;
    WK_SCOPE;
    WK_NO_GRAD;
    const double start = cli_clock();
    wk_data(wk_forward(m->rnn, m->x));
    return cli_clock() - start;
}

/* Measures a step, and the forward pass of the layer alone. */
static void measure(bench *b, const char *name, const char *ask, wk_module *rnn, int64_t hidden, int64_t layers)
{
    WK_SCOPE;
    const int64_t steps = b->tiny ? 2 : STEPS, batch = b->tiny ? 2 : BATCH;
    model m = {.rnn = rnn, .head = wk_nn_linear(hidden, SYMBOLS), .hidden = hidden};
    m.net = wk_nn_module_list(rnn, m.head);
    m.sgd = wk_optim_sgd(wk_parameters(m.net), .lr = 1);
    m.x = wk_to_dtype(wk_one_hot(wk_randint(0, SYMBOLS, (steps, batch)), SYMBOLS), WK_F32);
    m.labels = wk_randint(0, SYMBOLS, (steps * batch));
    wk_sync();
    for (int forward = 0; forward < 2; forward++) {
        char text[64], question[32];
        snprintf(text, sizeof text, "%s of %s, %lld x %lld", forward ? "forward" : "step", name, (long long)layers,
                 (long long)hidden);
        snprintf(question, sizeof question, "%s_%s", ask, forward ? "forward" : "step");
        bench_task task = {
            .name = text, .question = {.name = question}, .run = forward ? run_forward : run_step, .user = &m};
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of training: memory-bound row ops, and a training step. */
#include "bench.h"

/* ---- row ops ----------------------------------------------------------------------------------------------------- */

enum { SIDE = 4096, QUICK_SIDE = 1024 };

/* Operand of a row op, and the triad that it is compared with. */
typedef struct rows {
    wk_tensor *x;
    wk_tensor *(*op)(wk_tensor *x);
    cli_triad *triad;
    double bytes; /* read and written by the op */
} rows;

static wk_tensor *softmax(wk_tensor *x)
{
    return wk_softmax(x, 1);
}

static wk_tensor *layer_norm(wk_tensor *x)
{
    return wk_layer_norm(x, (wk_size(x, 1)), NULL, NULL, 1e-5);
}

static wk_tensor *row_sums(wk_tensor *x)
{
    return wk_sum(x, (1));
}

static wk_tensor *column_sums(wk_tensor *x)
{
    return wk_sum(x, (0));
}

static wk_tensor *transpose_copy(wk_tensor *x)
{
    return wk_contiguous(wk_transpose(x, 0, 1));
}

static double run_rows(void *user)
{
    rows *r = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    wk_data(r->op(r->x));
    return cli_clock() - start;
}

static double run_stream(void *user)
{
    rows *r = user;
    return r->bytes / cli_triad_run(r->triad, wk_thread_count());
}

void bench_rows(bench *b)
{
    static const struct {
        const char *name, *ask;
        wk_tensor *(*op)(wk_tensor *x);
        int passes; /* over the matrix: bytes that must be moved */
    } ops[] = {{"softmax of rows", "softmax", softmax, 2},
               {"layer norm of rows", "layer_norm", layer_norm, 2},
               {"sums of rows", "sum_rows", row_sums, 1},
               {"sums of columns", "sum_columns", column_sums, 1},
               {"copy of the transpose", "transpose", transpose_copy, 2}};
    WK_SCOPE;
    int64_t n = b->quick ? QUICK_SIDE : SIDE;
    rows r = {.x = wk_rand((n, n)), .triad = cli_triad_new((size_t)(n * n))};
    wk_sync();
    for (size_t k = 0; k < sizeof ops / sizeof *ops && r.triad; k++) {
        r.op = ops[k].op;
        r.bytes = 4.0 * (double)(n * n) * ops[k].passes;
        char name[64];
        snprintf(name, sizeof name, "%s, [%lld, %lld]", ops[k].name, (long long)n, (long long)n);
        bench_task task = {.name = name,
                           .question = {.name = ops[k].ask},
                           .work = 1e-9 * r.bytes,
                           .unit = "GB/s",
                           .run = run_rows,
                           .limit = run_stream,
                           .against = "STREAM triad",
                           .user = &r};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%lld", (long long)n);
        bench_measure(b, &task);
    }
    cli_triad_free(r.triad);
}

/* ---- training step ----------------------------------------------------------------------------------------------- */

enum { BATCH = 64, INPUTS = 784, HIDDEN = 256, CLASSES = 10, STEPS = 20, TINY_STEPS = 6, AHEAD = 16 };

/* A network with its optimiser and one batch; a round takes `steps` steps. */
typedef struct training {
    wk_module *net;
    wk_optim *optimiser;
    wk_tensor *x, *labels;
    wk_tensor *ahead; /* keeps a GPU busy before the timed work */
    int steps;
} training;

static void take_step(const training *t)
{
    WK_SCOPE;
    wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, t->x), t->labels);
    wk_optim_zero_grad(t->optimiser);
    wk_backward(loss);
    wk_optim_step(t->optimiser);
}

/* Returns the seconds of one of several consecutive steps. */
static double run_training(void *user)
{
    training *t = user;
    double start = cli_clock();
    for (int step = 0; step < t->steps; step++) take_step(t);
    wk_sync();
    return (cli_clock() - start) / t->steps;
}

/* Returns the device's seconds for one step. The host needs longer than for an op, so more work is submitted ahead. */
static double run_kernels(void *user)
{
    const training *t = user;
    WK_SCOPE;
    wk_event *start = bench_timer_start(t->ahead, AHEAD);
    take_step(t);
    return bench_timer_stop(t->ahead, start);
}

/* Counts forward, the gradients of both weights and of the hidden layer; the input has no gradient. */
static double run_arithmetic(void *user)
{
    (void)user;
    enum { FIRST = INPUTS * HIDDEN, SECOND = HIDDEN * CLASSES };
    return 2.0 * BATCH * (2 * FIRST + 3 * SECOND) / cli_fma_run(wk_thread_count());
}

static void measure_kernels(bench *b, training *t, const char *of, const char *ask, wk_device device)
{
    char name[64];
    snprintf(name, sizeof name, "kernels of a %s", of);
    bench_task task = {.name = name, .question = {.name = ask}, .run = run_kernels, .user = t};
    snprintf(task.question.sizes, sizeof task.question.sizes, "%lld", (long long)wk_size(t->ahead, 0));
    bench_measure_on(b, &task, device);
}

void bench_training_on(bench *b, wk_device device, wk_tensor *ahead)
{
    WK_SCOPE;
    const bool on_cpu = device.kind == WK_CPU;
    training t = {.net = wk_nn_sequential(wk_nn_linear(INPUTS, HIDDEN), wk_nn_relu(), wk_nn_linear(HIDDEN, CLASSES)),
                  .x = wk_randn((BATCH, INPUTS), .device = device),
                  .labels = wk_randint(0, CLASSES, (BATCH), .device = device),
                  .ahead = ahead,
                  .steps = b->tiny ? TINY_STEPS : STEPS};
    wk_module_to(t.net, device);
    wk_tensors *parameters = wk_parameters(t.net);
    wk_optim *optimisers[] = {wk_optim_sgd(parameters, .lr = 0.1), wk_optim_adam(parameters)};
    static const char *const names[] = {"step of 784-256-10, sgd", "step of 784-256-10, adam"};
    static const char *const asks[2][2] = {{"gpu_train_sgd", "gpu_train_adam"}, {"train_sgd", "train_adam"}};
    static const char *const kernels[] = {"gpu_step_sgd", "gpu_step_adam"};
    for (int k = 0; k < 2; k++) {
        t.optimiser = optimisers[k];
        bench_task task = {.name = names[k],
                           .question = {.name = asks[on_cpu][k]},
                           .run = run_training,
                           .limit = on_cpu ? run_arithmetic : NULL,
                           .against = "FMA peak",
                           .user = &t};
        if (on_cpu) {
            bench_measure(b, &task);
        } else {
            bench_measure_on(b, &task, device);
            measure_kernels(b, &t, names[k], kernels[k], device);
        }
    }
}

void bench_training(bench *b)
{
    bench_training_on(b, wk_cpu(), NULL);
}

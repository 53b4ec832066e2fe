/* SPDX-License-Identifier: Apache-2.0 */
/* One network on several devices: the speedup of two devices, and the overhead of wk_mirrored on one. */
#include "bench.h"
#include <math.h>

enum { INPUTS = 784, HIDDEN = 256, CLASSES = 10 };

/* A network with its optimiser and one batch; a round takes `steps` steps. */
typedef struct training {
    wk_module *net;
    wk_optim *optimiser;
    wk_tensor *x, *labels;
    int steps;
} training;

/* Creates the network of bench_training.c and random data of the digits' shape. */
static training on_devices(const wk_device *devices, int n, bool mirrored, int64_t batch, int steps)
{
    wk_seed(1);
    wk_module *net = wk_nn_sequential(wk_nn_linear(INPUTS, HIDDEN), wk_nn_relu(), wk_nn_linear(HIDDEN, CLASSES));
    wk_module_to(net, devices[0]);
    if (mirrored) net = wk_mirrored(net, devices, n);
    return (training){.net = net,
                      .optimiser = wk_optim_sgd(wk_parameters(net), .lr = 0.01),
                      .x = wk_rand((batch, INPUTS), .device = devices[0]),
                      .labels = wk_randint(0, CLASSES, (batch), .device = devices[0]),
                      .steps = steps};
}

/* Returns the seconds of one step that reads its loss, as training does. */
static double run(void *user)
{
    training *t = user;
    double start = cli_clock();
    for (int step = 0; step < t->steps; step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, t->x), t->labels);
        wk_optim_zero_grad(t->optimiser);
        wk_backward(loss);
        wk_optim_step(t->optimiser);
        wk_item(loss);
    }
    return (cli_clock() - start) / t->steps;
}

/* Runs enough steps to build all kernels, and for a mirrored network to observe its steps. */
static void warm(training *t)
{
    for (int k = 0; k < 16 && !wk_error(); k += t->steps) run(t);
}

static void compare(bench *b, training *t, const wk_device *devices, const char *const names[2], const char *against)
{
    bench_variant turns[] = {{run, &t[0], 0}, {run, &t[1], 0}};
    warm(&t[0]);
    warm(&t[1]);
    bench_interleave(turns, 2, b->tiny ? 1 : b->quick ? 3 : 8, b->tiny ? 0 : b->quick ? 0.2 : 3);
    bench_add(b, names[0], devices[0], wk_thread_count(), 1e3 * turns[0].best, "ms", NAN, "");
    bench_add(b, names[1], devices[0], wk_thread_count(), 1e3 * turns[1].best, "ms", turns[0].best / turns[1].best,
              against);
}

void bench_mirrored(bench *b)
{
    WK_SCOPE;
    static const char *const alone[] = {"bare step of 784-256-10, 64 digits", "mirrored step, this device alone"};
    static const char *const pairs[] = {"bare step of 784-256-10, 2048 digits", "mirrored step, two devices"};
    static const char *const quick[] = {"bare step of 784-256-10, 256 digits", "mirrored step, two devices"};
    const wk_device cpu = wk_cpu();
    const int steps = b->tiny ? 1 : 4;
    training one[] = {on_devices(&cpu, 1, false, 64, steps), on_devices(&cpu, 1, true, 64, steps)};
    compare(b, one, &cpu, alone, "the network itself");
    wk_device pair[2];
    if (!bench_two_accelerators(pair)) {
        if (b->print_results) bench_print_need_two("mirrored on two devices");
        return;
    }
    const int64_t batch = b->quick ? 256 : 2048;
    training two[] = {on_devices(pair, 1, false, batch, steps), on_devices(pair, 2, true, batch, steps)};
    compare(b, two, pair, b->quick ? quick : pairs, "one device (2 is linear)");
}

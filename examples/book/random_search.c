/* SPDX-License-Identifier: Apache-2.0 */
/* Random search for the learning rate and the batch size of a softmax regression, and successive halving, which
 * repeatedly discards the worse half of the configurations and trains the others further. Dive into Deep Learning,
 * Hyperparameter Optimization.
 *
 *     random_search [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * EPOCHS is the number of epochs of each trial of random search. */
#include "run.h"
#include <math.h>
#include <stdlib.h>

enum { DIGITS = 10000, TRAINED = 9000, TRIALS = 5, CONFIGURATIONS = 16, LONGEST = 8 };

/* A configuration and its network, which can be trained further. */
typedef struct trial {
    double lr;
    int64_t batch;
    wk_module *net;
    double error; /* on the test digits, after the last training */
    int epochs;   /* trained so far */
} trial;

typedef struct digits {
    wk_dataset *train, *test;
} digits;

/* Draws lr log-uniformly from [0.01, 1] and the batch size uniformly from 32 to 256. */
static trial new_trial(void)
{
    trial t = {.lr = 0.01 * pow(100, wk_item(wk_rand(()))), .batch = wk_item_i64(wk_randint(32, 257, ()))};
    t.net = wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(784, 10));
    return t;
}

static double test_error(wk_module *net, const digits *d, const run *r)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_history *hits = wk_history_new();
    wk_loader *batches = wk_data_loader(d->test, .batch_size = 500, .device = r->device);
    WK_EACH(batch, batches) wk_history_add(hits, accuracy(wk_forward(net, batch->x), batch->y));
    return 1 - wk_history_mean(hits);
}

/* Trains a configuration until it has been trained for this number of epochs in total. */
static void train_until(trial *t, int epochs, const digits *d, const run *r)
{
    WK_SCOPE;
    wk_module_to(t->net, r->device);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(t->net), .lr = t->lr);
    wk_loader *batches =
        wk_data_loader(d->train, .batch_size = t->batch, .shuffle = true, .seed = r->seed, .device = r->device);
    for (; t->epochs < epochs && !wk_error(); t->epochs++) WK_EACH(batch, batches)
        {
            wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, batch->x), batch->y);
            wk_optim_zero_grad(sgd);
            wk_backward(loss);
            wk_optim_step(sgd);
        }
    t->error = test_error(t->net, d, r);
}

static int by_error(const void *a, const void *b)
{
    const double x = ((const trial *)a)->error, y = ((const trial *)b)->error;
    return (x > y) - (x < y);
}

/* Returns the best of TRIALS random configurations. Adds the lowest error after each to the curve. */
static trial random_search(const digits *d, const run *r, wk_history *curve)
{
    trial best = {.error = 1};
    for (int k = 0; k < TRIALS; k++) {
        trial t = new_trial();
        train_until(&t, r->epochs, d, r);
        printf("trial %d  lr %.3f  batch %3lld  error %.3f\n", k + 1, t.lr, (long long)t.batch, t.error);
        if (t.error < best.error) best = t;
        wk_history_add(curve, wk_full((), best.error));
    }
    return best;
}

/* Trains all configurations for one epoch, the better half of them for two in total, the better half of these for four,
 * and so on up to LONGEST. Returns the best one. */
static trial successive_halving(const digits *d, const run *r)
{
    trial trials[CONFIGURATIONS];
    int count = CONFIGURATIONS;
    for (int k = 0; k < count; k++) trials[k] = new_trial();
    for (int epochs = 1; epochs <= LONGEST; epochs *= 2, count = count > 1 ? count / 2 : 1) {
        for (int k = 0; k < count; k++) train_until(&trials[k], epochs, d, r);
        qsort(trials, (size_t)count, sizeof *trials, by_error);
        printf("%2d configurations, %d epochs  lowest error %.3f with lr %.3f, batch %lld\n", count, epochs,
               trials[0].error, trials[0].lr, (long long)trials[0].batch);
    }
    return trials[0];
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(8, argc, argv);
    wk_dataset *all = wk_data_mnist("data/mnist", .train = false);
    const digits d = {.train = wk_data_slice(all, 0, TRAINED), .test = wk_data_slice(all, TRAINED, DIGITS)};
    wk_history *curve = wk_history_new();
    const trial random = random_search(&d, &r, curve), halved = successive_halving(&d, &r);
    if (r.svg) {
        wk_plot *plot = wk_plot_new(.title = "Random search", .x_label = "trial", .y_label = "lowest error");
        wk_plot_history(plot, "softmax regression", curve, .first = 1);
        wk_plot_save(plot, r.svg);
    }
    printf("result: lowest error %.3f by random search, %.3f by successive halving\n", random.error, halved.error);
    return wk_report_error(stderr);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the training loop of the programs of this folder. */
#include "train.h"
#include "run.h"
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 10000, HELD_OUT = 1000, MOST_EPOCHS = 1000 };

/* ---- the command line -------------------------------------------------------------------------------------------- */

static int64_t number(const char *what, const char *text, int64_t most)
{
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (*text && !*end && value >= 0 && value <= most) return value;
    fprintf(stderr, "%s must be in [0, %lld], got \"%s\"\n", what, (long long)most, text);
    exit(2);
}

settings read_arguments(settings usual, int argc, char **argv)
{
    settings s = usual;
    s.device = argc > 1 ? wk_device_parse(argv[1]) : wk_try_gpu(0);
    if (s.device.kind < 0 || argc > 5) {
        fprintf(stderr, "usage: %s [DEVICE [EPOCHS [DIGITS [SVG]]]], e.g. %s cpu 2 1000 curves.svg\n", argv[0],
                argv[0]);
        exit(2);
    }
    const int64_t epochs = argc > 2 ? number("EPOCHS", argv[2], MOST_EPOCHS) : 0;
    const int64_t digits = argc > 3 ? number("DIGITS", argv[3], DIGITS - HELD_OUT) : 0;
    if (epochs) s.epochs = (int)epochs;
    if (digits) s.train = digits;
    if (argc > 4) s.svg = argv[4];
    if (s.batch > s.train) s.batch = s.train;
    wk_seed(1);
    return s;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static void init_layer(wk_module *m, void *user)
{
    (void)user;
    const char *kind = wk_module_kind_name(m);
    if (strcmp(kind, "conv2d") == 0 || strcmp(kind, "linear") == 0 || strcmp(kind, "lazy_linear") == 0)
        wk_init_xavier_uniform_(wk_module_parameter(m, "weight"));
}

void init_weights(wk_module *net)
{
    WK_NO_GRAD;
    wk_module_apply(net, init_layer, NULL);
}

void show_shapes(wk_module *net, int64_t size)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    wk_tensor *x = wk_rand((1, 1, size, size));
    for (int k = 0; k < wk_module_child_count(net); k++) {
        wk_module *child = wk_module_child_by_index(net, k);
        x = wk_forward(child, x);
        printf("%-22s %s\n", wk_module_kind_name(child), wk_describe(x));
    }
    wk_module_train(net, true);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Resizes digits and standardises them: 0.1307 and 0.3081 are mean and standard deviation of MNIST's pixels. */
static wk_tensor *prepared(wk_tensor *images, int64_t size)
{
    if (wk_size(images, 2) != size)
        images = wk_interpolate(images, .output_size = WK_PAIR(size, size), .mode = WK_INTERPOLATE_BILINEAR);
    return wk_div(wk_sub(images, 0.1307), 0.3081);
}

static double test_accuracy(wk_module *net, wk_loader *batches, const settings *s)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_history *hits = wk_history_new();
    wk_module_train(net, false);
    WK_EACH(batch, batches)
    {
        wk_tensor *scores = wk_forward(net, prepared(batch->x, s->size));
        wk_history_add(hits, accuracy(scores, batch->y), .weight = (double)wk_size(scores, 0));
    }
    wk_module_train(net, true);
    return wk_history_mean(hits);
}

/* Returns the mean of the last `count` values. */
static double mean_of_last(wk_history *history, int64_t count)
{
    const double *values = wk_history_values(history);
    const int64_t all = wk_history_count(history);
    double sum = 0;
    for (int64_t k = all - count; values && k < all; k++) sum += values[k];
    return sum / (double)count;
}

/* Results of a training run. */
typedef struct curves {
    wk_history *loss, *hits; /* of each batch */
    int epochs;              /* that have ended */
    double epoch[MOST_EPOCHS], train_accuracy[MOST_EPOCHS], test_accuracy[MOST_EPOCHS];
} curves;

/* Trains for one epoch. The histories take the loss and the accuracy of each batch without waiting for the device;
 * reading them at the end of the epoch waits once. */
static void train_epoch(wk_module *net, wk_optim *sgd, wk_loader *batches, const settings *s, curves *c)
{
    WK_EACH(batch, batches)
    {
        wk_tensor *scores = wk_forward(net, prepared(batch->x, s->size));
        wk_tensor *loss = wk_cross_entropy(scores, batch->y);
        wk_optim_zero_grad(sgd);
        wk_backward(loss);
        wk_optim_step(sgd);
        wk_history_add(c->loss, loss);
        wk_history_add(c->hits, accuracy(scores, batch->y));
    }
}

static void save_curves(const curves *c, const settings *s, int64_t steps)
{
    const double step = 1.0 / (double)steps;
    wk_plot *plot = wk_plot_new(.title = s->name, .x_label = "epoch");
    wk_plot_history(plot, "train loss", c->loss, .first = step, .step = step);
    wk_plot_line(plot, "train accuracy", c->epoch, c->train_accuracy, c->epochs);
    wk_plot_line(plot, "test accuracy", c->epoch, c->test_accuracy, c->epochs);
    wk_plot_save(plot, s->svg);
}

int train(wk_module *net, const settings *s)
{
    WK_SCOPE;
    wk_dataset *digits = wk_data_mnist("data/mnist", .train = false);
    wk_dataset *train_set = wk_data_slice(digits, 0, s->train);
    wk_dataset *test_set = wk_data_slice(digits, DIGITS - (s->train < HELD_OUT ? s->train : HELD_OUT), DIGITS);
    wk_loader *batches =
        wk_data_loader(train_set, .batch_size = s->batch, .shuffle = true, .drop_last = true, .device = s->device);
    wk_loader *test_batches = wk_data_loader(test_set, .batch_size = 100, .device = s->device);
    wk_module_to(net, s->device);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = s->lr);
    curves c = {.loss = wk_history_new(), .hits = wk_history_new()};
    const int64_t steps = wk_loader_count(batches);
    double time = 0; /* without tests, as in the book */

    printf("%s: %lld parameters, %lld digits of %lld x %lld, batches of %lld, learning rate %g\n", s->name,
           (long long)wk_parameter_count(net), (long long)s->train, (long long)s->size, (long long)s->size,
           (long long)s->batch, s->lr);
    for (int k = 0; k < s->epochs && !wk_error(); k++) {
        const double start = seconds();
        train_epoch(net, sgd, batches, s, &c);
        const double loss = mean_of_last(c.loss, steps);
        c.train_accuracy[k] = mean_of_last(c.hits, steps);
        time += seconds() - start;
        c.epoch[k] = c.epochs = k + 1;
        c.test_accuracy[k] = test_accuracy(net, test_batches, s);
        if (wk_error()) break;
        printf("epoch %2d  loss %.3f  train acc %.3f  test acc %.3f\n", k + 1, loss, c.train_accuracy[k],
               c.test_accuracy[k]);
        fflush(stdout);
    }
    if (s->svg) save_curves(&c, s, steps);
    if (wk_error()) return wk_report_error(stderr);
    printf("%.1f examples/sec on %s\n", (double)(s->epochs * steps * s->batch) / time, wk_device_str(s->device));
    return 0;
}

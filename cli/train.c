/* SPDX-License-Identifier: Apache-2.0 */
/* wick train mnist: trains a network on handwritten digits, on any device. */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES_TO_LEARN = 9000, SAMPLES_HELD_OUT = 1000, BATCH = 64, CURVE_ROWS = 10 };

static wk_module *new_network(void)
{
    return wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(784, 256), wk_nn_relu(), wk_nn_linear(256, 10));
}

/* Returns the fraction of digits classified correctly. Hits are summed on the device and read once. */
static double accuracy(wk_module *net, wk_dataset *digits, wk_device device)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    wk_history *hits = wk_history_new();
    wk_loader *batches = wk_data_loader(digits, .batch_size = 250, .device = device);
    WK_EACH(batch, batches)
    {
        wk_tensor *guess = wk_argmax(wk_forward(net, batch->x), 1);
        wk_history_add(hits, wk_mean(wk_to_dtype(wk_eq(guess, batch->y), WK_F32)));
    }
    wk_module_train(net, true);
    return wk_history_mean(hits);
}

/* Overwrites one progress line, on a terminal only; a log gets one line per epoch. */
static void progress(long epoch, int64_t done, int64_t all)
{
    enum { WIDTH = 30 };
    if (!cli_is_terminal()) return;
    char bar[WIDTH + 1] = "";
    int filled = all > 0 ? (int)(WIDTH * done / all) : WIDTH;
    for (int k = 0; k < WIDTH; k++) bar[k] = k < filled ? '#' : '.';
    printf("\repoch %2ld  %s[%s]%s %lld/%lld ", epoch, cli_color(CLI_BLUE), bar, cli_color(CLI_PLAIN), (long long)done,
           (long long)all);
    fflush(stdout);
}

/* Trains one epoch; appends its losses, in order, to *losses. */
static double run_epoch(wk_module *net, wk_optim *optim, wk_loader *batches, wk_history *losses, long epoch)
{
    WK_SCOPE;
    wk_history *here = wk_history_new();
    double shown = 0;
    WK_EACH(batch, batches)
    {
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, batch->x), batch->y);
        wk_optim_zero_grad(optim);
        wk_backward(loss);
        wk_optim_step(optim);
        wk_history_add(here, loss, .weight = (double)wk_size(batch->x, 0));
        wk_history_add(losses, loss);
        if (cli_clock() - shown < 0.05) continue;
        shown = cli_clock();
        progress(epoch, batch->index + 1, wk_loader_count(batches));
    }
    return wk_history_mean(here);
}

/* ---- checks of output files before training ---------------------------------------------------------------------- */

/* Checks that saving can replace the file, for which its folder must accept a new one. Returns 0 or an errno. */
static int check_replaceable(const char *path)
{
    char target[PATH_MAX], other[PATH_MAX];
    struct stat is;
    if (!path[0]) return ENOENT;
    const bool there = lstat(path, &is) == 0;
    if (there && (!realpath(path, target) || stat(target, &is) != 0)) return errno;
    if (there && !S_ISREG(is.st_mode)) return S_ISDIR(is.st_mode) ? EISDIR : EINVAL;
    const int length = snprintf(other, sizeof other, "%s.wick-XXXXXX", there ? target : path);
    const int file = length < (int)sizeof other ? mkstemp(other) : (errno = ENAMETOOLONG, -1);
    if (file < 0) return errno;
    close(file);
    unlink(other);
    return 0;
}

static bool outputs_writable(const char *svg, const char *save)
{
    const int network = check_replaceable(save), picture = svg ? check_replaceable(svg) : 0;
    const bool same = svg && strcmp(svg, save) == 0;
    if (same) fprintf(stderr, "wick train: --save and --svg are both %s\n", save);
    if (network) fprintf(stderr, "wick train: cannot write --save %s: %s\n", save, strerror(network));
    if (picture) fprintf(stderr, "wick train: cannot write --svg %s: %s\n", svg, strerror(picture));
    return !network && !picture && !same;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Trains and reports. Returns the exit code. */
static int train(wk_device device, const char *folder, long epochs, const char *svg, const char *save)
{
    WK_SCOPE;
    wk_seed(1);
    wk_dataset *digits = wk_data_mnist(folder, .train = false);
    if (!digits)
        fprintf(stderr,
                "wick train: no data in \"%s\"; --data FOLDER names one with MNIST's test set, as data/mnist of the "
                "source tree\n",
                folder);
    wk_dataset *learn = wk_data_slice(digits, 0, SAMPLES_TO_LEARN);
    wk_dataset *held_out = wk_data_slice(digits, SAMPLES_TO_LEARN, SAMPLES_TO_LEARN + SAMPLES_HELD_OUT);
    wk_module *net = new_network();
    wk_module_to(net, device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 1e-3);
    wk_loader *batches = wk_data_loader(learn, .batch_size = BATCH, .shuffle = true, .seed = 1, .device = device);
    wk_history *losses = wk_history_new();
    if (wk_error()) return wk_report_error(stderr);

    printf("784-256-10 network on %s, %d training digits, %d held out, batches of %d\n", wk_device_str(device),
           SAMPLES_TO_LEARN, SAMPLES_HELD_OUT, BATCH);
    double start = cli_clock();
    for (long epoch = 1; epoch <= epochs && !wk_error(); epoch++) {
        double began = cli_clock(), loss = run_epoch(net, adam, batches, losses, epoch);
        double right = accuracy(net, held_out, device);
        if (wk_error()) break;
        printf("%sepoch %2ld  loss %.4f  accuracy %.3f  %.1f s%s\n", cli_is_terminal() ? "\r" : "", epoch, loss, right,
               cli_clock() - began, cli_is_terminal() ? "                         " : "");
        fflush(stdout);
    }
    const double *values = wk_history_values(losses);
    if (wk_error()) return wk_report_error(stderr);

    cli_curve(values, wk_history_count(losses), CURVE_ROWS, "loss of each batch");
    printf("%s%.1f %% of the %d held-out digits are correct%s, after %.1f s\n", cli_color(CLI_BOLD),
           100 * accuracy(net, held_out, device), SAMPLES_HELD_OUT, cli_color(CLI_PLAIN), cli_clock() - start);
    if (wk_save(net, save) == WK_OK) printf("saved as %s\n", save);
    if (wk_error()) return wk_report_error(stderr);
    if (svg) {
        wk_plot *plot = wk_plot_new(.title = "wick train mnist", .x_label = "batch", .y_label = "loss");
        wk_plot_history(plot, NULL, losses, .first = 1);
        wk_plot_save(plot, svg);
    }
    return wk_report_error(stderr);
}

int cli_train(int count, char **words)
{
    const char *task = NULL, *device = NULL, *epochs_text = "10", *folder = "data/mnist", *svg = NULL,
               *save = "mnist.safetensors";
    const cli_option options[] = {
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default the first GPU, else cpu", &device},
        {"epochs", "N", "number of epochs, default 10", &epochs_text},
        {"data", "FOLDER", "folder of the data set, default data/mnist", &folder},
        {"save", "FILE", "file for the trained network, default mnist.safetensors", &save},
        {"svg", "FILE", "write the loss curve to FILE as an SVG chart", &svg},
        {0}};
    const cli_syntax syntax = {
        "train", "mnist",
        "Trains a two-layer network on 9,000 handwritten digits, shows loss and accuracy on 1,000 others,\n"
        "plots the loss and saves the network (safetensors).",
        options, 1};
    int done = cli_parse(&syntax, count, words, &task);
    if (done >= 0) return done;
    if (!task) return cli_usage_error("train", "missing dataset; expected mnist");
    if (strcmp(task, "mnist") != 0) return cli_usage_error("train", "unknown dataset \"%s\"; expected mnist", task);
    long epochs;
    if (!cli_number("train", "--epochs", epochs_text, 1, 10000, &epochs)) return CLI_USAGE;
    wk_device where = device ? wk_device_parse(device) : wk_try_gpu(0);
    if (where.kind < 0)
        return cli_usage_error("train", "unknown device \"%s\"; expected cpu, cuda:0, opencl:1 or gpu:0", device);
    return outputs_writable(svg, save) ? train(where, folder, epochs, svg, save) : CLI_FAILED;
}

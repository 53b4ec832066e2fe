/* SPDX-License-Identifier: Apache-2.0 */
/* wick train: trains a network on handwritten digits or on clothes, on any device; train_gpt.c has wick train gpt. */
#include "train.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CURVE_ROWS = 10 };

/* The command line. */
typedef struct settings {
    const cli_model *model;
    wk_device device;
    const char *folder, *save, *svg; /* svg may be NULL */
    long epochs, batch;
    double rate;
    cli_names classes;
} settings;

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* The images to learn from, and others. */
typedef struct images {
    wk_dataset *train, *test;
} images;

static bool has_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path && access(path, F_OK) == 0;
}

/* Reads the training set and the test set, or divides the test set if the folder has no other. */
static bool read_images(const settings *s, images *out)
{
    const bool both =
        has_file(s->folder, "train-images-idx3-ubyte") || has_file(s->folder, "train-images-idx3-ubyte.gz");
    wk_dataset *test = wk_data_mnist(s->folder, .train = false);
    const int64_t count = wk_data_size(test), learnt = count * 9 / 10;
    wk_sample sample;
    *out = (images){both ? wk_data_mnist(s->folder) : wk_data_slice(test, 0, learnt),
                    both ? test : wk_data_slice(test, learnt, count)};
    if (!test || !out->train)
        fprintf(stderr,
                "wick train: no data in \"%s\"; --data FOLDER names one with MNIST's test set, as data/mnist of the "
                "source tree\n",
                s->folder);
    if (wk_error() || wk_data_get(out->train, 0, &sample) != WK_OK) return false;
    if (wk_size(sample.tensors[0], 1) == CLI_IMAGE_SIZE && wk_size(sample.tensors[0], 2) == CLI_IMAGE_SIZE) return true;
    fprintf(stderr, "wick train: the images in \"%s\" have %lld x %lld pixels, expected %d x %d\n", s->folder,
            (long long)wk_size(sample.tensors[0], 1), (long long)wk_size(sample.tensors[0], 2), CLI_IMAGE_SIZE,
            CLI_IMAGE_SIZE);
    return false;
}

/* ---- one epoch --------------------------------------------------------------------------------------------------- */

/* Returns the fraction of images classified correctly. Hits are summed on the device and read once. */
static double accuracy(wk_module *net, wk_dataset *data, wk_device device)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    wk_history *hits = wk_history_new();
    wk_loader *batches = wk_data_loader(data, .batch_size = 250, .device = device);
    WK_EACH(batch, batches)
    {
        wk_tensor *guess = wk_argmax(wk_forward(net, batch->x), 1);
        wk_tensor *right = wk_mean(wk_to_dtype(wk_eq(guess, batch->y), WK_F32));
        wk_history_add(hits, right, .weight = (double)wk_size(batch->x, 0));
    }
    wk_module_train(net, true);
    return wk_history_mean(hits);
}

/* A training in progress. */
typedef struct training {
    wk_module *net;
    wk_optim *optim;
    wk_schedule *rate;
    wk_loader *batches;
    wk_history *losses; /* of all batches, in order */
} training;

/* Trains one epoch with a progress bar on the terminal. Returns the mean loss. */
static double run_epoch(const training *t, long epoch)
{
    WK_SCOPE;
    char label[32];
    snprintf(label, sizeof label, "epoch %2ld", epoch);
    wk_history *here = wk_history_new();
    wk_progress *bar = wk_progress_new(label, wk_loader_count(t->batches), .disable = !isatty(STDERR_FILENO));
    WK_EACH(batch, t->batches)
    {
        wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, batch->x), batch->y);
        wk_optim_zero_grad(t->optim);
        wk_backward(loss);
        wk_optim_step(t->optim);
        wk_schedule_step(t->rate);
        wk_history_add(here, loss, .weight = (double)wk_size(batch->x, 0));
        wk_history_add(t->losses, loss);
        wk_progress_step(bar, "loss", loss);
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

bool train_outputs_writable(const char *svg, const char *save)
{
    const int network = check_replaceable(save), picture = svg ? check_replaceable(svg) : 0;
    const bool same = svg && strcmp(svg, save) == 0;
    if (same) fprintf(stderr, "wick train: --save and --svg are both %s\n", save);
    if (network) fprintf(stderr, "wick train: cannot write --save %s: %s\n", save, strerror(network));
    if (picture) fprintf(stderr, "wick train: cannot write --svg %s: %s\n", svg, strerror(picture));
    return !network && !picture && !same;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Writes the network and what wick predict needs to know of it. */
static void save_network(const settings *s, wk_module *net)
{
    char size[16], *names = cli_names_join(&s->classes);
    snprintf(size, sizeof size, "%d", CLI_IMAGE_SIZE);
    const wk_file_pair about[] = {{"wick.model", s->model->name}, {"wick.size", size}, {"wick.classes", names}};
    if (wk_save(net, s->save, .metadata = about, .pairs = names ? 3 : 2) == WK_OK) printf("saved as %s\n", s->save);
    free(names);
}

/* Prints the results and writes the files. Returns the exit code. */
static int finish(const settings *s, const training *t, double right, int64_t tested, double seconds)
{
    const double *values = wk_history_values(t->losses);
    const int64_t count = wk_history_count(t->losses);
    char title[80];
    if (wk_error()) return wk_report_error(stderr);
    cli_curve(values, count, CURVE_ROWS, "loss of each batch");
    printf("%s%.1f %% of the %lld held-out images are correct%s, after %.1f s\n", cli_color(CLI_BOLD), 100 * right,
           (long long)tested, cli_color(CLI_PLAIN), seconds);
    save_network(s, t->net);
    if (wk_error()) return wk_report_error(stderr);
    if (s->svg) {
        snprintf(title, sizeof title, "wick train %s", s->model->name);
        wk_plot *plot = wk_plot_new(.title = title, .x_label = "batch", .y_label = "loss");
        wk_plot_history(plot, NULL, t->losses, .first = 1);
        wk_plot_save(plot, s->svg);
    }
    return wk_report_error(stderr);
}

/* Trains and reports. Returns the exit code. */
static int train(const settings *s)
{
    WK_SCOPE;
    images data;
    wk_seed(1);
    if (!read_images(s, &data)) return wk_error() ? wk_report_error(stderr) : CLI_FAILED;
    wk_module *net = s->model->create(s->classes.count, 1);
    wk_module_to(net, s->device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = s->rate);
    wk_loader *batches =
        wk_data_loader(data.train, .batch_size = s->batch, .shuffle = true, .seed = 1, .device = s->device);
    wk_schedule *rate = wk_schedule_cosine(adam, .steps = s->epochs * wk_loader_count(batches));
    const training t = {net, adam, rate, batches, wk_history_new()};
    if (wk_error()) return wk_report_error(stderr);

    const int64_t tested = wk_data_size(data.test);
    printf("%s on %s, %lld training images, %lld held out, batches of %ld\n", s->model->title, wk_device_str(s->device),
           (long long)wk_data_size(data.train), (long long)tested, s->batch);
    const double start = cli_clock();
    double right = 0;
    for (long epoch = 1; epoch <= s->epochs && !wk_error(); epoch++) {
        const double began = cli_clock(), loss = run_epoch(&t, epoch);
        right = accuracy(net, data.test, s->device);
        if (wk_error()) break;
        printf("epoch %2ld  loss %.4f  accuracy %.3f  %.1f s\n", epoch, loss, right, cli_clock() - began);
        fflush(stdout);
    }
    return finish(s, &t, right, tested, cli_clock() - start);
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Names the classes: those of a file, of Fashion-MNIST if the folder's name contains it, or the digits. */
static bool find_classes(settings *s, const char *file)
{
    static const char digits[] = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9";
    static const char clothes[] = "T-shirt\ntrouser\npullover\ndress\ncoat\nsandal\nshirt\nsneaker\nbag\nankle boot";
    if (file) return cli_names_read("train", file, &s->classes);
    if (cli_names_split(strcasestr(s->folder, "fashion") ? clothes : digits, &s->classes)) return true;
    fprintf(stderr, "wick train: out of memory\n");
    return false;
}

static int run(settings *s, const char *classes)
{
    if (!train_outputs_writable(s->svg, s->save) || !find_classes(s, classes)) return CLI_FAILED;
    const int code = train(s);
    cli_names_free(&s->classes);
    return code;
}

int cli_train(int count, char **words)
{
    const char *task = NULL, *device = NULL, *epochs = "10", *batch = "64", *rate = NULL, *classes = NULL;
    char save[40];
    settings s = {.folder = "data/mnist"};
    const cli_option options[] = {
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default the first GPU, else cpu", &device},
        {"epochs", "N", "number of epochs, default 10", &epochs},
        {"batch", "B", "images per batch, default 64", &batch},
        {"lr", "R", "initial learning rate, default 0.001; for lenet 0.01", &rate},
        {"data", "FOLDER", "folder of MNIST or Fashion-MNIST, default data/mnist", &s.folder},
        {"classes", "FILE", "names of the classes, one per line; default 0 to 9 or the clothes of Fashion-MNIST",
         &classes},
        {"save", "FILE", "file for the trained network, default NETWORK.safetensors", &s.save},
        {"svg", "FILE", "write the loss curve to FILE as an SVG chart", &s.svg},
        {0}};
    const cli_syntax syntax = {
        "train", "NETWORK",
        "Trains a network on images of 28 x 28 pixels, shows loss and accuracy on held-out images, plots the loss and\n"
        "saves the network (safetensors) for wick predict. NETWORK is mnist (two linear layers), lenet or resnet18.\n"
        "If the folder has no training set, nine tenths of the test set are used for training, the rest for testing.\n"
        "`wick train gpt --help` describes training on a text.",
        options, 1};
    if (count > 0 && strcmp(words[0], "gpt") == 0) return train_gpt(count - 1, words + 1);
    int done = cli_parse(&syntax, count, words, &task);
    if (done >= 0) return done;
    if (!task) return cli_usage_error("train", "missing network; expected %s or gpt", cli_model_names());
    if (strcmp(task, "gpt") == 0) return cli_usage_error("train", "write gpt first: wick train gpt [FILE] [OPTIONS]");
    s.model = cli_model_find(task);
    if (!s.model) {
        const char *nearest = cli_nearer(task, "gpt", cli_model_nearest(task));
        return cli_usage_error("train", "unknown network \"%s\"; expected %s or gpt%s%s%s", task, cli_model_names(),
                               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    s.rate = s.model->lr;
    if (!cli_number("train", "--epochs", epochs, 1, 10000, &s.epochs) ||
        !cli_number("train", "--batch", batch, 1, 100000, &s.batch) ||
        (rate && !cli_real("train", "--lr", rate, 0, 100, &s.rate)))
        return CLI_USAGE;
    if (!cli_device("train", device, &s.device)) return CLI_USAGE;
    snprintf(save, sizeof save, "%s.safetensors", s.model->name);
    if (!s.save) s.save = save;
    return run(&s, classes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* wick train gpt: trains a small GPT to predict the characters of a text. */
#include "gpt.h"
#include "train.h"
#include <string.h>
#include <unistd.h>

enum { LAYERS = 4, HEADS = 4, WIDTH = 128, CONTEXT = 64 };
enum { CURVE_ROWS = 10, REPORT_EVERY = 250, HELD_BATCHES = 20, SAMPLE = 200, LEAST_CHARACTERS = 20 * (CONTEXT + 2) };

/* The command line. */
typedef struct settings {
    wk_device device;
    const char *file, *save, *svg; /* svg may be NULL */
    long steps, batch;
    double rate;
} settings;

/* A training in progress. */
typedef struct training {
    const settings *settings;
    cli_gpt gpt;
    wk_tensor *train, *held; /* ids of nine tenths of the text, and of the rest */
    wk_optim *optim;
    wk_schedule *rate;
    wk_history *losses; /* of all steps, in order */
} training;

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Returns the mean loss of windows drawn at random from the ids. */
static wk_tensor *loss_of(const training *t, wk_tensor *ids)
{
    const wk_device device = t->settings->device;
    wk_tensor *start =
        wk_randint(0, wk_size(ids, 0) - CONTEXT, (t->settings->batch, 1), .device = device, .dtype = WK_I64);
    wk_tensor *at = wk_add(start, wk_arange(CONTEXT, .device = device));
    wk_tensor *scores = wk_forward(t->gpt.net, wk_take(ids, at));
    return wk_cross_entropy(wk_flatten(scores, 0, 1), wk_flatten(wk_take(ids, wk_add(at, 1))));
}

static void train_step(const training *t, wk_progress *bar)
{
    WK_SCOPE;
    wk_tensor *loss = loss_of(t, t->train);
    wk_optim_zero_grad(t->optim);
    wk_backward(loss);
    wk_clip_grad_norm_(wk_parameters(t->gpt.net), 1.0);
    wk_optim_step(t->optim);
    wk_schedule_step(t->rate);
    wk_history_add(t->losses, loss);
    wk_progress_step(bar, "loss", loss);
}

static double held_out_loss(const training *t)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_history *losses = wk_history_new();
    for (int k = 0; k < HELD_BATCHES && !wk_error(); k++) {
        WK_SCOPE;
        wk_history_add(losses, loss_of(t, t->held));
    }
    return wk_history_mean(losses);
}

/* Trains with a progress bar on the terminal, up to and including step `last`. */
static void run_steps(const training *t, long first, long last)
{
    WK_SCOPE;
    wk_progress *bar = wk_progress_new("gpt", last - first + 1, .disable = !isatty(STDERR_FILENO));
    for (long step = first; step <= last && !wk_error(); step++) train_step(t, bar);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Prints a generated text and writes the files. Returns the exit code. */
static int finish(const training *t, double loss, double seconds)
{
    const settings *s = t->settings;
    if (wk_error()) return wk_report_error(stderr);
    cli_curve(wk_history_values(t->losses), wk_history_count(t->losses), CURVE_ROWS, "loss of each step");
    printf("%sheld-out loss %.3f%s, after %.1f s\n", cli_color(CLI_BOLD), loss, cli_color(CLI_PLAIN), seconds);
    const char *first = wk_text_token(t->gpt.text, 0);
    const char *sample = wk_generate_text(t->gpt.net, t->gpt.text, first, .max_new_tokens = SAMPLE, .context = CONTEXT,
                                          .do_sample = true);
    if (sample) printf("%s%s%s%s\n", cli_color(CLI_DIM), first, sample, cli_color(CLI_PLAIN));
    if (cli_gpt_save(&t->gpt, HEADS, s->save))
        printf("saved as %s; wick generate %s --prompt TEXT continues a text\n", s->save, s->save);
    if (wk_error()) return wk_report_error(stderr);
    if (s->svg) {
        wk_plot *plot = wk_plot_new(.title = "wick train gpt", .x_label = "step", .y_label = "loss");
        wk_plot_history(plot, NULL, t->losses, .first = 1);
        wk_plot_save(plot, s->svg);
    }
    return wk_report_error(stderr);
}

/* Reads the text and creates the network. Returns false after recording or printing an error. */
static bool begin(training *t)
{
    const settings *s = t->settings;
    t->gpt.text = wk_text_chars(s->file);
    wk_tensor *ids = t->gpt.text ? wk_to(wk_text_ids(t->gpt.text), s->device) : NULL;
    if (!ids) return false;
    const int64_t count = wk_size(ids, 0), cut = count * 9 / 10;
    if (count < LEAST_CHARACTERS) {
        fprintf(stderr, "wick train gpt: %s has %lld characters, expected at least %d\n", s->file, (long long)count,
                LEAST_CHARACTERS);
        return false;
    }
    t->train = wk_narrow(ids, 0, 0, cut);
    t->held = wk_narrow(ids, 0, cut, count - cut);
    t->gpt.net = cli_gpt_create(wk_text_vocabulary(t->gpt.text), CONTEXT, WIDTH, LAYERS, HEADS);
    wk_module_to(t->gpt.net, s->device);
    t->optim = wk_optim_adamw(wk_parameters(t->gpt.net), .lr = s->rate, .beta2 = 0.99, .weight_decay = 0.1);
    t->rate = wk_schedule_cosine(t->optim, .warmup = s->steps < 200 ? s->steps / 2 : 100, .steps = s->steps,
                                 .min_lr = s->rate / 10);
    t->losses = wk_history_new();
    return !wk_error();
}

/* Trains and reports. Returns the exit code. */
static int train(const settings *s)
{
    WK_SCOPE;
    training t = {.settings = s};
    wk_seed(1);
    if (!begin(&t)) {
        if (wk_error()) cli_report_error("train");
        return CLI_FAILED;
    }
    printf("GPT on %s, %lld characters, %lld held out, %lld different, batches of %ld windows\n",
           wk_device_str(s->device), (long long)wk_size(t.train, 0), (long long)wk_size(t.held, 0),
           (long long)wk_text_vocabulary(t.gpt.text), s->batch);
    const double start = cli_clock();
    double loss = 0;
    for (long step = 1; step <= s->steps && !wk_error(); step += REPORT_EVERY) {
        const long last = step + REPORT_EVERY - 1 < s->steps ? step + REPORT_EVERY - 1 : s->steps;
        const double began = cli_clock();
        run_steps(&t, step, last);
        loss = held_out_loss(&t);
        if (wk_error()) break;
        printf("step %5ld  held-out loss %.3f  %.1f s\n", last, loss, cli_clock() - began);
        fflush(stdout);
    }
    return finish(&t, loss, cli_clock() - start);
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

int train_gpt(int count, char **words)
{
    const char *device = NULL, *steps = "1000", *batch = "12", *rate = "0.001", *file = NULL;
    settings s = {.save = "gpt.safetensors"};
    const cli_option options[] = {
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default the first GPU, else cpu", &device},
        {"steps", "N", "number of steps, default 1000", &steps},
        {"batch", "B", "windows per step, default 12", &batch},
        {"lr", "R", "greatest learning rate, default 0.001", &rate},
        {"save", "FILE", "file for the trained network, default gpt.safetensors", &s.save},
        {"svg", "FILE", "write the loss curve to FILE as an SVG chart", &s.svg},
        {0}};
    const cli_syntax syntax = {
        "train gpt", "[FILE]",
        "Trains a small GPT (4 blocks of 4 heads, 128 features, 64 positions) to predict the characters of a text in\n"
        "UTF-8, shows the loss on the last tenth of the text, which is held out, and a text that the network writes,\n"
        "and saves the network (safetensors) for wick generate. FILE is data/text/tinyshakespeare.txt by default.",
        options, 1};
    int done = cli_parse(&syntax, count, words, &file);
    if (done >= 0) return done;
    if (!cli_number("train gpt", "--steps", steps, 1, 100000000, &s.steps) ||
        !cli_number("train gpt", "--batch", batch, 1, 100000, &s.batch) ||
        !cli_real("train gpt", "--lr", rate, 0, 100, &s.rate))
        return CLI_USAGE;
    if (!cli_device("train gpt", device, &s.device)) return CLI_USAGE;
    s.file = file ? file : "data/text/tinyshakespeare.txt";
    return train_outputs_writable(s.svg, s.save) ? train(&s) : CLI_FAILED;
}

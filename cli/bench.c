/* SPDX-License-Identifier: Apache-2.0 */
/* wick bench: results as ratios to the limits of this machine, measured in the same process. */
#include "bench.h"
#include <math.h>
#include <string.h>

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static void print_result(const bench_result *r)
{
    printf("%-44s %-9s %2d %10.4g %-8s", r->name, r->device, r->threads, r->value, r->unit);
    if (isfinite(r->ratio))
        printf(" %s%6.2f%s x %s", cli_color(r->ratio >= 1 ? CLI_GREEN : CLI_PLAIN), r->ratio, cli_color(CLI_PLAIN),
               r->against);
    putchar('\n');
    fflush(stdout);
}

void bench_add(bench *b, const char *name, wk_device device, int threads, double value, const char *unit, double ratio,
               const char *against)
{
    if (wk_error() || b->count == BENCH_MOST_RESULTS) return;
    bench_result *r = &b->result[b->count++];
    *r = (bench_result){.threads = threads, .value = value, .ratio = ratio};
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->device, sizeof r->device, "%s", wk_device_str(device));
    snprintf(r->unit, sizeof r->unit, "%s", unit);
    snprintf(r->against, sizeof r->against, "%s", against);
    if (b->print_results) print_result(r);
}

void bench_interleave(bench_variant *variants, int count, int rounds, double seconds)
{
    double start = cli_clock();
    for (int k = 0; k < count; k++) variants[k].best = INFINITY;
    for (int round = 0; (round < rounds || cli_clock() - start < seconds) && !wk_error(); round++)
        for (int k = 0; k < count; k++) {
            double took = variants[k].run(variants[k].user);
            if (took < variants[k].best) variants[k].best = took;
        }
}

static double value_of(const bench_task *task, double seconds)
{
    return task->work > 0 ? task->work / seconds : 1e3 * seconds;
}

static void measure(bench *b, bench_task *task, wk_device device, int threads)
{
    const char *unit = task->work > 0 ? task->unit : "ms";
    bool asks = b->peer && task->question.name;
    task->question.peer = b->peer;
    task->question.threads = threads;
    bench_variant turns[3] = {{task->run, task->user, 0}};
    int count = 1;
    const int limit = task->limit ? count++ : 0, peer = asks ? count++ : 0; /* index of their variants; 0: none */
    if (limit) turns[limit] = (bench_variant){task->limit, task->user, 0};
    if (peer) turns[peer] = (bench_variant){bench_baseline_round, &task->question, 0};
    bench_interleave(turns, count, b->tiny ? 1 : b->quick ? 5 : 20, b->tiny ? 0 : b->quick ? 0.2 : 1.5);
    const double own = turns[0].best, value = value_of(task, own);
    const bool answered = peer && isfinite(turns[peer].best);
    if (limit) {
        bench_add(b, task->name, device, threads, value, unit, turns[limit].best / own, task->against);
        bench_add(b, task->against, device, threads, value_of(task, turns[limit].best), unit, NAN, "");
    } else if (!answered) {
        bench_add(b, task->name, device, threads, value, unit, NAN, "");
    }
    if (answered) bench_add(b, task->name, device, threads, value, unit, turns[peer].best / own, b->peer->name);
}

void bench_measure(bench *b, bench_task *task)
{
    const int all = wk_thread_count();
    wk_set_threads(1);
    if (!wk_error()) measure(b, task, wk_cpu(), 1);
    wk_set_threads(all);
    if (all > 1 && !wk_error()) measure(b, task, wk_cpu(), all);
}

void bench_measure_on(bench *b, bench_task *task, wk_device device)
{
    task->run(task->user); /* builds kernels and maps memory */
    if (task->limit) task->limit(task->user);
    if (!wk_error()) measure(b, task, device, 1);
}

wk_event *bench_timer_start(wk_tensor *ahead, int times)
{
    WK_NO_GRAD;
    for (int k = 0; k < times; k++) {
        wk_add_(ahead, 1);
        wk_flush(); /* so that the passes are not fused into one kernel */
    }
    return wk_event_record(wk_device_of(ahead));
}

double bench_timer_stop(wk_tensor *ahead, wk_event *start)
{
    wk_event *end = wk_event_record(wk_device_of(ahead));
    wk_event_synchronize(end);
    return 1e-3 * wk_event_elapsed_time(start, end);
}

double bench_step(void *user)
{
    const bench_network *n = user;
    const double start = cli_clock();
    {
        WK_SCOPE;
        wk_tensor *loss = wk_cross_entropy(wk_forward(n->net, n->x), n->labels);
        wk_optim_zero_grad(n->optim);
        wk_backward(loss);
        if (n->clip_norm > 0) wk_clip_grad_norm_(wk_parameters(n->net), n->clip_norm);
        wk_optim_step(n->optim);
    }
    wk_sync();
    return cli_clock() - start;
}

double bench_forward(void *user)
{
    const bench_network *n = user;
    WK_SCOPE;
    WK_NO_GRAD;
    const double start = cli_clock();
    wk_data(wk_forward(n->net, n->x));
    return cli_clock() - start;
}

int bench_devices(wk_device devices[16])
{
    static const int kinds[] = {WK_CPU, WK_CUDA, WK_OPENCL};
    int count = 0;
    for (int k = 0; k < 3; k++)
        for (int index = 0; index < wk_device_count(kinds[k]) && count < 16; index++)
            devices[count++] = (wk_device){(int16_t)kinds[k], (int16_t)index, 0};
    return count;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void print_json(const bench *b)
{
    for (int k = 0; k < b->count; k++) {
        const bench_result *r = &b->result[k];
        printf("{\"case\": ");
        cli_json_text(stdout, r->name);
        printf(", \"device\": \"%s\", \"threads\": %d, \"value\": ", r->device, r->threads);
        cli_json_number(stdout, r->value);
        printf(", \"unit\": \"%s\", \"ratio\": ", r->unit);
        cli_json_number(stdout, r->ratio);
        printf(", \"against\": ");
        if (isfinite(r->ratio))
            cli_json_text(stdout, r->against);
        else
            printf("null");
        printf("}\n");
    }
}

/* Draws the ratios as bars, without results that have none. */
static bool draw(const bench *b, const char *path)
{
    static cli_bar bars[BENCH_MOST_RESULTS];
    int count = 0;
    for (int k = 0; k < b->count; k++) {
        const bench_result *r = &b->result[k];
        if (!isfinite(r->ratio)) continue;
        cli_bar *bar = &bars[count++];
        *bar = (cli_bar){.value = r->ratio, .scale = 2};
        snprintf(bar->label, sizeof bar->label, "%s, %s, %d", r->name, r->device, r->threads);
        snprintf(bar->note, sizeof bar->note, "%.2f x %s", r->ratio, r->against);
    }
    return cli_bars_svg(path, "wick bench: ratios (a full bar is 2)", bars, count);
}

static const struct {
    const char *name, *doc;
    void (*run)(bench *b);
} cases[] = {
    {"fused", "(z + 2).exp() * y over large arrays, relative to a STREAM triad", bench_fused},
    {"small", "add of two [2,3] tensors, without and with gradient", bench_small},
    {"matmul", "f32 matrix products, relative to FMA in registers", bench_matmul},
    {"rows", "softmax, layer norm, sums and transpose of a [4096, 4096] matrix, relative to a STREAM triad",
     bench_rows},
    {"train", "training step of a 784-256-10 network on 64 digits, relative to FMA in registers", bench_training},
    {"vision", "convolutional networks (training steps, inference), layers with gradients, and single convolutions",
     bench_vision},
    {"recurrent", "recurrent models of characters: training steps with clipping, and forward", bench_recurrent},
    {"language", "language models: training step, generation, decoding; attention, norms of rows, vocabularies",
     bench_language},
    {"gpu",
     "one GPU: copies and training steps timed on the host; kernels (fused chain, rows, products, a step) timed by "
     "device events, relative to a kernel that mostly copies",
     bench_gpu},
    {"E1", "exercise 1: one large product and many tiny ones, on each device", bench_matmul_devices},
    {"E2", "exercise 2: saving and loading parameters on each device", bench_files},
    {"E3", "exercise 3: norms of products, read one by one or collected on the device", bench_logging},
    {"E4", "exercise 4: products on two devices concurrently, or sequentially on one", bench_overlap},
    {"mirrored",
     "training step on two devices relative to one, and with wk_mirrored on one device relative to the bare network",
     bench_mirrored},
};
enum { CASES = sizeof cases / sizeof *cases };

static int wanted_case(const char *name)
{
    int k = 0;
    while (k < CASES && strcmp(cases[k].name, name) != 0) k++;
    return k;
}

int cli_bench(int count, char **words)
{
    const char *json = NULL, *svg = NULL, *quick = NULL, *tiny = NULL, *other = NULL, *device = NULL, *chosen = NULL;
    const cli_option options[] = {
        {"json", NULL, "print one JSON object per line: case device threads value unit ratio against", &json},
        {"svg", "FILE", "write the ratios to FILE as an SVG chart", &svg},
        {"peer", "COMMAND", "alternate with a peer program, e.g. python3 bench/pytorch.py", &other},
        {"device", "D", "device of the case gpu: cuda:0, opencl:1, gpu:0; default the first GPU", &device},
        {"quick", NULL, "run smaller cases for less time; not a valid measurement", &quick},
        {"tiny", NULL, NULL, &tiny}, /* internal: one round of the smallest sizes, for simulated devices */
        {0}};
    const cli_syntax syntax = {
        "bench", "[CASE]",
        "Measures the library against the limits of this machine, in alternating rounds of one process; the fastest\n"
        "round counts. A ratio above 1 is faster than the baseline.\n"
        "\n"
        "cases: fused, small, matmul, rows, train, vision (convolutional networks), recurrent (RNN, GRU, LSTM), "
        "language\n"
        "(GPT, Llama, attention), gpu (kernels timed on the device), mirrored (one network on two devices), and the\n"
        "exercises of the GPU tutorial:\n"
        "  E1  one large product per device, then many tiny ones\n"
        "  E2  saving and loading parameters on each device\n"
        "  E3  1,000 products, reading each norm, or collecting them on the device\n"
        "  E4  products on two devices at once, against one device",
        options, 1};
    static bench b;
    int done = cli_parse(&syntax, count, words, &chosen);
    if (done >= 0) return done;
    if (chosen && wanted_case(chosen) == CASES) return cli_usage_error("bench", "unknown case \"%s\"", chosen);
    b.device = device ? wk_device_parse(device) : wk_try_gpu(0);
    if (b.device.kind < 0)
        return cli_usage_error("bench", "unknown device \"%s\"; expected cuda:0, opencl:1 or gpu:0", device);
    if (device && chosen && strcmp(chosen, "gpu") != 0)
        return cli_usage_error("bench", "--device applies only to the case gpu, not %s", chosen);
    if (device && b.device.kind == WK_CPU)
        return cli_usage_error("bench", "the case gpu requires a GPU, got %s", device);
    if (svg && !cli_svg_writable("bench", svg)) return CLI_FAILED;
    if (chosen && strcmp(chosen, "gpu") == 0 && b.device.kind == WK_CPU) {
        fprintf(stderr, "wick bench: no GPU found; run wick doctor for the reason\n");
        return CLI_FAILED;
    }
    static bench_baseline peer;
    if (other && !bench_baseline_start(&peer, other)) {
        fprintf(stderr, "wick bench: \"%s\" did not identify itself as a peer; see bench/pytorch.py\n", other);
        return CLI_FAILED;
    }
    b.peer = other ? &peer : NULL;
    b.tiny = tiny != NULL;
    b.quick = quick != NULL || b.tiny;
    b.print_results = !json;

    if (b.print_results)
        printf("%s%-44s %-9s %2s %10s %-8s %6s%s\n", cli_color(CLI_DIM), "CASE", "DEVICE", "T", "VALUE", "UNIT",
               "RATIO", cli_color(CLI_PLAIN));
    for (int k = 0; k < CASES && !wk_error(); k++) {
        if (chosen && k != wanted_case(chosen)) continue;
        if (b.print_results)
            printf("%s%s: %s%s\n", cli_color(CLI_BOLD), cases[k].name, cases[k].doc, cli_color(CLI_PLAIN));
        fflush(stdout);
        cases[k].run(&b);
    }
    bench_baseline_stop(&peer);
    if (json) print_json(&b);
    if (svg && !draw(&b, svg)) {
        fprintf(stderr, "wick bench: cannot write %s\n", svg);
        return CLI_FAILED;
    }
    return wk_error() ? wk_report_error(stderr) : CLI_OK;
}

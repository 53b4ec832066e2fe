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
    {"fused", "(z + 2).exp() * y over many floats, against a STREAM triad", bench_fused},
    {"small", "an add of [2,3] tensors, without and with gradient", bench_small},
    {"matmul", "products of f32 matrices, against multiply-adds in registers", bench_matmul},
    {"rows", "softmax, layer norm, sums and the transpose of a [4096, 4096] matrix, against a STREAM triad",
     bench_rows},
    {"train", "a step of the network 784-256-10 on 64 digits, against multiply-adds in registers", bench_training},
    {"gpu",
     "one GPU: copies and steps of training by the host's clock; kernels (a fused chain, rows, products, a step's) by "
     "events on the device, against one that does little else",
     bench_gpu},
    {"E1", "exercise 1: a big product and tiny ones, on each device", bench_matmul_devices},
    {"E2", "exercise 2: parameters written to a file and read back, on each device", bench_files},
    {"E3", "exercise 3: norms of products, read one by one or gathered on the device", bench_logging},
    {"E4", "exercise 4: products on two devices at once, or one after the other on one", bench_overlap},
    {"mirrored",
     "a step of training on two devices, against one, and by wk_mirrored on one, against the network itself",
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
        {"json", NULL, "one object per line: case device threads value unit ratio against", &json},
        {"svg", "FILE", "the ratios as a picture", &svg},
        {"peer", "COMMAND", "another library in turns: a program as bench/pytorch.py", &other},
        {"device", "D", "of the case gpu: cuda:0, opencl:1, gpu:0; default the first GPU", &device},
        {"quick", NULL, "smaller and shorter: a try, not a figure", &quick},
        {"tiny", NULL, "one round of the smallest sizes: the kernels, for a device that is simulated", &tiny},
        {0}};
    const cli_syntax syntax = {
        "bench", "[CASE]",
        "How fast the library is here, as ratios to what this machine can do, measured in turns in the same process;\n"
        "the least time of many rounds counts. Above 1 is better than the yardstick.\n\n"
        "cases: fused, small, matmul, rows, train, gpu (kernels by the device's clock), mirrored (one network on two\n"
        "devices), and exercises of the chapter:\n"
        "  E1  a big product on each device, then tiny ones\n"
        "  E2  writing and reading parameters on each device\n"
        "  E3  1,000 products with their norms read one by one, or gathered on the device\n"
        "  E4  products on two devices at once, against one after the other on one",
        options, 1};
    static bench b;
    int done = cli_parse(&syntax, count, words, &chosen);
    if (done >= 0) return done;
    if (chosen && wanted_case(chosen) == CASES) return cli_usage_error("bench", "there is no case \"%s\"", chosen);
    b.device = device ? wk_device_parse(device) : wk_try_gpu(0);
    if (b.device.kind < 0) return cli_usage_error("bench", "\"%s\" names no device: cuda:0, opencl:1, gpu:0", device);
    if (device && chosen && strcmp(chosen, "gpu") != 0)
        return cli_usage_error("bench", "--device is for the case gpu, not for %s", chosen);
    if (device && b.device.kind == WK_CPU) return cli_usage_error("bench", "the case gpu wants a GPU, not %s", device);
    if (svg && !cli_svg_writable("bench", svg)) return CLI_FAILED;
    if (chosen && strcmp(chosen, "gpu") == 0 && b.device.kind == WK_CPU) {
        fprintf(stderr, "wick bench: no GPU found; run wick doctor for the reason\n");
        return CLI_FAILED;
    }
    static bench_baseline peer;
    if (other && !bench_baseline_start(&peer, other)) {
        fprintf(stderr, "wick bench: \"%s\" did not say what it is; bench/pytorch.py shows what is asked of it\n",
                other);
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
        fprintf(stderr, "wick bench: %s could not be written\n", svg);
        return CLI_FAILED;
    }
    return wk_error() ? wk_report_error(stderr) : CLI_OK;
}

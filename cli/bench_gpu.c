/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU: copies to and from it, a fused chain, row ops, products and a training step.
 *
 * Kernels are timed on the device, by events (bench_timer_start). Copies are timed by the host's clock, from the call
 * until the data has arrived, because the host takes part in them. Training steps are timed both ways; the difference
 * is the time in which the device waits for the host.
 *
 * Memory-bound cases are compared with x + 1 over as many bytes, which one kernel reads and writes. Products are
 * reported in GFLOP/s and compared with the baseline: no fused chain of ops has enough arithmetic per byte to reach a
 * card's peak. */
#include "bench.h"
#include <string.h>

/* Operands of one case on one device. */
typedef struct gpu_work {
    wk_device device;
    wk_tensor *filler; /* [m, m]: keeps the device busy before the timed work */
    wk_tensor *x, *y;  /* [n, n] */
    wk_tensor *(*op)(const struct gpu_work *w);
    double bytes; /* moved by the op */
} gpu_work;

/* ---- timed functions --------------------------------------------------------------------------------------------- */

static wk_tensor *plus_one(const gpu_work *w)
{
    return wk_add(w->x, 1);
}

static wk_tensor *upload(const gpu_work *w)
{
    return wk_to(w->y, w->device);
}

static wk_tensor *download(const gpu_work *w)
{
    return wk_to(w->x, wk_cpu());
}

static wk_tensor *fused(const gpu_work *w)
{
    return wk_mul(wk_exp(wk_add(w->x, 2)), w->y);
}

static wk_tensor *softmax(const gpu_work *w)
{
    return wk_softmax(w->x, 1);
}

static wk_tensor *layer_norm(const gpu_work *w)
{
    return wk_layer_norm(w->x, (wk_size(w->x, 1)), NULL, NULL, 1e-5);
}

static wk_tensor *row_sums(const gpu_work *w)
{
    return wk_sum(w->x, (1));
}

static wk_tensor *column_sums(const gpu_work *w)
{
    return wk_sum(w->x, (0));
}

static wk_tensor *transpose_copy(const gpu_work *w)
{
    return wk_contiguous(wk_transpose(w->x, 0, 1));
}

static wk_tensor *product(const gpu_work *w)
{
    return wk_matmul(w->x, w->y);
}

/* Returns the device's seconds for one op. The result is retained, because a value that only a scope owns is
 * deferred. */
static double run_kernels(void *user)
{
    const gpu_work *w = user;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_event *start = bench_timer_start(w->filler, 1);
    wk_tensor *result = wk_retain(w->op(w));
    const double took = bench_timer_stop(w->filler, start);
    wk_free(result);
    return took;
}

/* Returns the host's seconds for one copy, including the wait for it. */
static double run_copy(void *user)
{
    const gpu_work *w = user;
    WK_SCOPE;
    const double start = cli_clock();
    wk_tensor *result = wk_retain(w->op(w));
    wk_sync();
    const double took = cli_clock() - start;
    wk_free(result);
    return took;
}

static double run_plain(void *user)
{
    gpu_work plain = *(const gpu_work *)user;
    plain.op = plus_one;
    return run_kernels(&plain) * plain.bytes / (8.0 * (double)wk_numel(plain.x));
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

static void measure_memory(bench *b, gpu_work w)
{
    static const struct {
        const char *name, *ask;
        wk_tensor *(*op)(const gpu_work *w);
        double passes; /* over the matrix: bytes that must be moved */
        bool is_copy;  /* over the bus */
    } ops[] = {{"to the device", "gpu_upload", upload, 1, true},
               {"from the device", "gpu_download", download, 1, true},
               {"x + 1", "gpu_plus_one", plus_one, 2, false},
               {"(z + 2).exp() * y", "gpu_fused", fused, 3, false},
               {"softmax of rows", "gpu_softmax", softmax, 2, false},
               {"layer norm of rows", "gpu_layer_norm", layer_norm, 2, false},
               {"sums of rows", "gpu_sum_rows", row_sums, 1, false},
               {"sums of columns", "gpu_sum_columns", column_sums, 1, false},
               {"copy of the transpose", "gpu_transpose", transpose_copy, 2, false}};
    WK_SCOPE;
    const int64_t n = wk_size(w.filler, 0);
    wk_tensor *there = wk_rand((n, n), .device = w.device), *here = wk_rand((n, n));
    w.x = wk_rand((n, n), .device = w.device);
    for (size_t k = 0; k < sizeof ops / sizeof *ops && !wk_error(); k++) {
        w.op = ops[k].op;
        w.y = w.op == upload ? here : there;
        w.bytes = 4.0 * ops[k].passes * (double)(n * n);
        char name[64];
        snprintf(name, sizeof name, "%s, [%lld, %lld]", ops[k].name, (long long)n, (long long)n);
        const bool is_yardstick = w.op == plus_one;
        bench_task task = {.name = name,
                           .question = {.name = ops[k].ask},
                           .work = 1e-9 * w.bytes,
                           .unit = "GB/s",
                           .run = ops[k].is_copy ? run_copy : run_kernels,
                           .limit = ops[k].is_copy || is_yardstick ? NULL : run_plain,
                           .against = "x + 1 on the device",
                           .user = &w};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%lld %lld", (long long)n, (long long)n);
        bench_measure_on(b, &task, w.device);
    }
}

static void measure_products(bench *b, gpu_work w)
{
    static const int64_t sizes[] = {512, 2048, 4096, 130};
    const int first = b->tiny ? 3 : 0, end = b->tiny ? 4 : b->quick ? 1 : 3;
    w.op = product;
    for (int s = first; s < end && !wk_error(); s++) {
        WK_SCOPE;
        const int64_t n = sizes[s];
        w.x = wk_rand((n, n), .device = w.device);
        w.y = wk_rand((n, n), .device = w.device);
        char name[64];
        snprintf(name, sizeof name, "matmul f32 %lld", (long long)n);
        bench_task task = {.name = name,
                           .question = {.name = "gpu_matmul"},
                           .work = 2e-9 * (double)(n * n * n),
                           .unit = "GFLOP/s",
                           .run = run_kernels,
                           .user = &w};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%lld %lld", (long long)n,
                 (long long)wk_size(w.filler, 0));
        bench_measure_on(b, &task, w.device);
    }
}

void bench_gpu(bench *b)
{
    if (b->device.kind == WK_CPU) {
        if (b->print_results) printf("  no GPU found: skipped\n");
        return;
    }
    WK_SCOPE;
    const int64_t m = b->tiny ? 130 : b->quick ? 1024 : 8192;
    const gpu_work w = {.device = b->device, .filler = wk_rand((m, m), .device = b->device)};
    if (!wk_error()) measure_memory(b, w);
    if (!wk_error()) measure_products(b, w);
    if (!wk_error()) bench_training_on(b, b->device, w.filler);
}

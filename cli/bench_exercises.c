/* SPDX-License-Identifier: Apache-2.0 */
/* Exercises of the GPU tutorial: products on each device, parameters in files, logging, two devices at once. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- E1: one big product, then tiny ones ------------------------------------------------------------------------- */

/* Operands of a product that is computed `repeat` times. */
typedef struct products {
    wk_tensor *a, *b;
    int repeat;
} products;

static double run_products(void *user)
{
    products *p = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    for (int k = 0; k < p->repeat; k++) (void)wk_matmul(p->a, p->b);
    wk_sync(); /* the scope still references the products, so all are computed */
    return cli_clock() - start;
}

static void each_device(bench *b, int64_t n, int repeat, const char *what)
{
    wk_device devices[16];
    int count = bench_devices(devices);
    double work = 2.0 * (double)(n * n * n), on_cpu = NAN;
    for (int k = 0; k < count && !wk_error(); k++) {
        WK_SCOPE;
        char name[64];
        products p = {wk_rand((n, n), .device = devices[k]), wk_rand((n, n), .device = devices[k]), repeat};
        bench_variant turn = {run_products, &p, 0};
        run_products(&p); /* builds kernels and maps memory */
        bench_interleave(&turn, 1, b->quick ? 2 : 5, b->quick ? 0.1 : 0.5);
        double each = turn.best / repeat;
        if (k == 0) on_cpu = each;
        snprintf(name, sizeof name, "E1 %s product %lld", what, (long long)n);
        bench_add(b, name, devices[k], wk_thread_count(), each > 1e-4 ? 1e-9 * work / each : 1e6 * each,
                  each > 1e-4 ? "GFLOP/s" : "us each", k == 0 ? NAN : on_cpu / each, "the speed of cpu");
    }
}

void bench_matmul_devices(bench *b)
{
    each_device(b, b->quick ? 256 : 1024, 2, "big");
    each_device(b, 8, 100, "tiny");
}

/* ---- E2: parameters in files ------------------------------------------------------------------------------------- */

void bench_files(bench *b)
{
    wk_device devices[16];
    int count = bench_devices(devices);
    const char *folder = getenv("TMPDIR");
    char path[512];
    int64_t width = b->quick ? 512 : 2048;
    snprintf(path, sizeof path, "%s/wick-bench-%ld.safetensors", folder && *folder ? folder : "/tmp", (long)getpid());
    for (int k = 0; k < count && !wk_error(); k++) {
        WK_SCOPE;
        wk_module *net = wk_nn_sequential(wk_nn_linear(width, width));
        wk_module_to(net, devices[k]);
        wk_sync();
        double save = INFINITY, load = INFINITY, megabytes = 4e-6 * (double)(width * width + width);
        for (int round = 0; round < (b->quick ? 2 : 5) && !wk_error(); round++) {
            double start = cli_clock();
            wk_save(net, path);
            save = fmin(save, cli_clock() - start);
            start = cli_clock();
            wk_load(net, path);
            wk_sync();
            load = fmin(load, cli_clock() - start);
        }
        bench_add(b, "E2 save parameters", devices[k], wk_thread_count(), megabytes / save, "MB/s", NAN, "");
        bench_add(b, "E2 load parameters", devices[k], wk_thread_count(), megabytes / load, "MB/s", NAN, "");
    }
    unlink(path);
}

/* ---- E3: norms, one by one or gathered --------------------------------------------------------------------------- */

/* Operands of `products` products, whose norms are read. */
typedef struct norms {
    wk_tensor *a, *b;
    int products;
    double sum; /* of all norms; both variants must agree */
} norms;

static double run_one_by_one(void *user)
{
    norms *n = user;
    WK_NO_GRAD;
    n->sum = 0;
    double start = cli_clock();
    for (int k = 0; k < n->products; k++) {
        WK_SCOPE;
        n->sum += wk_item(wk_norm(wk_matmul(n->a, n->b))); /* the host waits */
    }
    return cli_clock() - start;
}

static double run_gathered(void *user)
{
    norms *n = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    wk_history *history = wk_history_new();
    for (int k = 0; k < n->products; k++) {
        WK_SCOPE;
        wk_history_add(history, wk_norm(wk_matmul(n->a, n->b)));
    }
    n->sum = wk_history_mean(history) * n->products; /* one wait for all */
    return cli_clock() - start;
}

void bench_logging(bench *b)
{
    wk_device devices[16];
    int count = bench_devices(devices);
    for (int k = 0; k < count && !wk_error(); k++) {
        WK_SCOPE;
        norms n = {wk_rand((100, 100), .device = devices[k]), wk_rand((100, 100), .device = devices[k]),
                   b->quick ? 100 : 1000, 0};
        bench_variant turns[] = {{run_one_by_one, &n, 0}, {run_gathered, &n, 0}};
        run_one_by_one(&n);
        run_gathered(&n);
        bench_interleave(turns, 2, b->quick ? 2 : 4, b->quick ? 0.1 : 0.5);
        bench_add(b, "E3 products 100, norm read each time", devices[k], wk_thread_count(),
                  1e6 * turns[0].best / n.products, "us each", NAN, "");
        bench_add(b, "E3 products 100, norms gathered", devices[k], wk_thread_count(), 1e6 * turns[1].best / n.products,
                  "us each", turns[0].best / turns[1].best, "the speed of reading each");
    }
}

/* ---- E4: two devices at once ------------------------------------------------------------------------------------- */

enum { PRODUCTS_EACH = 4 }; /* products for each device */

/* One matrix on each of two devices. */
typedef struct device_pair {
    wk_tensor *a[2]; /* one on each device */
} device_pair;

/* Records and submits the products of one device without waiting. The caller's scope owns them. */
static void submit_products(const device_pair *t, int device)
{
    for (int k = 0; k < PRODUCTS_EACH; k++) (void)wk_matmul(t->a[device], t->a[device]);
    wk_flush();
}

static double run_on_one(void *user)
{
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    submit_products(user, 0);
    wk_sync();
    submit_products(user, 0);
    wk_sync();
    return cli_clock() - start;
}

static double run_on_two(void *user)
{
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    submit_products(user, 0);
    submit_products(user, 1);
    wk_sync();
    return cli_clock() - start;
}

bool bench_two_accelerators(wk_device pair[2])
{
    static const int kinds[] = {WK_CUDA, WK_OPENCL};
    for (int k = 0; k < 2; k++)
        if (wk_device_count(kinds[k]) >= 2) {
            for (int index = 0; index < 2; index++) pair[index] = (wk_device){(int16_t)kinds[k], (int16_t)index, 0};
            return true;
        }
    return false;
}

void bench_print_need_two(const char *what)
{
    printf("%s needs two accelerators of one kind; found cuda %d, opencl %d. With PoCL installed, POCL_DEVICES=\"basic "
           "pthread\"\n"
           "POCL_MAX_PTHREAD_COUNT=1 provides two OpenCL devices on a CPU.\n",
           what, wk_device_count(WK_CUDA), wk_device_count(WK_OPENCL));
}

void bench_overlap(bench *b)
{
    WK_SCOPE;
    wk_device pair[2];
    if (!bench_two_accelerators(pair)) {
        if (b->print_results) bench_print_need_two("E4");
        return;
    }
    int64_t n = b->quick ? 192 : 512;
    device_pair t = {.a = {wk_rand((n, n), .device = pair[0]), wk_rand((n, n), .device = pair[1])}};
    bench_variant turns[] = {{run_on_one, &t, 0}, {run_on_two, &t, 0}};
    run_on_one(&t);
    run_on_two(&t);
    bench_interleave(turns, 2, b->quick ? 3 : 8, b->quick ? 0.1 : 1.0);
    bench_add(b, "E4 one after the other on one device", pair[0], wk_thread_count(), 1e3 * turns[0].best, "ms", NAN,
              "");
    bench_add(b, "E4 two devices at once", pair[0], wk_thread_count(), 1e3 * turns[1].best, "ms",
              turns[0].best / turns[1].best, "one device (2 is linear)");
}

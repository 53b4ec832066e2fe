/* SPDX-License-Identifier: Apache-2.0 */
/* How long a step of training takes in a world of processes, and how much of the communication backward hides.
 *
 *     WICK_THREADS=1 wick run -n 2 -- build/release/bench/ddp [WIDTH [LAYERS [BATCH [ROUNDS [BUCKET_MB]]]]]
 *
 * The network is 784-WIDTH-...-WIDTH-10 with ReLU between, SGD with momentum; BATCH samples for each rank. A round is a
 * step without communication (WK_NO_SYNC), one with it, and the all_reduce alone of vectors as long as wk_ddp's. One
 * line, the least times of all rounds; bench/pytorch_ddp.py prints the same of PyTorch with gloo. Alone it is a world
 * of one, with which to compare. */
#include "clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <wick.h>

enum { MOST_LAYERS = 32, MOST_BUCKETS = 4096 };

typedef struct job {
    wk_module *ddp;
    wk_optim *sgd;
    wk_tensor *x, *y; /* (BATCH, 784), (BATCH) */
    wk_tensor *bucket[MOST_BUCKETS];
    int buckets;
} job;

static double step(const job *j, bool alone)
{
    WK_SCOPE;
    wk_dist_barrier();
    const double start = bench_seconds();
    wk_tensor *loss = wk_cross_entropy(wk_forward(j->ddp, j->x), j->y);
    wk_optim_zero_grad(j->sgd);
    if (alone) {
        WK_NO_SYNC;
        wk_backward(loss);
    } else {
        wk_backward(loss);
    }
    wk_optim_step(j->sgd);
    wk_sync();
    return bench_seconds() - start;
}

static double communicate(const job *j)
{
    wk_dist_barrier();
    const double start = bench_seconds();
    for (int k = 0; k < j->buckets; k++) wk_dist_all_reduce_(j->bucket[k], .op = WK_DIST_AVG);
    return bench_seconds() - start;
}

static wk_module *network(int64_t width, int layers)
{
    wk_module *part[2 * MOST_LAYERS + 1];
    int parts = 0;
    for (int k = 0; k < layers && k < MOST_LAYERS; k++) {
        part[parts++] = wk_nn_linear(k == 0 ? 784 : width, width);
        part[parts++] = wk_nn_relu();
    }
    part[parts++] = wk_nn_linear(width, 10);
    return wk_nn_sequential_at(WK_HERE, part, parts);
}

static int64_t elements(const wk_tensors *list)
{
    int64_t sum = 0;
    for (int k = 0; k < wk_tensors_count(list); k++) sum += wk_numel(wk_tensors_get(list, k));
    return sum;
}

/* The first of 1 MiB at most, the others of `cap`, as wk_ddp's are when no parameter is larger. */
static void make_buckets(job *j, int64_t parameters, double cap)
{
    for (int64_t left = parameters, room; left > 0 && j->buckets < MOST_BUCKETS; left -= room) {
        room = (int64_t)((j->buckets == 0 && cap > 1 ? 1 : cap) * 0x1p18);
        if (room > left) room = left;
        j->bucket[j->buckets++] = wk_ones((room));
    }
}

static double lesser(double a, double b)
{
    return b < a ? b : a;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const int64_t width = argc > 1 ? atoll(argv[1]) : 1024, batch = argc > 3 ? atoll(argv[3]) : 256;
    const int layers = argc > 2 ? atoi(argv[2]) : 3, rounds = argc > 4 ? atoi(argv[4]) : 30;
    const double cap = argc > 5 ? atof(argv[5]) : 25;
    wk_dist_init();
    wk_seed(1);
    wk_module *net = network(width, layers);
    job j = {.ddp = wk_ddp(net, .bucket_cap_mb = cap),
             .x = wk_randn((batch, 784)),
             .y = wk_randint(0, 10, (batch)),
             .sgd = wk_optim_sgd(wk_parameters(net), .lr = 1e-4, .momentum = 0.9)};
    const int64_t parameters = elements(wk_parameters(net));
    make_buckets(&j, parameters, cap);
    double alone = 1e9, whole = 1e9, talk = 1e9;
    for (int k = 0; k < rounds + 2 && !wk_error(); k++) {
        const double times[] = {step(&j, true), step(&j, false), communicate(&j)};
        if (k < 2) continue; /* plans are made, pages come */
        alone = lesser(alone, times[0]);
        whole = lesser(whole, times[1]);
        talk = lesser(talk, times[2]);
    }
    if (wk_dist_rank() == 0 && !wk_error())
        printf("wick: world %d, %.1f MB of gradients, batch %lld each: step %.3f ms, without communication %.3f ms, "
               "communication alone %.3f ms, hidden %.0f %%, %.0f samples/s\n",
               wk_dist_size(), (double)parameters * 4e-6, (long long)batch, whole * 1e3, alone * 1e3, talk * 1e3,
               wk_dist_size() > 1 ? 100 * (alone + talk - whole) / talk : 0, (double)(batch * wk_dist_size()) / whole);
    wk_dist_finish();
    return wk_error() ? wk_report_error(stderr) : 0;
}

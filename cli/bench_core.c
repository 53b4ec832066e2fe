/* SPDX-License-Identifier: Apache-2.0 */
/* Basic cases: fused elementwise work against memory bandwidth, small calls, matrix products against arithmetic. */
#include "bench.h"
#include <math.h>

/* ---- (z + 2).exp() * y ------------------------------------------------------------------------------------------- */

/* Operands of the fused case, and the triad that it is compared with. */
typedef struct fused_case {
    wk_tensor *z, *y;
    cli_triad *triad;
    size_t count;
} fused_case;

static double run_fused(void *user)
{
    fused_case *f = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    wk_data(wk_mul(wk_exp(wk_add(f->z, 2)), f->y)); /* wk_data runs the recorded work */
    return cli_clock() - start;
}

static double run_triad(void *user)
{
    fused_case *f = user;
    return 12.0 * (double)f->count / cli_triad_run(f->triad, wk_thread_count());
}

void bench_fused(bench *b)
{
    WK_SCOPE;
    size_t count = b->quick ? 4 << 20 : 16 << 20;
    fused_case f = {
        .z = wk_rand(((int64_t)count)), .y = wk_rand(((int64_t)count)), .triad = cli_triad_new(count), .count = count};
    wk_sync();
    char name[64];
    snprintf(name, sizeof name, "(z + 2).exp() * y, %zuM floats", count >> 20);
    bench_task task = {.name = name,
                       .question = {.name = "fused"},
                       .work = 12e-9 * (double)count,
                       .unit = "GB/s",
                       .run = run_fused,
                       .limit = run_triad,
                       .against = "STREAM triad",
                       .user = &f};
    snprintf(task.question.sizes, sizeof task.question.sizes, "%zu", count);
    if (f.triad) bench_measure(b, &task);
    cli_triad_free(f.triad);
}

/* ---- an add of [2, 3] -------------------------------------------------------------------------------------------- */

enum { CALLS = 20000, CHAIN = 100 };

/* Operands of the case. */
typedef struct adds {
    wk_tensor *a, *b;
    enum {
        THE_CALL,
        DROPPED,
        COMPUTED
    } timed; /* the timed part: the calls; also closing their scope; also computing the results */
} adds;

/* Returns the seconds of CALLS adds, in chains of CHAIN within the scope of one loop iteration. wk_data of the last one
 * computes the chain; without it, the calls are recorded and dropped. */
static double run_adds(void *user)
{
    const adds *with = user;
    double start = cli_clock(), calls = 0;
    for (int k = 0; k < CALLS; k += CHAIN) {
        WK_SCOPE;
        double begin = cli_clock();
        wk_tensor *sum = with->a;
        for (int i = 0; i < CHAIN; i++) sum = wk_add(sum, with->b);
        calls += cli_clock() - begin;
        if (with->timed == COMPUTED) wk_data(sum);
    }
    return with->timed == THE_CALL ? calls : cli_clock() - start;
}

void bench_small(bench *b)
{
    WK_SCOPE;
    wk_tensor *a = wk_rand((2, 3)), *c = wk_rand((2, 3));
    wk_tensor *leaf = wk_rand((2, 3), .requires_grad = true), *other = wk_rand((2, 3), .requires_grad = true);
    wk_sync();
    adds ways[] = {{a, c, THE_CALL},       {leaf, other, THE_CALL}, {a, c, DROPPED},
                   {leaf, other, DROPPED}, {a, c, COMPUTED},        {leaf, other, COMPUTED}};
    static const char *const names[] = {"add of [2,3], the call",       "add of [2,3], the call, with gradient",
                                        "add of [2,3], and its end",    "add of [2,3], and its end, with gradient",
                                        "add of [2,3], and its number", "add of [2,3], and its number, with gradient"};
    enum { WAYS = sizeof ways / sizeof *ways };
    enum { PEERS = WAYS + 2 };
    bench_query questions[] = {{b->peer, "add", 1, ""}, {b->peer, "add_grad", 1, ""}};
    bench_variant turns[PEERS];
    for (int k = 0; k < WAYS; k++) turns[k] = (bench_variant){run_adds, &ways[k], 0};
    for (int k = 0; k < 2; k++) turns[WAYS + k] = (bench_variant){bench_baseline_round, &questions[k], 0};
    bench_interleave(turns, b->peer ? PEERS : WAYS, b->quick ? 20 : 100, b->quick ? 0.1 : 1.0);
    for (int k = 0; k < WAYS; k++) {
        double each = 1e9 * turns[k].best / CALLS;
        bench_add(b, names[k], wk_cpu(), 1, each, "ns", (k % 2 ? 120 : 80) / each,
                  k % 2 ? "the bound of 120 ns" : "the bound of 80 ns");
        if (b->peer && ways[k].timed == COMPUTED && isfinite(turns[WAYS + k % 2].best))
            bench_add(b, names[k], wk_cpu(), 1, each, "ns", 1e9 * turns[WAYS + k % 2].best / each, b->peer->name);
    }
}

/* ---- a product of matrices --------------------------------------------------------------------------------------- */

/* Operands of a product of two n x n matrices. */
typedef struct product {
    wk_tensor *a, *b;
    int64_t n;
} product;

static double run_product(void *user)
{
    product *p = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    wk_data(wk_matmul(p->a, p->b));
    return cli_clock() - start;
}

/* Returns the seconds that the operations of one product take in registers. */
static double run_fma(void *user)
{
    product *p = user;
    return 2.0 * (double)(p->n * p->n * p->n) / cli_fma_run(wk_thread_count());
}

void bench_matmul(bench *b)
{
    static const int64_t sizes[] = {512, 1024, 2048};
    WK_SCOPE;
    for (int s = 0; s < (b->quick ? 1 : 3); s++) {
        int64_t n = sizes[s];
        product p = {.a = wk_rand((n, n)), .b = wk_rand((n, n)), .n = n};
        wk_sync();
        char name[64];
        snprintf(name, sizeof name, "matmul f32 %lld", (long long)n);
        bench_task task = {.name = name,
                           .question = {.name = "matmul"},
                           .work = 2e-9 * (double)(n * n * n),
                           .unit = "GFLOP/s",
                           .run = run_product,
                           .limit = run_fma,
                           .against = "FMA peak",
                           .user = &p};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%lld", (long long)n);
        bench_measure(b, &task);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Measured limits of this machine: a STREAM triad and reading an array for memory, multiply-adds in registers for
 * arithmetic. Measured in the same process as the cases and in alternation with them, so that other load on the machine
 * slows both.
 *
 * Loops are written once over vectors of 64 bytes, compiled for several instruction sets and selected by CPU. */
#include "cli.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* The library is built without contraction. Here x * b + c should be one instruction if the CPU has one. */
#ifdef __clang__
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

typedef float wide __attribute__((vector_size(64)));
enum { LANES = 16, MOST_THREADS = 64, HUGE_PAGE = 2 << 20, ROUNDS = 1 << 20 };

#define INLINE static inline __attribute__((always_inline))

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

INLINE void triad(wide *restrict a, const wide *restrict b, const wide *restrict c, size_t count)
{
    for (size_t k = 0; k < count; k++) a[k] = b[k] + 3.0f * c[k];
}

/* Reads an array, except for up to 7 vectors at its end. Returns a sum that depends on all vectors that are read, so
 * that the compiler cannot remove the loop. */
INLINE float read_all(const wide *a, size_t count)
{
    wide sum[8];
    for (int i = 0; i < 8; i++) sum[i] = (wide){0};
    for (size_t k = 0; k + 8 <= count; k += 8)
        for (int i = 0; i < 8; i++) sum[i] += a[k + (size_t)i];
    for (int i = 1; i < 8; i++) sum[0] += sum[i];
    return sum[0][0];
}

/* Computes `chains` independent sums: enough to hide the latency, few enough for the registers. The result depends on
 * volatile values, so the compiler cannot compute it. */
INLINE float multiply_add(long rounds, int chains)
{
    volatile float start = 1.0f, factor = 0.9999f;
    wide sum[12], b = (wide){0} + factor, c = (wide){0} + (start - factor);
    for (int k = 0; k < chains; k++) sum[k] = (wide){0} + start;
    for (long r = 0; r < rounds; r++)
        for (int k = 0; k < chains; k++) sum[k] = sum[k] * b + c;
    for (int k = 1; k < chains; k++) sum[0] += sum[k];
    return sum[0][0];
}

/* Kernels of one instruction set. The number of registers limits the chains. */
typedef struct isa_kernels {
    int chains;
    void (*triad)(wide *a, const wide *b, const wide *c, size_t count);
    float (*read)(const wide *a, size_t count);
    float (*multiply_add)(long rounds);
} isa_kernels;

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static void triad_avx512(wide *a, const wide *b, const wide *c, size_t count)
{
    triad(a, b, c, count);
}
__attribute__((target("avx512f,fma"))) static float read_avx512(const wide *a, size_t count)
{
    return read_all(a, count);
}
__attribute__((target("avx512f,fma"))) static float multiply_add_avx512(long rounds)
{
    return multiply_add(rounds, 12);
}
__attribute__((target("avx2,fma"))) static void triad_avx2(wide *a, const wide *b, const wide *c, size_t count)
{
    triad(a, b, c, count);
}
__attribute__((target("avx2,fma"))) static float read_avx2(const wide *a, size_t count)
{
    return read_all(a, count);
}
__attribute__((target("avx2,fma"))) static float multiply_add_avx2(long rounds)
{
    return multiply_add(rounds, 6);
}
#endif
static void triad_portable(wide *a, const wide *b, const wide *c, size_t count)
{
    triad(a, b, c, count);
}
static float read_portable(const wide *a, size_t count)
{
    return read_all(a, count);
}
static float multiply_add_portable(long rounds)
{
    return multiply_add(rounds, 3);
}

static const isa_kernels *best_set(void)
{
#if defined(__x86_64__)
    static const isa_kernels avx512 = {12, triad_avx512, read_avx512, multiply_add_avx512};
    static const isa_kernels avx2 = {6, triad_avx2, read_avx2, multiply_add_avx2};
    if (__builtin_cpu_supports("avx512f")) return &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2;
#endif
    static const isa_kernels portable = {3, triad_portable, read_portable, multiply_add_portable};
    return &portable;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Work of one thread. */
typedef struct work {
    pthread_t thread;
    atomic_bool *go; /* set when all threads are started */
    double began, ended;
    const isa_kernels *with;
    wide *a;           /* result of a triad; NULL: reads b or, if b is NULL too, computes multiply-adds */
    const wide *b, *c; /* c: of a triad */
    size_t count;
    float result;
} work;

static void *run_one(void *user)
{
    work *w = user;
    while (!atomic_load(w->go)) sched_yield();
    w->began = cli_clock();
    if (w->a)
        w->with->triad(w->a, w->b, w->c, w->count);
    else
        w->result = w->b ? w->with->read(w->b, w->count) : w->with->multiply_add(ROUNDS);
    w->ended = cli_clock();
    return NULL;
}

/* Limits the number of threads to the arrays' size. */
static int clamp_threads(int threads)
{
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}

/* Returns the seconds from the first start to the last end. The calling thread is the first of the threads, and also
 * does the work of threads that could not be started. */
static double run_all(work *works, int threads)
{
    int running = 1;
    while (running < threads && pthread_create(&works[running].thread, NULL, run_one, &works[running]) == 0) running++;
    atomic_store(works[0].go, true);
    run_one(&works[0]);
    for (int k = running; k < threads; k++) run_one(&works[k]);
    for (int k = 1; k < running; k++) pthread_join(works[k].thread, NULL);
    double began = works[0].began, ended = works[0].ended;
    for (int k = 1; k < threads; k++) {
        if (works[k].began < began) began = works[k].began;
        if (works[k].ended > ended) ended = works[k].ended;
    }
    return ended - began;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Three arrays of `count` vectors each; owned. */
struct cli_triad {
    wide *a, *b, *c;
    size_t count; /* in vectors */
};

static size_t bytes_of(size_t count)
{
    return (count * sizeof(wide) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* Aligned to huge pages, which mmap does not do for large blocks. */
static wide *new_array(size_t count)
{
    wide *array = aligned_alloc(HUGE_PAGE, bytes_of(count));
    if (!array) return NULL;
    madvise(array, bytes_of(count), MADV_HUGEPAGE);
    for (size_t k = 0; k < count; k++) array[k] = (wide){0} + 1.0f;
    return array;
}

cli_triad *cli_triad_new(size_t count)
{
    cli_triad *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->count = count / LANES;
    t->a = new_array(t->count);
    t->b = new_array(t->count);
    t->c = new_array(t->count);
    if (t->a && t->b && t->c) return t;
    cli_triad_free(t);
    return NULL;
}

void cli_triad_free(cli_triad *t)
{
    if (!t) return;
    free(t->a);
    free(t->b);
    free(t->c);
    free(t);
}

/* Returns the seconds that a triad, or reading b, takes. Each thread has a part of the same size. */
static double run_parts(const cli_triad *t, bool reads, int threads)
{
    work works[MOST_THREADS];
    atomic_bool go = false;
    threads = clamp_threads(threads);
    for (int k = 0; k < threads; k++) {
        const size_t from = t->count * (size_t)k / (size_t)threads, to = t->count * (size_t)(k + 1) / (size_t)threads;
        works[k] = (work){.go = &go, .with = best_set(), .b = t->b + from, .c = t->c + from, .count = to - from};
        if (!reads) works[k].a = t->a + from;
    }
    return run_all(works, threads);
}

double cli_triad_run(cli_triad *t, int threads)
{
    return 3 * sizeof(wide) * (double)t->count / run_parts(t, false, threads);
}

double cli_read_run(const cli_triad *t, int threads)
{
    return sizeof(wide) * (double)t->count / run_parts(t, true, threads);
}

double cli_fma_run(int threads)
{
    work works[MOST_THREADS];
    atomic_bool go = false;
    const isa_kernels *with = best_set();
    threads = clamp_threads(threads);
    for (int k = 0; k < threads; k++) works[k] = (work){.go = &go, .with = with};
    return 2.0 * LANES * with->chains * ROUNDS * threads / run_all(works, threads);
}

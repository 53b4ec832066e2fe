/* What the files of `wick bench` share: how results are gathered, and how variants take turns. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

enum { BENCH_MOST_RESULTS = 96, BENCH_MOST_VARIANTS = 8 };

/* One figure. ratio is against what `against` says, in the same process: above 1 is better than that. NaN: none. */
typedef struct bench_result {
    char name[64], device[16], unit[16], against[48];
    int threads;
    double value, ratio;
} bench_result;

typedef struct bench {
    bool quick;
    bool narrate; /* print each result when it is there */
    int count;
    bench_result result[BENCH_MOST_RESULTS];
} bench;

void bench_add(bench *b, const char *name, wk_device device, int threads, double value, const char *unit, double ratio,
               const char *against);

/* One way of doing something: run returns the seconds it took. */
typedef struct bench_variant {
    double (*run)(void *user);
    void *user;
    double best; /* seconds, out */
} bench_variant;
/* Lets the variants take turns, `rounds` times at least and for `seconds` at least; the least time of each counts. What
 * else goes on in the machine then meets all of them. */
void bench_interleave(bench_variant *variants, int count, int rounds, double seconds);

/* Devices that something can run on: the CPU first. How many. */
int bench_devices(wk_device devices[16]);

/* The cases: bench_core.c, bench_lesson.c. Errors stay pending in the library. */
void bench_fused(bench *b);
void bench_small(bench *b);
void bench_matmul(bench *b);
void bench_products(bench *b);
void bench_files(bench *b);
void bench_logging(bench *b);
void bench_two_devices(bench *b);

#endif

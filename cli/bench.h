/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `wick bench` share: how results are gathered, and how variants take turns. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"
#include <sys/types.h>

enum { BENCH_MOST_RESULTS = 160, BENCH_MOST_VARIANTS = 8 };

/* One figure. ratio is against what `against` says, in the same process: above 1 is better than that. NaN: none. */
typedef struct bench_result {
    char name[64], device[16], unit[16], against[48];
    int threads;
    double value, ratio;
} bench_result;

/* bench_baseline.c: another library that does the same cases in a process of its own. */
typedef struct bench_baseline {
    pid_t process;
    FILE *to, *from;
    char name[40]; /* "PyTorch 2.15.0" */
} bench_baseline;

typedef struct bench {
    bool quick, tiny;     /* tiny is quick, too */
    wk_device device;     /* of bench_gpu; the CPU: there is no GPU */
    bench_baseline *peer; /* or NULL */
    bool print_results;   /* print each result when it is there */
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

/* Runs `command` in a shell. False when it does not answer. */
bool bench_baseline_start(bench_baseline *peer, const char *command);
void bench_baseline_stop(bench_baseline *peer);
typedef struct bench_query {
    bench_baseline *peer;
    const char *name;
    int threads;
    char sizes[40];
} bench_query;
/* The seconds that the peer took for a round of the bench_query `user`; infinity where it has no answer. */
double bench_baseline_round(void *user);

/* One case on the CPU with some threads: Wick, a limit of the machine and the peer take turns. */
typedef struct bench_task {
    const char *name;
    bench_query question; /* without name: the peer is not asked */
    double work;          /* in `unit` x seconds: the value is work / time. 0: the value is the time, in ms */
    const char *unit;
    double (*run)(void *user);
    double (*limit)(void *user); /* the seconds that `against` would take for it. Or NULL */
    const char *against;
    void *user;
} bench_task;
/* With 1 thread and with all: wk_thread_count() says how many while `run` and `limit` run. */
void bench_measure(bench *b, bench_task *task);
/* The same on another device: `run` and `limit` wait for it. */
void bench_measure_on(bench *b, bench_task *task, wk_device device);

/* Seconds that a device needs for what it is given between these two, by events. Before, it is given other work,
 * `times` passes over `ahead`, a tensor there that is larger than its caches: while it is at that, the host records and
 * enqueues what is timed. So neither call nor launch counts, and all operands come from memory. */
wk_event *bench_timer_start(wk_tensor *ahead, int times);
double bench_timer_stop(wk_tensor *ahead, wk_event *start);

/* Devices that something can run on: the CPU first. How many. */
int bench_devices(wk_device devices[16]);
/* Two devices that work beside each other: two of one kind. False: there are none, which the other call says. */
bool bench_two_accelerators(wk_device pair[2]);
void bench_print_need_two(const char *what);

/* The cases: bench_core.c, bench_training.c, bench_gpu.c, bench_exercises.c, bench_mirrored.c. Errors stay pending in
 * the library. */
void bench_fused(bench *b);
void bench_small(bench *b);
void bench_matmul(bench *b);
void bench_rows(bench *b);
void bench_training(bench *b);
/* `ahead`: as for bench_timer_start, NULL on the CPU. */
void bench_training_on(bench *b, wk_device device, wk_tensor *ahead);
void bench_gpu(bench *b);
void bench_matmul_devices(bench *b);
void bench_files(bench *b);
void bench_logging(bench *b);
void bench_overlap(bench *b);
void bench_mirrored(bench *b);

#endif

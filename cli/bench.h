/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `wick bench`: recording results, and running variants in alternation. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"
#include <sys/types.h>

enum { BENCH_MOST_RESULTS = 400, BENCH_MOST_VARIANTS = 8 };

/* One result. ratio compares it with `against`, measured in the same process: above 1 is better. NaN: no comparison. */
typedef struct bench_result {
    char name[64], device[16], unit[16], against[48];
    int threads;
    double value, ratio;
} bench_result;

/* Connection to a baseline: another library that runs the same cases in a separate process (bench_baseline.c). */
typedef struct bench_baseline {
    pid_t process;
    FILE *to, *from;
    char name[40]; /* "PyTorch 2.15.0" */
} bench_baseline;

/* State of one run of wick bench. */
typedef struct bench {
    bool quick, tiny;     /* tiny implies quick */
    wk_device device;     /* device of bench_gpu; the CPU if there is no GPU */
    bench_baseline *peer; /* or NULL */
    bool print_results;   /* print each result as it is measured */
    int count;
    bench_result result[BENCH_MOST_RESULTS];
} bench;

void bench_add(bench *b, const char *name, wk_device device, int threads, double value, const char *unit, double ratio,
               const char *against);

/* One variant to time. run returns the seconds that one round took. */
typedef struct bench_variant {
    double (*run)(void *user);
    void *user;
    double best; /* seconds of the fastest round; output */
} bench_variant;
/* Runs the variants in alternation for at least `rounds` rounds and at least `seconds`, and keeps the fastest round of
 * each. Other load on the machine then affects all of them. */
void bench_interleave(bench_variant *variants, int count, int rounds, double seconds);

/* Starts `command` in a shell. Returns false if it does not answer. */
bool bench_baseline_start(bench_baseline *peer, const char *command);
void bench_baseline_stop(bench_baseline *peer);
/* A case as the baseline is asked for it. */
typedef struct bench_query {
    bench_baseline *peer;
    const char *name;
    int threads;
    char sizes[40];
} bench_query;
/* Returns the seconds that the baseline took for one round of the bench_query `user`; infinity if it has no answer. */
double bench_baseline_round(void *user);

/* One case on the CPU: Wick, a limit of the machine and the baseline run in alternation. */
typedef struct bench_task {
    const char *name;
    bench_query question; /* without a name, the baseline is not asked */
    double work;          /* in `unit` x seconds: the value is work / time. 0: the value is the time, in ms */
    const char *unit;
    double (*run)(void *user);
    double (*limit)(void *user); /* seconds that `against` takes for it; or NULL */
    const char *against;
    void *user;
} bench_task;
/* Measures with 1 thread and with all threads; wk_thread_count() returns the number during `run` and `limit`. */
void bench_measure(bench *b, bench_task *task);
/* Like bench_measure(), but on another device; `run` and `limit` wait for it. */
void bench_measure_on(bench *b, bench_task *task, wk_device device);

/* Time, in seconds, the work submitted to a device between start and stop, by events. start first submits `times`
 * passes over `ahead`, a tensor on the device that exceeds its caches; meanwhile the host records and submits the timed
 * work. So call and launch overhead are excluded, and all operands come from memory. */
wk_event *bench_timer_start(wk_tensor *ahead, int times);
double bench_timer_stop(wk_tensor *ahead, wk_event *start);

/* A network with one batch. */
typedef struct bench_network {
    wk_module *net;  /* for bench_step: from x to scores (samples, classes) */
    wk_optim *optim; /* of its parameters; NULL: bench_forward only */
    wk_tensor *x, *labels;
    double clip_norm; /* largest norm of the gradients, to which bench_step clips them; 0: no clipping */
} bench_network;
/* Take a training step with the cross entropy as loss, or compute the result of the network without gradients. Return
 * the seconds that this took. user is a bench_network. */
double bench_step(void *user);
double bench_forward(void *user);

/* Lists the usable devices, the CPU first. Returns their number. */
int bench_devices(wk_device devices[16]);
/* Finds two accelerators of one kind, which can work in parallel. Returns false if there are none; bench_print_need_two
 * then prints that. */
bool bench_two_accelerators(wk_device pair[2]);
void bench_print_need_two(const char *what);

/* The cases: bench_core.c, bench_training.c, bench_vision.c, bench_convolutions.c, bench_recurrent.c, bench_language.c,
 * bench_attention.c, bench_gpu.c, bench_exercises.c, bench_mirrored.c. Errors stay pending in the library. */
void bench_fused(bench *b);
void bench_small(bench *b);
void bench_matmul(bench *b);
void bench_rows(bench *b);
void bench_training(bench *b);
/* ahead: as for bench_timer_start; NULL on the CPU. */
void bench_training_on(bench *b, wk_device device, wk_tensor *ahead);
void bench_vision(bench *b); /* calls bench_convolutions */
void bench_recurrent(bench *b);
void bench_convolutions(bench *b);
void bench_language(bench *b); /* calls bench_attention */
void bench_attention(bench *b);
void bench_gpu(bench *b);
void bench_matmul_devices(bench *b);
void bench_files(bench *b);
void bench_logging(bench *b);
void bench_overlap(bench *b);
void bench_mirrored(bench *b);

#endif

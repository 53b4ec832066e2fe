/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher (fibres.c) and what looks at accesses (memcheck.c) share. */
#ifndef STANDIN_FIBRES_STATE_H
#define STANDIN_FIBRES_STATE_H

#include "fibres.h"

#include <stdbool.h>

enum { FIBRES_STACK = 64 << 10 };

/* The same as in shim.h. */
typedef struct shim_state {
    unsigned bytes;
    unsigned grid[3], block[3];
    unsigned group[3], thread[3];
    char *dynamic;
    void (*barrier)(int site);
    const uint64_t *(*exchange)(int site, unsigned mask, uint64_t value, bool orders);
    void (*fail)(const char *why);
    void (*access)(const void *at, int bytes, int kind, int multiple);
    char *shared, *shared_end;
} shim_state;

typedef struct fibre {
    void *sp;
    char *stack;
    unsigned state, site, mask;
    uint64_t given, taken[32]; /* in an exchange of its warp */
} fibre;

/* The launch that runs. Times count barriers of the block and waits of a warp (__syncwarp: a shuffle puts nothing in
 * memory in order), and never start anew; `block_began` is the first that belongs to the block, `launch_began` the last
 * before the launch. */
typedef struct fibres_state {
    shim_state *shim;
    int current, threads; /* -1: no fibre runs */
    uint64_t time, launch_began, block_began, warp_time[FIBRES_THREADS / 32];
    fibre fibre[FIBRES_THREADS];
    const fibres_launch *launch;
    char *image, *image_end; /* of the library with the kernels: its tables and constants */
    void (*entry)(void **);  /* calls the kernel */
    uint64_t seed;
    bool failed;
    char message[512];
    uint64_t deadline; /* in nanoseconds of the monotonic clock */
} fibres_state;
extern fibres_state fibres;

/* Shared memory that a launch asks for. */
extern char fibres_dynamic[FIBRES_SHARED];

/* Notes the first failure, and leaves the fibre for good. */
__attribute__((format(printf, 1, 2))) void fibres_fail(const char *format, ...);
unsigned fibres_chance(unsigned below);

/* fibres.c: runs the threads of the block that shim->group names, until all are done or one has failed. */
void fibres_run_block(void);
/* Takes back the stacks of threads that are never gone on with. */
void fibres_free_stacks(void);
/* What the kernel's threads call. */
void fibres_barrier(int site);
const uint64_t *fibres_exchange(int site, unsigned mask, uint64_t value, bool orders);

/* memcheck.c: makes room for what is known of so many bytes of shared memory; false: memory is short. */
bool fibres_memcheck_begin(size_t bytes);
/* What each load and store of a kernel calls. */
void fibres_memcheck(const void *at, int bytes, int kind, int multiple);
/* racecheck.c: what it calls for those of the device's memory that others must not make at the same time. */
void fibres_racecheck(const char *p, int bytes, bool writes);

#endif

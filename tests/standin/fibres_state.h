/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the launcher (fibres.c, launch.c) and the checks of memory accesses (memcheck.c, racecheck.c). */
#ifndef STANDIN_FIBRES_STATE_H
#define STANDIN_FIBRES_STATE_H

#include "fibres.h"

#include <stdbool.h>

enum { FIBRES_STACK = 64 << 10 };

/* Must be equal to the struct in shim.h. */
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
    uint64_t given, taken[32]; /* exchanged between the lanes of a warp */
} fibre;

/* State of the running launch. Times count barriers of the block, and __syncwarp calls of a warp (shuffles do not order
 * memory accesses), and never restart. block_began is the first time of the block, launch_began the last one before the
 * launch. */
typedef struct fibres_state {
    shim_state *shim;
    int current, threads; /* current: -1 if no fibre runs */
    uint64_t time, launch_began, block_began, warp_time[FIBRES_THREADS / 32];
    fibre fibre[FIBRES_THREADS];
    const fibres_launch *launch;
    char *image, *image_end; /* the kernels' library: its tables and constants */
    void (*entry)(void **);  /* calls the kernel */
    uint64_t seed;
    bool failed;
    char message[512];
    uint64_t deadline; /* nanoseconds of the monotonic clock */
} fibres_state;
extern fibres_state fibres;

/* Dynamic shared memory. */
extern char fibres_dynamic[FIBRES_SHARED];

/* Records the first failure and abandons the fibre. */
__attribute__((format(printf, 1, 2))) void fibres_fail(const char *format, ...);
unsigned fibres_chance(unsigned below);

/* fibres.c: runs the threads of block shim->group until all have finished or one has failed. */
void fibres_run_block(void);
/* Frees the stacks of abandoned threads. */
void fibres_free_stacks(void);
/* Called by the kernel's threads. */
void fibres_barrier(int site);
const uint64_t *fibres_exchange(int site, unsigned mask, uint64_t value, bool orders);

/* memcheck.c: allocates shadows for that many bytes of shared memory; returns false on allocation failure. */
bool fibres_memcheck_begin(size_t bytes);
/* Called for each load and store of a kernel. */
void fibres_memcheck(const void *at, int bytes, int kind, int multiple);
/* racecheck.c: called for accesses to device memory that must not be concurrent. */
void fibres_racecheck(const char *p, int bytes, bool writes);

#endif

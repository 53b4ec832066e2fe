/* SPDX-License-Identifier: Apache-2.0 */
/* Runs CUDA kernels on the host: one fibre per thread, one block after the other. The kernels are a library compiled
 * from shim.h, the CUDA source, and SHIM_ENTRY(name) for each kernel. Only one launch may run at a time: the caller
 * holds a lock. */
#ifndef STANDIN_FIBRES_H
#define STANDIN_FIBRES_H

#include <stddef.h>
#include <stdint.h>

/* A range of memory that a kernel may access. */
typedef struct fibres_range {
    const char *start, *end;
} fibres_range;

typedef struct fibres_launch {
    void *library; /* from dlopen */
    const char *name;
    unsigned grid[3], block[3];
    size_t shared;    /* bytes of dynamic shared memory */
    void **arguments; /* pointers to the arguments */
    const fibres_range *memory;
    int ranges; /* in ascending order */
} fibres_launch;

/* The maximum dynamic shared memory and threads of a launch. */
enum { FIBRES_SHARED = 227 << 10, FIBRES_THREADS = 1024 };

/* Runs a kernel, with blocks and warps in an order determined by the seed. Returns NULL, or an error message in a
 * static buffer. A launch that exceeds `seconds` is an error. */
const char *fibres_run(const fibres_launch *launch, uint64_t seed, int seconds);
/* Forgets a library that is about to be closed. Symbols of the last library are cached, so that repeated launches do
 * not search them. */
void fibres_forget(const void *library);
/* Returns the monotonic clock in nanoseconds. */
uint64_t fibres_now(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA kernels on the host: a fibre per thread, one block after the other. The library with the kernels is made of
 * shim.h, the CUDA text, and SHIM_ENTRY(name) for each kernel. One launch at a time: the caller has a lock. */
#ifndef STANDIN_FIBRES_H
#define STANDIN_FIBRES_H

#include <stddef.h>
#include <stdint.h>

/* Memory that a kernel may use. */
typedef struct fibres_range {
    const char *start, *end;
} fibres_range;

typedef struct fibres_launch {
    void *library; /* as dlopen gave it */
    const char *name;
    unsigned grid[3], block[3];
    size_t shared;    /* dynamic shared memory */
    void **arguments; /* a pointer to each */
    const fibres_range *memory;
    int ranges; /* in the order of their addresses */
} fibres_launch;

/* The most shared memory that a launch may ask for. */
enum { FIBRES_SHARED = 227 << 10, FIBRES_THREADS = 1024 };

/* Runs it, in an order of blocks and warps that the seed gives. NULL, or what went wrong, in a static buffer; a launch
 * that takes longer than `seconds` is wrong. */
const char *fibres_run(const fibres_launch *launch, uint64_t seed, int seconds);
/* The same launch on the same library finds its symbols again without a search; a library that is closed is forgotten.
 */
void fibres_forget(const void *library);
/* Nanoseconds of the monotonic clock. */
uint64_t fibres_now(void);

#endif

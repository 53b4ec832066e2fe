/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of fusion: the pairs of ops that occurred in one kernel. */
#ifndef TESTS_RANDOM_COVERAGE_H
#define TESTS_RANDOM_COVERAGE_H

#include <stdint.h>
#include <stdio.h>

enum { MOST_OPS = 320 };

/* Pairs of ops, including internal ones, as bits in `met`. In shared memory. */
typedef struct coverage {
    const void *op[MOST_OPS]; /* in the order of first occurrence */
    int32_t ops;
    uint64_t fused_with[MOST_OPS][MOST_OPS / 64];
    int64_t groups, largest; /* kernels with more than one record, and the largest number of records */
} coverage;

/* Adds the groups of this process's flushes to *c from now on; NULL: stops. */
void coverage_start(coverage *c);
/* Merges counts of a forked process, where ops have the same addresses. */
void coverage_add(coverage *to, const coverage *from);
void coverage_print(FILE *out, const coverage *c);

#endif

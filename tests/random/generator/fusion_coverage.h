/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops have met in one kernel. */
#ifndef TESTS_RANDOM_COVERAGE_H
#define TESTS_RANDOM_COVERAGE_H

#include <stdint.h>
#include <stdio.h>

enum { MOST_OPS = 320 };

/* Pairs of ops, those of the table and those that only the library calls, by the bits of `met`. Lies in
 * shared memory. */
typedef struct coverage {
    const void *op[MOST_OPS]; /* in the order in which they were seen */
    int32_t ops;
    uint64_t fused_with[MOST_OPS][MOST_OPS / 64];
    int64_t groups, largest; /* kernels of more than one record, and the most records in one */
} coverage;

/* From now on what the flushes of this process group is added to *c; NULL: no more. */
void coverage_start(coverage *c);
/* Of processes of which one has forked the other: ops have the same addresses in both. */
void coverage_add(coverage *to, const coverage *from);
void coverage_print(FILE *out, const coverage *c);

#endif

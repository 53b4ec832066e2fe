/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of typical programs as planned: numbers of passes, operands, bytes. A plan that fuses less, copies more or uses
 * more memory computes the same results, so that only these tests detect it. If a cost has fallen, update the table. */
#ifndef TESTS_SUPPORT_COSTS_H
#define TESTS_SUPPORT_COSTS_H

#include "wick.h"

typedef struct costs {
    int64_t passes, products, kernels; /* submissions */
    int64_t copies;                    /* copies of operands that are overwritten while they are read */
    int64_t loads, stores;             /* operands of the passes and of the epilogues of products */
    int64_t instructions;
    int64_t bytes; /* peak device memory, without the inputs */
    int64_t left;  /* device memory in use at the end */
} costs;

typedef struct inputs {
    wk_tensor *x, *y; /* [32, 64] */
    wk_tensor *w;     /* [64, 16] */
    wk_tensor *row;   /* [64] */
    wk_tensor *index; /* [32], i64 */
} inputs;

typedef struct cost_case {
    const char *name;
    void (*run)(const inputs *in);
    costs costs;
} cost_case;

#define NAMED(name) #name, name

/* Computes x alone, as reading it does. */
void test_force(wk_tensor *x);
wk_tensor *test_computed(wk_tensor *x);
/* Computes x and keeps it beyond its scope; the caller frees it. */
wk_tensor *test_materialized(wk_tensor *x);

/* Checks the costs of each program on the null device; prints the measured ones if they differ. */
void expect_costs(const cost_case *typicals, size_t count);

#endif

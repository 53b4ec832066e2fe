/* SPDX-License-Identifier: Apache-2.0 */
/* What typical programs cost: how many passes, which operands, how much memory. A planner that joins less, copies more
 * or takes memory that it need not take gives the same numbers as before, and is seen here alone. A figure that has
 * become smaller is a figure to write down anew. */
#ifndef TESTS_SUPPORT_COSTS_H
#define TESTS_SUPPORT_COSTS_H

#include "wick.h"

typedef struct costs {
    int64_t passes, products, kernels; /* what the device is told to run */
    int64_t copies;                    /* of memory, for what is written over while it is read */
    int64_t loads, stores;             /* operands of the passes, and of what follows a product */
    int64_t instructions;
    int64_t bytes; /* most that lay on the device at one time, beside what was there */
    int64_t left;  /* that lie there still */
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

/* Forces x alone to be computed, as reading it does. */
void test_force(wk_tensor *x);
wk_tensor *test_computed(wk_tensor *x);
/* x, computed and kept beyond its scope. */
wk_tensor *test_materialized(wk_tensor *x);

/* Each of them costs on the device that computes nothing what is written beside it; what was found else is printed. */
void expect_costs(const cost_case *typicals, size_t count);

#endif

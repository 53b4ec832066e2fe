/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/argmax.c. */
#include "references/reference.h"

static double first_largest(const double *x, int64_t n)
{
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++)
        if (x[best] == x[best] && (x[k] > x[best] || x[k] != x[k])) best = k;
    return (double)best;
}

static double first_smallest(const double *x, int64_t n)
{
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++)
        if (x[best] == x[best] && (x[k] < x[best] || x[k] != x[k])) best = k;
    return (double)best;
}

static void argmax_reference(reference_call *r)
{
    reference_reduce(r, first_largest);
}

static void argmin_reference(reference_call *r)
{
    reference_reduce(r, first_smallest);
}

static const char *const samples[] = {
    "[]", "[7]", "[3,5]", "[3,5], 1", "[3,5], 0", "[2,3,4], -2, true", "[2,3,4], none, true", "[0,3], 1", NULL};

const op_reference op_reference_argmax = {.reference = argmax_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_argmin = {.reference = argmin_reference, .samples = samples, .low = -3, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/sum.c. */
#include "references/reference.h"

static double product(const double *x, int64_t n)
{
    double total = 1;
    for (int64_t k = 0; k < n; k++) total *= x[k];
    return total;
}

static void sum_reference(reference_call *r)
{
    reference_reduce(r, reference_sum);
}

static void prod_reference(reference_call *r)
{
    reference_reduce(r, product);
}

static const char *const prod_samples[] = {
    "[]", "[7]", "[3,5]", "[3,5], (1)", "[2,3,4], (0,2)", "[2,3,4], (-2), true", "[0,3], (0)", NULL};

const op_reference op_reference_sum = {.reference = sum_reference, .samples = samples_reduce, .low = -3, .high = 3};

const op_reference op_reference_prod = {.reference = prod_reference, .samples = prod_samples, .low = -2, .high = 2};

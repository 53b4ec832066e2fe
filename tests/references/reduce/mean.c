/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/mean.c. */
#include "references/reference.h"

static double mean(const double *x, int64_t n)
{
    return reference_sum(x, n) / (double)n;
}

static void reference(reference_call *r)
{
    reference_reduce(r, mean);
}

const op_reference op_reference_mean = {.reference = reference, .samples = samples_reduce, .low = -3, .high = 3};

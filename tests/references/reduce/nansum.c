/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/nansum.c. */
#include "references/reference.h"
#include <math.h>

static double sum(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += isnan(x[k]) ? 0 : x[k];
    return total;
}

static double mean(const double *x, int64_t n)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < n; k++) numbers += !isnan(x[k]);
    return sum(x, n) / (double)numbers;
}

static void nansum_reference(reference_call *r)
{
    reference_reduce(r, sum);
}

static void nanmean_reference(reference_call *r)
{
    reference_reduce(r, mean);
}

const op_reference op_reference_nansum = {
    .reference = nansum_reference, .samples = samples_reduce, .low = -3, .high = 3};

const op_reference op_reference_nanmean = {
    .reference = nanmean_reference, .samples = samples_reduce, .low = -3, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/maximum.c. */
#include "references/reference.h"
#include <math.h>

static double maximum_exact(const double *x)
{
    return isnan(x[0]) ? x[0] : isnan(x[1]) || x[1] > x[0] ? x[1] : x[0];
}

static double minimum_exact(const double *x)
{
    return isnan(x[0]) ? x[0] : isnan(x[1]) || x[1] < x[0] ? x[1] : x[0];
}

const op_reference op_reference_maximum = {
    .scalar = maximum_exact, .samples = samples_binary, .low = -3, .high = 3, .any_zero_sign = true};

const op_reference op_reference_minimum = {
    .scalar = minimum_exact, .samples = samples_binary, .low = -3, .high = 3, .any_zero_sign = true};

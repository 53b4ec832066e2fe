/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/sqrt.c. */
#include "references/reference.h"
#include <math.h>

/* ---- sqrt -------------------------------------------------------------------------------------------------------- */

static double sqrt_exact(const double *x)
{
    return sqrt(x[0]);
}

const op_reference op_reference_sqrt = {.scalar = sqrt_exact, .low = 0.5, .high = 3, .samples = samples_unary};

/* ---- rsqrt ------------------------------------------------------------------------------------------------------- */

static double rsqrt_exact(const double *x)
{
    return 1 / sqrt(x[0]);
}

const op_reference op_reference_rsqrt = {.scalar = rsqrt_exact, .low = 0.5, .high = 3, .samples = samples_unary};

/* ---- reciprocal -------------------------------------------------------------------------------------------------- */

static double reciprocal_exact(const double *x)
{
    return 1 / x[0];
}

const op_reference op_reference_reciprocal = {
    .scalar = reciprocal_exact, .low = 0.5, .high = 3, .samples = samples_unary};

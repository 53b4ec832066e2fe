/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/softplus.c. */
#include "references/reference.h"
#include <math.h>

/* ---- softplus(x, beta, threshold): options in attr->f[0] and [1] ------------------------------------------------- */

static double softplus_exact(const double *x)
{
    double beta = reference_given(x[1], 1), threshold = reference_given(x[2], 20);
    return x[0] * beta > threshold ? x[0] : log1p(exp(x[0] * beta)) / beta;
}

static const char *const softplus_samples[] = {"[]", "[7]", "[3,5], 2", "[2,0], 2, 1", "[2,3,4], 0.5, 30", NULL};

const op_reference op_reference_softplus = {
    .scalar = softplus_exact, .samples = softplus_samples, .low = -3, .high = 3};

/* ---- softsign ---------------------------------------------------------------------------------------------------- */

static double softsign_exact(const double *x)
{
    return x[0] / (1 + fabs(x[0]));
}

const op_reference op_reference_softsign = {.scalar = softsign_exact, .samples = samples_unary, .low = -3, .high = 3};

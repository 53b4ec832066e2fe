/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/sign.c. */
#include "references/reference.h"
#include <math.h>

/* ---- neg --------------------------------------------------------------------------------------------------------- */

static double neg_exact(const double *x)
{
    return -x[0];
}

const op_reference op_reference_neg = {.scalar = neg_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- abs --------------------------------------------------------------------------------------------------------- */

static double abs_exact(const double *x)
{
    return fabs(x[0]);
}

const op_reference op_reference_abs = {.scalar = abs_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- sign -------------------------------------------------------------------------------------------------------- */

static double sign_exact(const double *x)
{
    return (x[0] > 0) - (x[0] < 0);
}

const op_reference op_reference_sign = {.scalar = sign_exact, .samples = samples_unary, .low = -3, .high = 3};

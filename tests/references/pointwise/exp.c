/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/exp.c. */
#include "references/reference.h"
#include <math.h>

/* ---- exp --------------------------------------------------------------------------------------------------------- */

static double exp_exact(const double *x)
{
    return exp(x[0]);
}

const op_reference op_reference_exp = {.scalar = exp_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- expm1 ------------------------------------------------------------------------------------------------------- */

static double expm1_exact(const double *x)
{
    return expm1(x[0]);
}

const op_reference op_reference_expm1 = {.scalar = expm1_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- exp2: as a power, because exp(x log(2)) would magnify the rounding of its argument -------------------------- */

static double exp2_exact(const double *x)
{
    return exp2(x[0]);
}

const op_reference op_reference_exp2 = {.scalar = exp2_exact, .samples = samples_unary, .low = -3, .high = 3};

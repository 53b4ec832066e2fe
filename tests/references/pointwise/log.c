/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/log.c. */
#include "references/reference.h"
#include <math.h>

/* ---- log --------------------------------------------------------------------------------------------------------- */

static double log_exact(const double *x)
{
    return log(x[0]);
}

const op_reference op_reference_log = {.scalar = log_exact, .low = 0.5, .high = 3, .samples = samples_unary};

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

static double log1p_exact(const double *x)
{
    return log1p(x[0]);
}

const op_reference op_reference_log1p = {.scalar = log1p_exact, .low = -0.5, .high = 3, .samples = samples_unary};

/* ---- log2 -------------------------------------------------------------------------------------------------------- */

static double log2_exact(const double *x)
{
    return log2(x[0]);
}

const op_reference op_reference_log2 = {.scalar = log2_exact, .low = 0.5, .high = 3, .samples = samples_unary};

/* ---- log10 ------------------------------------------------------------------------------------------------------- */

static double log10_exact(const double *x)
{
    return log10(x[0]);
}

const op_reference op_reference_log10 = {.scalar = log10_exact, .low = 0.5, .high = 3, .samples = samples_unary};

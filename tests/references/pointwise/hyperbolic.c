/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/hyperbolic.c. */
#include "references/reference.h"
#include <math.h>

/* ---- sinh -------------------------------------------------------------------------------------------------------- */

static double sinh_exact(const double *x)
{
    return sinh(x[0]);
}

const op_reference op_reference_sinh = {.scalar = sinh_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- cosh -------------------------------------------------------------------------------------------------------- */

static double cosh_exact(const double *x)
{
    return cosh(x[0]);
}

const op_reference op_reference_cosh = {.scalar = cosh_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- tanh -------------------------------------------------------------------------------------------------------- */

static double tanh_exact(const double *x)
{
    return tanh(x[0]);
}

const op_reference op_reference_tanh = {.scalar = tanh_exact, .low = -3, .high = 3, .samples = samples_unary};

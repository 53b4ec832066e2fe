/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/sigmoid.c. */
#include "references/reference.h"
#include <math.h>

/* ---- sigmoid ----------------------------------------------------------------------------------------------------- */

static double sigmoid_exact(const double *x)
{
    return 1 / (1 + exp(-x[0]));
}

const op_reference op_reference_sigmoid = {.scalar = sigmoid_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- logsigmoid: min(x, 0) - log(1 + e^-|x|), which does not overflow -------------------------------------------- */

static double logsigmoid_exact(const double *x)
{
    return (x[0] < 0 ? x[0] : 0) - log1p(exp(-fabs(x[0]))) + (isnan(x[0]) ? x[0] : 0);
}

const op_reference op_reference_logsigmoid = {
    .scalar = logsigmoid_exact, .samples = samples_unary, .low = -3, .high = 3, .any_zero_sign = true};

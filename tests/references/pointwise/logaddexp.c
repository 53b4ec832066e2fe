/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/logaddexp.c. */
#include "references/reference.h"
#include <math.h>

static double logaddexp_exact(const double *x)
{
    if (isnan(x[0]) || isnan(x[1])) return NAN;
    if (x[0] == x[1]) return x[0] + log(2); /* also for infinities */
    const double large = fmax(x[0], x[1]);
    return isinf(large) ? large : large + log(exp(x[0] - large) + exp(x[1] - large));
}

/* Operands are not negative: near a result of 0 digits cancel. */
const op_reference op_reference_logaddexp = {.scalar = logaddexp_exact, .samples = samples_binary, .low = 0, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/copysign.c. */
#include "references/reference.h"
#include <math.h>

static double copysign_exact(const double *x)
{
    return isnan(x[1]) ? fabs(x[0]) : copysign(x[0], x[1]); /* a NaN counts as positive, whatever its sign bit */
}

const op_reference op_reference_copysign = {.scalar = copysign_exact, .samples = samples_binary, .low = -3, .high = 3};

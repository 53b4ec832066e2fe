/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/hypot.c. */
#include "references/reference.h"
#include <math.h>

static double hypot_exact(const double *x)
{
    return hypot(x[0], x[1]);
}

const op_reference op_reference_hypot = {.scalar = hypot_exact, .samples = samples_binary, .low = -3, .high = 3};

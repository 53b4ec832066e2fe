/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/lerp.c. */
#include "references/reference.h"

static double exact(const double *x)
{
    return x[0] + x[2] * (x[1] - x[0]);
}

static const char *const samples[] = {"[], [], 0.25",      "[5], [5], 0.75", "[3,4], [4], [3,1]",
                                      "[2,1,3], [4,1], 2", "[0,3], [3], []", NULL};

const op_reference op_reference_lerp = {.scalar = exact, .samples = samples, .low = -3, .high = 3};

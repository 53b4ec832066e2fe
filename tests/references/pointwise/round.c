/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/round.c. */
#include "references/reference.h"
#include <math.h>

static double floor_exact(const double *x)
{
    return floor(x[0]);
}

static double ceil_exact(const double *x)
{
    return ceil(x[0]);
}

static double trunc_exact(const double *x)
{
    return trunc(x[0]);
}

const op_reference op_reference_floor = {.scalar = floor_exact, .samples = samples_unary, .low = -3, .high = 3};

const op_reference op_reference_ceil = {.scalar = ceil_exact, .samples = samples_unary, .low = -3, .high = 3};

const op_reference op_reference_trunc = {.scalar = trunc_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- round ------------------------------------------------------------------------------------------------------- */

static double round_exact(const double *x)
{
    double scale = pow(10, fabs(reference_given(x[1], 0)));
    return x[1] < 0 ? nearbyint(x[0] / scale) * scale : nearbyint(x[0] * scale) / scale;
}

static const char *const round_samples[] = {"[]",         "[7]",          "[3,5]",      "[2,0]",       "[2,3,4]",
                                            "[9]:f64, 2", "[3,5]:f32, 1", "[4]:f16, 2", "[9]:f32, -1", NULL};

const op_reference op_reference_round = {.scalar = round_exact, .samples = round_samples, .low = -3, .high = 3};

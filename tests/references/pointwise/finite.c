/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/finite.c. */
#include "references/reference.h"
#include <math.h>

static double nan_exact(const double *x)
{
    return isnan(x[0]);
}

static double inf_exact(const double *x)
{
    return isinf(x[0]) != 0;
}

static double finite_exact(const double *x)
{
    return isfinite(x[0]);
}

const op_reference op_reference_isnan = {.scalar = nan_exact, .samples = samples_unary, .low = -3, .high = 3};

const op_reference op_reference_isinf = {.scalar = inf_exact, .samples = samples_unary, .low = -3, .high = 3};

const op_reference op_reference_isfinite = {.scalar = finite_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- nan_to_num(x, nan, posinf, neginf) -------------------------------------------------------------------------- */

static double num_exact(const double *x)
{
    return isnan(x[0]) ? reference_given(x[1], 0) : x[0];
}

static const char *const num_samples[] = {"[]", "[7]", "[3,5], 1, 2, 3", "[2,0], 0.5", NULL};

const op_reference op_reference_nan_to_num = {
    .scalar = num_exact, .samples = num_samples, .low = -3, .high = 3, .discontinuous = true};

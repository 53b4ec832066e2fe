/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/relu.c. */
#include "references/reference.h"

/* ---- relu: propagates NaN, with its gradient --------------------------------------------------------------------- */

static double relu_exact(const double *x)
{
    return x[0] <= 0 ? 0 : x[0];
}

const op_reference op_reference_relu = {.scalar = relu_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- leaky_relu(x, negative_slope): slope in attr->f[0] ---------------------------------------------------------- */

static double leaky_exact(const double *x)
{
    return x[0] > 0 ? x[0] : reference_given(x[1], 0.01) * x[0];
}

static const char *const leaky_samples[] = {"[]", "[7]", "[3,5], 0.2", "[2,0], 0.5", "[2,3,4], 0", NULL};

const op_reference op_reference_leaky_relu = {.scalar = leaky_exact, .samples = leaky_samples, .low = -3, .high = 3};

/* ---- threshold(x, threshold, value) ------------------------------------------------------------------------------ */

static double threshold_exact(const double *x)
{
    return x[0] <= x[1] ? x[2] : x[0];
}

static const char *const threshold_samples[] = {"[], 0, 1", "[7], 0.5, 3", "[3,5], 1.0, 2.0", "[2,0], 0, 0", NULL};

const op_reference op_reference_threshold = {
    .scalar = threshold_exact, .samples = threshold_samples, .low = -3, .high = 3, .discontinuous = true};

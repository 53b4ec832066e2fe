/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/hardtanh.c. */
#include "references/reference.h"
#include <math.h>

static double limited(double x, double low, double high)
{
    return isnan(x) || (x > low && x < high) ? x : x >= high ? high : low;
}

/* ---- hardtanh(x, min_val, max_val): limits in attr->f[0] and [1] ------------------------------------------------- */

static double hardtanh_exact(const double *x)
{
    return limited(x[0], reference_given(x[1], -1), reference_given(x[2], 1));
}

static const char *const hardtanh_samples[] = {"[]", "[7]", "[3,5], -0.5", "[2,0], 0, 1", "[2,3,4], -2, 0.5", NULL};

const op_reference op_reference_hardtanh = {
    .scalar = hardtanh_exact, .samples = hardtanh_samples, .low = -3, .high = 3, .any_zero_sign = true};

/* ---- relu6 ------------------------------------------------------------------------------------------------------- */

static double relu6_exact(const double *x)
{
    return limited(x[0], 0, 6);
}

const op_reference op_reference_relu6 = {
    .scalar = relu6_exact, .samples = samples_unary, .low = -4, .high = 8, .any_zero_sign = true};

/* ---- hardsigmoid ------------------------------------------------------------------------------------------------- */

static double hardsigmoid_exact(const double *x)
{
    return limited(x[0] + 3, 0, 6) / 6;
}

const op_reference op_reference_hardsigmoid = {
    .scalar = hardsigmoid_exact, .samples = samples_unary, .low = -5, .high = 5};

/* ---- hardswish --------------------------------------------------------------------------------------------------- */

static double hardswish_exact(const double *x)
{
    return x[0] * hardsigmoid_exact(x);
}

const op_reference op_reference_hardswish = {.scalar = hardswish_exact, .samples = samples_unary, .low = -5, .high = 5};

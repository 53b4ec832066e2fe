/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/trigonometric.c. */
#include "references/reference.h"
#include <math.h>

/* ---- sin --------------------------------------------------------------------------------------------------------- */

static double sin_exact(const double *x)
{
    return sin(x[0]);
}

const op_reference op_reference_sin = {.scalar = sin_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- cos --------------------------------------------------------------------------------------------------------- */

static double cos_exact(const double *x)
{
    return cos(x[0]);
}

const op_reference op_reference_cos = {.scalar = cos_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- tan --------------------------------------------------------------------------------------------------------- */

static double tan_exact(const double *x)
{
    return tan(x[0]);
}

const op_reference op_reference_tan = {.scalar = tan_exact, .low = -1.2, .high = 1.2, .samples = samples_unary};

/* ---- asin and acos ----------------------------------------------------------------------------------------------- */

static double asin_exact(const double *x)
{
    return asin(x[0]);
}

static double acos_exact(const double *x)
{
    return acos(x[0]);
}

const op_reference op_reference_asin = {.scalar = asin_exact, .low = -0.9, .high = 0.9, .samples = samples_unary};

const op_reference op_reference_acos = {.scalar = acos_exact, .low = -0.9, .high = 0.9, .samples = samples_unary};

/* ---- atan -------------------------------------------------------------------------------------------------------- */

static double atan_exact(const double *x)
{
    return atan(x[0]);
}

const op_reference op_reference_atan = {.scalar = atan_exact, .low = -3, .high = 3, .samples = samples_unary};

/* ---- atan2: the angle of (x, y); its gradient is (x, -y) / (x^2 + y^2) for (y, x), 0 at the origin --------------- */

static double atan2_exact(const double *x)
{
    return atan2(x[0], x[1]);
}

const op_reference op_reference_atan2 = {.scalar = atan2_exact, .samples = samples_binary, .low = 0.5, .high = 3};

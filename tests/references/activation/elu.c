/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/elu.c. */
#include "references/reference.h"
#include <math.h>

/* alpha and lambda of self-normalising networks (Klambauer et al. 2017), to double precision. */
static const double SELU_ALPHA = 1.6732632423543772, SELU_SCALE = 1.0507009873554805;

/* ---- elu(x, alpha): alpha in attr->f[0] -------------------------------------------------------------------------- */

static double elu_exact(const double *x)
{
    return x[0] > 0 ? x[0] : reference_given(x[1], 1) * expm1(x[0]);
}

static const char *const elu_samples[] = {"[]", "[7]", "[3,5], 0.5", "[2,0], 2", "[2,3,4], 1.5", NULL};

const op_reference op_reference_elu = {.scalar = elu_exact, .samples = elu_samples, .low = -3, .high = 3};

/* ---- selu -------------------------------------------------------------------------------------------------------- */

static double selu_exact(const double *x)
{
    return SELU_SCALE * (x[0] > 0 ? x[0] : SELU_ALPHA * expm1(x[0]));
}

const op_reference op_reference_selu = {.scalar = selu_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- celu(x, alpha) ---------------------------------------------------------------------------------------------- */

static double celu_exact(const double *x)
{
    double alpha = reference_given(x[1], 1);
    return x[0] <= 0 ? alpha * expm1(x[0] / alpha) : x[0];
}

static const char *const celu_samples[] = {"[]", "[7]", "[3,5], 0.5", "[2,0], 2", "[2,3,4], -1.5", NULL};

const op_reference op_reference_celu = {.scalar = celu_exact, .samples = celu_samples, .low = -3, .high = 3};

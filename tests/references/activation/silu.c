/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/silu.c. */
#include "references/reference.h"
#include <math.h>

/* ---- silu -------------------------------------------------------------------------------------------------------- */

static double silu_of(double x)
{
    return x / (1 + exp(-x));
}

static void silu_reference(reference_call *r)
{
    reference_map(r, silu_of);
}

const op_reference op_reference_silu = {.reference = silu_reference, .samples = samples_unary, .low = -3, .high = 3};

/* ---- mish: x tanh(log(1 + e^x)) ---------------------------------------------------------------------------------- */

static double mish_of(double x)
{
    return x * tanh(log1p(exp(x)));
}

static void mish_reference(reference_call *r)
{
    reference_map(r, mish_of);
}

const op_reference op_reference_mish = {.reference = mish_reference, .samples = samples_unary, .low = -3, .high = 3};

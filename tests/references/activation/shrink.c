/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/shrink.c. */
#include "references/reference.h"
#include <math.h>

/* ---- tanhshrink -------------------------------------------------------------------------------------------------- */

static double tanhshrink_of(double x)
{
    return x - tanh(x);
}

static void tanhshrink_reference(reference_call *r)
{
    reference_map(r, tanhshrink_of);
}

const op_reference op_reference_tanhshrink = {
    .reference = tanhshrink_reference, .samples = samples_unary, .low = -3, .high = 3};

/* ---- softshrink, hardshrink (x, lambd) --------------------------------------------------------------------------- */

static double softshrink_exact(const double *x)
{
    double lambd = reference_given(x[1], 0.5);
    return fabs(x[0]) <= lambd ? 0 * x[0] : x[0] - copysign(lambd, x[0]);
}

static double hardshrink_exact(const double *x)
{
    return fabs(x[0]) <= reference_given(x[1], 0.5) ? 0 : x[0];
}

static const char *const samples[] = {"[]", "[7]", "[3,5], 0.25", "[2,0], 2", "[2,3,4], 0", NULL};

const op_reference op_reference_softshrink = {.scalar = softshrink_exact, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_hardshrink = {
    .scalar = hardshrink_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

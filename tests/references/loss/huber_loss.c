/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/huber_loss.c. */
#include "references/reference.h"
#include <math.h>

static double smooth_l1_exact(const double *x)
{
    double d = fabs(x[0] - x[1]);
    return d < x[2] ? 0.5 * d * d / x[2] : d - 0.5 * x[2];
}

static double huber_exact(const double *x)
{
    double d = fabs(x[0] - x[1]);
    return d < x[2] ? 0.5 * d * d : x[2] * (d - 0.5 * x[2]);
}

static void smooth_l1_reference(reference_call *r)
{
    reference_loss(r, smooth_l1_exact, 2, wk__value_float(&r->args[3], 1));
}

static void huber_reference(reference_call *r)
{
    reference_loss(r, huber_exact, 2, wk__value_float(&r->args[3], 1));
}

static const char *const samples[] = {
    "[], []", "[7], [7]", "[3,5], [3,5], \"sum\"", "[3,5], [3,5], \"none\", 0.5", "[0,3], [0,3], \"sum\"", NULL};

const op_reference op_reference_smooth_l1_loss = {
    .reference = smooth_l1_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_huber_loss = {.reference = huber_reference, .samples = samples, .low = -3, .high = 3};

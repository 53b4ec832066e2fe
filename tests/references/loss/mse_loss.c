/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/mse_loss.c. */
#include "references/reference.h"
#include <math.h>

static double mse_exact(const double *x)
{
    return (x[0] - x[1]) * (x[0] - x[1]);
}

static double l1_exact(const double *x)
{
    return fabs(x[0] - x[1]);
}

static void mse_reference(reference_call *r)
{
    reference_loss(r, mse_exact, 2, 0);
}

static void l1_reference(reference_call *r)
{
    reference_loss(r, l1_exact, 2, 0);
}

static const char *const samples[] = {"[], []",
                                      "[7], [7]",
                                      "[3,5], [3,5]",
                                      "[3,5], [3,5], \"sum\"",
                                      "[2,3,4], [2,3,4], \"none\"",
                                      "[0,3], [0,3], \"sum\"",
                                      NULL};

const op_reference op_reference_mse_loss = {.reference = mse_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_l1_loss = {.reference = l1_reference, .samples = samples, .low = -3, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/binary_cross_entropy.c. */
#include "references/reference.h"
#include <math.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static double exact(const double *x)
{
    return -(x[1] * fmax(log(x[0]), -100) + (1 - x[1]) * fmax(log(1 - x[0]), -100));
}

static double logits_exact(const double *x)
{
    double surprise = fmax(-x[0], 0) + log1p(exp(-fabs(x[0])));
    return (1 - x[1]) * x[0] + (1 + (x[3] - 1) * x[1]) * surprise;
}

static void reference(reference_call *r)
{
    reference_loss(r, exact, 3, 0);
}

static void logits_reference(reference_call *r)
{
    reference_loss(r, logits_exact, 4, 0);
}

static const char *const samples[] = {"[], []",
                                      "[7], [7]",
                                      "[3,5], [3,5], [5]:f32",
                                      "[3,5], [3,5], none, \"sum\"",
                                      "[3,5], [3,5], [3,5]:f32, \"none\"",
                                      "[0,3], [0,3], none, \"sum\"",
                                      NULL};

static const char *const logits_samples[] = {"[], []",
                                             "[7], [7]",
                                             "[3,5], [3,5], [5]:f32",
                                             "[3,5], [3,5], none, none, \"sum\"",
                                             "[3,5], [3,5], [3,5]:f32, none, \"none\"",
                                             "[3,5], [3,5], none, [5]:f32",
                                             "[3,5], [3,5], [3,1]:f32, [5]:f32, \"none\"",
                                             "[0,3], [0,3], none, none, \"sum\"",
                                             NULL};

const op_reference op_reference_binary_cross_entropy = {
    .reference = reference, .samples = samples, .low = 0.1, .high = 0.9, .discontinuous = true};

const op_reference op_reference_binary_cross_entropy_with_logits = {
    .reference = logits_reference, .samples = logits_samples, .low = 0.1, .high = 0.9};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/margin_loss.c. */
#include "references/reference.h"
#include <math.h>

static double soft_margin_exact(const double *x, const wk_value *args)
{
    (void)args;
    const double z = x[0] * x[1];
    return fmax(-z, 0) + log1p(exp(-fabs(z)));
}

static double ranking_exact(const double *x, const wk_value *args)
{
    return fmax(0, wk__value_float(&args[3], 0) - x[2] * (x[0] - x[1]));
}

static void soft_margin_reference(reference_call *r)
{
    reference_operands(r, soft_margin_exact, 2);
}

static void ranking_reference(reference_call *r)
{
    reference_operands(r, ranking_exact, 4);
}

static const char *const soft_margin_samples[] = {"[], []",
                                                  "[7], [7]",
                                                  "[3,5], [3,5]",
                                                  "[3,5], [3,5], \"sum\"",
                                                  "[2,3,4], [2,3,4], \"none\"",
                                                  "[0,3], [0,3], \"sum\"",
                                                  NULL};

static const char *const ranking_samples[] = {"[7], [7], [7]",
                                              "[3,5], [3,5], [3,5], 0.5",
                                              "[3,5], [3,5], [3,5], -0.5, \"sum\"",
                                              "[4], [4], [4], 1, \"none\"",
                                              "[], [], []",
                                              "[0,3], [0,3], [0,3], 0, \"sum\"",
                                              NULL};

const op_reference op_reference_soft_margin_loss = {
    .reference = soft_margin_reference, .samples = soft_margin_samples, .low = -3, .high = 3};

const op_reference op_reference_margin_ranking_loss = {
    .reference = ranking_reference, .samples = ranking_samples, .low = -3, .high = 3};

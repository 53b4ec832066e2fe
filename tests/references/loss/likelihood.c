/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/likelihood.c. */
#include "references/reference.h"
#include <math.h>

/* ---- poisson_nll_loss -------------------------------------------------------------------------------------------- */

static double poisson_exact(const double *x, const wk_value *args)
{
    const bool logs = wk__value_int(&args[2], 1), full = wk__value_int(&args[3], 0);
    const double eps = wk__value_float(&args[4], 1e-8), t = x[1];
    const double loss = logs ? exp(x[0]) - t * x[0] : x[0] - t * log(x[0] + eps);
    return loss + (full && t > 1 ? t * log(t) - t + 0.5 * log(2 * M_PI * t) : 0);
}

static void poisson_reference(reference_call *r)
{
    reference_operands(r, poisson_exact, 5);
}

static const char *const poisson_samples[] = {"[7], [7]",
                                              "[3,5], [3,5], false",
                                              "[3,5], [3,5], true, true",
                                              "[3,5], [3,5], false, true, 0.5, \"sum\"",
                                              "[2,3,4], [2,3,4], true, false, 1e-8, \"none\"",
                                              "[], []",
                                              NULL};

const op_reference op_reference_poisson_nll_loss = {
    .reference = poisson_reference, .samples = poisson_samples, .low = 0.1, .high = 3};

/* ---- gaussian_nll_loss ------------------------------------------------------------------------------------------- */

static double gauss_exact(const double *x, const wk_value *args)
{
    const double v = fmax(x[2], wk__value_float(&args[4], 1e-6)), d = x[0] - x[1];
    return 0.5 * (log(v) + d * d / v) + (wk__value_int(&args[3], 0) ? 0.5 * log(2 * M_PI) : 0);
}

static void gauss_reference(reference_call *r)
{
    reference_array *var = &r->in[2];
    if (var->ndim && var->ndim == r->in[0].ndim - 1) var->shape[var->ndim++] = 1; /* one variance for each row */
    reference_operands(r, gauss_exact, 5);
}

static const char *const gauss_samples[] = {"[7], [7], [7]",
                                            "[3,5], [3,5], [3,5], true",
                                            "[3,5], [3,5], [3,1], false, 0.125, \"sum\"",
                                            "[3,5], [3,5], [3], true, 1e-6, \"none\"",
                                            "[], [], []",
                                            NULL};

const op_reference op_reference_gaussian_nll_loss = {
    .reference = gauss_reference, .samples = gauss_samples, .low = 0.1, .high = 3};

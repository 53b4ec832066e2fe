/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/kl_div.c. */
#include "references/reference.h"
#include <math.h>

static double exact(const double *x)
{
    double p = x[2] != 0 ? exp(x[1]) : x[1];
    return p == 0 ? 0 : p * (log(p) - x[0]);
}

static void reference(reference_call *r)
{
    reference_loss(r, exact, 2, (double)wk__value_int(&r->args[3], 0));
}

static const char *const samples[] = {"[7], [7]",
                                      "[3,5], [3,5], \"sum\"",
                                      "[3,5], [3,5], \"none\", true",
                                      "[3,5], [3,5], \"batchmean\"",
                                      "[], []",
                                      "[0,3], [0,3], \"sum\"",
                                      NULL};

const op_reference op_reference_kl_div = {.reference = reference, .samples = samples, .low = 0.1, .high = 0.9};

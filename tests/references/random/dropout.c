/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/dropout.c. */
#include "references/reference.h"
#include <math.h>

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

static void dropout_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, x->ndim, x->shape), p = wk__value_float(&r->args[1], 0.5);
    bool training = wk__value_int(&r->args[2], 1);
    for (int64_t k = 0, n = reference_numel(x); k < n; k++)
        out[k] = !training                                               ? x->data[k]
                 : (double)(uint32_t)reference_bits(n, k) < ldexp(p, 32) ? 0
                                                                         : x->data[k] / (1 - p);
}

static const char *const dropout_samples[] = {
    "[20]", "[3,4], 0.25", "[2,3,4], 0.5, false", "[3], 0.0", "[3], 1.0", "[0,2]", "[]", NULL};

const op_reference op_reference_dropout = {
    .reference = dropout_reference, .samples = dropout_samples, .low = -3, .high = 3};

/* ---- bernoulli --------------------------------------------------------------------------------------------------- */

static void bernoulli_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    for (int64_t k = 0, n = reference_numel(x); k < n; k++)
        out[k] = reference_uniform(wk__compute_class(x->dtype), n, k) < x->data[k];
}

static const char *const bernoulli_samples[] = {"[20]", "[3,4]", "[0,2]", "[]", NULL};

const op_reference op_reference_bernoulli = {
    .reference = bernoulli_reference, .samples = bernoulli_samples, .low = 0, .high = 1};

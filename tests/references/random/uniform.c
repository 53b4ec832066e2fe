/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/uniform.c. */
#include "references/reference.h"

static void uniform_reference(reference_call *r)
{
    double from = wk__value_float(&r->args[1], 0), to = wk__value_float(&r->args[2], 1);
    reference_filled(r, r->in[0].ndim, r->in[0].shape, wk__compute_class(r->in[0].dtype), reference_uniform, from,
                     to - from);
}

static void normal_reference(reference_call *r)
{
    reference_filled(r, r->in[0].ndim, r->in[0].shape, wk__compute_class(r->in[0].dtype), reference_normal,
                     wk__value_float(&r->args[1], 0), wk__value_float(&r->args[2], 1));
}

static const char *const refilled_samples[] = {"[]", "[5]", "[2,3], -2, 3", "[3,4], 0.5, 0.75", "[0]", NULL};

const op_reference op_reference_uniform_ = {.reference = uniform_reference, .samples = refilled_samples};

const op_reference op_reference_normal_ = {.reference = normal_reference, .samples = refilled_samples};

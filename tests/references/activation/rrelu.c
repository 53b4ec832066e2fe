/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/activation/rrelu.c. */
#include "references/reference.h"

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    const double lower = wk__value_float(&r->args[1], 0.125), upper = wk__value_float(&r->args[2], 1.0 / 3);
    const bool training = wk__value_int(&r->args[3], 0);
    for (int64_t k = 0, n = reference_numel(x); k < n; k++) {
        const double at = training ? reference_uniform(wk__compute_class(x->dtype), n, k) : 0.5;
        out[k] = x->data[k] <= 0 ? (lower + (upper - lower) * at) * x->data[k] : x->data[k];
    }
}

static const char *const samples[] = {"[20]",
                                      "[3,4], 0.25, 0.5, true",
                                      "[2,3,4], -0.5, 0.5, false",
                                      "[20], 0.125, 0.25, true",
                                      "[3], 0.5, 0.5, true",
                                      "[0,2], 0.0, 1.0, true",
                                      "[], 0.25, 0.5, true",
                                      NULL};

const op_reference op_reference_rrelu = {.reference = reference, .samples = samples, .low = -3, .high = 3};

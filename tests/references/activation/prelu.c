/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/activation/prelu.c. */
#include "references/reference.h"

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *weight = &r->in[1];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t step = 1, channels = reference_numel(weight);
    for (int d = 2; d < x->ndim; d++) step *= x->shape[d];
    for (int64_t k = 0, n = reference_numel(x); k < n; k++)
        out[k] = x->data[k] > 0 ? x->data[k] : weight->data[k / step % channels] * x->data[k];
}

static const char *const samples[] = {"[], []",     "[], [1]",      "[7], [1]",       "[7], []",     "[3,5], [5]",
                                      "[3,5], [1]", "[2,3,4], [3]", "[2,3,2,2], [3]", "[2,3,4], []", "[0,3,2], [3]",
                                      NULL};

const op_reference op_reference_prelu = {.reference = reference, .samples = samples, .low = -3, .high = 3};

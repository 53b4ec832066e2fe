/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/cumsum.c. */
#include "references/reference.h"

static void along(reference_call *r, bool product)
{
    const reference_array *in = &r->in[0];
    double *out = reference_out(r, 0, in->ndim, in->shape);
    int64_t dim = r->args[1].i, step = 1, n;
    if (dim < 0) dim += in->ndim;
    n = in->ndim ? in->shape[dim] : 1;
    for (int d = (int)dim + 1; d < in->ndim; d++) step *= in->shape[d];
    for (int64_t k = 0; k < reference_numel(in); k++) {
        out[k] = in->data[k];
        if (k / step % n > 0) out[k] = product ? out[k - step] * in->data[k] : out[k - step] + in->data[k];
    }
}

static void cumsum_reference(reference_call *r)
{
    along(r, false);
}

static void cumprod_reference(reference_call *r)
{
    along(r, true);
}

static const char *const samples[] = {"[], 0",       "[7], 0",   "[3,5], 0", "[3,5], 1", "[2,3,4], 1",
                                      "[2,3,4], -1", "[0,3], 0", "[2,0], 1", NULL};

const op_reference op_reference_cumsum = {.reference = cumsum_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_cumprod = {.reference = cumprod_reference, .samples = samples, .low = -2, .high = 2};

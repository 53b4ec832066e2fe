/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/activation/glu.c. */
#include "references/reference.h"
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t dim = wk__value_int(&r->args[1], -1), shape[WK__MAX_DIMS], step = 1;
    if (dim < 0) dim += x->ndim;
    for (int d = 0; d < x->ndim; d++) shape[d] = d == dim ? x->shape[d] / 2 : x->shape[d];
    for (int d = (int)dim; d < x->ndim; d++) step *= shape[d];
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t k = 0, n = reference_numel(x) / 2; k < n; k++) {
        const double *first = x->data + k / step * 2 * step + k % step;
        out[k] = first[0] / (1 + exp(-first[step]));
    }
}

static const char *const samples[] = {"[6]", "[3,4]", "[4,5], 0", "[2,6,3], 1", "[2,3,2], -1", "[0,4]", "[2,0]", NULL};

const op_reference op_reference_glu = {.reference = reference, .samples = samples, .low = -3, .high = 3};

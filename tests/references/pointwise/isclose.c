/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/pointwise/isclose.c. */
#include "references/reference.h"
#include <math.h>

static void isclose_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    const double rtol = wk__value_float(&r->args[2], 1e-5), atol = wk__value_float(&r->args[3], 1e-8);
    const bool nan = wk__value_int(&r->args[4], 0);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape);
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        const double x = reference_at(a, ndim, shape, k), y = reference_at(b, ndim, shape, k), apart = fabs(x - y);
        out[k] = x == y || (isfinite(apart) && apart <= atol + rtol * fabs(y)) || (nan && isnan(x) && isnan(y));
    }
}

static const char *const isclose_samples[] = {"[], []",
                                              "[5], [5], 0.30001",
                                              "[3,5], [5], 0, 1.00001",
                                              "[2,3,1], [4], 0, 0",
                                              "[5], [5], 0.1, 0.1, true",
                                              "[0,3], [3]",
                                              NULL};

const op_reference op_reference_isclose = {
    .reference = isclose_reference, .samples = isclose_samples, .low = -3, .high = 3, .discontinuous = true};

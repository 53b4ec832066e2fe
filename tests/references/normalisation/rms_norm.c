/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/rms_norm.c. */
#include "references/reference.h"
#include <float.h>
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *in = &r->in[0];
    const bool weight = r->args[2].kind == WK_VALUE_TENSOR;
    double *out = reference_out(r, 0, in->ndim, in->shape), eps = wk__value_float(&r->args[3], -1);
    if (eps < 0) eps = in->dtype == WK_F64 ? DBL_EPSILON : FLT_EPSILON;
    int64_t n = 1;
    for (int d = 0; d < r->args[1].count; d++) n *= r->args[1].ints[d];
    for (int64_t row = 0; n && row < reference_numel(in) / n; row++) {
        const double *x = in->data + row * n;
        long double square = 0;
        for (int64_t k = 0; k < n; k++) square += x[k] * x[k] / (double)n;
        for (int64_t k = 0; k < n; k++)
            out[row * n + k] = (double)(x[k] / sqrtl(square + eps) * (weight ? r->in[1].data[k] : 1));
    }
}

static const char *const samples[] = {"[3,5], (5), [5], 0.1",        "[2,3,4], (3,4), [3,4]", "[3,5], (5)",
                                      "[3,300], (300), [300], 1e-6", "[0,4], (4), [4]",       NULL};

const op_reference op_reference_rms_norm = {.reference = reference, .samples = samples, .low = -3, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/group_norm.c. */
#include "references/reference.h"
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const bool weight = r->args[2].kind == WK_VALUE_TENSOR, bias = r->args[3].kind == WK_VALUE_TENSOR;
    double *out = reference_out(r, 0, x->ndim, x->shape);
    const double eps = wk__value_float(&r->args[4], 1e-5);
    const int64_t groups = r->args[1].i, channels = x->shape[1], rows = x->shape[0] * groups;
    int64_t inner = 1;
    for (int d = 2; d < x->ndim; d++) inner *= x->shape[d];
    const int64_t n = channels / groups * inner;
    for (int64_t row = 0; row < rows; row++) {
        const double *in = x->data + row * n;
        long double mean = 0, var = 0;
        for (int64_t k = 0; k < n; k++) mean += in[k] / (double)n;
        for (int64_t k = 0; k < n; k++) var += (in[k] - mean) * (in[k] - mean) / (double)n;
        for (int64_t k = 0; k < n; k++) {
            const int64_t c = (row * n + k) / inner % channels;
            const long double h = (in[k] - mean) / sqrtl(var + eps);
            out[row * n + k] = (double)(h * (weight ? r->in[1].data[c] : 1) + (bias ? r->in[1 + weight].data[c] : 0));
        }
    }
}

static const char *const samples[] = {"[3,4], 2, [4], [4], 0.1",
                                      "[2,6,5], 3, [6], [6], 0.1",
                                      "[2,4,2,3], 1, none, [4], 0.1",
                                      "[2,3,4], 3, [3], none, 0.1",
                                      "[2,4,1,2,2], 2, none, none, 0.1",
                                      "[0,4,3], 2, [4], [4]",
                                      "[2,4,0], 2, [4], [4]",
                                      NULL};

const op_reference op_reference_group_norm = {.reference = reference, .samples = samples, .low = -3, .high = 3};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/layer_norm.c. */
#include "references/reference.h"
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *in = &r->in[0];
    bool weight = r->args[2].kind == WK_VALUE_TENSOR, bias = r->args[3].kind == WK_VALUE_TENSOR;
    double *out = reference_out(r, 0, in->ndim, in->shape), eps = wk__value_float(&r->args[4], 1e-5);
    int64_t n = 1;
    for (int d = 0; d < r->args[1].count; d++) n *= r->args[1].ints[d];
    for (int64_t row = 0; n && row < reference_numel(in) / n; row++) {
        const double *x = in->data + row * n;
        double mean = 0, var = 0;
        for (int64_t k = 0; k < n; k++) mean += x[k] / (double)n;
        for (int64_t k = 0; k < n; k++) var += (x[k] - mean) * (x[k] - mean) / (double)n;
        for (int64_t k = 0; k < n; k++) {
            double h = (x[k] - mean) / sqrt(var + eps);
            out[row * n + k] = h * (weight ? r->in[1].data[k] : 1) + (bias ? r->in[1 + weight].data[k] : 0);
        }
    }
}

/* eps is large enough not to magnify the rounding of rows of equal elements, which broadcast operands have. */
static const char *const samples[] = {"[3,5], (5), [5], [5], 0.1",   "[2,3,4], (3,4), [3,4], [3,4], 0.1",
                                      "[3,5], (5), none, none, 0.1", "[3,300], (300), none, [300], 9",
                                      "[0,4], (4), [4], [4]",        NULL};

const op_reference op_reference_layer_norm = {.reference = reference, .samples = samples, .low = -3, .high = 3};

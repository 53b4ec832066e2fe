/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/instance_norm.c. */
#include "references/reference.h"
#include <math.h>

/* Returns tensor argument k, or NULL. Tensors follow each other in r->in. */
static const double *argument(const reference_call *r, int k)
{
    int before = 0;
    for (int i = 0; i < k; i++) before += r->args[i].kind == WK_VALUE_TENSOR;
    return r->args[k].kind == WK_VALUE_TENSOR ? r->in[before].data : NULL;
}

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const double *mean = argument(r, 1), *var = argument(r, 2), *weight = argument(r, 3), *bias = argument(r, 4);
    const bool of_x = wk__value_int(&r->args[5], 1);
    const double eps = wk__value_float(&r->args[7], 1e-5);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    const int64_t channels = x->shape[1], rows = x->shape[0] * channels;
    int64_t n = 1;
    for (int d = 2; d < x->ndim; d++) n *= x->shape[d];
    for (int64_t row = 0; row < rows; row++) {
        const int64_t c = row % channels;
        const double *in = x->data + row * n;
        long double m = of_x ? 0 : mean[c], v = of_x ? 0 : var[c];
        for (int64_t k = 0; k < n && of_x; k++) m += in[k] / (double)n;
        for (int64_t k = 0; k < n && of_x; k++) v += (in[k] - m) * (in[k] - m) / (double)n;
        for (int64_t k = 0; k < n; k++)
            out[row * n + k] = (double)((in[k] - m) / sqrtl(v + eps) * (weight ? weight[c] : 1) + (bias ? bias[c] : 0));
    }
}

/* With running statistics and statistics of x the former would be written; tests/ops/normalisation.c has those. */
static const char *const samples[] = {"[2,3,4], none, none, [3], [3], true, 0.1, 0.1",
                                      "[2,3,2,3], none, none, [3], none, true, 0.1, 0.1",
                                      "[1,2,2,1,3], none, none, none, [2], true, 0.1, 0.1",
                                      "[2,2,3], none, none, none, none, true, 0.1, 0.1",
                                      "[3,2,2,3], [2]<5, [2]<5, [2], [2], false, 0.1, 0.1",
                                      "[0,3,4], none, none, [3], [3]",
                                      NULL};

const op_reference op_reference_instance_norm = {.reference = reference, .samples = samples, .low = -3, .high = 3};

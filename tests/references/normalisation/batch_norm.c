/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/batch_norm.c. */
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
    const bool training = wk__value_int(&r->args[5], 0);
    const double eps = wk__value_float(&r->args[7], 1e-5);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    const int64_t total = reference_numel(x), channels = x->shape[1];
    int64_t inner = 1;
    for (int d = 2; d < x->ndim; d++) inner *= x->shape[d];
    for (int64_t c = 0; c < channels; c++) {
        const double n = (double)(x->shape[0] * inner);
        long double m = training ? 0 : mean[c], v = training ? 0 : var[c];
        for (int64_t k = 0; k < total && training; k++)
            if (k / inner % channels == c) m += x->data[k] / n;
        for (int64_t k = 0; k < total && training; k++)
            if (k / inner % channels == c) v += (x->data[k] - m) * (x->data[k] - m) / n;
        for (int64_t k = 0; k < total; k++)
            if (k / inner % channels == c)
                out[k] = (double)((x->data[k] - m) / sqrtl(v + eps) * (weight ? weight[c] : 1) + (bias ? bias[c] : 0));
    }
}

/* eps is large enough not to magnify the rounding of equal elements, which broadcast operands have. In training
 * running statistics would be written; tests/ops/normalisation.c has those. */
static const char *const samples[] = {"[4,3], none, none, [3], [3], true, 0.1, 0.1",
                                      "[2,3,4], none, none, [3], none, true, 0.1, 0.1",
                                      "[2,3,2,4], none, none, none, [3], true, 0.1, 0.1",
                                      "[2,2,1,3,2], none, none, none, none, true, 0.1, 0.1",
                                      "[3,2,2,3], [2]<5, [2]<5, [2], [2], false, 0.1, 0.1",
                                      "[3,2], [2]<5, [2]<5, [2], none, false, 0.1, 0.1",
                                      "[0,3], none, none, [3], [3], true",
                                      "[2,0,4], none, none, [0], [0], true",
                                      NULL};

const op_reference op_reference_batch_norm = {.reference = reference, .samples = samples, .low = -3, .high = 3};

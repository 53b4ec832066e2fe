/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the references of losses: weights and the reduction; see reference.h. */
#include "references/reference.h"

int64_t reference_reduction(const wk_value *value)
{
    static const char *const names[] = {"mean", "sum", "none", "batchmean"};
    int64_t reduction = WK_REDUCE_MEAN;
    const char *text = wk__value_text(value, names[reduction]);
    while (strcmp(names[reduction], text) != 0) reduction++;
    return reduction;
}

void reference_loss(reference_call *r, double (*exact)(const double *x), int reduction_at, double number)
{
    const reference_array *in = &r->in[0], *weight[2] = {NULL, NULL}, *next = &r->in[2];
    int64_t n = reference_numel(in), reduction = reference_reduction(&r->args[reduction_at]);
    double total = 0,
           *out = reduction == WK_REDUCE_NONE ? reference_out(r, 0, in->ndim, in->shape) : reference_out(r, 0, 0, NULL);
    for (int a = 2; a < reduction_at; a++)
        if (r->args[a].kind == WK_VALUE_TENSOR) weight[a - 2] = next++;
    for (int64_t k = 0; k < n; k++) {
        double positive = weight[1] ? reference_at(weight[1], in->ndim, in->shape, k) : 1;
        double loss = exact((const double[]){in->data[k], r->in[1].data[k], number, positive});
        if (weight[0]) loss *= reference_at(weight[0], in->ndim, in->shape, k);
        total += loss;
        if (reduction == WK_REDUCE_NONE) out[k] = loss;
    }
    if (reduction == WK_REDUCE_NONE) return;
    int64_t rows = in->ndim ? in->shape[0] : 1;
    out[0] = total / (reduction == WK_REDUCE_SUM ? 1 : (double)(reduction == WK_REDUCE_MEAN ? n : rows));
}

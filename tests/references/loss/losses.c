/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the references of losses: weights and the reduction; see reference.h. */
#include "references/reference.h"
#include "base/alloc.h"

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

void reference_reduced(reference_call *r, const wk_value *reduction, int ndim, const int64_t *shape, const double *loss)
{
    const bool none = reference_reduction(reduction) == WK_REDUCE_NONE;
    double *out = reference_out(r, 0, none ? ndim : 0, shape), n = 1;
    for (int d = 0; d < ndim; d++) n *= (double)shape[d];
    for (int64_t k = 0; k < (int64_t)n; k++) out[none ? k : 0] += loss[k];
    if (reference_reduction(reduction) == WK_REDUCE_MEAN) out[0] /= n;
}

void reference_operands(reference_call *r, double (*exact)(const double *x, const wk_value *args), int reduction_at)
{
    const reference_array *in = &r->in[0];
    const int64_t n = reference_numel(in);
    double *loss = wk__alloc_zero((size_t)n + 1, sizeof *loss), x[WK__MAX_OPERANDS];
    for (int64_t k = 0; k < n; k++) {
        for (int i = 0; i < r->inputs; i++) x[i] = reference_at(&r->in[i], in->ndim, in->shape, k);
        loss[k] = exact(x, r->args);
    }
    reference_reduced(r, &r->args[reduction_at], in->ndim, in->shape, loss);
    wk__free(loss);
}

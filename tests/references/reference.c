/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the references, and the table of all references; see reference.h. */
#include "reference.h"
#include "base/alloc.h"

int64_t reference_numel(const reference_array *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= a->shape[d];
    return n;
}

void reference_sizes(const wk_value *value, int dims, int64_t usual, int64_t size[])
{
    int count;
    const int64_t *given = wk__value_dims(value, &count);
    for (int d = 0; d < dims; d++) size[d] = count < 1 ? usual : given[count == 1 ? 0 : d];
}

double reference_at(const reference_array *a, int ndim, const int64_t *shape, int64_t k)
{
    int64_t at = 0, step = 1;
    for (int d = ndim; d-- > 0; k /= shape[d]) {
        int own = d - (ndim - a->ndim);
        if (own < 0) continue;
        if (a->shape[own] > 1) at += k % shape[d] * step;
        step *= a->shape[own];
    }
    return a->data[at];
}

double *reference_out(reference_call *r, int k, int ndim, const int64_t *shape)
{
    reference_array *out = &r->out[k];
    out->ndim = ndim;
    for (int d = 0; d < ndim; d++) out->shape[d] = shape[d];
    out->data = wk__alloc_zero((size_t)reference_numel(out) + 1, sizeof(double));
    if (r->outputs <= k) r->outputs = k + 1;
    return out->data;
}

static unsigned mask_of(const reference_call *r)
{
    int ndim = r->in[0].ndim;
    if (r->args[1].kind == WK_VALUE_INT && ndim) return 1u << (r->args[1].i < 0 ? r->args[1].i + ndim : r->args[1].i);
    if (r->args[1].kind != WK_VALUE_INTS || r->args[1].count == 0) return (1u << ndim) - 1;
    unsigned mask = 0;
    for (int k = 0; k < r->args[1].count; k++) {
        int64_t d = r->args[1].ints[k];
        mask |= 1u << (d < 0 ? d + ndim : d);
    }
    return mask;
}

void reference_reduce(reference_call *r, double (*reduce)(const double *x, int64_t n))
{
    const reference_array *in = &r->in[0];
    unsigned mask = mask_of(r);
    bool keepdim = r->args[2].kind != WK_VALUE_NONE && r->args[2].i;
    int64_t shape[WK__MAX_DIMS], row = 1;
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (mask >> d & 1) row *= in->shape[d];
        if (keepdim || !(mask >> d & 1)) shape[ndim++] = mask >> d & 1 ? 1 : in->shape[d];
    }
    double *out = reference_out(r, 0, ndim, shape);
    int64_t places = reference_numel(&r->out[0]);
    double *gathered = wk__alloc_zero((size_t)row + 1, sizeof *gathered);
    for (int64_t place = 0; place < places && out && gathered; place++) {
        int64_t n = 0;
        for (int64_t k = 0; k < reference_numel(in); k++) { /* quadratic, but simple */
            int64_t rest = k, at = 0, step = 1;
            for (int d = in->ndim; d-- > 0;) {
                if (!(mask >> d & 1)) {
                    at += rest % in->shape[d] * step;
                    step *= in->shape[d];
                }
                rest /= in->shape[d];
            }
            if (at == place) gathered[n++] = in->data[k];
        }
        out[place] = reduce(gathered, n);
    }
    wk__free(gathered);
}

double reference_sum(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += x[k];
    return total;
}

void reference_map(reference_call *r, double (*f)(double x))
{
    double *out = reference_out(r, 0, r->in[0].ndim, r->in[0].shape);
    for (int64_t k = 0; k < reference_numel(&r->in[0]) && out; k++) out[k] = f(r->in[0].data[k]);
}

static const op_reference *const all[] = {
#define WK__OP(name) &op_reference_##name,
#include "ops/ops.def"
#undef WK__OP
};

/* Both tables are in the order of ops.def. The row is usually that of the previous call. */
const op_reference *op_reference_of(const wk__op *op)
{
    static _Thread_local int last;
    int k = last;
    while (wk__ops[k] != op) k = (k + 1) % wk__op_total;
    return all[last = k];
}

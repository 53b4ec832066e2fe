/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of norms by a kernel, and of their weight by a sum; see row_norm.h. */
#include "row_norm.h"

#include "reduction.h"

enum { GRADIENT, X, MEAN, FACTOR, WEIGHT, INPUTS };
enum { D_X, D_WEIGHT, D_BIAS, RESULTS };

/* Returns true if the kernel pays and can compute the gradients: operands have the dtype of x, rows stay in cache, and
 * no graph of the gradients is needed. */
static bool is_supported(int64_t rows, int64_t columns, wk_tensor *const in[])
{
    const wk__body *x = wk__body_of(in[X]);
    const wk__device *device = x->storage->value->device;
    bool same = true;
    for (int k = 0; k < INPUTS; k++)
        same = same && wk__body_of(in[k])->dtype == x->dtype && wk__body_of(in[k])->storage->value->device == device;
    return same && rows > 0 && columns > 0 && columns <= WK__SHORT_ROW && !wk_is_grad_enabled() &&
           device->backend->supports(device->state, WK__NORM_BACKWARD, x->dtype, WK__LAYOUT_STRIDES);
}

/* Records the work. in[] are contiguous. Returns false and sets no result on error. */
static bool record(const wk__op *op, wk_tensor *in[], const int64_t space[2], int mode, wk_tensor *out[])
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, (wk_site){0}, in, INPUTS, WK__COLOCATE_IF_SOFT);
    if (!device) return false;
    const wk__body *x = wk__body_of(in[X]), *weight = wk__body_of(in[WEIGHT]);
    const bool weighted = mode & WK__NORM_WEIGHTED;
    const wk_site site = {0};
    out[D_X] = wk__tensor_pending(context, device, x->dtype, x->ndim, x->shape, site, op->name);
    for (int k = D_WEIGHT; k < RESULTS; k++)
        out[k] = wk__tensor_pending(context, device, x->dtype, weighted ? weight->ndim : 1,
                                    weighted ? weight->shape : &space[1], site, op->name);
    wk__record *r = NULL;
    if (out[D_X] && out[D_WEIGHT] && out[D_BIAS])
        r = wk__record_begin(context, WK__NORM_BACKWARD, op, device, site, 2, space, RESULTS, INPUTS);
    if (!r) {
        for (int k = 0; k < RESULTS; k++) out[k] = out[k] ? wk__discard_result(out[k]) : NULL;
        return false;
    }
    const int64_t element[] = {space[1], 1}, column[] = {0, 1}, row[] = {1, 0};
    r->mode = (int8_t)mode;
    wk__record_ref(r, D_X, wk__body_of(out[D_X]), element);
    wk__record_ref(r, D_WEIGHT, wk__body_of(out[D_WEIGHT]), column);
    wk__record_ref(r, D_BIAS, wk__body_of(out[D_BIAS]), column);
    wk__record_ref(r, RESULTS + GRADIENT, wk__body_of(in[GRADIENT]), element);
    wk__record_ref(r, RESULTS + X, x, element);
    wk__record_ref(r, RESULTS + MEAN, wk__body_of(in[MEAN]), row);
    wk__record_ref(r, RESULTS + FACTOR, wk__body_of(in[FACTOR]), row);
    wk__record_ref(r, RESULTS + WEIGHT, weight, weighted ? column : row);
    wk__record_commit(context, r);
    return true;
}

bool wk__row_norm_gradient(wk__grad_ctx *g, int64_t mask, wk_tensor *mean, wk_tensor *factor)
{
    wk_tensor *x = wk__saved(g, 0), *weight = g->node->saved[1] ? wk__saved(g, 1) : NULL, *out[RESULTS];
    if (!x || !factor || (g->node->saved[1] && !weight)) return false;
    wk_tensor *in[INPUTS] = {g->out[0], x, mean ? mean : factor, factor, weight ? weight : factor};
    const int64_t columns = wk__reduced_numel(x, (uint16_t)mask);
    const int64_t space[2] = {columns ? wk__body_numel(wk__body_of(x)) / columns : 0, columns};
    if (!is_supported(space[0], columns, in)) return false;
    for (int k = 0; k < INPUTS; k++)
        if (!(in[k] = wk_contiguous(in[k]))) return false;
    const int mode = (mean ? WK__NORM_CENTRED : 0) | (weight ? WK__NORM_WEIGHTED : 0);
    if (!record(g->node->op, in, space, mode, out)) return false;
    for (int k = 0; k < RESULTS; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = out[k];
    return true;
}

wk_tensor *wk__row_norm_sum(const wk__grad_ctx *g, int64_t mask, const wk__op *term,
                            wk_tensor *(*normalised)(const wk__grad_ctx *g))
{
    const uint16_t rows = (uint16_t)(((1 << g->node->shape[0].ndim) - 1) & ~mask);
    if (!rows || wk_is_grad_enabled()) return wk_mul(g->out[0], normalised(g));
    wk_tensor *in[WEIGHT] = {g->out[0]};
    for (int k = 1; k < term->arity; k++)
        if (!(in[k] = wk__saved(g, k == 1 ? 0 : WK__SAVED_OUT + k - 1))) return NULL;
    const wk_dtype dtype = wk__body_of(in[2])->dtype;
    return wk__reduce_expression(term, (wk_site){0}, in, term->arity, rows, false, dtype, dtype);
}

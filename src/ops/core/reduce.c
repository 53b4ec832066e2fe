/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: dimension masks, and one record per reduction. */
#include "call.h"
#include <string.h>
#include <wick/tensor.h>

bool wk__dims_mask(const wk__op *op, wk_site site, const wk_tensor *x, const int64_t *dims, int count, uint16_t *mask)
{
    const wk__body *body = wk__body_of(x);
    if (count > 0 && !wk__array_check(dims, count, site, op->name, "the list of dimensions")) return false;
    *mask = 0;
    if (count <= 0) {
        *mask = (uint16_t)((1u << body->ndim) - 1);
        return true;
    }
    for (int k = 0; k < count; k++) {
        int d;
        wk_tensor *in[1] = {(wk_tensor *)(uintptr_t)x};
        if (!wk__wrap_dim(body->ndim, dims[k], &d)) {
            wk__op_error(op, site, WK_ERR_INDEX, in, "dimension %lld is out of range for $a (%d dimensions)",
                         (long long)dims[k], body->ndim);
            return false;
        }
        if (*mask >> d & 1) {
            wk__op_error(op, site, WK_ERR_ARGUMENT, in, "duplicate dimension %d for $a", d);
            return false;
        }
        if (body->ndim) *mask |= (uint16_t)(1u << d);
    }
    return true;
}

wk_tensor *wk__reduce_expression(const wk__op *op, wk_site site, wk_tensor *in[], int count, uint16_t mask,
                                 bool keepdim, wk_dtype compute, wk_dtype dtype)
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, site, in, count, WK__COLOCATE_IF_SOFT);
    if (!device) return NULL;
    const wk__body *body = wk__body_of(in[0]);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS] = {0};
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++)
        if (keepdim || !(mask >> d & 1)) shape[ndim++] = mask >> d & 1 ? 1 : body->shape[d];
    wk_tensor *out = wk__tensor_pending(context, device, dtype, ndim, shape, site, op->name);
    if (!out) return NULL;
    const bool scalar = body->ndim == 0; /* a 0-d operand is reduced as shape [1] */
    wk__record *r = wk__record_begin(context, WK__PROGRAM, op, device, site, scalar ? 1 : body->ndim,
                                     scalar ? &(int64_t){1} : body->shape, 1, count);
    if (!r) return wk__discard_result(out);
    const wk__body *result = wk__body_of(out);
    for (int d = 0, k = 0; d < body->ndim; d++) {
        bool gone = mask >> d & 1;
        stride[d] = gone ? 0 : result->stride[k];
        k += keepdim || !gone;
    }
    r->reduce_mask = scalar ? 1 : mask;
    r->compute = (uint8_t)compute;
    wk__record_ref(r, 0, result, stride);
    for (int k = 0; k < count; k++) {
        if (!scalar) wk__broadcast_strides(wk__body_of(in[k]), body->ndim, body->shape, stride);
        wk__record_ref(r, 1 + k, wk__body_of(in[k]), stride);
    }
    wk__record_commit(context, r);
    return out;
}

wk_tensor *wk__reduce(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask, bool keepdim, wk_dtype compute,
                      wk_dtype dtype)
{
    if (!dtype) dtype = wk__body_of(x)->dtype;
    if (mask == 0) return wk_clone_at(site, wk_to_dtype_at(site, x, dtype)); /* 0-d: a copy */
    return wk__reduce_expression(op, site, (wk_tensor *[]){x}, 1, mask, keepdim, compute, dtype);
}

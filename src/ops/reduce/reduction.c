/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for reductions (reduction.h). */
#include "reduction.h"
#include <string.h>

/* ---- arguments --------------------------------------------------------------------------------------------------- */

bool wk__reduction_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int *axis)
{
    int ndim = wk__body_of(x)->ndim;
    if (wk__wrap_dim(ndim, dim, axis)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, &x, "dimension %lld is out of range for $a (%d dimensions)", (long long)dim,
                 ndim);
    return false;
}

bool wk__check_float(const wk__op *op, wk_site site, wk_tensor *x)
{
    if (wk__is_float(wk__body_of(x)->dtype)) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, &x, "$a is not floating-point; convert it with wk_to_dtype(x, WK_F32)");
    return false;
}

int64_t wk__reduced_numel(const wk_tensor *x, uint16_t mask)
{
    const wk__body *body = wk__body_of(x);
    int64_t count = 1;
    for (int d = 0; d < body->ndim; d++)
        if (mask >> d & 1) count *= body->shape[d];
    return count;
}

bool wk__check_nonempty_reduction(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask)
{
    if (wk__reduced_numel(x, mask) > 0) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "cannot reduce $a over dimensions of size 0; check wk_numel first");
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Reports an unsupported dtype, of x or of the option. */
static bool report_dtype(const wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x)
{
    if (!r->dtype_given) return wk__check_float(op, site, x);
    wk__op_error(op, site, WK_ERR_DTYPE, &x, ".dtype must be floating-point for $a, got %s", wk_dtype_str(r->dtype));
    return false;
}

bool wk__reduction_begin(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims,
                         int count, bool keepdim, wk_dtype dtype)
{
    if (!wk__compose_begin(&r->compose, op, site, &x, 1)) return false;
    r->keepdim = keepdim;
    r->dtype_given = dtype != 0;
    r->dtype = dtype ? dtype : (wk_dtype)wk__body_of(x)->dtype;
    bool taken = wk__check_dtype(op, site, r->dtype);
    taken = taken && (!op->dtypes || op->dtypes >> r->dtype & 1 || report_dtype(r, op, site, x));
    if (taken && wk__dims_mask(op, site, x, dims, count, &r->mask)) {
        r->attributes = (wk__reduce_attributes){.mask = r->mask, .keepdim = keepdim};
        r->node = count > 0 ? op->grad_fn_name_dims : NULL;
        return true;
    }
    wk__compose_end(&r->compose, NULL, NULL);
    return false;
}

bool wk__reduction_begin_options(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x,
                                 const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk_reduce_options o;
    if (!wk__options(site, op->name, options, &o)) return false;
    if (o.dtype && !op->takes_dtype) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .dtype is not supported; convert the result with wk_to_dtype",
                      op->name);
        return false;
    }
    return wk__reduction_begin(r, op, site, x, dims, count, o.keepdim, o.dtype);
}

wk_tensor *wk__reduction_end(wk__reduction_call *r, wk_tensor *out)
{
    wk__attr attr = wk__reduce_attr(r->attributes);
    attr.grad_fn_name = r->node;
    return wk__compose_end(&r->compose, out, &attr);
}

/* ---- inside composite ops ---------------------------------------------------------------------------------------- */

/* Returns a view whose dimension d is dimension order[d] of x. */
static wk_tensor *reordered(wk_tensor *x, const int order[])
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    for (int d = 0; d < body->ndim; d++) {
        shape[d] = body->shape[order[d]];
        stride[d] = body->stride[order[d]];
    }
    return wk__tensor_view(wk__context(), x, body->offset, body->ndim, shape, stride);
}

wk_tensor *wk__move_dim_last(wk_tensor *x, int axis)
{
    int ndim = wk__body_of(x)->ndim, order[WK__MAX_DIMS];
    if (axis >= ndim - 1) return x;
    for (int d = 0; d < ndim; d++) order[d] = d < axis ? d : d == ndim - 1 ? axis : d + 1;
    return reordered(x, order);
}

wk_tensor *wk__move_dim_back(wk_tensor *x, int axis)
{
    if (!x) return NULL;
    int ndim = wk__body_of(x)->ndim, order[WK__MAX_DIMS];
    if (axis >= ndim - 1) return x;
    for (int d = 0; d < ndim; d++) order[d] = d < axis ? d : d == axis ? ndim - 1 : d - 1;
    return reordered(x, order);
}

wk_tensor *wk__append_unit_dim(wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    memcpy(shape, body->shape, sizeof *shape * body->ndim);
    memcpy(stride, body->stride, sizeof *stride * body->ndim);
    shape[body->ndim] = stride[body->ndim] = 1;
    return wk__tensor_view(wk__context(), x, body->offset, body->ndim + 1, shape, stride);
}

static wk_tensor *row_reduced(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask, bool keepdim)
{
    if (!x) return NULL;
    wk_dtype class = wk__compute_class(wk__body_of(x)->dtype);
    return wk__reduce(op, site, x, mask, keepdim, class, class);
}

wk_tensor *wk__reduce_sum(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim)
{
    return row_reduced(&wk__op_sum, site, x, mask, keepdim);
}

wk_tensor *wk__reduce_max(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim)
{
    return row_reduced(&wk__op_amax, site, x, mask, keepdim);
}

wk_tensor *wk__drop_reduced_dims(wk_tensor *out, uint16_t mask, bool keepdim)
{
    if (!out || keepdim) return out;
    const wk__body *body = wk__body_of(out);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++) {
        if (mask >> d & 1) continue;
        shape[ndim] = body->shape[d];
        stride[ndim++] = body->stride[d];
    }
    return wk__tensor_view(wk__context(), out, body->offset, ndim, shape, stride);
}

/* in: x, for its shape only */
static int position(wk__emit *e, const int in[])
{
    (void)in;
    return wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
}
static const wk__op position_op = {
    .name = "arange", .expression = position, .arity = 2, .own_dtype_operands = 1, .uses_position = true};

wk_tensor *wk__row_iota(wk_site site, wk_tensor *x, uint16_t mask)
{
    wk_tensor *place = wk__elementwise(&position_op, site, (wk__arg[]){wk__tensor_arg(x), wk__int_arg(0)}, 2, NULL);
    wk_tensor *first = place ? wk__reduce(&wk__op_amin, site, place, mask, true, WK_I64, WK_I64) : NULL;
    return first ? wk_sub(place, first) : NULL;
}

wk_tensor *wk__cast_result(wk_tensor *x, wk_dtype dtype)
{
    return x ? wk_to_dtype_at((wk_site){0}, x, dtype) : NULL;
}

/* ---- in gradients ------------------------------------------------------------------------------------------------ */

wk_tensor *wk__restore_reduced_dims(const wk__grad_ctx *g, wk_tensor *result)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    const wk__reduce_attributes reduced = wk__reduce_attributes_of(g->attr);
    int64_t shape[WK__MAX_DIMS];
    if (reduced.keepdim) return result;
    for (int d = 0; d < from->ndim; d++) shape[d] = reduced.mask >> d & 1 ? 1 : from->size[d];
    return wk_reshape_at((wk_site){0}, result, shape, from->ndim);
}

typedef wk_tensor *public_reduction(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

static wk_tensor *reduce_keepdim(public_reduction *call, wk_tensor *x, int64_t mask)
{
    int64_t dims[WK__MAX_DIMS];
    int count = 0;
    for (int d = 0; d < WK__MAX_DIMS; d++)
        if (mask >> d & 1) dims[count++] = d;
    return call((wk_site){0}, x, dims, count, &(wk_reduce_options){.size = sizeof(wk_reduce_options), .keepdim = true});
}

wk_tensor *wk__sum_keepdim(wk_tensor *x, int64_t mask)
{
    return reduce_keepdim(wk_sum_at, x, mask);
}

wk_tensor *wk__mean_keepdim(wk_tensor *x, int64_t mask)
{
    return reduce_keepdim(wk_mean_at, x, mask);
}

wk_tensor *wk__prod_keepdim(wk_tensor *x, int64_t mask)
{
    return reduce_keepdim(wk_prod_at, x, mask);
}

wk_tensor *wk__add_terms(wk_tensor *a, wk_tensor *b)
{
    return a && b ? wk_add(a, b) : a ? a : b;
}

wk_tensor *wk__split_grad_among_ties(wk_tensor *same, wk_tensor *grad, int64_t mask)
{
    return wk_mul(same, wk_div(grad, wk__sum_keepdim(same, mask)));
}

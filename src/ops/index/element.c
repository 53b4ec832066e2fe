/* SPDX-License-Identifier: Apache-2.0 */
/* wk_get, wk_set: elements by one index for each dimension. Numbers, slices and new dimensions make a view; tensors
 * then index the dimensions of this view. A write goes to the view, and autograd passes it on to the tensor. */
#include "rows.h"
#include "ops/core/view_geometry.h"
#include <wick/index.h>

static const wk__op get_op = {.name = "get"}, set_op = {.name = "set"};

/* The view that numbers, slices and new dimensions select, and the tensors by dimension of the view. */
typedef struct selection {
    const wk__op *op;
    wk_site site;
    wk_tensor *view;
    int dim; /* the next dimension of the view */
    bool indexed;
    wk_tensor *index[WK__MAX_DIMS];
    wk_tensor *mask; /* the only tensor, if it is bool, for dimensions of the view from mask_dim on; else NULL */
    int mask_dim;
} selection;

/* Returns the number of dimensions that an index is for. */
static int dims_of(const wk_index *index)
{
    if (index->kind == WK_INDEX_NEW || index->kind == WK_INDEX_REST) return 0;
    const wk__body *body = index->kind == WK_INDEX_TENSOR ? wk__body_of(index->tensor) : NULL;
    return body && body->dtype == WK_BOOL ? body->ndim : 1;
}

/* Checks the kinds, that tensors are tensors, and the number of indices. Sets *rest to the number of dimensions of
 * WK_REST. */
static bool check_count(const wk__op *op, wk_site site, wk_tensor *x, const wk_index *index, int count, int *rest)
{
    int dims = 0, rests = 0;
    for (int k = 0; k < count; k++) {
        if ((unsigned)index[k].kind > WK_INDEX_TENSOR) {
            wk__error_set(site, WK_ERR_ARGUMENT,
                          "%s: index %d has the unknown kind %d; use wk_index_number and the like", op->name, k,
                          (int)index[k].kind);
            return false;
        }
        if (index[k].kind == WK_INDEX_TENSOR && !wk__check_index_operand(op, site, x, index[k].tensor)) return false;
        dims += dims_of(&index[k]);
        rests += index[k].kind == WK_INDEX_REST;
    }
    *rest = wk__body_of(x)->ndim - dims;
    if (*rest >= 0 && rests < 2) return true;
    wk__op_error(op, site, rests < 2 ? WK_ERR_INDEX : WK_ERR_ARGUMENT, &x,
                 rests < 2 ? "indices for %d dimensions, but $a has %d" : "more than one WK_REST for $a", dims,
                 wk__body_of(x)->ndim);
    return false;
}

/* Checks an index for dimension d of x, because messages of the views would name other dimensions and shapes. */
static bool check_index(const wk__op *op, wk_site site, wk_tensor *x, const wk_index *index, int d)
{
    const int64_t size = d < wk__body_of(x)->ndim ? wk__body_of(x)->shape[d] : 0;
    if (index->kind == WK_INDEX_TENSOR) return wk__check_index(op, site, x, index->tensor, d) >= 0;
    if (index->kind == WK_INDEX_NUMBER && (index->first < -size || index->first >= size))
        wk__op_error(op, site, WK_ERR_INDEX, &x, "index %lld is out of range for dimension %d of $a (size %lld)",
                     (long long)index->first, d, (long long)size);
    else if (index->kind == WK_INDEX_SLICE && index->step < 1)
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x,
                     "step must be at least 1, got %lld for dimension %d of $a; use wk_flip to reverse a dimension",
                     (long long)index->step, d);
    else
        return true;
    return false;
}

/* Checks all indices. Sets *rest to the number of dimensions of WK_REST. */
static bool check_indices(const wk__op *op, wk_site site, wk_tensor *x, const wk_index *index, int count, int *rest)
{
    if (!wk__check_operands(op, site, &x, 1) || !wk__array_check(index, count, site, op->name, "the list of indices") ||
        !check_count(op, site, x, index, count, rest))
        return false;
    for (int k = 0, d = 0; k < count; k++) {
        if (!check_index(op, site, x, &index[k], d)) return false;
        d += index[k].kind == WK_INDEX_REST ? *rest : dims_of(&index[k]);
    }
    return true;
}

/* Applies one index to the view. False on error. */
static bool apply(selection *s, const wk_index *index, int rest)
{
    switch (index->kind) {
    case WK_INDEX_NUMBER: s->view = wk_select_at(s->site, s->view, s->dim, index->first); break;
    case WK_INDEX_SLICE:
        s->view = index->first == 0 && index->end == WK_END && index->step == 1
                      ? s->view
                      : wk_slice_at(s->site, s->view, s->dim, index->first, index->end, index->step);
        s->dim++;
        break;
    case WK_INDEX_NEW: s->view = wk_unsqueeze_at(s->site, s->view, s->dim++); break;
    case WK_INDEX_REST: s->dim += rest; break;
    case WK_INDEX_TENSOR:
        s->mask = !s->indexed && wk__body_of(index->tensor)->dtype == WK_BOOL ? index->tensor : NULL;
        s->mask_dim = s->dim;
        s->indexed = true;
        if (s->mask) { /* expanded later, if another tensor follows */
            s->dim += wk__body_of(index->tensor)->ndim;
            break;
        }
        s->dim = wk__store_index(s->site, index->tensor, s->dim, s->index);
        break;
    }
    return s->view && s->dim >= 0;
}

/* Replaces the mask, if there is one, by the indices of its true elements. */
static bool expand_mask(selection *s)
{
    if (!s->mask) return true;
    const bool fine = wk__store_index(s->site, s->mask, s->mask_dim, s->index) >= 0;
    s->mask = NULL;
    return fine;
}

static bool select_elements(selection *s, wk_tensor *x, const wk_index *index, int count, int rest)
{
    s->view = x;
    for (int k = 0; k < count; k++) {
        if (index[k].kind == WK_INDEX_TENSOR && !expand_mask(s)) return false;
        if (!apply(s, &index[k], rest)) return false;
    }
    return true;
}

static wk_tensor *read_elements(selection *s, wk_tensor *x)
{
    wk__tensor_index t = {.named = x};
    if (s->indexed)
        return expand_mask(s) && wk__tensor_index_begin(&t, s->op, s->site, s->view, s->index)
                   ? wk__tensor_index_read(&t, s->op, s->site, s->view)
                   : NULL;
    const wk__body *body = wk__body_of(x);
    return s->view == x ? wk_expand_at(s->site, x, body->shape, body->ndim) : s->view;
}

wk_tensor *wk_get_at(wk_site site, wk_tensor *x, const wk_index *index, int count)
{
    selection s = {.op = &get_op, .site = site};
    wk__call_scope c;
    int rest;
    if (!check_indices(s.op, site, x, index, count, &rest) || !wk__inlined_begin(&c, s.op, site, &x, 1)) return NULL;
    return wk__inlined_end(&c, select_elements(&s, x, index, count, rest) ? read_elements(&s, x) : NULL);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool fill(wk_site site, wk_tensor *x, wk__arg number)
{
    return (number.is_int ? wk_fill__i64_at(site, x, number.number.i) : wk_fill__f64_at(site, x, number.number.f)) !=
           NULL;
}

/* Returns the value without the leading dimensions of size 1 by which it exceeds ndim dimensions. */
static wk_tensor *without_leading_ones(wk_site site, wk_tensor *value, int ndim)
{
    while (value && wk__body_of(value)->ndim > ndim && wk__body_of(value)->shape[0] == 1)
        value = wk_select_at(site, value, 0, 0);
    return value;
}

/* Returns the mask with trailing dimensions of size 1, so that it broadcasts to the view. */
static wk_tensor *mask_of_view(const selection *s)
{
    const wk__body *mask = wk__body_of(s->mask);
    const int behind = wk__body_of(s->view)->ndim - s->mask_dim;
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < behind; d++) shape[d] = d < mask->ndim ? mask->shape[d] : 1;
    return wk_reshape_at(s->site, s->mask, shape, behind);
}

/* Writes the value to the selected elements. A number is written through a mask without waiting for it. */
static bool write_elements(selection *s, wk_tensor *x, wk_value value)
{
    const wk__arg arg = wk__value_arg(&value);
    wk__tensor_index t = {.named = x};
    if (!s->indexed && arg.is_number) return fill(s->site, s->view, arg);
    if (!s->indexed)
        return wk_copy__at(s->site, s->view, without_leading_ones(s->site, arg.tensor, wk__body_of(s->view)->ndim)) !=
               NULL;
    if (s->mask && arg.is_number) return wk_masked_fill__at(s->site, s->view, mask_of_view(s), value) != NULL;
    wk_tensor *values = arg.tensor;
    if (arg.is_number) {
        const wk_tensor_options options = {.size = sizeof options, .dtype = wk_dtype_of(x), .device = wk_device_of(x)};
        values = arg.is_int ? wk_full_i64_at(s->site, NULL, 0, arg.number.i, &options)
                            : wk_full_f64_at(s->site, NULL, 0, arg.number.f, &options);
    }
    if (!values || !expand_mask(s) || !wk__tensor_index_begin(&t, s->op, s->site, s->view, s->index)) return false;
    wk_tensor *out = wk__tensor_index_write(&t, s->op, s->site, s->view, values, false);
    return wk__write_back(s->site, s->view, out) != NULL;
}

wk_tensor *wk_set_at(wk_site site, wk_tensor *x, const wk_index *index, int count, wk_value value)
{
    selection s = {.op = &set_op, .site = site};
    wk__call_scope c;
    int rest;
    const wk__arg arg = wk__value_arg(&value);
    wk_tensor *in[2] = {x, arg.tensor};
    if (!check_indices(s.op, site, x, index, count, &rest) ||
        !wk__inlined_begin(&c, s.op, site, in, arg.is_number ? 1 : 2))
        return NULL;
    const bool written = select_elements(&s, x, index, count, rest) && write_elements(&s, x, value);
    wk__call_end(&c, NULL, 0);
    return written ? x : NULL;
}

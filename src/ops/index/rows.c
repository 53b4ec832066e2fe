/* SPDX-License-Identifier: Apache-2.0 */
/* Slices along one dimension, and indexing by tensors (rows.h). */
#include "rows.h"
#include "index_check.h"
#include "ops/core/view_geometry.h"
#include <string.h>

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* Returns a vector of size n as dimension d of ndim dimensions. */
static wk_tensor *along(wk_tensor *vector, int ndim, int d)
{
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < ndim; k++) shape[k] = k == d ? -1 : 1;
    return wk_reshape_at((wk_site){0}, vector, shape, ndim);
}

/* Returns a vector of zeros, i64, for the slices of dimension d. */
static wk_tensor *zero_for_each(wk_tensor *x, int d)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(x)};
    return wk_zeros_at((wk_site){0}, &wk__body_of(x)->shape[d], 1, &options);
}

wk_tensor *wk__replace_slices(wk_site site, wk_tensor *x, int d, wk_tensor *index, wk_tensor *source)
{
    if (!x || !index || !source) return NULL;
    if (wk__body_numel(wk__body_of(index)) == 0) return x;
    const int ndim = wk__body_of(x)->ndim;
    wk_tensor *zeros = zero_for_each(x, d), *winner = zeros ? wk__last_writers(site, index, zeros, 0) : NULL;
    wk_tensor *slices = wk_index_select_at(site, source, d, wk_maximum(wk_sub(winner, 1), 0));
    return wk_where(along(wk_gt(winner, 0), ndim, d), slices, x);
}

wk_tensor *wk__fill_slices(wk_site site, wk_tensor *x, int d, wk_tensor *index, wk_value value)
{
    if (!x || !index) return NULL;
    if (wk__body_numel(wk__body_of(index)) == 0) return wk_clone_at(site, x);
    wk_tensor *hits = wk_index_add_at(site, zero_for_each(x, d), 0, index, wk_ones_like_at(site, index, NULL));
    return wk_masked_fill_at(site, x, along(wk_gt(hits, 0), wk__body_of(x)->ndim, d), value);
}

wk_tensor *wk__write_back(wk_site site, wk_tensor *x, wk_tensor *out)
{
    return out && wk_copy__at(site, x, out) ? x : NULL;
}

/* ---- indexing by tensors ----------------------------------------------------------------------------------------- */

/* Computes the order of dimensions, and the shape in it. */
static void order_dims(wk__tensor_index *t, const wk__body *body, wk_tensor *const index[])
{
    int last = -1, next = 0;
    t->ndim = body->ndim;
    t->count = 0;
    for (int d = 0; d < body->ndim; d++)
        if (index[d]) {
            if (t->count++ == 0) t->first = d;
            last = d;
        }
    t->moved = last - t->first + 1 != t->count;
    for (int d = 0; d < body->ndim && t->moved; d++)
        if (index[d]) t->order[next++] = d;
    for (int d = 0; d < body->ndim; d++)
        if (!t->moved || !index[d]) t->order[next++] = d;
    if (t->moved) t->first = 0;
    t->rows = 1;
    for (int k = 0; k < body->ndim; k++) t->shape[k] = body->shape[t->order[k]];
    for (int k = 0; k < t->count; k++) t->rows *= t->shape[t->first + k];
}

static bool broadcast_shapes(wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *const index[])
{
    wk_tensor *pair[2] = {NULL, NULL};
    t->index_ndim = 0;
    for (int k = 0; k < t->count; k++) {
        const wk__body *body = wk__body_of(index[t->order[t->first + k]]);
        int64_t shape[WK__MAX_DIMS];
        int ndim;
        pair[1] = index[t->order[t->first + k]];
        if (k == 0) pair[0] = pair[1];
        if (!wk__broadcast(t->index_ndim, t->index_shape, body->ndim, body->shape, &ndim, shape)) {
            wk__op_error(op, site, WK_ERR_SHAPE, pair, "index tensors do not broadcast, such as $a and $b");
            return false;
        }
        t->index_ndim = ndim;
        memcpy(t->index_shape, shape, sizeof *shape * (size_t)ndim);
    }
    return true;
}

bool wk__tensor_index_begin(wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x,
                            wk_tensor *const index[WK__MAX_DIMS])
{
    order_dims(t, wk__body_of(x), index);
    if (!broadcast_shapes(t, op, site, index)) return false;
    t->row = NULL;
    for (int k = 0; k < t->count; k++) {
        wk_tensor *own = index[t->order[t->first + k]];
        const int64_t size = t->shape[t->first + k];
        if (!(own = wk_to_dtype_at(site, own, WK_I64))) return false;
        own = wk__normalize_index(own, size);
        t->row = t->row ? wk_add(wk_mul(t->row, size), own) : own;
        if (!t->row) return false;
    }
    t->row = wk_expand_at(site, t->row, t->index_shape, t->index_ndim);
    t->row = wk_reshape_at(site, t->row, &(int64_t){wk__numel(t->index_ndim, t->index_shape)}, 1);
    return t->row != NULL;
}

/* Returns x with the indexed dimensions as one. */
static wk_tensor *merged(const wk__tensor_index *t, wk_site site, wk_tensor *x)
{
    int64_t shape[WK__MAX_DIMS];
    const int rest = t->ndim - t->first - t->count;
    memcpy(shape, t->shape, sizeof *shape * (size_t)t->first);
    shape[t->first] = t->rows;
    memcpy(shape + t->first + 1, t->shape + t->first + t->count, sizeof *shape * (size_t)rest);
    if (t->moved) x = wk_permute_at(site, x, t->order, t->ndim);
    return wk_reshape_at(site, x, shape, t->first + 1 + rest);
}

/* Computes the shape of the elements. Returns the number of dimensions; -1 on error. */
static int result_shape(const wk__tensor_index *t, const wk__op *op, wk_site site, int64_t *shape)
{
    const int rest = t->ndim - t->first - t->count, ndim = t->first + t->index_ndim + rest;
    if (ndim > WK__MAX_DIMS) {
        wk__op_error(op, site, WK_ERR_SHAPE, &t->named,
                     "the selected elements of $a would have %d dimensions, more than %d", ndim, WK__MAX_DIMS);
        return -1;
    }
    memcpy(shape, t->shape, sizeof *shape * (size_t)t->first);
    memcpy(shape + t->first, t->index_shape, sizeof *shape * (size_t)t->index_ndim);
    memcpy(shape + t->first + t->index_ndim, t->shape + t->first + t->count, sizeof *shape * (size_t)rest);
    return ndim;
}

wk_tensor *wk__tensor_index_read(const wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x)
{
    int64_t shape[WK__MAX_DIMS];
    const int ndim = result_shape(t, op, site, shape);
    if (ndim < 0) return NULL;
    return wk_reshape_at(site, wk_index_select_at(site, merged(t, site, x), t->first, t->row), shape, ndim);
}

static void refuse_values(const wk__op *op, wk_site site, wk_tensor *const pair[2], int ndim, const int64_t *shape)
{
    wk__text text = {0};
    wk__text_shape(&text, ndim, shape);
    wk__op_error(op, site, WK_ERR_SHAPE, pair, "values $b do not broadcast to the selected elements of $a, %s",
                 text.data ? text.data : "");
    wk__text_free(&text);
}

/* Returns values in the shape of the elements, with the dimensions of the index tensors as one. */
static wk_tensor *spread_values(const wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x,
                                wk_tensor *values)
{
    int64_t shape[WK__MAX_DIMS], both[WK__MAX_DIMS];
    int ndim = result_shape(t, op, site, shape), wide;
    if (ndim < 0) return NULL;
    const wk__body *body = wk__body_of(values);
    wk_tensor *pair[2] = {t->named, values};
    while (body->ndim > ndim && body->shape[0] == 1 && (values = wk_select_at(site, values, 0, 0)))
        body = wk__body_of(values);
    if (!values || !wk__broadcast(body->ndim, body->shape, ndim, shape, &wide, both) ||
        !wk__same_shape(wide, both, ndim, shape)) {
        if (values) refuse_values(op, site, pair, ndim, shape);
        return NULL;
    }
    values = wk_expand_at(site, wk_to_dtype_at(site, values, wk__body_of(x)->dtype), shape, ndim);
    memmove(shape + t->first + 1, shape + t->first + t->index_ndim,
            sizeof *shape * (size_t)(ndim - t->first - t->index_ndim));
    shape[t->first] = wk__numel(t->index_ndim, t->index_shape);
    return wk_reshape_at(site, values, shape, ndim - t->index_ndim + 1);
}

wk_tensor *wk__tensor_index_write(const wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x,
                                  wk_tensor *values, bool accumulate)
{
    wk_tensor *rows = merged(t, site, x), *out;
    if (!rows) return NULL;
    if (!accumulate && wk__body_of(values)->ndim == 0) {
        out = wk__fill_slices(site, rows, t->first, t->row, wk_value_of_tensor(values));
    } else {
        wk_tensor *spread = spread_values(t, op, site, x, values);
        out = accumulate ? wk_index_add_at(site, rows, t->first, t->row, spread)
                         : wk__replace_slices(site, rows, t->first, t->row, spread);
    }
    out = wk_reshape_at(site, out, t->shape, t->ndim);
    if (!t->moved) return out;
    int64_t back[WK__MAX_DIMS];
    for (int k = 0; k < t->ndim; k++) back[t->order[k]] = k;
    return wk_permute_at(site, out, back, t->ndim);
}

/* ---- index tensors ----------------------------------------------------------------------------------------------- */

bool wk__check_index_operand(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index)
{
    wk_tensor *const both[2] = {x, index};
    return wk__check_tensor(index, site, op->name, "index") && wk__check_operands(op, site, both, 2);
}

/* Checks that a mask has the sizes of x from dimension dim on. */
static bool check_mask(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *mask, int dim)
{
    const wk__body *body = wk__body_of(x), *of_mask = wk__body_of(mask);
    bool fits = of_mask->ndim > 0 && dim + of_mask->ndim <= body->ndim;
    for (int d = 0; d < of_mask->ndim && fits; d++) fits = of_mask->shape[d] == body->shape[dim + d];
    wk_tensor *pair[2] = {x, mask};
    if (!fits)
        wk__op_error(op, site, WK_ERR_SHAPE, pair, "mask $b does not have the sizes of $a from dimension %d on", dim);
    return fits;
}

int wk__check_index(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index, int dim)
{
    const wk__body *body = wk__body_of(x);
    if (wk__body_of(index)->dtype == WK_BOOL)
        return check_mask(op, site, x, index, dim) ? dim + wk__body_of(index)->ndim : -1;
    if (dim >= body->ndim) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "more indices than the %d dimensions of $a", body->ndim);
        return -1;
    }
    return wk__check_index_values(op, site, index, body->shape[dim], x, dim) ? dim + 1 : -1;
}

int wk__store_index(wk_site site, wk_tensor *tensor, int dim, wk_tensor *index[WK__MAX_DIMS])
{
    if (wk__body_of(tensor)->dtype == WK_BOOL) {
        const int count = wk_nonzero_numpy_at(site, tensor, index + dim);
        return count < 0 ? -1 : dim + count;
    }
    index[dim] = tensor;
    return dim + 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* index_fill, index_copy, index_put, masked_scatter: writes at indices, as calls of other ops. wk_NAME_ copies the
 * result back. */
#include "index_check.h"
#include "ops/core/view_geometry.h"
#include "rows.h"
#include <string.h>

/* Ends a call: returns its result, or x after writing the result into it. */
static wk_tensor *end_call(wk__call_scope *c, wk_site site, wk_tensor *x, wk_tensor *out, bool in_place)
{
    if (!in_place) return wk__inlined_end(c, out && wk_same_storage_at(site, out, x) ? wk_clone_at(site, out) : out);
    x = wk__write_back(site, x, out);
    wk__call_end(c, NULL, 0);
    return x;
}

static bool check_same_dtype(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *source)
{
    wk_tensor *pair[2] = {x, source};
    if (wk__body_of(x)->dtype == wk__body_of(source)->dtype) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, pair, "$a and the source $b must have one dtype; convert with wk_to_dtype");
    return false;
}

/* Returns the index as a vector of nonnegative i64; NULL on error. */
static wk_tensor *index_vector(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index, int d)
{
    wk_tensor *pair[2] = {x, index};
    const int64_t size = wk__body_of(x)->ndim ? wk__body_of(x)->shape[d] : 1;
    if (wk__body_of(index)->ndim > 1) {
        wk__op_error(op, site, WK_ERR_SHAPE, pair, "the index must be a vector, got $b");
        return NULL;
    }
    index = wk__at_least_1d(index);
    if (index) index = wk__to_i64_index(op, site, index, size, pair);
    return index ? wk__normalize_index(index, size) : NULL;
}

/* ---- index_fill -------------------------------------------------------------------------------------------------- */

static wk_tensor *filled(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value)
{
    const wk__op *op = &wk__op_index_fill;
    int d;
    if (!wk__resolve_dim(op, site, x, dim, 0, &d)) return NULL;
    index = index_vector(op, site, x, index, d);
    wk_tensor *out = wk__fill_slices(site, wk__at_least_1d(x), d, index, value);
    return wk_reshape_at(site, out, wk__body_of(x)->shape, wk__body_of(x)->ndim);
}

static wk_tensor *index_fill_call(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value,
                                  bool in_place)
{
    wk__call_scope c;
    const wk__arg arg = wk__value_arg(&value);
    wk_tensor *in[3] = {x, index, arg.tensor};
    if (!wk__inlined_begin(&c, &wk__op_index_fill, site, in, arg.is_number ? 2 : 3)) return NULL;
    return end_call(&c, site, x, filled(site, x, dim, index, value), in_place);
}

wk_tensor *wk_index_fill_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value)
{
    return index_fill_call(site, x, dim, index, value, false);
}
wk_tensor *wk_index_fill__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value)
{
    return index_fill_call(site, x, dim, index, value, true);
}

const wk__op wk__op_index_fill = {WK__SIGNATURE_index_fill};

/* ---- index_copy -------------------------------------------------------------------------------------------------- */

static bool check_source(wk_site site, wk_tensor *x, wk_tensor *index, wk_tensor *source, int d)
{
    const wk__op *op = &wk__op_index_copy;
    wk_tensor *in[3] = {x, index, source};
    const wk__body *body = wk__body_of(x), *from = wk__body_of(source);
    bool fits = body->ndim == from->ndim;
    for (int k = 0; k < body->ndim && fits; k++)
        fits = from->shape[k] == (k == d ? wk__body_numel(wk__body_of(index)) : body->shape[k]);
    if (fits && (body->ndim || wk__body_numel(wk__body_of(index)) == 1)) return true;
    wk__op_error(
        op, site, WK_ERR_SHAPE, in,
        "the source $c must have the shape of $a, except in dimension %d, where it has the size of the index $b", d);
    return false;
}

static wk_tensor *copied(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    const wk__op *op = &wk__op_index_copy;
    int d;
    if (!wk__resolve_dim(op, site, x, dim, 0, &d) || !check_same_dtype(op, site, x, source) ||
        !check_source(site, x, index, source, d))
        return NULL;
    index = index_vector(op, site, x, index, d);
    wk_tensor *out = wk__replace_slices(site, wk__at_least_1d(x), d, index, wk__at_least_1d(source));
    return wk_reshape_at(site, out, wk__body_of(x)->shape, wk__body_of(x)->ndim);
}

static wk_tensor *index_copy_call(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source,
                                  bool in_place)
{
    wk__call_scope c;
    wk_tensor *in[3] = {x, index, source};
    if (!wk__inlined_begin(&c, &wk__op_index_copy, site, in, 3)) return NULL;
    return end_call(&c, site, x, copied(site, x, dim, index, source), in_place);
}

wk_tensor *wk_index_copy_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return index_copy_call(site, x, dim, index, source, false);
}
wk_tensor *wk_index_copy__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return index_copy_call(site, x, dim, index, source, true);
}

const wk__op wk__op_index_copy = {WK__SIGNATURE_index_copy};

/* ---- index_put --------------------------------------------------------------------------------------------------- */

static wk_tensor *put(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count, wk_tensor *values,
                      bool accumulate)
{
    const wk__op *op = &wk__op_index_put;
    wk_tensor *index[WK__MAX_DIMS] = {NULL};
    wk__tensor_index t = {.named = x};
    for (int k = 0, dim = 0; k < count; k++)
        if (!wk__check_index_operand(op, site, x, indices[k]) ||
            (dim = wk__check_index(op, site, x, indices[k], dim)) < 0)
            return NULL;
    for (int k = 0, dim = 0; k < count; k++)
        if ((dim = wk__store_index(site, indices[k], dim, index)) < 0) return NULL;
    if (!wk__tensor_index_begin(&t, op, site, x, index)) return NULL;
    return wk__tensor_index_write(&t, op, site, x, values, accumulate);
}

static wk_tensor *index_put_call(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count, wk_tensor *values,
                                 const wk_index_put_options *options, bool in_place)
{
    const wk__op *op = &wk__op_index_put;
    wk_index_put_options o;
    wk__call_scope c;
    wk_tensor *in[2] = {x, values};
    if (!wk__options(site, op->name, options, &o) ||
        !wk__array_check(indices, count, site, op->name, "the array of index tensors"))
        return NULL;
    if (count < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the list of index tensors is empty", op->name);
        return NULL;
    }
    if (!wk__inlined_begin(&c, op, site, in, 2)) return NULL;
    return end_call(&c, site, x, put(site, x, indices, count, values, o.accumulate), in_place);
}

wk_tensor *wk_index_put_at(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count, wk_tensor *values,
                           const wk_index_put_options *options)
{
    return index_put_call(site, x, indices, count, values, options, false);
}
wk_tensor *wk_index_put__at(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count, wk_tensor *values,
                            const wk_index_put_options *options)
{
    return index_put_call(site, x, indices, count, values, options, true);
}

const wk__op wk__op_index_put = {WK__SIGNATURE_index_put};

/* ---- masked_scatter: the k-th true element of the mask gets element k of the source ------------------------------ */

static wk_tensor *scattered(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source)
{
    const wk__op *op = &wk__op_masked_scatter;
    wk_tensor *in[3] = {x, mask, source};
    const wk_dtype dtype = wk_dtype_of(x);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    if (!wk__broadcast_mask(op, site, in, &ndim, shape) || !check_same_dtype(op, site, x, source)) return NULL;
    x = wk_expand_at(site, x, shape, ndim);
    mask = wk_expand_at(site, mask, shape, ndim);
    if (!x || !mask || wk__numel(ndim, shape) == 0) return x;
    wk_tensor *flat = wk_reshape_at(site, mask, (const int64_t[]){-1}, 1);
    wk_tensor *order = wk_reshape_at(site, wk_cumsum_at(site, flat, 0), shape, ndim);
    wk_tensor *from = wk_where(mask, wk_sub(order, 1), 0);
    if (wk__body_numel(wk__body_of(source)) == 0) /* so that every index that is looked up has an element */
        source = wk_zeros_at(
            site, (const int64_t[]){1}, 1,
            &(wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = dtype, .device = wk_device_of(x)}),
        from = wk_where(mask, order, 0);
    return wk_where(mask, wk_take_at(site, source, from), x);
}

static wk_tensor *masked_scatter_call(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source, bool in_place)
{
    wk__call_scope c;
    wk_tensor *in[3] = {x, mask, source};
    if (!wk__inlined_begin(&c, &wk__op_masked_scatter, site, in, 3)) return NULL;
    return end_call(&c, site, x, scattered(site, x, mask, source), in_place);
}

wk_tensor *wk_masked_scatter_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source)
{
    return masked_scatter_call(site, x, mask, source, false);
}
wk_tensor *wk_masked_scatter__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source)
{
    return masked_scatter_call(site, x, mask, source, true);
}

const wk__op wk__op_masked_scatter = {WK__SIGNATURE_masked_scatter};

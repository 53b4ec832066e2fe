/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: writes source elements at given indices; the last write wins on every device.
 *
 * The only kernel with computed targets is scatter_add. So each target element gets the index of its source element, as
 * a sum with one term, and the source is then gathered by it:
 *
 *     index   2 0 2 1       sorted  0 1 2 2   original order  1 3 0 2     last of its run  y y n y
 *     winner of each target element, from 1: 2 4 3; 0 if nothing is written there */
#include "ops/core/compose.h"
#include "index_check.h"
#include "ops/core/view_geometry.h"
#include <string.h>

wk_tensor *wk__covered_region(wk_site site, wk_tensor *x, const wk__body *index, int d)
{
    for (int k = 0; k < index->ndim && x; k++)
        if (k != d && wk__body_of(x)->shape[k] != index->shape[k]) x = wk_narrow_at(site, x, k, 0, index->shape[k]);
    return x;
}

wk_tensor *wk__last_writers(wk_site site, wk_tensor *index, wk_tensor *corner, int d)
{
    const wk__body *body = wk__body_of(index);
    int64_t n = body->shape[d], shape[WK__MAX_DIMS];
    wk_tensor *sorted, *order;
    if (wk_sort_at(site, index, d, false, &sorted, &order) != WK_OK) return NULL;
    memcpy(shape, body->shape, sizeof shape);
    shape[d] = 1;
    wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(index)};
    wk_tensor *end = wk_full_i64_at(site, shape, body->ndim, -1, &options);
    wk_tensor *next = wk_cat_at(site, (wk_tensor *const[]){wk_narrow_at(site, sorted, d, 1, n - 1), end}, 2, d);
    wk_tensor *last = wk_mul(wk_ne(sorted, next), wk_add(order, 1));
    wk_tensor_options like = {.size = sizeof like, .dtype = WK_I64};
    return corner ? wk_scatter_add_at(site, wk_zeros_like_at(site, corner, &like), d, sorted, last) : NULL;
}

/* index: i64, nonnegative. Writes `value` if source is NULL. */
static wk_tensor *apply_scatter(wk_site site, wk_tensor *x, int d, wk_tensor *index, wk_tensor *source, wk__arg value)
{
    const wk__body *places = wk__body_of(index);
    wk_tensor *out = wk_clone_at(site, x);
    if (wk__body_numel(places) == 0) return out;
    wk_tensor *corner = wk__covered_region(site, out, places, d);
    if (!corner) return NULL;
    wk_tensor *winner = wk__last_writers(site, index, corner, d), *put = NULL;
    if (!winner) return NULL;
    wk_tensor *gets = wk_gt(winner, 0);
    wk_dtype dtype = (wk_dtype)wk__body_of(x)->dtype;
    if (source) {
        wk_tensor *from = wk_maximum(wk_sub(winner, 1), 0);
        put = wk_where(gets, wk_gather_at(site, wk__covered_region(site, source, places, d), d, from), corner);
    } else {
        wk_tensor_options like = {.size = sizeof like, .dtype = dtype};
        put = wk_where(gets, wk__full_like(site, corner, value, &like), corner);
    }
    return put && wk_copy__at(site, corner, put) ? out : NULL;
}

wk_tensor *wk__normalize_index(wk_tensor *index, int64_t bound)
{
    if (!index || wk__body_numel(wk__body_of(index)) == 0) return index;
    wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(index)};
    wk_tensor *zeros = wk_expand(wk_full_i64_at((wk_site){0}, (const int64_t[]){1}, 1, 0, &options), (bound));
    return wk_add(wk_where(wk_lt(index, 0), wk_add(index, bound), index), wk_take(zeros, index));
}

static bool check_scatter_operands(const wk__op *op, wk_site site, wk_tensor *const in[], int count, int d)
{
    const wk__body *x = wk__body_of(in[0]);
    if (count < 3 || wk__body_of(in[2])->dtype == x->dtype) return wk__check_index_shape(op, site, in, count, d);
    wk__op_error(op, site, WK_ERR_DTYPE, in,
                 "the target $a and the source $c must have the same dtype; convert one with wk_to_dtype");
    return false;
}

/* Writes `source`, or `value` if count is 2. */
static wk_tensor *scatter_call(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source, int count,
                               wk__arg value)
{
    const wk__op *op = &wk__op_scatter;
    wk_tensor *in[3] = {x, index, source}, *out = NULL;
    int d;
    if (!wk__prepare_operands(wk__context(), op, site, in, count, WK__COLOCATE_IF_SOFT) ||
        !wk__resolve_dim(op, site, x, dim, 0, &d) || !check_scatter_operands(op, site, in, count, d))
        return NULL;
    const wk__body *body = wk__body_of(in[0]);
    const int64_t bound = body->ndim ? body->shape[d] : 1;
    if (!(in[1] = wk__to_i64_index_or_empty(op, site, in[1], bound, in))) return NULL;
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, in, count)) return NULL;
    wk_tensor *places = wk__normalize_index(wk__at_least_1d(in[1]), bound);
    if (places)
        out = apply_scatter(site, wk__at_least_1d(in[0]), d, places, count == 3 ? wk__at_least_1d(in[2]) : NULL, value);
    if (!body->ndim) out = wk_reshape_at(site, out, NULL, 0);
    wk__attr attr = wk__along_attr((wk__along_attributes){.dim = d});
    if (count == 2) attr.grad_fn_name = "ScatterBackward1";
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_scatter_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return scatter_call(site, x, dim, index, source, 3, wk__int_arg(0));
}
wk_tensor *wk_scatter_f64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, double value)
{
    return scatter_call(site, x, dim, index, NULL, 2, wk__float_arg(value));
}
wk_tensor *wk_scatter_i64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, int64_t value)
{
    return scatter_call(site, x, dim, index, NULL, 2, wk__int_arg(value));
}

/* Returns, in the index's shape, which elements of the source were not overwritten (bool). */
static wk_tensor *is_last_writer(wk_tensor *x, wk_tensor *index, int d)
{
    const wk_site here = {0};
    const wk__body *body = wk__body_of(index);
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < body->ndim; k++) shape[k] = k == d ? body->shape[d] : 1;
    wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(index)};
    wk_tensor *own =
        wk_reshape_at(here, wk_add(wk_arange_i64_at(here, body->shape[d], &options), 1), shape, body->ndim);
    wk_tensor *winner = wk__last_writers(here, index, wk__covered_region(here, x, body, d), d);
    return winner ? wk_eq(wk_gather_at(here, winner, d, index), own) : NULL;
}

/* Overwritten elements of x and of the source have gradient 0. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const int d = (int)wk__along_attributes_of(g->attr).dim;
    const wk__tensor_meta *x = &g->node->shape[0];
    wk_tensor *index = wk__normalize_index(wk__at_least_1d(wk__saved(g, 1)), x->ndim ? x->size[d] : 1);
    if (!index) return;
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_scatter_i64_at(here, g->out[0], d, index, 0);
    if (!wk__needs_input_grad(g, 2)) return;
    wk_tensor *grad = wk__at_least_1d(g->out[0]), *part = wk_gather_at(here, grad, d, index);
    if (part && wk__body_numel(wk__body_of(index))) part = wk_where(is_last_writer(grad, index, d), part, 0.0);
    g->in[2] = wk__pad_source_grad(g, part);
}

const wk__op wk__op_scatter = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, 0, WK__SAVE_1},
    WK__SIGNATURE_scatter,
};

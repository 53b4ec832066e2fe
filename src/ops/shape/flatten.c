/* SPDX-License-Identifier: Apache-2.0 */
/* Shape changes named differently from reshape and expand: flatten, unflatten, view_as, expand_as. */
#include "ops/core/view_geometry.h"

/* Calls reshape or expand under the name of the user's op. */
static wk_tensor *view_by(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *shape, int ndim,
                          wk_tensor *(*view)(wk_site, wk_tensor *, const int64_t *, int))
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op->name, site);
    wk_tensor *out = view(site, x, shape, ndim);
    wk__frame_end(context, before);
    return out;
}

wk_tensor *wk_flatten_at(wk_site site, wk_tensor *x, int64_t start, int64_t end)
{
    int first, last;
    if (!wk__check_input(&wk__op_flatten, site, x) || !wk__resolve_dim(&wk__op_flatten, site, x, start, 0, &first) ||
        !wk__resolve_dim(&wk__op_flatten, site, x, end, 0, &last))
        return NULL;
    const wk__body *body = wk__body_of(x);
    if (first > last) {
        wk__op_error(&wk__op_flatten, site, WK_ERR_ARGUMENT, &x, "dimension %d comes after dimension %d of $a", first,
                     last);
        return NULL;
    }
    if (body->ndim == 0) return wk_reshape_at(site, x, (const int64_t[]){1}, 1);
    int64_t shape[WK__MAX_DIMS], merged = 1;
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++) {
        bool inside = d >= first && d <= last;
        if (inside) merged *= body->shape[d];
        if (!inside || d == last) shape[ndim++] = inside ? merged : body->shape[d];
    }
    return wk_reshape_at(site, x, shape, ndim);
}

wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count)
{
    int d;
    if (!wk__check_input(&wk__op_unflatten, site, x) || !wk__resolve_dim(&wk__op_unflatten, site, x, dim, 0, &d))
        return NULL;
    if (!wk__array_check(sizes, count, site, "unflatten", "the list of sizes")) return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], parts[WK__MAX_DIMS];
    if (!wk__infer_shape(&wk__op_unflatten, site, x, d, sizes, count, parts)) return NULL;
    for (int k = 0; k < body->ndim - 1 + count; k++)
        shape[k] = k < d ? body->shape[k] : k < d + count ? parts[k - d] : body->shape[k - count + 1];
    return view_by(&wk__op_unflatten, site, x, shape, body->ndim - 1 + count, wk_reshape_at);
}

wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__check_input(&wk__op_expand_as, site, x) || !wk__check_tensor(other, site, "expand_as", "second operand"))
        return NULL;
    return view_by(&wk__op_expand_as, site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim, wk_expand_at);
}

wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__check_input(&wk__op_view_as, site, x) || !wk__check_tensor(other, site, "view_as", "second operand"))
        return NULL;
    return view_by(&wk__op_view_as, site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim, wk_reshape_at);
}

static void expand_as_gradient(wk__grad_ctx *g)
{
    g->in[0] = g->out[0]; /* the engine sums it to the operand's shape */
}

const wk__op wk__op_flatten = {
    .gradient = wk__reshape_gradient,
    WK__SIGNATURE_flatten,
};
const wk__op wk__op_unflatten = {
    .gradient = wk__reshape_gradient,
    WK__SIGNATURE_unflatten,
};
const wk__op wk__op_view_as = {
    .gradient = wk__reshape_gradient,
    WK__SIGNATURE_view_as,
};
const wk__op wk__op_expand_as = {
    .gradient = expand_as_gradient,
    WK__SIGNATURE_expand_as,
};

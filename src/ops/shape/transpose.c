/* SPDX-License-Identifier: Apache-2.0 */
/* Reordering dimensions: transpose, swapaxes, t, permute, movedim. */
#include "ops/core/view_geometry.h"

/* ---- transpose, t, swapaxes -------------------------------------------------------------------------------------- */

static wk_tensor *swap_dims(const wk__op *op, wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    int d, e;
    if (!wk__check_input(op, site, x) || !wk__resolve_dim(op, site, x, a, 0, &d) ||
        !wk__resolve_dim(op, site, x, b, 0, &e))
        return NULL;
    wk__geometry g;
    const wk__body *body = wk__body_of(x);
    wk__geometry_of(body, &g);
    if (body->ndim) {
        g.shape[d] = body->shape[e];
        g.stride[d] = body->stride[e];
        g.shape[e] = body->shape[d];
        g.stride[e] = body->stride[d];
    }
    const wk__attr attr = wk__transpose_attr((wk__transpose_attributes){.dim0 = d, .dim1 = e});
    return wk__make_view_geometry(op, site, x, &g, &attr);
}

wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return swap_dims(&wk__op_transpose, site, x, a, b);
}

wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return swap_dims(&wk__op_swapaxes, site, x, a, b);
}

wk_tensor *wk_t_at(wk_site site, wk_tensor *x)
{
    if (!wk__check_input(&wk__op_t, site, x)) return NULL;
    int ndim = wk__body_of(x)->ndim;
    if (ndim <= 2) return swap_dims(&wk__op_t, site, x, 0, ndim == 2 ? 1 : 0);
    wk__op_error(&wk__op_t, site, WK_ERR_SHAPE, &x,
                 "expected at most two dimensions, got $a; use wk_transpose to swap any two");
    return NULL;
}

static void transpose_gradient(wk__grad_ctx *g)
{
    const wk__transpose_attributes a = wk__transpose_attributes_of(g->attr);
    g->in[0] = wk_transpose_at((wk_site){0}, g->out[0], a.dim0, a.dim1);
}

const wk__op wk__op_transpose = {
    .gradient = transpose_gradient,
    WK__SIGNATURE_transpose,
};
const wk__op wk__op_swapaxes = {
    .gradient = transpose_gradient,
    WK__SIGNATURE_swapaxes,
};
const wk__op wk__op_t = {
    .gradient = transpose_gradient,
    WK__SIGNATURE_t,
};

/* ---- permute, movedim -------------------------------------------------------------------------------------------- */

wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__check_input(&wk__op_permute, site, x) ||
        !wk__array_check(dims, count, site, "permute", "the list of dimensions"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    wk__geometry g;
    wk__attr attr = {.count = count};
    unsigned seen = 0;
    wk__geometry_of(body, &g);
    for (int k = 0; k < count && k < body->ndim; k++) {
        int d;
        if (!wk__resolve_dim(&wk__op_permute, site, x, dims[k], 0, &d)) return NULL;
        seen |= 1u << d;
        g.shape[k] = body->shape[d];
        g.stride[k] = body->stride[d];
        attr.list[k] = d;
    }
    if (count != body->ndim || seen != (1u << body->ndim) - 1) {
        wk__op_error(&wk__op_permute, site, WK_ERR_ARGUMENT, &x,
                     "each of the %d dimensions of $a must be listed exactly once", body->ndim);
        return NULL;
    }
    return wk__make_view_geometry(&wk__op_permute, site, x, &g, &attr);
}

static void permute_gradient(wk__grad_ctx *g)
{
    int64_t back[WK__MAX_DIMS];
    for (int k = 0; k < g->attr->count; k++) back[g->attr->list[k]] = k;
    g->in[0] = wk_permute_at((wk_site){0}, g->out[0], back, g->attr->count);
}

/* Computes the order of dimensions after `from` was moved to `to`. */
static void moved_order(int ndim, int from, int to, int64_t *order)
{
    for (int k = 0, next = 0; k < ndim; k++) {
        if (next == from) next++;
        order[k] = k == to ? from : next++;
    }
}

wk_tensor *wk_movedim_at(wk_site site, wk_tensor *x, int64_t source, int64_t destination)
{
    int from, to;
    if (!wk__check_input(&wk__op_movedim, site, x) || !wk__resolve_dim(&wk__op_movedim, site, x, source, 0, &from) ||
        !wk__resolve_dim(&wk__op_movedim, site, x, destination, 0, &to))
        return NULL;
    int64_t order[WK__MAX_DIMS];
    moved_order(wk__body_of(x)->ndim, from, to, order);
    return wk_permute_at(site, x, order, wk__body_of(x)->ndim);
}

const wk__op wk__op_permute = {
    .gradient = permute_gradient,
    WK__SIGNATURE_permute,
};
const wk__op wk__op_movedim = {
    .gradient = permute_gradient,
    WK__SIGNATURE_movedim,
};

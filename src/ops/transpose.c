/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions in another order: transpose, swapaxes, t, permute, movedim. */
#include "views.h"

/* ---- transpose, t, swapaxes -------------------------------------------------------------------------------------- */

static wk_tensor *transposed(const wk__op *op, wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    int d, e;
    if (!wk__view_begin(op, site, x) || !wk__dim_of(op, site, x, a, 0, &d) || !wk__dim_of(op, site, x, b, 0, &e))
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
    return wk__view_as(op, site, x, &g, &(wk__attr){.i = {d, e}});
}

wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return transposed(&wk__op_transpose, site, x, a, b);
}

wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return transposed(&wk__op_swapaxes, site, x, a, b);
}

wk_tensor *wk_t_at(wk_site site, wk_tensor *x)
{
    if (!wk__view_begin(&wk__op_t, site, x)) return NULL;
    int ndim = wk__body_of(x)->ndim;
    if (ndim <= 2) return transposed(&wk__op_t, site, x, 0, ndim == 2 ? 1 : 0);
    wk__op_error(&wk__op_t, site, WK_ERR_SHAPE, &x, "takes two dimensions at most, not $a; wk_transpose swaps any two");
    return NULL;
}
wk_tensor *(wk_t)(wk_tensor *x)
{
    return wk_t_at((wk_site){0}, x);
}

static void transpose_gradient(wk__gradient *g)
{
    g->in[0] = wk_transpose_at((wk_site){0}, g->out[0], g->attr->i[0], g->attr->i[1]);
}

static int transpose_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    if (op == &wk__op_t) return wk__one(out, wk_t_at(site, x));
    return wk__one(out, transposed(op, site, x, wk__value_int(&args[1], 0), wk__value_int(&args[2], 1)));
}

#define TRANSPOSE .group = "view", .gradient = transpose_gradient, .invoke = transpose_invoke

const wk__op wk__op_transpose = {
    .name = "transpose",
    .schema = "transpose(Tensor self, int dim0, int dim1) -> Tensor",
    .node = "TransposeBackward0",
    .doc = "two dimensions change places",
    TRANSPOSE,
};
const wk__op wk__op_swapaxes = {
    .name = "swapaxes",
    .schema = "swapaxes(Tensor self, int axis0, int axis1) -> Tensor",
    .node = "TransposeBackward0",
    .doc = "transpose by its other name",
    TRANSPOSE,
};
const wk__op wk__op_t = {
    .name = "t",
    .schema = "t(Tensor self) -> Tensor",
    .node = "TBackward0",
    .doc = "the transpose of a matrix",
    TRANSPOSE,
};

/* ---- permute, movedim -------------------------------------------------------------------------------------------- */

wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__view_begin(&wk__op_permute, site, x) ||
        !wk__array_check(dims, count, site, "permute", "the list of dimensions"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    wk__geometry g;
    wk__attr attr = {.count = count};
    unsigned seen = 0;
    wk__geometry_of(body, &g);
    for (int k = 0; k < count && k < body->ndim; k++) {
        int d;
        if (!wk__dim_of(&wk__op_permute, site, x, dims[k], 0, &d)) return NULL;
        seen |= 1u << d;
        g.shape[k] = body->shape[d];
        g.stride[k] = body->stride[d];
        attr.list[k] = d;
    }
    if (count != body->ndim || seen != (1u << body->ndim) - 1) {
        wk__op_error(&wk__op_permute, site, WK_ERR_ARGUMENT, &x, "each of the %d dimensions of $a must be named once",
                     body->ndim);
        return NULL;
    }
    return wk__view_as(&wk__op_permute, site, x, &g, &attr);
}

static void permute_gradient(wk__gradient *g)
{
    int64_t back[WK__MAX_DIMS];
    for (int k = 0; k < g->attr->count; k++) back[g->attr->list[k]] = k;
    g->in[0] = wk_permute_at((wk_site){0}, g->out[0], back, g->attr->count);
}

/* The order of dimensions once `from` stands at `to`. */
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
    if (!wk__view_begin(&wk__op_movedim, site, x) || !wk__dim_of(&wk__op_movedim, site, x, source, 0, &from) ||
        !wk__dim_of(&wk__op_movedim, site, x, destination, 0, &to))
        return NULL;
    int64_t order[WK__MAX_DIMS];
    moved_order(wk__body_of(x)->ndim, from, to, order);
    return wk_permute_at(site, x, order, wk__body_of(x)->ndim);
}

static int permute_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    if (op == &wk__op_permute) return wk__one(out, wk_permute_at(site, x, args[1].ints, args[1].count));
    return wk__one(out, wk_movedim_at(site, x, wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

#define PERMUTE .group = "view", .node = "PermuteBackward0", .gradient = permute_gradient, .invoke = permute_invoke

const wk__op wk__op_permute = {
    .name = "permute",
    .schema = "permute(Tensor self, int[] dims) -> Tensor",
    .doc = "dimensions in another order",
    PERMUTE,
};
const wk__op wk__op_movedim = {
    .name = "movedim",
    .schema = "movedim(Tensor self, int source, int destination) -> Tensor",
    .doc = "one dimension moves to another place",
    PERMUTE,
};

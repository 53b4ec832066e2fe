/* SPDX-License-Identifier: Apache-2.0 */
/* Reads elements at indices given by a tensor: index_select, gather, take, take_along_dim. Each is one
 * record: the operand is read at its usual address, with stride 0 along the indexed dimension, plus index x stride. */
#include "ops/core/compose.h"
#include "gather.h"
#include "index_check.h"
#include "ops/core/view_geometry.h"
#include <string.h>

int wk__lookup(wk__emit *e, const int in[])
{
    return wk__emit_ins(e, WK__LOADX, e->group->operand[in[0]].dtype, in[1], in[0], in[2]);
}

wk_tensor *wk__record_gather(const wk__op *op, wk_site site, wk_tensor *in[2], const wk__gather_geometry *way)
{
    wk__output_spec m = {WK__PROGRAM, .inputs = 4, .shape = way->shape, .ndim = way->ndim};
    int64_t bytes;
    if (!wk__dense_bytes(way->ndim, way->shape, wk__body_of(in[0])->dtype, &bytes)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "the result exceeds 2^63 bytes");
        return NULL;
    }
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(op, site, in, 2, m, &r);
    if (!out) return NULL;
    wk__record_ref(r, 1, wk__body_of(in[0]), way->x);
    wk__record_mark_indirect(r, 1);
    wk__record_ref(r, 2, wk__body_of(in[1]), way->index);
    r->ref[2].flags = WK__REF_OWN_CLASS;
    wk__record_imm(r, 3, WK_I64, (wk__imm){.i = way->bound}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 4, WK_I64, (wk__imm){.i = way->stride}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_commit(wk__context(), r);
    return out;
}

static wk_tensor *attach_node(const wk__op *op, wk_site site, wk_tensor *out, wk_tensor *const in[2], int64_t dim)
{
    if (!out || !wk__needs_grad_fn(wk__context(), in, 2)) return out;
    const wk__attr attr = wk__along_attr((wk__along_attributes){.dim = dim});
    return wk__node_attach(op, site, in, 2, &out, 1, &attr) ? out : NULL;
}

/* Checks both operands and resolves the dimension of x. A 0-d x counts as a vector of one. */
static bool check_operands(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index, int64_t dim, int *d)
{
    return wk__check_input(op, site, x) && wk__check_tensor(index, site, op->name, "index") &&
           wk__resolve_dim(op, site, x, dim, 0, d);
}

/* ---- index_select ------------------------------------------------------------------------------------------------ */

wk_tensor *wk_index_select_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index)
{
    const wk__op *op = &wk__op_index_select;
    int d;
    if (!check_operands(op, site, x, index, dim, &d)) return NULL;
    wk_tensor *in[2] = {x, index};
    const wk__body *body = wk__body_of(x), *places = wk__body_of(index);
    if (places->ndim > 1 || (body->ndim == 0 && wk__body_numel(places) != 1)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     body->ndim ? "the index of $a must be a vector, got $b; use wk_gather for more dimensions"
                                : "$a has one element, so the index must have one element, got $b");
        return NULL;
    }
    wk__gather_geometry way = {
        .ndim = body->ndim, .bound = body->ndim ? body->shape[d] : 1, .stride = body->ndim ? body->stride[d] : 0};
    if (!(in[1] = wk__to_i64_index(op, site, index, way.bound, in))) return NULL;
    places = wk__body_of(in[1]);
    memcpy(way.shape, body->shape, sizeof way.shape);
    memcpy(way.x, body->stride, sizeof way.x);
    if (body->ndim) {
        way.shape[d] = wk__body_numel(places);
        way.x[d] = 0;
        way.index[d] = places->ndim ? places->stride[0] : 0;
    }
    return attach_node(op, site, wk__record_gather(op, site, in, &way), in, d);
}

static void index_select_gradient(wk__grad_ctx *g)
{
    const int64_t d = wk__along_attributes_of(g->attr).dim;
    g->in[0] = wk_index_add_at((wk_site){0}, wk__zeros_like_operand(g), d, wk__saved(g, 1), g->out[0]);
}

const wk__op wk__op_index_select = {
    .expression = wk__lookup,
    .gradient = index_select_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_index_select,
};

/* ---- gather, take_along_dim -------------------------------------------------------------------------------------- */

wk_tensor *wk_gather_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index)
{
    const wk__op *op = &wk__op_gather;
    int d;
    if (!check_operands(op, site, x, index, dim, &d)) return NULL;
    wk_tensor *in[2] = {x, index};
    if (!wk__check_index_shape(op, site, in, 2, d)) return NULL;
    const wk__body *body = wk__body_of(x);
    wk__gather_geometry way = {.bound = body->ndim ? body->shape[d] : 1, .stride = body->ndim ? body->stride[d] : 0};
    if (!(in[1] = wk__to_i64_index_or_empty(op, site, index, way.bound, in))) return NULL;
    const wk__body *places = wk__body_of(in[1]);
    way.ndim = places->ndim;
    memcpy(way.shape, places->shape, sizeof way.shape);
    memcpy(way.index, places->stride, sizeof way.index);
    for (int k = 0; k < way.ndim && way.ndim == body->ndim; k++) way.x[k] = k == d ? 0 : body->stride[k];
    return attach_node(op, site, wk__record_gather(op, site, in, &way), in, d);
}

wk_tensor *wk_take_along_dim_at(wk_site site, wk_tensor *x, wk_tensor *index, int64_t dim)
{
    const wk__op *op = &wk__op_take_along_dim;
    int d, ndim;
    if (!check_operands(op, site, x, index, dim, &d)) return NULL;
    wk_tensor *in[2] = {x, index};
    const wk__body *body = wk__body_of(x), *places = wk__body_of(index);
    int64_t shape[WK__MAX_DIMS], a[WK__MAX_DIMS], b[WK__MAX_DIMS];
    memcpy(a, body->shape, sizeof a);
    memcpy(b, places->shape, sizeof b);
    a[d] = b[d] = 1; /* the indexed dimension does not broadcast */
    if (body->ndim != places->ndim || !wk__broadcast(body->ndim, a, places->ndim, b, &ndim, shape)) {
        wk__op_error(
            op, site, WK_ERR_SHAPE, in,
            "$a and the index $b must have the same number of dimensions and broadcast in all but dimension %d", d);
        return NULL;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op->name, site);
    shape[d] = body->ndim ? body->shape[d] : 1;
    x = wk_expand_at(site, x, shape, ndim);
    shape[d] = body->ndim ? places->shape[d] : 1;
    wk_tensor *out = wk_gather_at(site, x, d, wk_expand_at(site, index, shape, ndim));
    wk__frame_end(context, before);
    return out;
}

wk_tensor *wk_take_along_dim_flat_at(wk_site site, wk_tensor *x, wk_tensor *index)
{
    const wk__op *op = &wk__op_take_along_dim;
    if (!wk__check_input(op, site, x) || !wk__check_tensor(index, site, op->name, "index")) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op->name, site);
    wk_tensor *out = wk_gather_at(site, wk_flatten_at(site, x, 0, -1), 0, wk_flatten_at(site, index, 0, -1));
    wk__frame_end(context, before);
    return out;
}

static void gather_gradient(wk__grad_ctx *g)
{
    const int64_t d = wk__along_attributes_of(g->attr).dim;
    g->in[0] = wk_scatter_add_at((wk_site){0}, wk__zeros_like_operand(g), d, wk__saved(g, 1), g->out[0]);
}

const wk__op wk__op_gather = {
    .expression = wk__lookup,
    .gradient = gather_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_gather,
};
const wk__op wk__op_take_along_dim = {
    .gradient = gather_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_take_along_dim,
};

/* ---- take -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_take_at(wk_site site, wk_tensor *x, wk_tensor *index)
{
    const wk__op *op = &wk__op_take;
    int d;
    if (!check_operands(op, site, x, index, 0, &d)) return NULL;
    wk_tensor *in[2] = {x, index}, *out = NULL;
    wk__compose c;
    int64_t n = wk__body_numel(wk__body_of(x));
    if (!(in[1] = wk__to_i64_index(op, site, index, n, in)) || !wk__compose_begin(&c, op, site, in, 2)) return NULL;
    wk_tensor *row[2] = {wk_reshape_at(site, x, &n, 1), in[1]};
    if (row[0]) {
        const wk__body *places = wk__body_of(in[1]);
        wk__gather_geometry way = {.ndim = places->ndim, .bound = n, .stride = wk__body_of(row[0])->stride[0]};
        memcpy(way.shape, places->shape, sizeof way.shape);
        memcpy(way.index, places->stride, sizeof way.index);
        out = wk__record_gather(op, site, row, &way);
    }
    return wk__compose_end(&c, out, NULL);
}

wk_tensor *wk__as_vector(wk_tensor *x)
{
    return x ? wk_reshape_at((wk_site){0}, x, (const int64_t[]){wk__body_numel(wk__body_of(x))}, 1) : NULL;
}

static void take_gradient(wk__grad_ctx *g)
{
    wk_tensor *sum = wk_index_add_at((wk_site){0}, wk__as_vector(wk__zeros_like_operand(g)), 0,
                                     wk__as_vector(wk__saved(g, 1)), wk__as_vector(g->out[0]));
    g->in[0] = wk_reshape_at((wk_site){0}, sum, g->node->shape[0].size, g->node->shape[0].ndim);
}

const wk__op wk__op_take = {
    .expression = wk__lookup,
    .gradient = take_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_take,
};

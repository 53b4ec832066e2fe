/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with rearranged elements: flip, roll, repeat, tile, repeat_interleave. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include <string.h>

/* ---- flip -------------------------------------------------------------------------------------------------------- */

static int identity(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

/* One record that reads with negative strides, which tensors themselves never have. */
wk_tensor *wk_flip_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    const wk__op *op = &wk__op_flip;
    uint16_t mask = 0;
    if (!wk__check_input(op, site, x) || (count > 0 && !wk__dims_mask(op, site, x, dims, count, &mask))) return NULL;
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, (wk__output_spec){WK__PROGRAM, .inputs = 1}, &r);
    if (!out) return NULL;
    wk__record_ref(r, 1, wk__body_of(x), wk__body_of(x)->stride);
    for (int d = 0; d < r->ndim; d++)
        if (mask >> d & 1) wk__record_reverse_dim(r, 1, d);
    wk__record_commit(wk__context(), r);
    if (!wk__needs_grad_fn(wk__context(), &x, 1)) return out;
    const wk__attr attr = wk__flip_attr((wk__flip_attributes){.mask = mask});
    return wk__node_attach(op, site, &x, 1, &out, 1, &attr) ? out : NULL;
}

static void flip_gradient(wk__grad_ctx *g)
{
    int64_t dims[WK__MAX_DIMS];
    int count = 0;
    const int64_t mask = wk__flip_attributes_of(g->attr).mask;
    for (int d = 0; d < WK__MAX_DIMS; d++)
        if (mask >> d & 1) dims[count++] = d;
    g->in[0] = wk_flip_at((wk_site){0}, g->out[0], dims, count);
}

const wk__op wk__op_flip = {
    .expression = identity,
    .gradient = flip_gradient,
    WK__SIGNATURE_flip,
};

/* ---- roll -------------------------------------------------------------------------------------------------------- */

static int64_t wrap_shift(int64_t shift, int64_t size)
{
    int64_t rest = size ? shift % size : 0;
    return rest < 0 ? rest + size : rest;
}

/* shift is in [0, size). */
static wk_tensor *roll_dim(wk_tensor *x, int64_t shift, int d)
{
    const wk_site here = {0};
    if (!x || shift == 0) return x;
    int64_t size = wk__body_of(x)->shape[d];
    wk_tensor *part[2] = {wk_narrow_at(here, x, d, size - shift, shift), wk_narrow_at(here, x, d, 0, size - shift)};
    return wk_cat_at(here, part, 2, d);
}

wk_tensor *wk_roll_at(wk_site site, wk_tensor *x, const int64_t *shifts, int shift_count, const int64_t *dims,
                      int dim_count)
{
    wk__compose c;
    wk__attr attr = wk__roll_attr((wk__roll_attributes){.shift_count = shift_count, .dim_count = dim_count});
    wk_tensor *out = NULL;
    if (!wk__array_check(shifts, shift_count, site, "roll", "the list of shifts") ||
        !wk__array_check(dims, dim_count, site, "roll", "the list of dimensions"))
        return NULL;
    if (!wk__compose_begin(&c, &wk__op_roll, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    if (shift_count != (dim_count ? dim_count : 1) || shift_count > WK__MAX_DIMS) {
        wk__op_error(
            &wk__op_roll, site, WK_ERR_ARGUMENT, &x,
            "got %d shifts for %d dimensions of $a; pass one shift per dimension, or one shift and no dimensions",
            shift_count, dim_count);
        return wk__compose_end(&c, NULL, NULL);
    }
    if (dim_count == 0) {
        const int64_t n = wk__body_numel(body);
        wk_tensor *row = wk_reshape_at(site, x, &n, 1);
        attr.list[0] = wrap_shift(shifts[0], n);
        out = wk_reshape_at(site, roll_dim(row, attr.list[0], 0), body->shape, body->ndim);
    } else if (body->ndim == 0) {
        wk__op_error(&wk__op_roll, site, WK_ERR_INDEX, &x, "$a has no dimensions, but %d are named", dim_count);
    } else {
        out = x;
        for (int k = 0; k < dim_count && out; k++) {
            int d;
            if (!wk__resolve_dim(&wk__op_roll, site, x, dims[k], 0, &d)) return wk__compose_end(&c, NULL, NULL);
            attr.list[k] = wrap_shift(shifts[k], body->shape[d]); /* the gradient may negate it */
            attr.list2[k] = d;
            out = roll_dim(out, attr.list[k], d);
        }
    }
    return wk__compose_end(&c, out, &attr);
}

static void roll_gradient(wk__grad_ctx *g)
{
    int64_t back[WK__MAX_DIMS];
    const wk__roll_attributes a = wk__roll_attributes_of(g->attr);
    for (int k = 0; k < a.shift_count; k++) back[k] = -g->attr->list[k];
    g->in[0] = wk_roll_at((wk_site){0}, g->out[0], back, (int)a.shift_count, g->attr->list2, (int)a.dim_count);
}

const wk__op wk__op_roll = {
    .gradient = roll_gradient,
    WK__SIGNATURE_roll,
};

/* ---- repeat, tile ------------------------------------------------------------------------------------------------ */

/* Shape of x seen as (outer, size, inner) with an added dimension for the copies, before size or (behind) after it. */
static void repeat_shape(const wk__body *body, int d, int64_t size, int64_t copies, int behind, int64_t shape[4])
{
    shape[0] = wk__numel(d, body->shape);
    shape[1 + behind] = copies;
    shape[2 - behind] = size;
    shape[3] = wk__numel(body->ndim - d - 1, body->shape + d + 1);
}

/* (outer, d, inner) is viewed as (outer, 1, d, inner), expanded to (outer, n, d, inner) and copied as (.., n d, ..).
 * behind: (outer, d, n, inner), which repeats each element n times in a row. */
static wk_tensor *repeat_dim(const wk__op *op, wk_site site, wk_tensor *x, int d, int64_t n, int behind)
{
    if (!x || n == 1) return x;
    const wk__body *body = wk__body_of(x);
    int64_t shape[4], result[WK__MAX_DIMS], bytes;
    memcpy(result, body->shape, sizeof result);
    if (__builtin_mul_overflow(result[d], n, &result[d]) || !wk__dense_bytes(body->ndim, result, body->dtype, &bytes)) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "%lld copies of $a exceed 2^63 bytes", (long long)n);
        return NULL;
    }
    repeat_shape(body, d, body->shape[d], 1, behind, shape);
    wk_tensor *one = wk_reshape_at(site, x, shape, 4);
    shape[1 + behind] = n;
    return wk_reshape_at(site, wk_expand_at(site, one, shape, 4), result, body->ndim);
}

/* Sums the gradient over the copies of dimension d. */
static wk_tensor *sum_repeats(wk_tensor *grad, int d, int64_t n, int64_t size, int behind)
{
    if (!grad || n == 1) return grad;
    const wk__body *body = wk__body_of(grad);
    int64_t shape[4], back[WK__MAX_DIMS];
    memcpy(back, body->shape, sizeof back);
    back[d] = size;
    repeat_shape(body, d, size, n, behind, shape);
    wk_tensor *sum =
        wk_sum_at((wk_site){0}, wk_reshape_at((wk_site){0}, grad, shape, 4), (const int64_t[]){1 + behind}, 1, NULL);
    return wk_reshape_at((wk_site){0}, sum, back, body->ndim);
}

static wk_tensor *repeat(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *repeats, int count)
{
    wk__compose c;
    wk__attr attr = {.count = count};
    if (!wk__array_check(repeats, count, site, op->name, "the list of repeats")) return NULL;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    bool fits = count >= body->ndim && count <= WK__MAX_DIMS;
    int lead = fits ? count - body->ndim : 0;
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < count && fits; k++) {
        fits = repeats[k] >= 0;
        attr.list[k] = repeats[k];
        shape[k] = k < lead ? 1 : body->shape[k - lead];
    }
    if (!fits) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x,
                     "expected a repeat count of at least 0 for each dimension of $a (%d, and at most %d in all)",
                     body->ndim, WK__MAX_DIMS);
        return wk__compose_end(&c, NULL, NULL);
    }
    wk_tensor *out = wk_reshape_at(site, x, shape, count);
    for (int d = 0; d < count; d++) out = repeat_dim(op, site, out, d, repeats[d], 0);
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_repeat_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count)
{
    return repeat(&wk__op_repeat, site, x, repeats, count);
}

wk_tensor *wk_tile_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count)
{
    int64_t all[WK__MAX_DIMS];
    int ndim = wk__is_tensor(x) ? wk__body_of(x)->ndim : 0, lead = ndim > count ? ndim - count : 0;
    if (lead == 0 || !repeats) return repeat(&wk__op_tile, site, x, repeats, count);
    for (int k = 0; k < ndim; k++) all[k] = k < lead ? 1 : repeats[k - lead];
    return repeat(&wk__op_tile, site, x, all, ndim);
}

static void repeat_gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    wk_tensor *grad = g->out[0];
    int lead = g->attr->count - from->ndim;
    for (int d = 0; d < g->attr->count; d++)
        grad = sum_repeats(grad, d, g->attr->list[d], d < lead ? 1 : from->size[d - lead], 0);
    g->in[0] = wk_reshape_at((wk_site){0}, grad, from->size, from->ndim);
}

const wk__op wk__op_repeat = {
    .gradient = repeat_gradient,
    WK__SIGNATURE_repeat,
};
const wk__op wk__op_tile = {
    .gradient = repeat_gradient,
    WK__SIGNATURE_tile,
};

/* ---- repeat_interleave ------------------------------------------------------------------------------------------- */

wk_tensor *wk_repeat_interleave_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim)
{
    wk__compose c;
    int d = 0;
    wk_tensor *out = NULL;
    if (!wk__compose_begin(&c, &wk__op_repeat_interleave, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    if (body->ndim == 0 || n < 0)
        wk__op_error(&wk__op_repeat_interleave, site, WK_ERR_ARGUMENT, &x,
                     "cannot repeat each index of $a %lld times: $a must have a dimension and the count be at least 0",
                     (long long)n);
    else if (wk__resolve_dim(&wk__op_repeat_interleave, site, x, dim, 0, &d))
        out = repeat_dim(&wk__op_repeat_interleave, site, x, d, n, 1);
    const wk__attr attr = wk__repeat_interleave_attr((wk__repeat_interleave_attributes){.dim = d, .copies = n});
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_repeat_interleave_flat_at(wk_site site, wk_tensor *x, int64_t n)
{
    const wk__op *op = &wk__op_repeat_interleave;
    wk__compose c;
    wk_tensor *out = NULL;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    if (n < 0)
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x,
                     "cannot repeat each element of $a %lld times: the count must be at least 0", (long long)n);
    else
        out =
            repeat_dim(op, site, wk_reshape_at(site, x, (const int64_t[]){wk__body_numel(wk__body_of(x))}, 1), 0, n, 1);
    const wk__attr attr = wk__repeat_interleave_attr((wk__repeat_interleave_attributes){.dim = -1, .copies = n});
    return wk__compose_end(&c, out, &attr);
}

/* Dimension -1: all elements as one vector. */
static void interleave_gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    const wk__repeat_interleave_attributes a = wk__repeat_interleave_attributes_of(g->attr);
    const int d = (int)a.dim;
    if (d >= 0) {
        g->in[0] = sum_repeats(g->out[0], d, a.copies, from->size[d], 1);
    } else {
        wk_tensor *row = sum_repeats(g->out[0], 0, a.copies, wk__numel(from->ndim, from->size), 1);
        g->in[0] = wk_reshape_at((wk_site){0}, row, from->size, from->ndim);
    }
}

const wk__op wk__op_repeat_interleave = {
    .gradient = interleave_gradient,
    WK__SIGNATURE_repeat_interleave,
};

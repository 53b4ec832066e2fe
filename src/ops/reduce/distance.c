/* SPDX-License-Identifier: Apache-2.0 */
/* dist, pairwise_distance, cosine_similarity: the norm of a difference, and the cosine of the angle between vectors. */
#include "ops/core/compose.h"
#include "norm.h"
#include <math.h>

/* ---- dist: norm of a - b ----------------------------------------------------------------------------------------- */

static uint16_t all_of(const wk_tensor *x)
{
    return (uint16_t)((1u << wk__body_of(x)->ndim) - 1);
}

static bool check_floats(const wk__op *op, wk_site site, wk_tensor *const in[2], wk_dtype *dtype)
{
    *dtype = wk__promote_types(wk__body_of(in[0])->dtype, wk__body_of(in[1])->dtype);
    if (wk__is_float(*dtype)) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, in,
                 "$a and $b are not floating-point; convert one with wk_to_dtype(x, WK_F32)");
    return false;
}

static const wk__op difference_op = {
    .name = "dist", .expression = wk__single_instruction, .instruction = WK__SUB, .arity = 2};

wk_tensor *wk_dist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_dist_options *options)
{
    const wk__op *op = &wk__op_dist;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk_dtype dtype;
    wk__compose c;
    wk_dist_options o;
    if (!wk__read_dist_options(site, op->name, options, &o)) return NULL;
    const wk__attr attr = wk__dist_attr((wk__dist_attributes){.p = o.p});
    if (!wk__compose_begin(&c, op, site, in, 2)) return NULL;
    if (check_floats(op, site, in, &dtype)) {
        wk_tensor *way =
            wk__elementwise(&difference_op, site,
                            (wk__arg[]){wk__tensor_arg(wk__to_opmath(a)), wk__tensor_arg(wk__to_opmath(b))}, 2, NULL);
        if (way && (!isinf(o.p) || wk__check_nonempty_reduction(op, site, way, all_of(way))))
            out = wk__cast_result(wk__vector_norm(site, a, b, all_of(way), false, o.p), dtype);
    }
    return wk__compose_end(&c, out, &attr);
}

static void dist_gradient(wk__grad_ctx *g)
{
    const double p = wk__dist_attributes_of(g->attr).p;
    wk_tensor *way = wk_sub(wk__saved(g, 0), wk__saved(g, 1));
    wk_tensor *slope = way ? wk__vector_norm_grad(way, wk__saved(g, WK__SAVED_OUT), g->out[0], p, all_of(way)) : NULL;
    if (wk__needs_input_grad(g, 0)) g->in[0] = slope;
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(slope, -1);
}

const wk__op wk__op_dist = {
    .gradient = dist_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT},
    WK__SIGNATURE_dist,
};

/* ---- pairwise_distance: norm of a - b + eps along the last dimension --------------------------------------------- */

/* in: a, b, eps */
static int difference(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__SUB, in[0], in[1]), in[2]);
}
static const wk__op shifted_op = {.name = "pairwise_distance", .expression = difference, .arity = 3};

static uint16_t last_of(int ndim)
{
    return (uint16_t)(ndim ? 1u << (ndim - 1) : 0);
}

wk_tensor *wk_pairwise_distance_at(wk_site site, wk_tensor *a, wk_tensor *b,
                                   const wk_pairwise_distance_options *options)
{
    const wk__op *op = &wk__op_pairwise_distance;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk_dtype dtype;
    wk__compose c;
    wk_pairwise_distance_options o;
    if (!wk__read_pairwise_distance_options(site, op->name, options, &o)) return NULL;
    const wk__attr attr =
        wk__pairwise_distance_attr((wk__pairwise_distance_attributes){.keepdim = o.keepdim, .p = o.p, .eps = o.eps});
    if (!wk__compose_begin(&c, op, site, in, 2)) return NULL;
    if (check_floats(op, site, in, &dtype)) {
        const wk__arg args[] = {wk__tensor_arg(wk__to_opmath(a)), wk__tensor_arg(wk__to_opmath(b)),
                                wk__float_arg(o.eps)};
        wk_tensor *way = wk__elementwise(&shifted_op, site, args, 3, NULL);
        const uint16_t mask = way ? last_of(wk__body_of(way)->ndim) : 0;
        if (way && (!isinf(o.p) || wk__check_nonempty_reduction(op, site, way, mask)))
            out = wk__cast_result(wk__vector_norm(site, way, NULL, mask, o.keepdim, o.p), dtype);
    }
    return wk__compose_end(&c, out, &attr);
}

static void pairwise_gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__pairwise_distance_attributes a = wk__pairwise_distance_attributes_of(g->attr);
    wk_tensor *way = wk_add(wk_sub(wk__saved(g, 0), wk__saved(g, 1)), a.eps);
    if (!way) return;
    const int ndim = wk__body_of(way)->ndim;
    const bool restore = ndim && !a.keepdim;
    wk_tensor *length = wk__saved(g, WK__SAVED_OUT), *flow = g->out[0];
    if (restore) length = wk_unsqueeze_at(here, length, -1), flow = wk_unsqueeze_at(here, flow, -1);
    wk_tensor *slope = wk__vector_norm_grad(way, length, flow, a.p, last_of(ndim));
    if (wk__needs_input_grad(g, 0)) g->in[0] = slope;
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(slope, -1);
}

const wk__op wk__op_pairwise_distance = {
    .gradient = pairwise_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT},
    WK__SIGNATURE_pairwise_distance,
};

/* ---- cosine_similarity ------------------------------------------------------------------------------------------- */

/* A vector divided by its norm, or by eps if that is larger. in: x, norm, eps */
static int direction(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__DIV, in[0], wk__emit_binary(e, WK__MAX, in[1], in[2]));
}
static const wk__op direction_op = {.name = "cosine_similarity", .expression = direction, .arity = 3};

/* Computes the broadcast shape of both operands and resolves dim in it. */
static bool broadcast_and_resolve_dim(wk_site site, wk_tensor *const in[2], int64_t dim, int *ndim, int64_t *shape,
                                      int *d)
{
    const wk__op *op = &wk__op_cosine_similarity;
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    if (!wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, ndim, shape)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "$a and $b do not broadcast: sizes must be equal or 1");
        return false;
    }
    if (wk__wrap_dim(*ndim, dim, d)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, in, "dimension %lld is out of range for $a and $b", (long long)dim);
    return false;
}

static wk_tensor *cosines(wk_site site, wk_tensor *const in[2], int64_t dim, double eps)
{
    int64_t shape[WK__MAX_DIMS];
    int ndim, d;
    if (!broadcast_and_resolve_dim(site, in, dim, &ndim, shape, &d)) return NULL;
    const uint16_t mask = (uint16_t)(ndim ? 1u << d : 0);
    wk_tensor *part[2];
    for (int k = 0; k < 2; k++) {
        wk_tensor *x = wk_expand_at(site, wk__to_opmath(in[k]), shape, ndim);
        wk_tensor *length = x ? wk__vector_norm(site, x, NULL, mask, true, 2) : NULL;
        if (!length) return NULL;
        part[k] = wk__elementwise(&direction_op, site,
                                  (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(length), wk__float_arg(eps)}, 3, NULL);
    }
    return wk__reduce_sum(site, wk_mul(part[0], part[1]), mask, false);
}

wk_tensor *wk_cosine_similarity_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim,
                                   const wk_cosine_similarity_options *options)
{
    const wk__op *op = &wk__op_cosine_similarity;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk_dtype dtype;
    wk__compose c;
    wk_cosine_similarity_options o;
    if (!wk__read_cosine_similarity_options(site, op->name, options, &o)) return NULL;
    const wk__attr attr = wk__cosine_similarity_attr((wk__cosine_similarity_attributes){.dim = dim, .eps = o.eps});
    if (!wk__prepare_operands(wk__context(), op, site, in, 2, WK__COLOCATE_IF_SOFT) ||
        !wk__compose_begin(&c, op, site, in, 2))
        return NULL;
    if (check_floats(op, site, in, &dtype)) out = wk__cast_result(cosines(site, in, dim, o.eps), dtype);
    return wk__compose_end(&c, out, &attr);
}

static wk_tensor *length_keepdim(wk_tensor *x, int64_t mask)
{
    int64_t dims[WK__MAX_DIMS];
    int count = 0;
    for (int d = 0; d < WK__MAX_DIMS; d++)
        if (mask >> d & 1) dims[count++] = d;
    return wk_norm_at((wk_site){0}, x, dims, count,
                      &(wk_norm_options){.size = sizeof(wk_norm_options), .keepdim = true});
}

/* With a' = a / c, c = max(|a|, eps), and b' likewise, the gradient of a is (b' - (a' b') a') / c; the second term is 0
 * where |a| <= eps. */
static wk_tensor *cosine_grad(wk_tensor *a, wk_tensor *b, wk_tensor *flow, int64_t mask, double eps)
{
    wk_tensor *length = length_keepdim(a, mask), *short_of = wk_le(length, eps), *c = wk_where(short_of, eps, length);
    a = wk_div(a, c);
    b = wk_div(b, wk_maximum(length_keepdim(b, mask), eps));
    wk_tensor *cosine = wk__sum_keepdim(wk_mul(a, b), mask);
    return wk_mul(wk_div(flow, c), wk_sub(b, wk_mul(a, wk_where(short_of, 0, cosine))));
}

static void cosine_gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    int64_t shape[WK__MAX_DIMS];
    int ndim, d;
    const wk__cosine_similarity_attributes a = wk__cosine_similarity_attributes_of(g->attr);
    wk_tensor *in[2] = {wk__saved(g, 0), wk__saved(g, 1)};
    if (!in[0] || !in[1] || !broadcast_and_resolve_dim(here, in, a.dim, &ndim, shape, &d)) return;
    const int64_t mask = ndim ? 1 << d : 0;
    wk_tensor *flow = ndim ? wk_unsqueeze_at(here, g->out[0], d) : g->out[0];
    for (int k = 0; k < 2; k++) in[k] = wk_expand_at(here, in[k], shape, ndim);
    for (int k = 0; k < 2; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = cosine_grad(in[k], in[1 - k], flow, mask, a.eps);
}

const wk__op wk__op_cosine_similarity = {
    .gradient = cosine_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_cosine_similarity,
};

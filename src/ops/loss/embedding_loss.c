/* SPDX-License-Identifier: Apache-2.0 */
/* cosine_embedding_loss, triplet_margin_loss: losses of the cosine between two vectors, and of the distances between
 * three. Vectors are along the last dimension. */
#include "losses.h"
#include "ops/reduce/norm.h"
#include <string.h>

/* Added to squared lengths, so that a vector of zeros has a direction. */
static const double LENGTH_EPS = 1e-12;

static bool check_vectors(const wk__op *op, wk_site site, wk_tensor *const in[], int count)
{
    const wk__body *first = wk__body_of(in[0]);
    for (int k = 0; k < count; k++) {
        if (!wk__check_float(op, site, in[k])) return false;
        if (first->ndim > 0 && first->ndim <= 2 && wk__same_sizes(first, wk__body_of(in[k]))) continue;
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     count == 3 ? "$a, $b and $c must have one shape, (D) or (N, D)"
                                : "$a and $b must have one shape, (D) or (N, D)");
        return false;
    }
    return true;
}

static wk_tensor *flow_of(const wk__grad_ctx *g, int64_t reduction)
{
    const wk__tensor_meta *shape = &g->node->shape[0];
    const int64_t rows = shape->ndim == 2 ? shape->size[0] : 1;
    wk_tensor *flow = reduction == WK_REDUCE_MEAN ? wk_div(g->out[0], (double)rows) : g->out[0];
    return reduction == WK_REDUCE_NONE ? wk_unsqueeze_at((wk_site){0}, flow, -1) : flow;
}

/* ---- cosine_embedding_loss --------------------------------------------------------------------------------------- */

/* cos = a b / sqrt(aa bb); all with the last dimension, of size 1. */
typedef struct cosine {
    wk_tensor *aa, *bb, *length, *value;
} cosine;

static cosine cosine_of(wk_tensor *a, wk_tensor *b)
{
    cosine c = {NULL, NULL, NULL, NULL};
    if (!a || !b) return c;
    const int64_t last = 1 << (wk__body_of(a)->ndim - 1);
    c.aa = wk_add(wk__sum_keepdim(wk_square(a), last), LENGTH_EPS);
    c.bb = wk_add(wk__sum_keepdim(wk_square(b), last), LENGTH_EPS);
    c.length = wk_sqrt(wk_mul(c.aa, c.bb));
    c.value = wk_div(wk__sum_keepdim(wk_mul(a, b), last), c.length);
    return c;
}

static bool check_cosine_target(wk_site site, wk_tensor *const in[3])
{
    const wk__body *a = wk__body_of(in[0]), *target = wk__body_of(in[2]);
    if (target->ndim == a->ndim - 1 && (target->ndim == 0 || target->shape[0] == a->shape[0])) return true;
    wk__op_error(&wk__op_cosine_embedding_loss, site, WK_ERR_SHAPE, in,
                 "target $c must have one element for each vector of $a");
    return false;
}

/* PyTorch composes these losses, and the last op sets grad_fn. */
static const char *const cosine_nodes[] = {"MeanBackward0", "SumBackward0", "AddBackward0"}, *const triplet_nodes[] = {
                                                                                                 "MeanBackward0",
                                                                                                 "SumBackward0",
                                                                                                 "ClampMinBackward0"};

wk_tensor *wk_cosine_embedding_loss_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_tensor *target,
                                       const wk_cosine_embedding_loss_options *options)
{
    const wk__op *op = &wk__op_cosine_embedding_loss;
    wk_cosine_embedding_loss_options o;
    wk__compose c;
    wk_tensor *in[3] = {a, b, target}, *out = NULL;
    if (!wk__options(site, op->name, options, &o) || !wk__check_reduction(op, site, o.reduction)) return NULL;
    if (!wk__compose_begin(&c, op, site, in, 3)) return NULL;
    const double margin = wk__option_or(o.margin, 0);
    wk__loss_attributes attributes = {.reduction = (int64_t)o.reduction, .number = margin};
    if (check_vectors(op, site, in, 2) && check_cosine_target(site, in)) {
        const wk_dtype dtype = wk__promote_types(wk__body_of(a)->dtype, wk__body_of(b)->dtype);
        wk_tensor *cos = wk_squeeze_at(site, cosine_of(wk__to_opmath(a), wk__to_opmath(b)).value, (int64_t[]){-1}, 1);
        wk_tensor *apart = wk_where(wk_eq(target, -1), wk_maximum(wk_sub(cos, margin), 0), 0);
        wk_tensor *losses = wk_where(wk_eq(target, 1), wk_sub(1, cos), apart);
        out = wk__cast_result(wk__reduce_losses(site, losses, o.reduction, &attributes.divisor), dtype);
    }
    wk__attr attr = wk__loss_attr(attributes);
    attr.grad_fn_name = cosine_nodes[o.reduction];
    return wk__compose_end(&c, out, &attr);
}

/* The derivative of cos by a is b / length - a cos / aa. */
static void cosine_gradient(wk__grad_ctx *g)
{
    const wk__loss_attributes at = wk__loss_attributes_of(g->attr);
    wk_tensor *a = wk__saved(g, 0), *b = wk__saved(g, 1), *target = wk_unsqueeze_at((wk_site){0}, wk__saved(g, 2), -1);
    const cosine c = cosine_of(a, b);
    wk_tensor *apart = wk_logical_and(wk_eq(target, -1), wk_gt(c.value, at.number));
    wk_tensor *flow = flow_of(g, at.reduction);
    flow = wk_where(wk_eq(target, 1), wk_neg(flow), wk_where(apart, flow, 0));
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk_mul(flow, wk_sub(wk_div(b, c.length), wk_mul(a, wk_div(c.value, c.aa))));
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk_mul(flow, wk_sub(wk_div(a, c.length), wk_mul(b, wk_div(c.value, c.bb))));
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_cosine_embedding_loss = {
    .gradient = cosine_gradient,
    .saves = {ALL, ALL},
    WK__SIGNATURE_cosine_embedding_loss,
};

/* ---- triplet_margin_loss ----------------------------------------------------------------------------------------- */

/* Stores eps as the bits of an integer, because wk__attr has only two doubles, margin and p. */
static int64_t bits_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}
static double eps_of(const wk__triplet_margin_loss_attributes *a)
{
    double eps;
    memcpy(&eps, &a->eps_bits, sizeof eps);
    return eps;
}

/* The difference of two vectors plus eps, and its norm with the last dimension, of size 1. */
typedef struct way {
    wk_tensor *step, *length;
} way;

static way way_between(wk_tensor *from, wk_tensor *to, const wk__triplet_margin_loss_attributes *a)
{
    const wk_norm_options keep = {.size = sizeof keep, .p = a->p != 0 ? a->p : WK_EXPLICIT_ZERO, .keepdim = true};
    way w = {.step = wk_add(wk_sub(from, to), eps_of(a))};
    w.length = w.step ? wk_norm_at((wk_site){0}, w.step, (int64_t[]){-1}, 1, &keep) : NULL;
    return w;
}

wk_tensor *wk_triplet_margin_loss_at(wk_site site, wk_tensor *anchor, wk_tensor *positive, wk_tensor *negative,
                                     const wk_triplet_margin_loss_options *options)
{
    const wk__op *op = &wk__op_triplet_margin_loss;
    wk_triplet_margin_loss_options o;
    wk__compose c;
    wk_tensor *in[3] = {anchor, positive, negative}, *wide[3], *out = NULL;
    if (!wk__read_triplet_margin_loss_options(site, op->name, options, &o)) return NULL;
    if (!(o.margin > 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .margin must be greater than 0, got %g", op->name, o.margin);
        return NULL;
    }
    if (!wk__check_reduction(op, site, o.reduction) || !wk__compose_begin(&c, op, site, in, 3)) return NULL;
    const wk__triplet_margin_loss_attributes a = {
        .reduction = (int64_t)o.reduction, .swap = o.swap, .margin = o.margin, .eps_bits = bits_of(o.eps), .p = o.p};
    double divisor;
    if (check_vectors(op, site, in, 3)) {
        wk_dtype dtype = wk__body_of(in[0])->dtype;
        for (int k = 0; k < 3; k++) {
            dtype = wk__promote_types(dtype, wk__body_of(in[k])->dtype);
            wide[k] = wk__to_opmath(in[k]);
        }
        wk_tensor *away = way_between(wide[0], wide[2], &a).length;
        if (a.swap) away = wk_minimum(away, way_between(wide[1], wide[2], &a).length);
        wk_tensor *nearer = wk_add(wk_sub(way_between(wide[0], wide[1], &a).length, away), a.margin);
        wk_tensor *losses = wk_squeeze_at(site, wk_maximum(nearer, 0), (int64_t[]){-1}, 1);
        out = wk__cast_result(wk__reduce_losses(site, losses, o.reduction, &divisor), dtype);
    }
    wk__attr attr = wk__triplet_margin_loss_attr(a);
    attr.grad_fn_name = triplet_nodes[o.reduction];
    return wk__compose_end(&c, out, &attr);
}

/* Adds grad to the gradient of `to` and subtracts it from that of `from`. */
static void pass(wk__grad_ctx *g, int to, int from, wk_tensor *grad)
{
    if (wk__needs_input_grad(g, to)) g->in[to] = g->in[to] ? wk_add(g->in[to], grad) : grad;
    if (wk__needs_input_grad(g, from)) g->in[from] = g->in[from] ? wk_sub(g->in[from], grad) : wk_neg(grad);
}

/* If both distances to the negative are equal, each gets half of the gradient. */
static void triplet_gradient(wk__grad_ctx *g)
{
    const wk__triplet_margin_loss_attributes a = wk__triplet_margin_loss_attributes_of(g->attr);
    wk_tensor *x[3] = {wk__saved(g, 0), wk__saved(g, 1), wk__saved(g, 2)};
    const int64_t last = 1 << (g->node->shape[0].ndim - 1);
    const way near = way_between(x[0], x[1], &a), away = way_between(x[0], x[2], &a);
    const way other = a.swap ? way_between(x[1], x[2], &a) : (way){NULL, NULL};
    wk_tensor *least = a.swap ? wk_minimum(away.length, other.length) : away.length;
    wk_tensor *positive = wk_gt(wk_add(wk_sub(near.length, least), a.margin), 0);
    wk_tensor *flow = wk_where(positive, flow_of(g, a.reduction), 0), *back = wk_neg(flow);
    pass(g, 0, 1, wk__vector_norm_grad(near.step, near.length, flow, a.p, last));
    if (a.swap) {
        wk_tensor *tie = wk_eq(away.length, other.length), *half = wk_mul(back, 0.5);
        wk_tensor *rest = wk_where(tie, half, wk_where(wk_lt(other.length, away.length), back, 0));
        back = wk_where(tie, half, wk_where(wk_lt(away.length, other.length), back, 0));
        pass(g, 1, 2, wk__vector_norm_grad(other.step, other.length, rest, a.p, last));
    }
    pass(g, 0, 2, wk__vector_norm_grad(away.step, away.length, back, a.p, last));
}

const wk__op wk__op_triplet_margin_loss = {
    .gradient = triplet_gradient,
    .saves = {ALL, ALL, ALL},
    WK__SIGNATURE_triplet_margin_loss,
};

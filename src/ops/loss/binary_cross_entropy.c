/* SPDX-License-Identifier: Apache-2.0 */
/* binary_cross_entropy, and with logits: cross entropy of a probability p (or its logit) and a target t. */
#include "losses.h"
#include <math.h>

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* The logarithm is limited to -100, so that the loss stays finite at p = 0 and 1. */
static int clamped_log(wk__emit *e, int x)
{
    return wk__emit_binary(e, WK__MAX, wk__emit_unary(e, WK__LOG, x), wk__emit_constant(e, -100));
}

/* -(t log p + (1 - t) log(1 - p)). in: p, t */
static int of_probability(wk__emit *e, const int in[])
{
    int one = wk__emit_constant(e, 1);
    int yes = wk__emit_binary(e, WK__MUL, in[1], clamped_log(e, in[0]));
    int no = wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__SUB, one, in[1]),
                             clamped_log(e, wk__emit_binary(e, WK__SUB, one, in[0])));
    return wk__emit_unary(e, WK__NEG, wk__emit_binary(e, WK__ADD, yes, no));
}

/* log(1 + e^-|x|) */
static int softplus_neg_abs(wk__emit *e, int x)
{
    return wk__emit_unary(e, WK__LOG1P,
                          wk__emit_unary(e, WK__EXP, wk__emit_unary(e, WK__NEG, wk__emit_unary(e, WK__ABS, x))));
}

/* max(x, 0) - x t + log(1 + e^-|x|). in: x, t */
static int of_logit(wk__emit *e, const int in[])
{
    int positive = wk__emit_binary(e, WK__MAX, in[0], wk__emit_constant(e, 0));
    return wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__SUB, positive, wk__emit_binary(e, WK__MUL, in[0], in[1])),
                           softplus_neg_abs(e, in[0]));
}

/* (1 - t) x + (1 + (w - 1) t) (max(-x, 0) + log(1 + e^-|x|)). in: x, t, unused, w */
static int of_logit_weighted(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0), one = wk__emit_constant(e, 1);
    int surprise = wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__MAX, wk__emit_unary(e, WK__NEG, in[0]), zero),
                                   softplus_neg_abs(e, in[0]));
    int weight =
        wk__emit_binary(e, WK__ADD, one, wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__SUB, in[3], one), in[1]));
    return wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__SUB, one, in[1]), in[0]),
                           wk__emit_binary(e, WK__MUL, weight, surprise));
}

static const wk__op weighted_op = {
    .name = "binary_cross_entropy_with_logits", .expression = of_logit_weighted, .arity = 4, .dtypes = WK__FLOATS};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static wk_tensor *loss(const wk__op *op, wk_site site, wk_tensor *const in[4], wk_reduction reduction)
{
    const wk__op *expression = in[3] ? &weighted_op : op;
    return wk__record_loss(&(wk__loss){op,
                                       expression,
                                       site,
                                       {in[0], in[1], in[2], in[3]},
                                       reduction,
                                       .takes_weight = true,
                                       .takes_pos_weight = op != &wk__op_binary_cross_entropy});
}

wk_tensor *wk_binary_cross_entropy_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_bce_options *options)
{
    const wk__op *op = &wk__op_binary_cross_entropy;
    wk_bce_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    return loss(op, site, (wk_tensor *[4]){input, target, o.weight}, o.reduction);
}
wk_tensor *wk_binary_cross_entropy_with_logits_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                  const wk_bce_with_logits_options *options)
{
    const wk__op *op = &wk__op_binary_cross_entropy_with_logits;
    wk_bce_with_logits_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    return loss(op, site, (wk_tensor *[4]){input, target, o.weight, o.pos_weight}, o.reduction);
}

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *p = wk__saved(g, 0), *t = wk__saved(g, 1), *rest = wk_sub(1, p);
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk__loss_input_grad(g, wk_div(wk_sub(p, t), wk_maximum(wk_mul(p, rest), 1e-12)));
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk__loss_input_grad(g, wk_sub(wk_maximum(wk_log(rest), -100), wk_maximum(wk_log(p), -100)));
}

/* Gradients: sigmoid(x) - t and -x. With a weight w of t: (1 - t) - (1 + (w - 1) t) sigmoid(-x) and -x - (w - 1) log
 * sigmoid(x). */
static void logits_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *t = wk__saved(g, 1), *less = wk_mul(x, -1);
    wk_tensor *more = g->node->saved[3] ? wk_sub(wk__saved(g, 3), 1) : NULL;
    if (wk__needs_input_grad(g, 0)) {
        wk_tensor *weighted = more ? wk_mul(wk_add(wk_mul(more, t), 1), wk_sigmoid(less)) : NULL;
        g->in[0] = wk__loss_input_grad(g, more ? wk_sub(wk_sub(1, t), weighted) : wk_sub(wk_sigmoid(x), t));
    }
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk__loss_input_grad(g, more ? wk_sub(less, wk_mul(more, wk_logsigmoid(x))) : less);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 | WK__SAVE_3 };

const wk__op wk__op_binary_cross_entropy = {
    .expression = of_probability,
    .gradient = gradient,
    .saves = {ALL, ALL},
    WK__SIGNATURE_binary_cross_entropy,
};
const wk__op wk__op_binary_cross_entropy_with_logits = {
    .expression = of_logit,
    .gradient = logits_gradient,
    .saves = {ALL, ALL},
    WK__SIGNATURE_binary_cross_entropy_with_logits,
};

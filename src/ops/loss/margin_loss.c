/* SPDX-License-Identifier: Apache-2.0 */
/* soft_margin_loss, margin_ranking_loss: the sign of a score, or of the difference of two, against a target of 1 or
 * -1. */
#include "losses.h"

enum { SAVED = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_3 };

/* ---- soft_margin_loss -------------------------------------------------------------------------------------------- */

/* log(1 + e^-z) = max(-z, 0) + log(1 + e^-|z|), which does not overflow, with z = target input. in: input, target */
static int soft_margin(wk__emit *e, const int in[])
{
    int z = wk__emit_binary(e, WK__MUL, in[0], in[1]), zero = wk__emit_constant(e, 0);
    int small = wk__emit_unary(e, WK__EXP, wk__emit_unary(e, WK__NEG, wk__emit_unary(e, WK__ABS, z)));
    int above = wk__emit_binary(e, WK__MAX, wk__emit_unary(e, WK__NEG, z), zero);
    return wk__emit_binary(e, WK__ADD, above, wk__emit_unary(e, WK__LOG1P, small));
}

wk_tensor *wk_soft_margin_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    const wk__op *op = &wk__op_soft_margin_loss;
    wk_loss_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    return wk__record_loss(&(wk__loss){op, op, site, {input, target}, .reduction = o.reduction});
}

/* -target sigmoid(-z), and the same with input and target exchanged */
static void soft_margin_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *t = wk__saved(g, 1), *slope = wk_neg(wk_sigmoid(wk_neg(wk_mul(x, t))));
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk__loss_input_grad(g, wk_mul(slope, t));
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk__loss_input_grad(g, wk_mul(slope, x));
}

const wk__op wk__op_soft_margin_loss = {
    .expression = soft_margin,
    .gradient = soft_margin_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_soft_margin_loss,
};

/* ---- margin_ranking_loss ----------------------------------------------------------------------------------------- */

/* in: input1, input2, margin, target */
static int ranking(wk__emit *e, const int in[])
{
    int lead = wk__emit_binary(e, WK__MUL, in[3], wk__emit_binary(e, WK__SUB, in[0], in[1]));
    return wk__emit_binary(e, WK__MAX, wk__emit_binary(e, WK__SUB, in[2], lead), wk__emit_constant(e, 0));
}

/* PyTorch composes this loss, and its last op sets grad_fn. */
static const char *const ranking_nodes[] = {"MeanBackward0", "SumBackward0", "ClampMinBackward0", "DivBackward0"};

wk_tensor *wk_margin_ranking_loss_at(wk_site site, wk_tensor *input1, wk_tensor *input2, wk_tensor *target,
                                     const wk_margin_ranking_loss_options *options)
{
    const wk__op *op = &wk__op_margin_ranking_loss;
    wk_margin_ranking_loss_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    return wk__record_loss(&(wk__loss){op,
                                       op,
                                       site,
                                       {input1, input2, NULL, target},
                                       o.reduction,
                                       .param = wk__option_or(o.margin, 0),
                                       .name = "input2",
                                       .third = "target",
                                       .grad_fn_names = ranking_nodes});
}

/* -target, target and input2 - input1 where the loss is positive */
static void ranking_gradient(wk__grad_ctx *g)
{
    const double margin = wk__loss_attributes_of(g->attr).number;
    wk_tensor *y = wk__saved(g, 3), *back = wk_neg(wk__loss_difference(g));
    wk_tensor *positive = wk_gt(wk_add(wk_mul(y, back), margin), 0);
    if (wk__needs_input_grad(g, 0) || wk__needs_input_grad(g, 1))
        wk__set_input_target_grads(g, wk_where(positive, wk_neg(y), 0));
    if (wk__needs_input_grad(g, 3)) g->in[3] = wk__loss_input_grad(g, wk_where(positive, back, 0));
}

const wk__op wk__op_margin_ranking_loss = {
    .expression = ranking,
    .gradient = ranking_gradient,
    .saves = {SAVED, SAVED, 0, SAVED},
    WK__SIGNATURE_margin_ranking_loss,
};

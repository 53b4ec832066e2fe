/* SPDX-License-Identifier: Apache-2.0 */
/* smooth_l1_loss, huber_loss: with d = |input - target|, half of d^2 below the bend (divided by the bend for
 * smooth_l1), linear above it. With a bend of 0 everything is linear. */
#include "losses.h"

/* in: input, target, bend */
static int huber_expression(wk__emit *e, const int in[], bool divided)
{
    int d = wk__emit_unary(e, WK__ABS, wk__emit_binary(e, WK__SUB, in[0], in[1])), half = wk__emit_constant(e, 0.5);
    int square = wk__emit_binary(e, WK__MUL, half, wk__emit_binary(e, WK__MUL, d, d));
    int line = wk__emit_binary(e, WK__SUB, d, wk__emit_binary(e, WK__MUL, half, in[2]));
    if (divided)
        square = wk__emit_binary(e, WK__DIV, square, in[2]);
    else
        line = wk__emit_binary(e, WK__MUL, in[2], line);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, d, in[2]), square, line);
}
static int smooth_l1(wk__emit *e, const int in[])
{
    return huber_expression(e, in, true);
}
static int huber(wk__emit *e, const int in[])
{
    return huber_expression(e, in, false);
}

static wk_tensor *loss(const wk__op *op, wk_site site, wk_tensor *input, wk_tensor *target, wk_reduction reduction,
                       double threshold)
{
    const bool huber_loss = op == &wk__op_huber_loss;
    if (!(huber_loss ? threshold > 0 : threshold >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      huber_loss ? "%s: .delta must be greater than 0, got %g" : "%s: .beta must be at least 0, got %g",
                      op->name, threshold);
        return NULL;
    }
    return wk__record_loss(&(wk__loss){op, op, site, {input, target}, reduction, .param = threshold});
}

wk_tensor *wk_smooth_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                const wk_smooth_l1_loss_options *options)
{
    wk_smooth_l1_loss_options o;
    if (!wk__read_smooth_l1_loss_options(site, "smooth_l1_loss", options, &o)) return NULL;
    return loss(&wk__op_smooth_l1_loss, site, input, target, o.reduction, o.beta);
}
wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_huber_loss_options *options)
{
    wk_huber_loss_options o;
    if (!wk__read_huber_loss_options(site, "huber_loss", options, &o)) return NULL;
    return loss(&wk__op_huber_loss, site, input, target, o.reduction, o.delta);
}

/* The slope is the sign above the bend and d (divided by the bend) below it. NaN stays NaN. */
static void gradient(wk__grad_ctx *g)
{
    const double bend = wk__loss_attributes_of(g->attr).number;
    bool divided = g->node->op == &wk__op_smooth_l1_loss;
    wk_tensor *d = wk__loss_difference(g), *line = wk_mul(wk_sign(d), divided ? 1.0 : bend);
    wk__set_input_target_grads(g,
                               bend > 0 ? wk_where(wk_ge(wk_abs(d), bend), line, divided ? wk_div(d, bend) : d) : line);
}

const wk__op wk__op_smooth_l1_loss = {
    .expression = smooth_l1,
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_smooth_l1_loss,
};
const wk__op wk__op_huber_loss = {
    .expression = huber,
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_huber_loss,
};

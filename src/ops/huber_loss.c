/* SPDX-License-Identifier: Apache-2.0 */
/* smooth_l1_loss, huber_loss: with d = |input - target|, half of d^2 below the bend (over the bend for smooth_l1), a
 * line above it. With a bend of 0 all is line. */
#include "losses.h"

/* in: input, target, bend */
static int bent(wk__emit *e, const int in[], bool divided)
{
    int d = wk__emit_1(e, WK__ABS, wk__emit_2(e, WK__SUB, in[0], in[1])), half = wk__emit_constant(e, 0.5);
    int square = wk__emit_2(e, WK__MUL, half, wk__emit_2(e, WK__MUL, d, d));
    int line = wk__emit_2(e, WK__SUB, d, wk__emit_2(e, WK__MUL, half, in[2]));
    if (divided)
        square = wk__emit_2(e, WK__DIV, square, in[2]);
    else
        line = wk__emit_2(e, WK__MUL, in[2], line);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, d, in[2]), square, line);
}
static int smooth_l1(wk__emit *e, const int in[])
{
    return bent(e, in, true);
}
static int huber(wk__emit *e, const int in[])
{
    return bent(e, in, false);
}

static wk_tensor *loss(const wk__op *op, wk_site site, wk_tensor *input, wk_tensor *target, wk_reduction reduction,
                       double bend)
{
    const bool huber_loss = op == &wk__op_huber_loss;
    if (!(huber_loss ? bend > 0 : bend >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      huber_loss ? "%s: .delta is %g; it must be more than 0" : "%s: .beta is %g; it must be 0 or more",
                      op->name, bend);
        return NULL;
    }
    return wk__loss_of(&(wk__loss){op, op, site, {input, target}, reduction, .number = bend});
}

wk_tensor *wk_smooth_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                const wk_smooth_l1_loss_options *options)
{
    wk_smooth_l1_loss_options o;
    if (!wk__options(site, "smooth_l1_loss", options, &o)) return NULL;
    return loss(&wk__op_smooth_l1_loss, site, input, target, o.reduction, wk__option(o.beta, 1));
}
wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_huber_loss_options *options)
{
    wk_huber_loss_options o;
    if (!wk__options(site, "huber_loss", options, &o)) return NULL;
    return loss(&wk__op_huber_loss, site, input, target, o.reduction, wk__option(o.delta, 1));
}

/* From the bend on the slope is the sign, before it d (over the bend): NaN stays NaN. */
static void gradient(wk__gradient *g)
{
    double bend = g->attr->f[1];
    bool divided = g->node->op == &wk__op_smooth_l1_loss;
    wk_tensor *d = wk__loss_difference(g), *line = wk_mul(wk_sign(d), divided ? 1.0 : bend);
    wk__loss_of_difference(g, bend > 0 ? wk_where(wk_ge(wk_abs(d), bend), line, divided ? wk_div(d, bend) : d) : line);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    return wk__one(out, loss(op, site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                             (wk_reduction)wk__value_int(&args[2], WK_REDUCE_MEAN), wk__value_float(&args[3], 1)));
}

const wk__op wk__op_smooth_l1_loss = {
    .name = "smooth_l1_loss",
    .schema = "smooth_l1_loss(Tensor input, Tensor target, int reduction=0, float beta=1.0) -> Tensor",
    .node = "SmoothL1LossBackward0",
    .doc = "d^2 / (2 beta) below beta, |d| - beta / 2 above",
    .expression = smooth_l1,
    .gradient = gradient,
    .invoke = invoke,
    WK__ROW_LOSS,
};
const wk__op wk__op_huber_loss = {
    .name = "huber_loss",
    .schema = "huber_loss(Tensor input, Tensor target, int reduction=0, float delta=1.0) -> Tensor",
    .node = "HuberLossBackward0",
    .doc = "d^2 / 2 below delta, delta (|d| - delta / 2) above",
    .expression = huber,
    .gradient = gradient,
    .invoke = invoke,
    WK__ROW_LOSS,
};

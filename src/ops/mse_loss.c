/* SPDX-License-Identifier: Apache-2.0 */
/* mse_loss, l1_loss: the distance of input and target, squared or not. */
#include "losses.h"

static int square(wk__emit *e, const int in[])
{
    int difference = wk__emit_2(e, WK__SUB, in[0], in[1]);
    return wk__emit_2(e, WK__MUL, difference, difference);
}
static int distance(wk__emit *e, const int in[])
{
    return wk__emit_1(e, WK__ABS, wk__emit_2(e, WK__SUB, in[0], in[1]));
}

/* PyTorch composes this one, and its last part gives the name. */
static const char *const l1_nodes[] = {"MeanBackward0", "SumBackward0", "AbsBackward0", "DivBackward0"};

static wk_tensor *loss(const wk__op *op, wk_site site, wk_tensor *input, wk_tensor *target,
                       const wk_loss_options *options)
{
    wk_loss_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const char *const *nodes = op == &wk__op_l1_loss ? l1_nodes : NULL;
    return wk__loss_of(&(wk__loss){op, op, site, {input, target}, o.reduction, .nodes = nodes});
}

wk_tensor *wk_mse_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return loss(&wk__op_mse_loss, site, input, target, options);
}
wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return loss(&wk__op_l1_loss, site, input, target, options);
}

static void mse_gradient(wk__gradient *g)
{
    wk__loss_of_difference(g, wk_mul(wk__loss_difference(g), 2));
}
static void l1_gradient(wk__gradient *g)
{
    wk__loss_of_difference(g, wk_sign(wk__loss_difference(g)));
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_loss_options options = {.size = sizeof options,
                               .reduction = (wk_reduction)wk__value_int(&args[2], WK_REDUCE_MEAN)};
    return wk__one(out, loss(op, site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

const wk__op wk__op_mse_loss = {
    .name = "mse_loss",
    .schema = "mse_loss(Tensor input, Tensor target, int reduction=0) -> Tensor",
    .node = "MseLossBackward0",
    .doc = "(input - target)^2, its mean, sum or each",
    .expression = square,
    .gradient = mse_gradient,
    .invoke = invoke,
    WK__ROW_LOSS,
};
const wk__op wk__op_l1_loss = {
    .name = "l1_loss",
    .schema = "l1_loss(Tensor input, Tensor target, int reduction=0) -> Tensor",
    .node = "MeanBackward0",
    .doc = "|input - target|, its mean, sum or each",
    .expression = distance,
    .gradient = l1_gradient,
    .invoke = invoke,
    WK__ROW_LOSS,
};

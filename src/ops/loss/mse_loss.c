/* SPDX-License-Identifier: Apache-2.0 */
/* mse_loss, l1_loss: squared and absolute difference of input and target. */
#include "losses.h"

static int square(wk__emit *e, const int in[])
{
    int difference = wk__emit_binary(e, WK__SUB, in[0], in[1]);
    return wk__emit_binary(e, WK__MUL, difference, difference);
}
static int distance(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__ABS, wk__emit_binary(e, WK__SUB, in[0], in[1]));
}

/* PyTorch composes this loss, and its last op sets grad_fn. */
static const char *const l1_nodes[] = {"MeanBackward0", "SumBackward0", "AbsBackward0", "DivBackward0"};

static wk_tensor *loss(const wk__op *op, wk_site site, wk_tensor *input, wk_tensor *target,
                       const wk_loss_options *options)
{
    wk_loss_options o;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const char *const *nodes = op == &wk__op_l1_loss ? l1_nodes : NULL;
    return wk__record_loss(&(wk__loss){op, op, site, {input, target}, o.reduction, .grad_fn_names = nodes});
}

wk_tensor *wk_mse_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return loss(&wk__op_mse_loss, site, input, target, options);
}
wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return loss(&wk__op_l1_loss, site, input, target, options);
}

static void mse_gradient(wk__grad_ctx *g)
{
    wk__set_input_target_grads(g, wk_mul(wk__loss_difference(g), 2));
}
static void l1_gradient(wk__grad_ctx *g)
{
    wk__set_input_target_grads(g, wk_sign(wk__loss_difference(g)));
}

const wk__op wk__op_mse_loss = {
    .expression = square,
    .gradient = mse_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_mse_loss,
};
const wk__op wk__op_l1_loss = {
    .expression = distance,
    .gradient = l1_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_l1_loss,
};

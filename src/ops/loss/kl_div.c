/* SPDX-License-Identifier: Apache-2.0 */
/* kl_div: p (log p - input), where p is the target (or the target is its logarithm) and input a logarithm. */
#include "losses.h"
#include <math.h>

/* in: log of the model's probability, target, whether the target is a logarithm. A probability of 0 costs 0. */
static int divergence(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0), logs = wk__emit_compare(e, WK__NE, in[2], zero);
    int p = wk__emit_where(e, logs, wk__emit_unary(e, WK__EXP, in[1]), in[1]);
    int log_p = wk__emit_where(e, logs, in[1], wk__emit_unary(e, WK__LOG, in[1]));
    int cost = wk__emit_binary(e, WK__MUL, p, wk__emit_binary(e, WK__SUB, log_p, in[0]));
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, p, zero), zero, cost);
}

/* PyTorch composes this loss, and its last op sets grad_fn: [log_target][reduction]. */
static const char *const nodes[2][4] = {{"MeanBackward0", "SumBackward0", "SubBackward0", "DivBackward0"},
                                        {"MeanBackward0", "SumBackward0", "MulBackward0", "DivBackward0"}};

static wk_tensor *loss(wk_site site, wk_tensor *input, wk_tensor *target, wk_reduction reduction, bool log_target)
{
    const wk__op *op = &wk__op_kl_div;
    return wk__record_loss(
        &(wk__loss){op, op, site, {input, target}, reduction, .param = log_target, .grad_fn_names = nodes[log_target]});
}

wk_tensor *wk_kl_div_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_kl_div_options *options)
{
    wk_kl_div_options o;
    return wk__options(site, "kl_div", options, &o) ? loss(site, input, target, o.reduction, o.log_target) : NULL;
}

static void gradient(wk__grad_ctx *g)
{
    const bool logs = wk__loss_attributes_of(g->attr).number != 0;
    wk_tensor *x = wk__saved(g, 0), *t = wk__saved(g, 1), *p = logs ? wk_exp(t) : t;
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk__loss_input_grad(g, wk_mul(p, -1));
    if (!wk__needs_input_grad(g, 1)) return;
    wk_tensor *slope = wk_add(wk_sub(logs ? t : wk_log(t), x), 1);
    g->in[1] = wk__loss_input_grad(g, logs ? wk_mul(p, slope) : slope);
}

const wk__op wk__op_kl_div = {
    .expression = divergence,
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_kl_div,
};

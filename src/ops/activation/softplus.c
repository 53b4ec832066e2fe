/* SPDX-License-Identifier: Apache-2.0 */
/* softplus and softsign. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- softplus(x, beta, threshold) -------------------------------------------------------------------------------- */

static int softplus_expression(wk__emit *e, const int in[])
{
    int scaled = wk__emit_binary(e, WK__MUL, in[0], in[1]);
    int curve = wk__emit_binary(e, WK__DIV, wk__emit_unary(e, WK__LOG1P, wk__emit_unary(e, WK__EXP, scaled)), in[1]);
    return wk__emit_where(e, wk__emit_compare(e, WK__GT, scaled, in[2]), in[0], curve);
}

wk_tensor *wk_softplus_at(wk_site site, wk_tensor *x, const wk_softplus_options *options)
{
    wk_softplus_options o;
    if (!wk__read_softplus_options(site, "softplus", options, &o)) return NULL;
    const wk__attr attr = wk__softplus_attr((wk__softplus_attributes){.beta = o.beta, .threshold = o.threshold});
    return wk__unary_with_params(&wk__op_softplus, site, x, 2, &attr);
}

/* At the threshold the slope is that of the curve, with derivative 0, as in PyTorch. */
static void softplus_gradient(wk__grad_ctx *g)
{
    const wk__softplus_attributes a = wk__softplus_attributes_of(g->attr);
    wk_tensor *scaled = wk_mul(wk__saved(g, 0), a.beta);
    wk_tensor *slope = wk_sigmoid(wk_where(wk_ge(scaled, a.threshold), a.threshold, scaled));
    g->in[0] = wk_where(wk_gt(scaled, a.threshold), g->out[0], wk_mul(g->out[0], slope));
}

const wk__op wk__op_softplus = {
    .expression = softplus_expression,
    .own_dtype_operands = 6,
    .gradient = softplus_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_softplus,
};

/* ---- softsign ---------------------------------------------------------------------------------------------------- */

static int softsign_expression(wk__emit *e, const int in[])
{
    int below = wk__emit_binary(e, WK__ADD, wk__emit_unary(e, WK__ABS, in[0]), wk__emit_constant(e, 1));
    return wk__emit_binary(e, WK__DIV, in[0], below);
}

static void softsign_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_square(wk_add(wk_abs(wk__saved(g, 0)), 1)));
}

const wk__op wk__op_softsign = {
    .expression = softsign_expression,
    .gradient = softsign_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_softsign,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* silu and mish: x times a smooth step function. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- silu -------------------------------------------------------------------------------------------------------- */

static int silu_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], wk__emit_unary(e, WK__SIGMOID, in[0]));
}

/* s (1 + x (1 - s)) with s = sigmoid(x) */
static void silu_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *s = wk_sigmoid(x);
    g->in[0] = wk_mul(g->out[0], wk_mul(s, wk_add(wk_mul(x, wk_sub(1, s)), 1)));
}

const wk__op wk__op_silu = {
    .expression = silu_expression,
    .gradient = silu_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_silu,
};

/* ---- mish: x tanh(log(1 + e^x)) ---------------------------------------------------------------------------------- */

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow. */
static int mish_expression(wk__emit *e, const int in[])
{
    int small = wk__emit_unary(e, WK__EXP, wk__emit_unary(e, WK__NEG, wk__emit_unary(e, WK__ABS, in[0])));
    int above = wk__emit_binary(e, WK__MAX, in[0], wk__emit_constant(e, 0));
    int softplus = wk__emit_binary(e, WK__ADD, above, wk__emit_unary(e, WK__LOG1P, small));
    return wk__emit_binary(e, WK__MUL, in[0], wk__emit_unary(e, WK__TANH, softplus));
}

/* t + x s (1 - t^2) with t = tanh(softplus(x)), s = sigmoid(x) */
static void mish_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *t = wk_tanh(wk_softplus(x));
    wk_tensor *curved = wk_mul(wk_mul(x, wk_sigmoid(x)), wk_sub(1, wk_square(t)));
    g->in[0] = wk_mul(g->out[0], wk_add(t, curved));
}

const wk__op wk__op_mish = {
    .expression = mish_expression,
    .gradient = mish_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_mish,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid and logsigmoid. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- sigmoid ----------------------------------------------------------------------------------------------------- */

static void sigmoid_gradient(wk__grad_ctx *g)
{
    wk_tensor *out = wk__saved(g, WK__SAVED_OUT);
    g->in[0] = wk_mul(g->out[0], wk_mul(out, wk_sub(1, out)));
}

const wk__op wk__op_sigmoid = {
    .expression = wk__single_instruction,
    .instruction = WK__SIGMOID,
    .gradient = sigmoid_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_sigmoid,
};

/* ---- logsigmoid: min(x, 0) - log(1 + e^-|x|), which does not overflow -------------------------------------------- */

static int logsigmoid_expression(wk__emit *e, const int in[])
{
    int small = wk__emit_unary(e, WK__EXP, wk__emit_unary(e, WK__NEG, wk__emit_unary(e, WK__ABS, in[0])));
    int below = wk__emit_binary(e, WK__MIN, in[0], wk__emit_constant(e, 0));
    return wk__emit_binary(e, WK__SUB, below, wk__emit_unary(e, WK__LOG1P, small));
}

static void logsigmoid_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sigmoid(wk_neg(wk__saved(g, 0))));
}

const wk__op wk__op_logsigmoid = {
    .expression = logsigmoid_expression,
    .gradient = logsigmoid_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_logsigmoid,
};

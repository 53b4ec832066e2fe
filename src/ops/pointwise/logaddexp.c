/* SPDX-License-Identifier: Apache-2.0 */
/* logaddexp: log(e^a + e^b). Factors the larger operand out of the sum, so that nothing overflows. */
#include "ops/core/entries.h"

/* The difference of equal operands is set to 0, because inf - inf is NaN. */
static int logaddexp_expression(wk__emit *e, const int in[])
{
    int equal = wk__emit_compare(e, WK__EQ, in[0], in[1]);
    int apart = wk__emit_unary(e, WK__ABS, wk__emit_binary(e, WK__SUB, in[0], in[1]));
    int below = wk__emit_unary(e, WK__NEG, wk__emit_where(e, equal, wk__emit_constant(e, 0), apart));
    int rest = wk__emit_unary(e, WK__LOG1P, wk__emit_unary(e, WK__EXP, below));
    return wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__MAX, in[0], in[1]), rest);
}

/* Gradient factor of an operand: e^a / (e^a + e^b). For equal infinities it is NaN, as in PyTorch. */
static void logaddexp_gradient(wk__grad_ctx *g)
{
    wk_site here = {0};
    wk__arg a = wk__saved_operand(g, 0), b = wk__saved_operand(g, 1);
    wk_tensor *more = wk__elementwise(&wk__op_sub, here, (wk__arg[]){a, b}, 2, NULL);
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_mul(g->out[0], wk_sigmoid(more));
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(g->out[0], wk_sigmoid(wk_neg(more)));
}

const wk__op wk__op_logaddexp = {
    .expression = logaddexp_expression,
    .gradient = logaddexp_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_logaddexp,
};

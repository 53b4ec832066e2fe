/* SPDX-License-Identifier: Apache-2.0 */
/* mul: a b. */
#include "mul.h"

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[1]);
}

wk_tensor *wk__mul_saved_operand(const wk__grad_ctx *g, wk_tensor *grad, int k)
{
    const wk__arg number = wk__attr_scalar(g->attr, k);
    if (number.is_number) return number.is_int ? wk_mul(grad, number.number.i) : wk_mul(grad, number.number.f);
    return wk_mul(grad, wk__saved(g, k));
}

static void gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk__mul_saved_operand(g, g->out[0], 1);
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk__mul_saved_operand(g, g->out[0], 0);
}

const wk__op wk__op_mul = {
    .expression = expression,
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_mul,
};

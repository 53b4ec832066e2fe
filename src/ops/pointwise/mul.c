/* SPDX-License-Identifier: Apache-2.0 */
/* mul: a b. */
#include "ops/core/entries.h"

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[1]);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* sub: a - b. */
#include "ops/core/entries.h"

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__SUB, in[0], in[1]);
}

static void gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(g->out[0], -1);
}

const wk__op wk__op_sub = {
    .expression = expression,
    .gradient = gradient,
    WK__SIGNATURE_sub,
};

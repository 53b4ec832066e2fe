/* SPDX-License-Identifier: Apache-2.0 */
/* add: a + b. */
#include "ops/core/entries.h"

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, in[0], in[1]);
}

static void gradient(wk__grad_ctx *g)
{
    for (int k = 0; k < 2; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = g->out[0];
}

const wk__op wk__op_add = {
    .expression = expression,
    .gradient = gradient,
    WK__SIGNATURE_add,
};

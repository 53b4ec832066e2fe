/* SPDX-License-Identifier: Apache-2.0 */
/* sub: a - b. */
#include "forms.h"

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__SUB, in[0], in[1]);
}

static void gradient(wk__gradient *g)
{
    if (wk__wants(g, 0)) g->in[0] = g->out[0];
    if (wk__wants(g, 1)) g->in[1] = wk_mul(g->out[0], -1);
}

const wk__op wk__op_sub = {
    .name = "sub",
    .schema = "sub(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .node = "SubBackward0",
    .number_node = {"RsubBackward1"},
    .doc = "a - b, broadcast",
    .expression = expression,
    .arity = 2,
    .domain = WK__NUMBERS,
    .gradient = gradient,
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM sub
#define WK__IN_PLACE
#include "binary.inc"

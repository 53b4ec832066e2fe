/* SPDX-License-Identifier: Apache-2.0 */
/* neg, abs, sign. */
#include "forms.h"

/* ---- neg --------------------------------------------------------------------------------------------------------- */

static void neg_gradient(wk__gradient *g)
{
    g->in[0] = wk_neg(g->out[0]);
}

const wk__op wk__op_neg = {
    .name = "neg",
    .schema = "neg(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "NegBackward0",
    .doc = "-x",
    .expression = wk__instruction,
    .instruction = WK__NEG,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = neg_gradient,
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM neg
#include "unary.inc"

/* ---- abs --------------------------------------------------------------------------------------------------------- */

static void abs_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sign(wk__saved(g, 0)));
}

const wk__op wk__op_abs = {
    .name = "abs",
    .schema = "abs(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "AbsBackward0",
    .doc = "|x|; the gradient at 0 is 0",
    .expression = wk__instruction,
    .instruction = WK__ABS,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = abs_gradient,
    .needs = {WK__SAVE_0},
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM abs
#include "unary.inc"

/* ---- sign -------------------------------------------------------------------------------------------------------- */

const wk__op wk__op_sign = {
    .name = "sign",
    .schema = "sign(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "SignBackward0",
    .doc = "-1, 0 or 1",
    .expression = wk__instruction,
    .instruction = WK__SIGN,
    .arity = 1,
    .gradient = wk__gradient_zero,
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM sign
#include "unary.inc"

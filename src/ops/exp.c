/* SPDX-License-Identifier: Apache-2.0 */
/* exp, expm1, exp2. */
#include "forms.h"
#include <math.h>

/* ---- exp --------------------------------------------------------------------------------------------------------- */

static void exp_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk__saved(g, WK__SAVED_OUT));
}

const wk__op wk__op_exp = {
    .name = "exp",
    .schema = "exp(Tensor self) -> Tensor",
    .node = "ExpBackward0",
    .doc = "e^x",
    .instruction = WK__EXP,
    .gradient = exp_gradient,
    .needs = {WK__SAVE_OUT},
    WK__ROW_FUNCTION,
};

#define WK__FORM exp
#include "unary.inc"

/* ---- expm1 ------------------------------------------------------------------------------------------------------- */

static void expm1_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_add(wk__saved(g, WK__SAVED_OUT), 1));
}

const wk__op wk__op_expm1 = {
    .name = "expm1",
    .schema = "expm1(Tensor self) -> Tensor",
    .node = "Expm1Backward0",
    .doc = "e^x - 1, exact near 0",
    .instruction = WK__EXPM1,
    .gradient = expm1_gradient,
    .needs = {WK__SAVE_OUT},
    WK__ROW_FUNCTION,
};

#define WK__FORM expm1
#include "unary.inc"

/* ---- exp2: a power, as the rounding of x log(2) would grow with x in the exponential ----------------------------- */

static int exp2_expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__POW, wk__emit_constant(e, 2), in[0]);
}

static void exp2_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_mul(wk__saved(g, WK__SAVED_OUT), M_LN2));
}

const wk__op wk__op_exp2 = {
    .name = "exp2",
    .schema = "exp2(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "Exp2Backward0",
    .doc = "2^x",
    .expression = exp2_expression,
    .arity = 1,
    .result = WK__RESULT_FLOAT,
    .gradient = exp2_gradient,
    .needs = {WK__SAVE_OUT},
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM exp2
#include "unary.inc"

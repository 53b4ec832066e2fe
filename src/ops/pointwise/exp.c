/* SPDX-License-Identifier: Apache-2.0 */
/* exp, expm1, exp2. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- exp --------------------------------------------------------------------------------------------------------- */

static void exp_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk__saved(g, WK__SAVED_OUT));
}

const wk__op wk__op_exp = {
    .expression = wk__single_instruction,
    .instruction = WK__EXP,
    .gradient = exp_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_exp,
};

/* ---- expm1 ------------------------------------------------------------------------------------------------------- */

static void expm1_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_add(wk__saved(g, WK__SAVED_OUT), 1));
}

const wk__op wk__op_expm1 = {
    .expression = wk__single_instruction,
    .instruction = WK__EXPM1,
    .gradient = expm1_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_expm1,
};

/* ---- exp2: pow(2, x), because exp(x log(2)) amplifies the rounding of the product -------------------------------- */

static int exp2_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__POW, wk__emit_constant(e, 2), in[0]);
}

static void exp2_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_mul(wk__saved(g, WK__SAVED_OUT), M_LN2));
}

const wk__op wk__op_exp2 = {
    .expression = exp2_expression,
    .gradient = exp2_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_exp2,
};

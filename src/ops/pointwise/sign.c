/* SPDX-License-Identifier: Apache-2.0 */
/* neg, abs, sign. */
#include "ops/core/entries.h"

/* ---- neg --------------------------------------------------------------------------------------------------------- */

static void neg_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_neg(g->out[0]);
}

const wk__op wk__op_neg = {
    .expression = wk__single_instruction,
    .instruction = WK__NEG,
    .gradient = neg_gradient,
    WK__SIGNATURE_neg,
};

/* ---- abs --------------------------------------------------------------------------------------------------------- */

static void abs_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sign(wk__saved(g, 0)));
}

const wk__op wk__op_abs = {
    .expression = wk__single_instruction,
    .instruction = WK__ABS,
    .gradient = abs_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_abs,
};

/* ---- sign -------------------------------------------------------------------------------------------------------- */

const wk__op wk__op_sign = {
    .expression = wk__single_instruction,
    .instruction = WK__SIGN,
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_sign,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* neg, abs, sign. */
#include "forms.h"

/* ---- neg --------------------------------------------------------------------------------------------------------- */

static void neg_gradient(wk__gradient *g)
{
    g->in[0] = wk_neg(g->out[0]);
}

const wk__op wk__op_neg = {
    .expression = wk__instruction,
    .instruction = WK__NEG,
    .gradient = neg_gradient,
    WK__SIGNATURE_neg,
};

/* ---- abs --------------------------------------------------------------------------------------------------------- */

static void abs_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sign(wk__saved(g, 0)));
}

const wk__op wk__op_abs = {
    .expression = wk__instruction,
    .instruction = WK__ABS,
    .gradient = abs_gradient,
    .needs = {WK__SAVE_0},
    WK__SIGNATURE_abs,
};

/* ---- sign -------------------------------------------------------------------------------------------------------- */

const wk__op wk__op_sign = {
    .expression = wk__instruction,
    .instruction = WK__SIGN,
    .gradient = wk__gradient_zero,
    WK__SIGNATURE_sign,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* log, log1p, log2, log10. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- log --------------------------------------------------------------------------------------------------------- */

static void log_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk__saved(g, 0));
}

const wk__op wk__op_log = {
    .expression = wk__single_instruction,
    .instruction = WK__LOG,
    .gradient = log_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_log,
};

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

static void log1p_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_add(wk__saved(g, 0), 1));
}

const wk__op wk__op_log1p = {
    .expression = wk__single_instruction,
    .instruction = WK__LOG1P,
    .gradient = log1p_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_log1p,
};

/* ---- log2 -------------------------------------------------------------------------------------------------------- */

static void log2_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_mul(wk__saved(g, 0), M_LN2));
}

const wk__op wk__op_log2 = {
    .expression = wk__single_instruction,
    .instruction = WK__LOG2,
    .gradient = log2_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_log2,
};

/* ---- log10 ------------------------------------------------------------------------------------------------------- */

static void log10_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_mul(wk__saved(g, 0), M_LN10));
}

const wk__op wk__op_log10 = {
    .expression = wk__single_instruction,
    .instruction = WK__LOG10,
    .gradient = log10_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_log10,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* sqrt, rsqrt, reciprocal. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- sqrt -------------------------------------------------------------------------------------------------------- */

static void sqrt_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_mul(wk__saved(g, WK__SAVED_OUT), 2));
}

const wk__op wk__op_sqrt = {
    .expression = wk__single_instruction,
    .instruction = WK__SQRT,
    .gradient = sqrt_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_sqrt,
};

/* ---- rsqrt ------------------------------------------------------------------------------------------------------- */

static void rsqrt_gradient(wk__grad_ctx *g)
{
    wk_tensor *out = wk__saved(g, WK__SAVED_OUT);
    g->in[0] = wk_mul(wk_mul(g->out[0], -0.5), wk_mul(out, wk_mul(out, out)));
}

const wk__op wk__op_rsqrt = {
    .expression = wk__single_instruction,
    .instruction = WK__RSQRT,
    .gradient = rsqrt_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_rsqrt,
};

/* ---- reciprocal -------------------------------------------------------------------------------------------------- */

static void reciprocal_gradient(wk__grad_ctx *g)
{
    wk_tensor *out = wk__saved(g, WK__SAVED_OUT);
    g->in[0] = wk_neg(wk_mul(g->out[0], wk_mul(out, out)));
}

const wk__op wk__op_reciprocal = {
    .expression = wk__single_instruction,
    .instruction = WK__RECIPROCAL,
    .gradient = reciprocal_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_reciprocal,
};

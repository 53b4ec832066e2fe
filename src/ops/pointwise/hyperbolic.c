/* SPDX-License-Identifier: Apache-2.0 */
/* sinh, cosh, tanh. */
#include "ops/core/entries.h"

/* ---- sinh -------------------------------------------------------------------------------------------------------- */

static void sinh_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_cosh(wk__saved(g, 0)));
}

const wk__op wk__op_sinh = {
    .expression = wk__single_instruction,
    .instruction = WK__SINH,
    .gradient = sinh_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_sinh,
};

/* ---- cosh -------------------------------------------------------------------------------------------------------- */

static void cosh_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sinh(wk__saved(g, 0)));
}

const wk__op wk__op_cosh = {
    .expression = wk__single_instruction,
    .instruction = WK__COSH,
    .gradient = cosh_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_cosh,
};

/* ---- tanh -------------------------------------------------------------------------------------------------------- */

static void tanh_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sub(1, wk_square(wk__saved(g, WK__SAVED_OUT))));
}

const wk__op wk__op_tanh = {
    .expression = wk__single_instruction,
    .instruction = WK__TANH,
    .gradient = tanh_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_tanh,
};

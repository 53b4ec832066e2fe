/* SPDX-License-Identifier: Apache-2.0 */
/* sinh, cosh, tanh. */
#include "forms.h"

/* ---- sinh -------------------------------------------------------------------------------------------------------- */

static void sinh_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_cosh(wk__saved(g, 0)));
}

const wk__op wk__op_sinh = {
    .name = "sinh",
    .schema = "sinh(Tensor self) -> Tensor",
    .node = "SinhBackward0",
    .doc = "(e^x - e^-x) / 2",
    .instruction = WK__SINH,
    .gradient = sinh_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM sinh
#include "unary.inc"

/* ---- cosh -------------------------------------------------------------------------------------------------------- */

static void cosh_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sinh(wk__saved(g, 0)));
}

const wk__op wk__op_cosh = {
    .name = "cosh",
    .schema = "cosh(Tensor self) -> Tensor",
    .node = "CoshBackward0",
    .doc = "(e^x + e^-x) / 2",
    .instruction = WK__COSH,
    .gradient = cosh_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM cosh
#include "unary.inc"

/* ---- tanh -------------------------------------------------------------------------------------------------------- */

static void tanh_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk_sub(1, wk_square(wk__saved(g, WK__SAVED_OUT))));
}

const wk__op wk__op_tanh = {
    .name = "tanh",
    .schema = "tanh(Tensor self) -> Tensor",
    .node = "TanhBackward0",
    .doc = "sinh(x) / cosh(x)",
    .instruction = WK__TANH,
    .gradient = tanh_gradient,
    .needs = {WK__SAVE_OUT},
    WK__ROW_FUNCTION,
};

#define WK__FORM tanh
#include "unary.inc"

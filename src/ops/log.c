/* SPDX-License-Identifier: Apache-2.0 */
/* log, log1p, log2, log10. */
#include "forms.h"
#include <math.h>

/* ---- log --------------------------------------------------------------------------------------------------------- */

static void log_gradient(wk__gradient *g)
{
    g->in[0] = wk_div(g->out[0], wk__saved(g, 0));
}

const wk__op wk__op_log = {
    .name = "log",
    .schema = "log(Tensor self) -> Tensor",
    .node = "LogBackward0",
    .doc = "natural logarithm",
    .instruction = WK__LOG,
    .gradient = log_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM log
#include "unary.inc"

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

static void log1p_gradient(wk__gradient *g)
{
    g->in[0] = wk_div(g->out[0], wk_add(wk__saved(g, 0), 1));
}

const wk__op wk__op_log1p = {
    .name = "log1p",
    .schema = "log1p(Tensor self) -> Tensor",
    .node = "Log1PBackward0",
    .doc = "log(1 + x), exact near 0",
    .instruction = WK__LOG1P,
    .gradient = log1p_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM log1p
#include "unary.inc"

/* ---- log2 -------------------------------------------------------------------------------------------------------- */

static void log2_gradient(wk__gradient *g)
{
    g->in[0] = wk_div(g->out[0], wk_mul(wk__saved(g, 0), M_LN2));
}

const wk__op wk__op_log2 = {
    .name = "log2",
    .schema = "log2(Tensor self) -> Tensor",
    .node = "Log2Backward0",
    .doc = "logarithm to base 2",
    .instruction = WK__LOG2,
    .gradient = log2_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM log2
#include "unary.inc"

/* ---- log10 ------------------------------------------------------------------------------------------------------- */

static void log10_gradient(wk__gradient *g)
{
    g->in[0] = wk_div(g->out[0], wk_mul(wk__saved(g, 0), M_LN10));
}

const wk__op wk__op_log10 = {
    .name = "log10",
    .schema = "log10(Tensor self) -> Tensor",
    .node = "Log10Backward0",
    .doc = "logarithm to base 10",
    .instruction = WK__LOG10,
    .gradient = log10_gradient,
    .needs = {WK__SAVE_0},
    WK__ROW_FUNCTION,
};

#define WK__FORM log10
#include "unary.inc"

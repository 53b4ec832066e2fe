/* SPDX-License-Identifier: Apache-2.0 */
/* tanhshrink, softshrink, hardshrink: move values towards 0. */
#include "ops/core/entries.h"

/* ---- tanhshrink -------------------------------------------------------------------------------------------------- */

static int tanhshrink_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__SUB, in[0], wk__emit_unary(e, WK__TANH, in[0]));
}

static void tanhshrink_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_square(wk_tanh(wk__saved(g, 0))));
}

const wk__op wk__op_tanhshrink = {
    .expression = tanhshrink_expression,
    .gradient = tanhshrink_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_tanhshrink,
};

/* ---- softshrink(x, lambd) ---------------------------------------------------------------------------------------- */

/* Between the limits the result is x times 0, so that NaN and the sign of a zero stay. */
static int softshrink_expression(wk__emit *e, const int in[])
{
    int x = in[0], high = in[1], low = wk__emit_unary(e, WK__NEG, high);
    int inside = wk__emit_binary(e, WK__MUL, x, wk__emit_constant(e, 0));
    int below = wk__emit_where(e, wk__emit_compare(e, WK__LT, x, low), wk__emit_binary(e, WK__ADD, x, high), inside);
    return wk__emit_where(e, wk__emit_compare(e, WK__GT, x, high), wk__emit_binary(e, WK__SUB, x, high), below);
}

wk_tensor *wk_softshrink_at(wk_site site, wk_tensor *x, const wk_softshrink_options *options)
{
    wk_softshrink_options o;
    if (!wk__read_softshrink_options(site, "softshrink", options, &o)) return NULL;
    const wk__attr attr = wk__softshrink_attr((wk__softshrink_attributes){.lambd = o.lambd});
    if (o.lambd >= 0) return wk__unary_with_params(&wk__op_softshrink, site, x, 1, &attr);
    wk__error_set(site, WK_ERR_ARGUMENT, "softshrink: .lambd must be at least 0, got %g", o.lambd);
    return NULL;
}

/* Gradient of both: 0 between the limits and at them. NaN is not between them, as in PyTorch. */
static void gradient(wk__grad_ctx *g)
{
    const double lambd = wk__softshrink_attributes_of(g->attr).lambd;
    wk_tensor *x = wk__saved(g, 0);
    g->in[0] = wk_where(wk_logical_and(wk_ge(x, -lambd), wk_le(x, lambd)), 0, g->out[0]);
}

const wk__op wk__op_softshrink = {
    .expression = softshrink_expression,
    .own_dtype_operands = 2,
    .gradient = gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_softshrink,
};

/* ---- hardshrink(x, lambd) ---------------------------------------------------------------------------------------- */

static int hardshrink_expression(wk__emit *e, const int in[])
{
    int above = wk__emit_compare(e, WK__GE, in[0], wk__emit_unary(e, WK__NEG, in[1]));
    int inside = wk__emit_ins(e, WK__AND, WK_BOOL, above, wk__emit_compare(e, WK__LE, in[0], in[1]), 0);
    return wk__emit_where(e, inside, wk__emit_constant(e, 0), in[0]);
}

wk_tensor *wk_hardshrink_at(wk_site site, wk_tensor *x, const wk_hardshrink_options *options)
{
    wk_hardshrink_options o;
    if (!wk__read_hardshrink_options(site, "hardshrink", options, &o)) return NULL;
    const wk__attr attr = wk__softshrink_attr((wk__softshrink_attributes){.lambd = o.lambd});
    return wk__unary_with_params(&wk__op_hardshrink, site, x, 1, &attr);
}

const wk__op wk__op_hardshrink = {
    .expression = hardshrink_expression,
    .own_dtype_operands = 2,
    .gradient = gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_hardshrink,
};

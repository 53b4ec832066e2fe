/* SPDX-License-Identifier: Apache-2.0 */
/* isnan, isinf, isfinite, nan_to_num. Integers are always finite. */
#include "ops/core/entries.h"
#include <math.h>

static int nan_expression(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__NE, in[0], in[0]);
}

static int size_against_infinity(wk__emit *e, wk__opcode compare, int reg)
{
    return wk__emit_compare(e, compare, wk__emit_unary(e, WK__ABS, reg), wk__emit_constant(e, INFINITY));
}

static int inf_expression(wk__emit *e, const int in[])
{
    return wk__is_float(e->dtype) ? size_against_infinity(e, WK__EQ, in[0]) : wk__emit_compare(e, WK__NE, in[0], in[0]);
}

static int finite_expression(wk__emit *e, const int in[])
{
    return wk__is_float(e->dtype) ? size_against_infinity(e, WK__LT, in[0]) : wk__emit_compare(e, WK__EQ, in[0], in[0]);
}

const wk__op wk__op_isnan = {
    .expression = nan_expression,
    WK__SIGNATURE_isnan,
};

const wk__op wk__op_isinf = {
    .expression = inf_expression,
    WK__SIGNATURE_isinf,
};

const wk__op wk__op_isfinite = {
    .expression = finite_expression,
    WK__SIGNATURE_isfinite,
};

/* ---- nan_to_num(x, nan, posinf, neginf) -------------------------------------------------------------------------- */

static int num_expression(wk__emit *e, const int in[])
{
    if (!wk__is_float(e->dtype)) return in[0];
    int infinity = wk__emit_constant(e, INFINITY), minus = wk__emit_constant(e, -INFINITY);
    int above = wk__emit_where(e, wk__emit_compare(e, WK__EQ, in[0], infinity), in[2], in[0]);
    int below = wk__emit_where(e, wk__emit_compare(e, WK__EQ, in[0], minus), in[3], above);
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], in[0]), in[1], below);
}

static double largest(wk_dtype dtype)
{
    switch (dtype) {
    case WK_F16: return 65504;
    case WK_BF16: return 0x1.fep127;
    case WK_F32: return 0x1.fffffep127;
    default: return 0x1.fffffffffffffp1023;
    }
}

/* Fills in the replacements for NaN, inf and -inf. The default of the latter depends on x's dtype. */
static void num_args(wk_tensor *x, const wk_nan_to_num_options *o, wk__arg args[4])
{
    double most = largest(wk__is_tensor(x) ? wk__body_of(x)->dtype : WK_F32);
    args[0] = wk__tensor_arg(x);
    args[1] = wk__float_arg(o->nan);
    args[2] = wk__float_arg(wk__option_or(o->posinf, most));
    args[3] = wk__float_arg(wk__option_or(o->neginf, -most));
}

static wk_tensor *nan_to_num(wk__elementwise_fn *how, wk_site site, wk_tensor *x, const wk_nan_to_num_options *options)
{
    wk__arg args[4];
    wk_nan_to_num_options o;
    if (!wk__read_nan_to_num_options(site, "nan_to_num", options, &o)) return NULL;
    num_args(x, &o, args);
    return how(&wk__op_nan_to_num, site, args, 4, NULL);
}

wk_tensor *wk_nan_to_num_at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options)
{
    return nan_to_num(wk__elementwise, site, x, options);
}

wk_tensor *wk_nan_to_num__at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options)
{
    return nan_to_num(wk__elementwise_, site, x, options);
}

static void num_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_where(wk_isfinite(wk__saved(g, 0)), g->out[0], 0);
}

const wk__op wk__op_nan_to_num = {
    .expression = num_expression,
    .own_dtype_operands = 14,
    .gradient = num_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_nan_to_num,
};

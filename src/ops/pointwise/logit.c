/* SPDX-License-Identifier: Apache-2.0 */
/* logit: log(x / (1 - x)), with x clamped to [eps, 1 - eps]. */
#include "ops/core/entries.h"
#include <math.h>

static int logit_expression(wk__emit *e, const int in[])
{
    int x = wk__emit_binary(e, WK__MIN, wk__emit_binary(e, WK__MAX, in[0], in[1]), in[2]);
    int rest = wk__emit_binary(e, WK__SUB, wk__emit_constant(e, 1), x);
    return wk__emit_unary(e, WK__LOG, wk__emit_binary(e, WK__DIV, x, rest));
}

/* Without eps the limits are infinite and have no effect. */
static wk_tensor *logit(wk__unary_params_fn *how, wk_site site, wk_tensor *x, const wk_logit_options *options)
{
    wk_logit_options o;
    if (!wk__options(site, "logit", options, &o)) return NULL;
    const double given = wk__option_or(o.eps, -INFINITY), low = given >= 0 ? given : -INFINITY;
    const wk__attr attr = wk__logit_attr((wk__logit_attributes){.low = low, .high = 1 - low});
    return how(&wk__op_logit, site, x, 2, &attr);
}

wk_tensor *wk_logit_at(wk_site site, wk_tensor *x, const wk_logit_options *options)
{
    return logit(wk__unary_with_params, site, x, options);
}

wk_tensor *wk_logit__at(wk_site site, wk_tensor *x, const wk_logit_options *options)
{
    return logit(wk__unary_with_params_, site, x, options);
}

/* Gradient 1 / (x (1 - x)): infinite at 0, with either sign, and at 1. Outside the limits x is replaced by 1/2, so that
 * the second derivative does not compute 0 times infinity. */
static void logit_gradient(wk__grad_ctx *g)
{
    const wk__logit_attributes a = wk__logit_attributes_of(g->attr);
    const bool limited = isfinite(a.low);
    wk_tensor *x = wk__saved(g, 0);
    wk_tensor *outside = wk_logical_or(wk_lt(x, limited ? a.low : 0), wk_gt(x, limited ? a.high : 1));
    wk_tensor *inside = wk_where(outside, 0.5, x);
    wk_tensor *area = wk_add(wk_mul(inside, wk_sub(1, inside)), 0); /* -0 + 0 is 0 */
    g->in[0] = wk_where(outside, limited ? 0 : NAN, wk_div(g->out[0], area));
}

const wk__op wk__op_logit = {
    .expression = logit_expression,
    .own_dtype_operands = 6,
    .gradient = logit_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_logit,
};

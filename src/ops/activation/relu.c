/* SPDX-License-Identifier: Apache-2.0 */
/* relu, leaky_relu and threshold. */
#include "ops/core/entries.h"

/* ---- relu: NaN stays NaN and passes the gradient ----------------------------------------------------------------- */

static int relu_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MAX, in[0], wk__emit_constant(e, 0));
}

static void relu_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_where(wk_le(wk__saved(g, WK__SAVED_OUT), 0), 0, g->out[0]);
}

const wk__op wk__op_relu = {
    .expression = relu_expression,
    .gradient = relu_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_relu,
};

/* ---- leaky_relu(x, negative_slope) ------------------------------------------------------------------------------- */

static int leaky_expression(wk__emit *e, const int in[])
{
    int positive = wk__emit_compare(e, WK__GT, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, positive, in[0], wk__emit_binary(e, WK__MUL, in[0], in[1]));
}

static wk_tensor *leaky_relu(wk__unary_params_fn *how, wk_site site, wk_tensor *x, const wk_leaky_relu_options *options)
{
    wk_leaky_relu_options o;
    if (!wk__read_leaky_relu_options(site, "leaky_relu", options, &o)) return NULL;
    const wk__attr attr = wk__leaky_relu_attr((wk__leaky_relu_attributes){.negative_slope = o.negative_slope});
    return how(&wk__op_leaky_relu, site, x, 1, &attr);
}

wk_tensor *wk_leaky_relu_at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options)
{
    return leaky_relu(wk__unary_with_params, site, x, options);
}

wk_tensor *wk_leaky_relu__at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options)
{
    return leaky_relu(wk__unary_with_params_, site, x, options);
}

static void leaky_gradient(wk__grad_ctx *g)
{
    const double slope = wk__leaky_relu_attributes_of(g->attr).negative_slope;
    g->in[0] = wk_where(wk_gt(wk__saved(g, 0), 0), g->out[0], wk_mul(g->out[0], slope));
}

const wk__op wk__op_leaky_relu = {
    .expression = leaky_expression,
    .own_dtype_operands = 2,
    .gradient = leaky_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_leaky_relu,
};

/* ---- threshold(x, threshold, value): NaN stays NaN and passes the gradient --------------------------------------- */

static int threshold_expression(wk__emit *e, const int in[])
{
    return wk__emit_where(e, wk__emit_compare(e, WK__LE, in[0], in[1]), in[2], in[0]);
}

static wk_tensor *threshold(wk__unary_params_fn *how, wk_site site, wk_tensor *x, double limit, double value)
{
    const wk__attr attr = wk__threshold_attr((wk__threshold_attributes){.threshold = limit, .value = value});
    return how(&wk__op_threshold, site, x, 2, &attr);
}

wk_tensor *wk_threshold_at(wk_site site, wk_tensor *x, double limit, double value)
{
    return threshold(wk__unary_with_params, site, x, limit, value);
}

wk_tensor *wk_threshold__at(wk_site site, wk_tensor *x, double limit, double value)
{
    return threshold(wk__unary_with_params_, site, x, limit, value);
}

static void threshold_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_where(wk_le(wk__saved(g, 0), wk__threshold_attributes_of(g->attr).threshold), 0, g->out[0]);
}

const wk__op wk__op_threshold = {
    .expression = threshold_expression,
    .saturate_scalars = true,
    .own_dtype_operands = 6,
    .gradient = threshold_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_threshold,
};

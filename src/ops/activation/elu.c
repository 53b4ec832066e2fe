/* SPDX-License-Identifier: Apache-2.0 */
/* elu, selu and celu: exponential below 0. */
#include "ops/core/entries.h"

/* alpha and lambda of self-normalising networks (Klambauer et al. 2017), to double precision. */
static const double SELU_ALPHA = 1.6732632423543772, SELU_SCALE = 1.0507009873554805;

/* The slope below 0 is scale e^(x / width), computed from x. elu + alpha is equal, but cancels where elu is close to
 * -alpha. For x >= 0 the exponent is replaced by 0, a constant, which cannot overflow and has derivative 0, as in
 * PyTorch. */
static wk_tensor *slope(const wk__grad_ctx *g, wk_tensor *above, double scale, double width)
{
    wk_tensor *x = wk__saved(g, 0), *exponent = wk_where(wk_lt(x, 0), x, 0);
    if (width != 1) exponent = wk_div(exponent, width);
    wk_tensor *below = wk_mul(g->out[0], wk_mul(wk_exp(exponent), scale));
    return wk_where(wk_le(x, 0), below, above);
}

/* ---- elu(x, alpha) ----------------------------------------------------------------------------------------------- */

static int elu_expression(wk__emit *e, const int in[])
{
    int negative = wk__emit_compare(e, WK__LE, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, negative, wk__emit_binary(e, WK__MUL, wk__emit_unary(e, WK__EXPM1, in[0]), in[1]), in[0]);
}

static wk_tensor *elu(wk__unary_params_fn *how, wk_site site, wk_tensor *x, const wk_elu_options *options)
{
    wk_elu_options o;
    if (!wk__read_elu_options(site, "elu", options, &o)) return NULL;
    const wk__attr attr = wk__elu_attr((wk__elu_attributes){.alpha = o.alpha});
    return how(&wk__op_elu, site, x, 1, &attr);
}

wk_tensor *wk_elu_at(wk_site site, wk_tensor *x, const wk_elu_options *options)
{
    return elu(wk__unary_with_params, site, x, options);
}

wk_tensor *wk_elu__at(wk_site site, wk_tensor *x, const wk_elu_options *options)
{
    return elu(wk__unary_with_params_, site, x, options);
}

static void elu_gradient(wk__grad_ctx *g)
{
    g->in[0] = slope(g, g->out[0], wk__elu_attributes_of(g->attr).alpha, 1);
}

const wk__op wk__op_elu = {
    .expression = elu_expression,
    .own_dtype_operands = 2,
    .gradient = elu_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_elu,
};

/* ---- selu -------------------------------------------------------------------------------------------------------- */

static int selu_expression(wk__emit *e, const int in[])
{
    int negative = wk__emit_compare(e, WK__LE, in[0], wk__emit_constant(e, 0));
    int below =
        wk__emit_binary(e, WK__MUL, wk__emit_unary(e, WK__EXPM1, in[0]), wk__emit_constant(e, SELU_SCALE * SELU_ALPHA));
    return wk__emit_where(e, negative, below, wk__emit_binary(e, WK__MUL, in[0], wk__emit_constant(e, SELU_SCALE)));
}

static void selu_gradient(wk__grad_ctx *g)
{
    g->in[0] = slope(g, wk_mul(g->out[0], SELU_SCALE), SELU_SCALE * SELU_ALPHA, 1);
}

const wk__op wk__op_selu = {
    .expression = selu_expression,
    .gradient = selu_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_selu,
};

/* ---- celu(x, alpha) ---------------------------------------------------------------------------------------------- */

static int celu_expression(wk__emit *e, const int in[])
{
    int negative = wk__emit_compare(e, WK__LE, in[0], wk__emit_constant(e, 0));
    int below = wk__emit_unary(e, WK__EXPM1, wk__emit_binary(e, WK__DIV, in[0], in[1]));
    return wk__emit_where(e, negative, wk__emit_binary(e, WK__MUL, below, in[1]), in[0]);
}

static wk_tensor *celu(wk__unary_params_fn *how, wk_site site, wk_tensor *x, const wk_celu_options *options)
{
    wk_celu_options o;
    if (!wk__read_celu_options(site, "celu", options, &o)) return NULL;
    const wk__attr attr = wk__celu_attr((wk__celu_attributes){.alpha = o.alpha});
    if (o.alpha != 0) return how(&wk__op_celu, site, x, 1, &attr);
    wk__error_set(site, WK_ERR_ARGUMENT, "celu: .alpha must not be 0");
    return NULL;
}

wk_tensor *wk_celu_at(wk_site site, wk_tensor *x, const wk_celu_options *options)
{
    return celu(wk__unary_with_params, site, x, options);
}

wk_tensor *wk_celu__at(wk_site site, wk_tensor *x, const wk_celu_options *options)
{
    return celu(wk__unary_with_params_, site, x, options);
}

static void celu_gradient(wk__grad_ctx *g)
{
    g->in[0] = slope(g, g->out[0], 1, wk__celu_attributes_of(g->attr).alpha);
}

const wk__op wk__op_celu = {
    .expression = celu_expression,
    .own_dtype_operands = 2,
    .gradient = celu_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_celu,
};

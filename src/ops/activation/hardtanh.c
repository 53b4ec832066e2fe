/* SPDX-License-Identifier: Apache-2.0 */
/* hardtanh, relu6, hardsigmoid, hardswish: linear between two limits. */
#include "ops/core/entries.h"

/* Returns the gradient of x between two limits: 0 at a limit and beyond it. NaN is neither. */
static wk_tensor *between(wk_tensor *x, double low, double high, wk_tensor *grad)
{
    return wk_where(wk_logical_or(wk_le(x, low), wk_ge(x, high)), 0, grad);
}

static int emit_limited(wk__emit *e, int x, int low, int high)
{
    return wk__emit_binary(e, WK__MIN, wk__emit_binary(e, WK__MAX, x, low), high);
}

/* ---- hardtanh(x, min_val, max_val) ------------------------------------------------------------------------------- */

static int hardtanh_expression(wk__emit *e, const int in[])
{
    return emit_limited(e, in[0], in[1], in[2]);
}

static wk_tensor *hardtanh(wk__unary_params_fn *how, wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    wk_hardtanh_options o;
    if (!wk__read_hardtanh_options(site, "hardtanh", options, &o)) return NULL;
    const wk__attr attr = wk__hardtanh_attr((wk__hardtanh_attributes){.min_val = o.min_val, .max_val = o.max_val});
    if (!(o.min_val > o.max_val)) return how(&wk__op_hardtanh, site, x, 2, &attr);
    wk__error_set(site, WK_ERR_ARGUMENT, "hardtanh: min_val %g must not exceed max_val %g", o.min_val, o.max_val);
    return NULL;
}

wk_tensor *wk_hardtanh_at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    return hardtanh(wk__unary_with_params, site, x, options);
}

wk_tensor *wk_hardtanh__at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    return hardtanh(wk__unary_with_params_, site, x, options);
}

static void hardtanh_gradient(wk__grad_ctx *g)
{
    const wk__hardtanh_attributes a = wk__hardtanh_attributes_of(g->attr);
    g->in[0] = between(wk__saved(g, 0), a.min_val, a.max_val, g->out[0]);
}

const wk__op wk__op_hardtanh = {
    .expression = hardtanh_expression,
    .saturate_scalars = true,
    .own_dtype_operands = 6,
    .gradient = hardtanh_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_hardtanh,
};

/* ---- relu6 ------------------------------------------------------------------------------------------------------- */

static int relu6_expression(wk__emit *e, const int in[])
{
    return emit_limited(e, in[0], wk__emit_constant(e, 0), wk__emit_constant(e, 6));
}

static void relu6_gradient(wk__grad_ctx *g)
{
    g->in[0] = between(wk__saved(g, 0), 0, 6, g->out[0]);
}

const wk__op wk__op_relu6 = {
    .expression = relu6_expression,
    .gradient = relu6_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_relu6,
};

/* ---- hardsigmoid ------------------------------------------------------------------------------------------------- */

/* relu6(x + 3) / 6 */
static int emit_hardsigmoid(wk__emit *e, int x)
{
    int six = wk__emit_constant(e, 6);
    return wk__emit_binary(
        e, WK__DIV,
        emit_limited(e, wk__emit_binary(e, WK__ADD, x, wk__emit_constant(e, 3)), wk__emit_constant(e, 0), six), six);
}

static int hardsigmoid_expression(wk__emit *e, const int in[])
{
    return emit_hardsigmoid(e, in[0]);
}

static void hardsigmoid_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *inside = wk_logical_and(wk_gt(x, -3), wk_lt(x, 3)); /* not NaN, as in PyTorch */
    g->in[0] = wk_where(inside, wk_div(g->out[0], 6), 0);
}

const wk__op wk__op_hardsigmoid = {
    .expression = hardsigmoid_expression,
    .gradient = hardsigmoid_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_hardsigmoid,
};

/* ---- hardswish --------------------------------------------------------------------------------------------------- */

static int hardswish_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], emit_hardsigmoid(e, in[0]));
}

static void hardswish_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *middle = wk_mul(g->out[0], wk_add(wk_div(x, 3), 0.5));
    g->in[0] = wk_where(wk_le(x, -3), 0, wk_where(wk_lt(x, 3), middle, g->out[0]));
}

const wk__op wk__op_hardswish = {
    .expression = hardswish_expression,
    .gradient = hardswish_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_hardswish,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* hardtanh, relu6, hardsigmoid, hardswish: straight lines between two limits. */
#include "forms.h"

/* The gradient of x between two limits: 0 at a limit and past it. NaN is neither. */
static wk_tensor *between(wk_tensor *x, double low, double high, wk_tensor *grad)
{
    return wk_where(wk_logical_or(wk_le(x, low), wk_ge(x, high)), 0, grad);
}

static int emit_limited(wk__emit *e, int x, int low, int high)
{
    return wk__emit_2(e, WK__MIN, wk__emit_2(e, WK__MAX, x, low), high);
}

/* ---- hardtanh(x, min_val, max_val): in attr->f[0] and [1] -------------------------------------------------------- */

static int hardtanh_expression(wk__emit *e, const int in[])
{
    return emit_limited(e, in[0], in[1], in[2]);
}

static wk_tensor *in_order(wk__numbered *how, wk_site site, wk_tensor *x, const double limit[2])
{
    if (!(limit[0] > limit[1])) return how(&wk__op_hardtanh, site, x, 2, limit);
    wk__error_set(site, WK_ERR_ARGUMENT, "hardtanh: min_val, %g, is greater than max_val, %g", limit[0], limit[1]);
    return NULL;
}

static wk_tensor *hardtanh(wk__numbered *how, wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    wk_hardtanh_options o;
    if (!wk__options(site, "hardtanh", options, &o)) return NULL;
    return in_order(how, site, x, (double[]){wk__option(o.min_val, -1), wk__option(o.max_val, 1)});
}

wk_tensor *wk_hardtanh_at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    return hardtanh(wk__with_numbers, site, x, options);
}

wk_tensor *wk_hardtanh__at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options)
{
    return hardtanh(wk__with_numbers_, site, x, options);
}

static void hardtanh_gradient(wk__gradient *g)
{
    g->in[0] = between(wk__saved(g, 0), g->attr->f[0], g->attr->f[1], g->out[0]);
}

static int hardtanh_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    double limit[2] = {wk__value_float(&args[1], -1), wk__value_float(&args[2], 1)};
    (void)op;
    return wk__one(out, in_order(wk__with_numbers, site, wk__value_tensor(&args[0]), limit));
}

const wk__op wk__op_hardtanh = {
    .name = "hardtanh",
    .schema = "hardtanh(Tensor self, float min_val=-1, float max_val=1) -> Tensor",
    .group = "activation",
    .node = "HardtanhBackward0",
    .doc = "x between the limits; the gradient at a limit is 0",
    .expression = hardtanh_expression,
    .arity = 3,
    .limits = true,
    .conditions = 6,
    .domain = WK__NUMBERS,
    .gradient = hardtanh_gradient,
    .needs = {WK__SAVE_0},
    .invoke = hardtanh_invoke,
};

/* ---- relu6 ------------------------------------------------------------------------------------------------------- */

static int relu6_expression(wk__emit *e, const int in[])
{
    return emit_limited(e, in[0], wk__emit_constant(e, 0), wk__emit_constant(e, 6));
}

static void relu6_gradient(wk__gradient *g)
{
    g->in[0] = between(wk__saved(g, 0), 0, 6, g->out[0]);
}

const wk__op wk__op_relu6 = {
    .name = "relu6",
    .schema = "relu6(Tensor self) -> Tensor",
    .group = "activation",
    .node = "HardtanhBackward0",
    .doc = "min(max(x, 0), 6)",
    .expression = relu6_expression,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = relu6_gradient,
    .needs = {WK__SAVE_0},
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM relu6
#include "unary.inc"

/* ---- hardsigmoid ------------------------------------------------------------------------------------------------- */

/* relu6(x + 3) / 6 */
static int emit_hardsigmoid(wk__emit *e, int x)
{
    int six = wk__emit_constant(e, 6);
    return wk__emit_2(e, WK__DIV,
                      emit_limited(e, wk__emit_2(e, WK__ADD, x, wk__emit_constant(e, 3)), wk__emit_constant(e, 0), six),
                      six);
}

static int hardsigmoid_expression(wk__emit *e, const int in[])
{
    return emit_hardsigmoid(e, in[0]);
}

static void hardsigmoid_gradient(wk__gradient *g)
{
    wk_tensor *x = wk__saved(g, 0), *inside = wk_logical_and(wk_gt(x, -3), wk_lt(x, 3)); /* NaN isn't, as in PyTorch */
    g->in[0] = wk_where(inside, wk_div(g->out[0], 6), 0);
}

const wk__op wk__op_hardsigmoid = {
    .name = "hardsigmoid",
    .schema = "hardsigmoid(Tensor self) -> Tensor",
    .group = "activation",
    .node = "HardsigmoidBackward0",
    .doc = "relu6(x + 3) / 6",
    .expression = hardsigmoid_expression,
    .arity = 1,
    .domain = WK__FLOATS,
    .gradient = hardsigmoid_gradient,
    .needs = {WK__SAVE_0},
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM hardsigmoid
#include "unary.inc"

/* ---- hardswish --------------------------------------------------------------------------------------------------- */

static int hardswish_expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__MUL, in[0], emit_hardsigmoid(e, in[0]));
}

static void hardswish_gradient(wk__gradient *g)
{
    wk_tensor *x = wk__saved(g, 0), *middle = wk_mul(g->out[0], wk_add(wk_div(x, 3), 0.5));
    g->in[0] = wk_where(wk_le(x, -3), 0, wk_where(wk_lt(x, 3), middle, g->out[0]));
}

const wk__op wk__op_hardswish = {
    .name = "hardswish",
    .schema = "hardswish(Tensor self) -> Tensor",
    .group = "activation",
    .node = "HardswishBackward0",
    .doc = "x relu6(x + 3) / 6",
    .expression = hardswish_expression,
    .arity = 1,
    .domain = WK__FLOATS,
    .gradient = hardswish_gradient,
    .needs = {WK__SAVE_0},
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM hardswish
#include "unary.inc"

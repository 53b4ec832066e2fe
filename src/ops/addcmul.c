/* SPDX-License-Identifier: Apache-2.0 */
/* addcmul and addcdiv: x + value a b, x + value a / b. The value stands in attr->f[0]. */
#include "forms.h"
#include <math.h>

typedef wk_tensor *record(const wk__op *op, wk_site site, const wk__arg *args, int count, const wk__attr *attr);

static wk_tensor *call(record *how, const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                       double value)
{
    bool whole = trunc(value) == value && fabs(value) < 0x1p53; /* integers stay integers */
    wk__arg args[4] = {wk__t(x), wk__t(a), wk__t(b), whole ? wk__i((int64_t)value) : wk__f(value)};
    wk__attr attr = {.f = {value}};
    return how(op, site, args, 4, &attr);
}

static wk_tensor *with(record *how, const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                       const wk_addc_options *options)
{
    wk_addc_options o;
    return wk__options(site, op->name, options, &o) ? call(how, op, site, x, a, b, wk__option(o.value, 1)) : NULL;
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    return wk__one(out, call(wk__elementwise_attr, op, site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                             wk__value_tensor(&args[2]), wk__value_float(&args[3], 1)));
}

/* ---- addcmul ----------------------------------------------------------------------------------------------------- */

static int mul_expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__ADD, in[0], wk__emit_2(e, WK__MUL, wk__emit_2(e, WK__MUL, in[3], in[1]), in[2]));
}

wk_tensor *wk_addcmul_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return with(wk__elementwise_attr, &wk__op_addcmul, site, x, a, b, options);
}

wk_tensor *wk_addcmul__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return with(wk__elementwise_attr_, &wk__op_addcmul, site, x, a, b, options);
}

static void mul_gradient(wk__gradient *g)
{
    if (wk__wants(g, 0)) g->in[0] = g->out[0];
    if (wk__wants(g, 1)) g->in[1] = wk_mul(g->out[0], wk_mul(wk__saved(g, 2), g->attr->f[0]));
    if (wk__wants(g, 2)) g->in[2] = wk_mul(g->out[0], wk_mul(wk__saved(g, 1), g->attr->f[0]));
}

const wk__op wk__op_addcmul = {
    .name = "addcmul",
    .schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",
    .group = "pointwise",
    .node = "AddcmulBackward0",
    .doc = "x + value a b",
    .expression = mul_expression,
    .arity = 4,
    .domain = WK__NUMBERS,
    .gradient = mul_gradient,
    .needs = {0, WK__SAVE_2, WK__SAVE_1},
    .invoke = invoke,
};

/* ---- addcdiv ----------------------------------------------------------------------------------------------------- */

static int div_expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__ADD, in[0], wk__emit_2(e, WK__DIV, wk__emit_2(e, WK__MUL, in[3], in[1]), in[2]));
}

wk_tensor *wk_addcdiv_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return with(wk__elementwise_attr, &wk__op_addcdiv, site, x, a, b, options);
}

wk_tensor *wk_addcdiv__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return with(wk__elementwise_attr_, &wk__op_addcdiv, site, x, a, b, options);
}

static void div_gradient(wk__gradient *g)
{
    if (wk__wants(g, 0)) g->in[0] = g->out[0];
    if (wk__wants(g, 1)) g->in[1] = wk_mul(g->out[0], wk_div(g->attr->f[0], wk__saved(g, 2)));
    if (!wk__wants(g, 2)) return;
    wk_tensor *divisor = wk__saved(g, 2), *slope = wk_div(wk_mul(wk__saved(g, 1), g->attr->f[0]), wk_square(divisor));
    g->in[2] = wk_neg(wk_mul(g->out[0], slope));
}

const wk__op wk__op_addcdiv = {
    .name = "addcdiv",
    .schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",
    .group = "pointwise",
    .node = "AddcdivBackward0",
    .doc = "x + value a / b",
    .expression = div_expression,
    .arity = 4,
    .domain = WK__FLOATS,
    .gradient = div_gradient,
    .needs = {0, WK__SAVE_2, WK__SAVE_1 | WK__SAVE_2},
    .invoke = invoke,
};

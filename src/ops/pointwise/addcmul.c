/* SPDX-License-Identifier: Apache-2.0 */
/* addcmul and addcdiv: x + value a b, x + value a / b. */
#include "ops/core/entries.h"
#include <math.h>

static wk_tensor *call_with_options(wk__elementwise_fn *how, const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *a,
                                    wk_tensor *b, const wk_addc_options *options)
{
    wk_addc_options o;
    if (!wk__read_addc_options(site, op->name, options, &o)) return NULL;
    bool whole = trunc(o.value) == o.value && fabs(o.value) < 0x1p63; /* keeps integer operands integers */
    wk__arg args[4] = {wk__tensor_arg(x), wk__tensor_arg(a), wk__tensor_arg(b),
                       whole ? wk__int_arg((int64_t)o.value) : wk__float_arg(o.value)};
    const wk__attr attr = wk__addcmul_attr((wk__addcmul_attributes){.value = o.value});
    return how(op, site, args, 4, &attr);
}

/* ---- addcmul ----------------------------------------------------------------------------------------------------- */

static int mul_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, in[0],
                           wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__MUL, in[3], in[1]), in[2]));
}

wk_tensor *wk_addcmul_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return call_with_options(wk__elementwise, &wk__op_addcmul, site, x, a, b, options);
}

wk_tensor *wk_addcmul__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return call_with_options(wk__elementwise_, &wk__op_addcmul, site, x, a, b, options);
}

static void mul_gradient(wk__grad_ctx *g)
{
    const double value = wk__addcmul_attributes_of(g->attr).value;
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(g->out[0], wk_mul(wk__saved(g, 2), value));
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk_mul(g->out[0], wk_mul(wk__saved(g, 1), value));
}

const wk__op wk__op_addcmul = {
    .expression = mul_expression,
    .gradient = mul_gradient,
    .saves = {0, WK__SAVE_2, WK__SAVE_1},
    WK__SIGNATURE_addcmul,
};

/* ---- addcdiv ----------------------------------------------------------------------------------------------------- */

static int div_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, in[0],
                           wk__emit_binary(e, WK__DIV, wk__emit_binary(e, WK__MUL, in[3], in[1]), in[2]));
}

wk_tensor *wk_addcdiv_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return call_with_options(wk__elementwise, &wk__op_addcdiv, site, x, a, b, options);
}

wk_tensor *wk_addcdiv__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options)
{
    return call_with_options(wk__elementwise_, &wk__op_addcdiv, site, x, a, b, options);
}

static void div_gradient(wk__grad_ctx *g)
{
    const double value = wk__addcmul_attributes_of(g->attr).value;
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(g->out[0], wk_div(value, wk__saved(g, 2)));
    if (!wk__needs_input_grad(g, 2)) return;
    wk_tensor *divisor = wk__saved(g, 2), *slope = wk_div(wk_mul(wk__saved(g, 1), value), wk_square(divisor));
    g->in[2] = wk_neg(wk_mul(g->out[0], slope));
}

const wk__op wk__op_addcdiv = {
    .expression = div_expression,
    .gradient = div_gradient,
    .saves = {0, WK__SAVE_2, WK__SAVE_1 | WK__SAVE_2},
    WK__SIGNATURE_addcdiv,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* lerp: a + weight (b - a). */
#include "ops/core/entries.h"

/* Computed from the nearer end, so that weight 1 returns b exactly. */
static int expression(wk__emit *e, const int in[])
{
    int way = wk__emit_binary(e, WK__SUB, in[1], in[0]);
    int from_a = wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, in[2], way));
    int rest = wk__emit_binary(e, WK__SUB, wk__emit_constant(e, 1), in[2]);
    int from_b = wk__emit_binary(e, WK__SUB, in[1], wk__emit_binary(e, WK__MUL, way, rest));
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, in[2], wk__emit_constant(e, 0.5)), from_a, from_b);
}

/* Fills in the operands; a scalar weight is stored for the gradient. */
static void prepare(wk_tensor *a, wk_tensor *b, wk_value weight, wk__arg args[3], wk__attr *attr)
{
    args[0] = wk__tensor_arg(a);
    args[1] = wk__tensor_arg(b);
    args[2] = wk__value_arg(&weight);
    if (args[2].tensor) return;
    const double number = args[2].is_int ? (double)args[2].number.i : args[2].number.f;
    *attr = wk__lerp_attr((wk__lerp_attributes){.is_number = true, .weight = number});
}

wk_tensor *wk_lerp_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight)
{
    wk__arg args[3];
    wk__attr attr = {.count = 0};
    prepare(a, b, weight, args, &attr);
    return wk__elementwise(&wk__op_lerp, site, args, 3, &attr);
}

wk_tensor *wk_lerp__at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight)
{
    wk__arg args[3];
    wk__attr attr = {.count = 0};
    prepare(a, b, weight, args, &attr);
    return wk__elementwise_(&wk__op_lerp, site, args, 3, &attr);
}

static wk__arg weight_of(const wk__grad_ctx *g)
{
    const wk__lerp_attributes a = wk__lerp_attributes_of(g->attr);
    return a.is_number ? wk__float_arg(a.weight) : wk__tensor_arg(wk__saved(g, 2));
}

static void gradient(wk__grad_ctx *g)
{
    wk_site here = {0};
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk__elementwise(&wk__op_mul, here, (wk__arg[]){wk__tensor_arg(g->out[0]), weight_of(g)}, 2, NULL);
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk_mul(g->out[0], wk_sub(wk__saved(g, 1), wk__saved(g, 0)));
    if (!wk__needs_input_grad(g, 0)) return;
    wk__arg weight = weight_of(g),
            rest = weight.tensor ? wk__tensor_arg(wk_sub(1, weight.tensor)) : wk__float_arg(1 - weight.number.f);
    g->in[0] = wk__elementwise(&wk__op_mul, here, (wk__arg[]){wk__tensor_arg(g->out[0]), rest}, 2, NULL);
}

const wk__op wk__op_lerp = {
    .expression = expression,
    .gradient = gradient,
    .saves = {WK__SAVE_2, WK__SAVE_2, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_lerp,
};

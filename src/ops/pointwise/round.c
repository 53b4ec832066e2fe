/* SPDX-License-Identifier: Apache-2.0 */
/* floor, ceil, round, trunc; round also to decimal places. Integers stay unchanged. */
#include "ops/core/entries.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__is_float(e->dtype) ? wk__single_instruction(e, in) : in[0];
}

const wk__op wk__op_floor = {
    .expression = expression,
    .instruction = WK__FLOOR,
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_floor,
};

const wk__op wk__op_ceil = {
    .expression = expression,
    .instruction = WK__CEIL,
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_ceil,
};

const wk__op wk__op_trunc = {
    .expression = expression,
    .instruction = WK__TRUNC,
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_trunc,
};

/* ---- round ------------------------------------------------------------------------------------------------------- */

/* in: x, 10^decimals */
static int to_places(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__DIV, wk__emit_unary(e, WK__ROUND, wk__emit_binary(e, WK__MUL, in[0], in[1])), in[1]);
}
/* in: x, 10^-decimals */
static int to_tens(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, wk__emit_unary(e, WK__ROUND, wk__emit_binary(e, WK__DIV, in[0], in[1])), in[1]);
}

#define DECIMALS                                                                                                       \
    .name = "round", .grad_fn_name = "RoundBackward1", .arity = 2, .own_dtype_operands = 2, .dtypes = WK__FLOATS,      \
    .gradient = wk__zero_gradient
static const wk__op places_op = {.expression = to_places, DECIMALS};
static const wk__op tens_op = {.expression = to_tens, DECIMALS};

static wk_tensor *rounded(bool in_place, wk_site site, wk_tensor *x, const wk_round_options *options)
{
    wk_round_options o;
    if (!wk__options(site, "round", options, &o)) return NULL;
    const wk__attr attr = wk__round_attr((wk__round_attributes){.scale = pow(10, fabs((double)o.decimals))});
    const wk__op *op = o.decimals < 0 ? &tens_op : &places_op;
    if (o.decimals == 0) return in_place ? wk__unary_(&wk__op_round, site, x) : wk__unary(&wk__op_round, site, x);
    return in_place ? wk__unary_with_params_(op, site, x, 1, &attr) : wk__unary_with_params(op, site, x, 1, &attr);
}

wk_tensor *wk_round_at(wk_site site, wk_tensor *x, const wk_round_options *options)
{
    return rounded(false, site, x, options);
}
wk_tensor *wk_round__at(wk_site site, wk_tensor *x, const wk_round_options *options)
{
    return rounded(true, site, x, options);
}

const wk__op wk__op_round = {
    .expression = expression,
    .instruction = WK__ROUND,
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_round,
};

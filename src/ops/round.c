/* SPDX-License-Identifier: Apache-2.0 */
/* floor, ceil, round, trunc: to whole numbers, round also to decimal places. Integers are whole already. */
#include "forms.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__is_float(e->dtype) ? wk__instruction(e, in) : in[0];
}

#define WHOLE     .group = "pointwise", .domain = WK__NUMBERS, .gradient = wk__gradient_zero
#define WHOLE_ROW .expression = expression, .arity = 1, .invoke = wk__invoke_pointwise, WHOLE

const wk__op wk__op_floor = {
    .name = "floor",
    .schema = "floor(Tensor self) -> Tensor",
    .node = "FloorBackward0",
    .doc = "rounded down",
    .instruction = WK__FLOOR,
    WHOLE_ROW,
};

#define WK__FORM floor
#include "unary.inc"

const wk__op wk__op_ceil = {
    .name = "ceil",
    .schema = "ceil(Tensor self) -> Tensor",
    .node = "CeilBackward0",
    .doc = "rounded up",
    .instruction = WK__CEIL,
    WHOLE_ROW,
};

#define WK__FORM ceil
#include "unary.inc"

const wk__op wk__op_trunc = {
    .name = "trunc",
    .schema = "trunc(Tensor self) -> Tensor",
    .node = "TruncBackward0",
    .doc = "rounded towards 0",
    .instruction = WK__TRUNC,
    WHOLE_ROW,
};

#define WK__FORM trunc
#include "unary.inc"

/* ---- round ------------------------------------------------------------------------------------------------------- */

/* in: x, 10^decimals */
static int to_places(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__DIV, wk__emit_1(e, WK__ROUND, wk__emit_2(e, WK__MUL, in[0], in[1])), in[1]);
}
/* in: x, 10^-decimals */
static int to_tens(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__MUL, wk__emit_1(e, WK__ROUND, wk__emit_2(e, WK__DIV, in[0], in[1])), in[1]);
}

#define DECIMALS                                                                                                       \
    .name = "round", .node = "RoundBackward1", .arity = 2, .conditions = 2, .domain = WK__FLOATS,                      \
    .gradient = wk__gradient_zero
static const wk__op places_op = {.expression = to_places, DECIMALS};
static const wk__op tens_op = {.expression = to_tens, DECIMALS};

static wk_tensor *rounded(bool in_place, wk_site site, wk_tensor *x, const wk_round_options *options)
{
    wk_round_options o;
    if (!wk__options(site, "round", options, &o)) return NULL;
    const double scale = pow(10, fabs((double)o.decimals));
    const wk__op *op = o.decimals < 0 ? &tens_op : &places_op;
    if (o.decimals == 0) return in_place ? wk__unary_(&wk__op_round, site, x) : wk__unary(&wk__op_round, site, x);
    return in_place ? wk__with_numbers_(op, site, x, 1, &scale) : wk__with_numbers(op, site, x, 1, &scale);
}

wk_tensor *wk_round_at(wk_site site, wk_tensor *x, const wk_round_options *options)
{
    return rounded(false, site, x, options);
}
wk_tensor *wk_round__at(wk_site site, wk_tensor *x, const wk_round_options *options)
{
    return rounded(true, site, x, options);
}
wk_tensor *(wk_round)(wk_tensor *x)
{
    return wk_round_at((wk_site){0}, x, NULL);
}
wk_tensor *(wk_round_)(wk_tensor *x)
{
    return wk_round__at((wk_site){0}, x, NULL);
}

static int round_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_round_options options = {.size = sizeof options, .decimals = wk__value_int(&args[1], 0)};
    return wk__one(out, rounded(false, site, wk__value_tensor(&args[0]), &options));
}

const wk__op wk__op_round = {
    .name = "round",
    .schema = "round(Tensor self, *, int decimals=0) -> Tensor",
    .node = "RoundBackward0",
    .doc = "to the nearest whole number, or one with this many decimals; half to even",
    .expression = expression,
    .instruction = WK__ROUND,
    .arity = 1,
    .invoke = round_invoke,
    WHOLE,
};

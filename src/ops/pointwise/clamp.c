/* SPDX-License-Identifier: Apache-2.0 */
/* clamp: limits x by two scalars or tensors, either of which may be missing. */
#include "ops/core/entries.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MIN, wk__emit_binary(e, WK__MAX, in[0], in[1]), in[2]);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Returns the largest or smallest value of a class that does not promote the operands, for a missing limit. */
static wk__arg no_limit(wk_tensor *x, wk__arg other, bool above)
{
    wk_dtype dtype = wk__is_tensor(x) ? wk__body_of(x)->dtype : WK_F32;
    if (wk__is_tensor(other.tensor)) dtype = wk__promote_types(dtype, wk__body_of(other.tensor)->dtype);
    if (wk__is_float(dtype) || !(other.tensor || other.is_int)) return wk__float_arg(above ? INFINITY : -INFINITY);
    if (dtype == WK_I64) return wk__int_arg(above ? INT64_MAX : INT64_MIN);
    return wk__int_arg(above ? INT32_MAX : INT32_MIN);
}

static double number_of(wk__arg limit)
{
    return limit.tensor ? 0 : limit.is_int ? (double)limit.number.i : limit.number.f;
}

/* Stores scalar limits for the gradient; a missing limit counts as a scalar. */
static wk__attr limit_attributes(wk__arg low, wk__arg high, bool lower, bool upper)
{
    return wk__clamp_attr((wk__clamp_attributes){.low_is_number = !low.tensor,
                                                 .high_is_number = !high.tensor,
                                                 .no_low = !lower,
                                                 .no_high = !upper,
                                                 .low = number_of(low),
                                                 .high = number_of(high)});
}

/* The op that one call records, and its operands. */
typedef struct clamp_call {
    const wk__op *op;
    wk__arg arg[3];
    int count;
    wk__attr attr;
} clamp_call;

/* Clamping of bool. With one limit, of bool, it is the maximum or minimum of the two: a missing limit has no bool
 * value. */
static const wk__op larger = {
    .name = "clamp", .expression = wk__single_instruction, .instruction = WK__MAX, .arity = 2, .dtypes = WK__BOOLS};
static const wk__op smaller = {
    .name = "clamp", .expression = wk__single_instruction, .instruction = WK__MIN, .arity = 2, .dtypes = WK__BOOLS};

static bool is_bool(const wk_tensor *x)
{
    return wk__is_tensor(x) && wk__body_of(x)->dtype == WK_BOOL;
}

static bool prepare(wk_site site, wk_tensor *x, wk_value low, wk_value high, clamp_call *c)
{
    const bool lower = low.kind != WK_VALUE_NONE, upper = high.kind != WK_VALUE_NONE;
    if (!lower && !upper) {
        wk__error_set(site, WK_ERR_ARGUMENT, "clamp: low and high are both missing; pass at least one");
        return false;
    }
    *c = (clamp_call){.op = &wk__op_clamp, .arg = {wk__tensor_arg(x)}, .count = 3};
    c->arg[1] = lower ? wk__value_arg(&low) : no_limit(x, wk__value_arg(&high), false);
    c->arg[2] = upper ? wk__value_arg(&high) : no_limit(x, c->arg[1], true);
    c->attr = limit_attributes(c->arg[1], c->arg[2], lower, upper);
    if (lower != upper && is_bool(x) && is_bool(c->arg[lower ? 1 : 2].tensor)) {
        c->op = lower ? &larger : &smaller;
        c->arg[1] = c->arg[lower ? 1 : 2];
        c->count = 2;
    }
    return true;
}

wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    clamp_call c;
    return prepare(site, x, low, high, &c) ? wk__elementwise(c.op, site, c.arg, c.count, &c.attr) : NULL;
}

wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    clamp_call c;
    return prepare(site, x, low, high, &c) ? wk__elementwise_(c.op, site, c.arg, c.count, &c.attr) : NULL;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* x gets the gradient between the limits, and a limit gets it where x is beyond it. If x equals a tensor limit, each
 * gets half; if it equals a scalar limit, neither gets any. If the limits cross, the upper one applies; if they are
 * equal to each other and to x, x gets all. */

static wk_tensor *compare(const wk__op *op, wk__arg a, wk__arg b)
{
    return wk__elementwise(op, (wk_site){0}, (wk__arg[]){a, b}, 2, NULL);
}

/* Returns half of the gradient at a tie, and all of it where `whole` is set. */
static wk_tensor *split_at_tie(const wk__grad_ctx *g, wk_tensor *tie, wk_tensor *whole)
{
    return wk_where(tie, wk_mul(g->out[0], 0.5), wk_where(whole, g->out[0], 0));
}

static void scalar_limits_gradient(wk__grad_ctx *g, wk__arg x, wk__arg low, wk__arg high)
{
    const wk__clamp_attributes a = wk__clamp_attributes_of(g->attr);
    wk_tensor *above = a.no_low ? NULL : compare(&wk__op_gt, x, low),
              *below = a.no_high ? NULL : compare(&wk__op_lt, x, high);
    g->in[0] = wk_where(above && below ? wk_logical_and(above, below) : above ? above : below, g->out[0], 0);
}

/* Gradient with one limit, operand k. `past` compares true where x exceeds the limit, `before` on the other side. NaN
 * is neither, so both operands get the full gradient. */
static void one_limit_gradient(wk__grad_ctx *g, int k, wk__arg x, wk__arg at)
{
    const wk__op *past = k == 1 ? &wk__op_lt : &wk__op_gt, *before = k == 1 ? &wk__op_gt : &wk__op_lt;
    wk_tensor *tie = compare(&wk__op_eq, x, at);
    if (wk__needs_input_grad(g, 0)) g->in[0] = split_at_tie(g, tie, wk_logical_not(compare(past, x, at)));
    if (wk__needs_input_grad(g, k)) g->in[k] = split_at_tie(g, tie, wk_logical_not(compare(before, x, at)));
}

static void two_limits_gradient(wk__grad_ctx *g, wk__arg x, wk__arg low, wk__arg high)
{
    wk_tensor *apart = compare(&wk__op_lt, low, high), *in_order = compare(&wk__op_le, low, high);
    wk_tensor *below = compare(&wk__op_lt, x, low), *above = compare(&wk__op_gt, x, high);
    wk_tensor *ties[] = {wk_logical_and(compare(&wk__op_eq, x, low), apart),
                         wk_logical_and(compare(&wk__op_eq, x, high), apart)};
    if (wk__needs_input_grad(g, 0))
        g->in[0] = split_at_tie(g, wk_logical_or(ties[0], ties[1]), wk_logical_not(wk_logical_or(below, above)));
    if (wk__needs_input_grad(g, 1)) g->in[1] = split_at_tie(g, ties[0], wk_logical_and(below, in_order));
    if (!wk__needs_input_grad(g, 2)) return;
    wk_tensor *crossed = compare(&wk__op_gt, low, high);
    g->in[2] = split_at_tie(g, ties[1], wk_logical_or(wk_logical_and(above, in_order), crossed));
}

static void gradient(wk__grad_ctx *g)
{
    const wk__clamp_attributes a = wk__clamp_attributes_of(g->attr);
    const wk__arg x = wk__tensor_arg(wk__saved(g, 0)),
                  low = a.low_is_number ? wk__float_arg(a.low) : wk__tensor_arg(wk__saved(g, 1)),
                  high = a.high_is_number ? wk__float_arg(a.high) : wk__tensor_arg(wk__saved(g, 2));
    if (a.low_is_number && a.high_is_number)
        scalar_limits_gradient(g, x, low, high);
    else if (a.no_low || a.no_high)
        one_limit_gradient(g, a.no_low ? 2 : 1, x, a.no_low ? high : low);
    else
        two_limits_gradient(g, x, low, high);
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_clamp = {
    .expression = expression,
    .saturate_scalars = true,
    .gradient = gradient,
    .saves = {ALL, ALL, ALL},
    WK__SIGNATURE_clamp,
};

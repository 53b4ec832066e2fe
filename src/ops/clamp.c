/* SPDX-License-Identifier: Apache-2.0 */
/* clamp: between two limits, numbers or tensors, either of which may be missing. */
#include "forms.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__MIN, wk__emit_2(e, WK__MAX, in[0], in[1]), in[2]);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* A missing limit is one that nothing is past, of a class that widens nothing. */
static wk__arg unlimited(wk_tensor *x, wk__arg other, bool above)
{
    wk_dtype dtype = wk__is_tensor(x) ? wk__body_of(x)->dtype : WK_F32;
    if (wk__is_tensor(other.tensor)) dtype = wk__promote_types(dtype, wk__body_of(other.tensor)->dtype);
    if (wk__is_float(dtype) || !(other.tensor || other.whole)) return wk__f(above ? INFINITY : -INFINITY);
    if (dtype == WK_I64) return wk__i(above ? INT64_MAX : INT64_MIN);
    return wk__i(above ? INT32_MAX : INT32_MIN);
}

static double number_of(wk__arg limit)
{
    return limit.tensor ? 0 : limit.whole ? (double)limit.number.i : limit.number.f;
}

/* Number limits go to the gradient; a missing one counts as a number, too. */
static wk__attr limits_kept(wk__arg low, wk__arg high, bool lower, bool upper)
{
    return wk__clamp_attr((wk__clamp_attributes){.low_is_number = !low.tensor,
                                                 .high_is_number = !high.tensor,
                                                 .no_low = !lower,
                                                 .no_high = !upper,
                                                 .low = number_of(low),
                                                 .high = number_of(high)});
}

typedef struct clamping {
    const wk__op *op;
    wk__arg arg[3];
    int count;
    wk__attr attr;
} clamping;

/* A truth value has no number past it that would leave it one: with one limit, of bool too, it is the larger
 * or smaller of two. */
static const wk__op larger = {
    .name = "clamp", .expression = wk__instruction, .instruction = WK__MAX, .arity = 2, .domain = WK__BOOLS};
static const wk__op smaller = {
    .name = "clamp", .expression = wk__instruction, .instruction = WK__MIN, .arity = 2, .domain = WK__BOOLS};

static bool is_bool(const wk_tensor *x)
{
    return wk__is_tensor(x) && wk__body_of(x)->dtype == WK_BOOL;
}

static bool prepare(wk_site site, wk_tensor *x, wk_value low, wk_value high, clamping *c)
{
    const bool lower = low.kind != WK_VALUE_NONE, upper = high.kind != WK_VALUE_NONE;
    if (!lower && !upper) {
        wk__error_set(site, WK_ERR_ARGUMENT, "clamp: neither limit is given; give the lower or the upper one, or both");
        return false;
    }
    *c = (clamping){.op = &wk__op_clamp, .arg = {wk__t(x)}, .count = 3};
    c->arg[1] = lower ? wk__value_arg(&low) : unlimited(x, wk__value_arg(&high), false);
    c->arg[2] = upper ? wk__value_arg(&high) : unlimited(x, c->arg[1], true);
    c->attr = limits_kept(c->arg[1], c->arg[2], lower, upper);
    if (lower != upper && is_bool(x) && is_bool(c->arg[lower ? 1 : 2].tensor)) {
        c->op = lower ? &larger : &smaller;
        c->arg[1] = c->arg[lower ? 1 : 2];
        c->count = 2;
    }
    return true;
}

wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    clamping c;
    return prepare(site, x, low, high, &c) ? wk__elementwise(c.op, site, c.arg, c.count, &c.attr) : NULL;
}

wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    clamping c;
    return prepare(site, x, low, high, &c) ? wk__elementwise_(c.op, site, c.arg, c.count, &c.attr) : NULL;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- *
 * It goes to x between the limits and to a limit where x is past it. Where x meets a limit that is a tensor, each of
 * the two gets half; at one that is a number nobody gets any. Where the limits cross, the upper one wins; where they
 * meet x there, x has all. */

static wk_tensor *is(const wk__op *op, wk__arg a, wk__arg b)
{
    return wk__elementwise(op, (wk_site){0}, (wk__arg[]){a, b}, 2, NULL);
}

/* Half of the gradient at a tie, all of it where `whole` holds. */
static wk_tensor *share(const wk__gradient *g, wk_tensor *tie, wk_tensor *whole)
{
    return wk_where(tie, wk_mul(g->out[0], 0.5), wk_where(whole, g->out[0], 0));
}

static void between_numbers(wk__gradient *g, wk__arg x, wk__arg low, wk__arg high)
{
    const wk__clamp_attributes a = wk__clamp_attributes_of(g->attr);
    wk_tensor *above = a.no_low ? NULL : is(&wk__op_gt, x, low), *below = a.no_high ? NULL : is(&wk__op_lt, x, high);
    g->in[0] = wk_where(above && below ? wk_logical_and(above, below) : above ? above : below, g->out[0], 0);
}

/* Limit k alone: beyond it x is `past`, on its other side `before`. NaN is neither, and both get all. */
static void at_one(wk__gradient *g, int k, wk__arg x, wk__arg at)
{
    const wk__op *past = k == 1 ? &wk__op_lt : &wk__op_gt, *before = k == 1 ? &wk__op_gt : &wk__op_lt;
    wk_tensor *tie = is(&wk__op_eq, x, at);
    if (wk__wants(g, 0)) g->in[0] = share(g, tie, wk_logical_not(is(past, x, at)));
    if (wk__wants(g, k)) g->in[k] = share(g, tie, wk_logical_not(is(before, x, at)));
}

static void at_both(wk__gradient *g, wk__arg x, wk__arg low, wk__arg high)
{
    wk_tensor *apart = is(&wk__op_lt, low, high), *in_order = is(&wk__op_le, low, high);
    wk_tensor *below = is(&wk__op_lt, x, low), *above = is(&wk__op_gt, x, high);
    wk_tensor *ties[] = {wk_logical_and(is(&wk__op_eq, x, low), apart), wk_logical_and(is(&wk__op_eq, x, high), apart)};
    if (wk__wants(g, 0))
        g->in[0] = share(g, wk_logical_or(ties[0], ties[1]), wk_logical_not(wk_logical_or(below, above)));
    if (wk__wants(g, 1)) g->in[1] = share(g, ties[0], wk_logical_and(below, in_order));
    if (!wk__wants(g, 2)) return;
    wk_tensor *crossed = is(&wk__op_gt, low, high);
    g->in[2] = share(g, ties[1], wk_logical_or(wk_logical_and(above, in_order), crossed));
}

static void gradient(wk__gradient *g)
{
    const wk__clamp_attributes a = wk__clamp_attributes_of(g->attr);
    const wk__arg x = wk__t(wk__saved(g, 0)), low = a.low_is_number ? wk__f(a.low) : wk__t(wk__saved(g, 1)),
                  high = a.high_is_number ? wk__f(a.high) : wk__t(wk__saved(g, 2));
    if (a.low_is_number && a.high_is_number)
        between_numbers(g, x, low, high);
    else if (a.no_low || a.no_high)
        at_one(g, a.no_low ? 2 : 1, x, a.no_low ? high : low);
    else
        at_both(g, x, low, high);
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_clamp = {
    .expression = expression,
    .limits = true,
    .gradient = gradient,
    .needs = {ALL, ALL, ALL},
    WK__SIGNATURE_clamp,
};

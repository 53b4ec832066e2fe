/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/pointwise.h. Section: functions of one tensor: wk_NAME(x), and in place wk_NAME_(x).
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk_NAME_, wk_NAME__at  in place: writes its result into the first operand
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

/* ---- logical_not ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logical_not_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_logical_not, site, x);
}

wk_tensor *(wk_logical_not)(wk_tensor *x)
{
    return wk__unary(&wk__op_logical_not, (wk_site){0}, x);
}

wk_tensor *wk_logical_not__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_logical_not, site, x);
}

wk_tensor *(wk_logical_not_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_logical_not, (wk_site){0}, x);
}

/* ---- bitwise_not ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_bitwise_not_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_bitwise_not, site, x);
}

wk_tensor *(wk_bitwise_not)(wk_tensor *x)
{
    return wk__unary(&wk__op_bitwise_not, (wk_site){0}, x);
}

wk_tensor *wk_bitwise_not__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_bitwise_not, site, x);
}

wk_tensor *(wk_bitwise_not_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_bitwise_not, (wk_site){0}, x);
}

/* ---- isnan ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_isnan_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_isnan, site, x);
}

wk_tensor *(wk_isnan)(wk_tensor *x)
{
    return wk__unary(&wk__op_isnan, (wk_site){0}, x);
}

/* ---- isinf ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_isinf_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_isinf, site, x);
}

wk_tensor *(wk_isinf)(wk_tensor *x)
{
    return wk__unary(&wk__op_isinf, (wk_site){0}, x);
}

/* ---- isfinite ---------------------------------------------------------------------------------------------------- */

wk_tensor *wk_isfinite_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_isfinite, site, x);
}

wk_tensor *(wk_isfinite)(wk_tensor *x)
{
    return wk__unary(&wk__op_isfinite, (wk_site){0}, x);
}

/* ---- neg --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_neg_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_neg, site, x);
}

wk_tensor *(wk_neg)(wk_tensor *x)
{
    return wk__unary(&wk__op_neg, (wk_site){0}, x);
}

wk_tensor *wk_neg__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_neg, site, x);
}

wk_tensor *(wk_neg_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_neg, (wk_site){0}, x);
}

/* ---- abs --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_abs_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_abs, site, x);
}

wk_tensor *(wk_abs)(wk_tensor *x)
{
    return wk__unary(&wk__op_abs, (wk_site){0}, x);
}

wk_tensor *wk_abs__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_abs, site, x);
}

wk_tensor *(wk_abs_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_abs, (wk_site){0}, x);
}

/* ---- sign -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sign_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_sign, site, x);
}

wk_tensor *(wk_sign)(wk_tensor *x)
{
    return wk__unary(&wk__op_sign, (wk_site){0}, x);
}

wk_tensor *wk_sign__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_sign, site, x);
}

wk_tensor *(wk_sign_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_sign, (wk_site){0}, x);
}

/* ---- floor ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_floor_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_floor, site, x);
}

wk_tensor *(wk_floor)(wk_tensor *x)
{
    return wk__unary(&wk__op_floor, (wk_site){0}, x);
}

wk_tensor *wk_floor__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_floor, site, x);
}

wk_tensor *(wk_floor_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_floor, (wk_site){0}, x);
}

/* ---- ceil -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_ceil_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_ceil, site, x);
}

wk_tensor *(wk_ceil)(wk_tensor *x)
{
    return wk__unary(&wk__op_ceil, (wk_site){0}, x);
}

wk_tensor *wk_ceil__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_ceil, site, x);
}

wk_tensor *(wk_ceil_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_ceil, (wk_site){0}, x);
}

/* ---- trunc ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_trunc_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_trunc, site, x);
}

wk_tensor *(wk_trunc)(wk_tensor *x)
{
    return wk__unary(&wk__op_trunc, (wk_site){0}, x);
}

wk_tensor *wk_trunc__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_trunc, site, x);
}

wk_tensor *(wk_trunc_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_trunc, (wk_site){0}, x);
}

/* ---- square ------------------------------------------------------------------------------------------------------ */

wk_tensor *wk_square_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_square, site, x);
}

wk_tensor *(wk_square)(wk_tensor *x)
{
    return wk__unary(&wk__op_square, (wk_site){0}, x);
}

wk_tensor *wk_square__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_square, site, x);
}

wk_tensor *(wk_square_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_square, (wk_site){0}, x);
}

/* ---- round ------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_round)(wk_tensor *x)
{
    return wk_round_at((wk_site){0}, x, NULL);
}

wk_tensor *(wk_round_)(wk_tensor *x)
{
    return wk_round__at((wk_site){0}, x, NULL);
}

int wk__invoke_round(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_round_options options = {.size = sizeof options, .decimals = wk__value_int(&args[1], 0)};
    return wk__return_one(out, wk_round_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_round_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_round_options options = {.size = sizeof options, .decimals = wk__value_int(&args[1], 0)};
    return wk__return_one(out, wk_round__at(site, wk__value_tensor(&args[0]), &options));
}

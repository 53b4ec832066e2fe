/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/pointwise.h. Section: functions with a floating result.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk_NAME_, wk_NAME__at  in place: writes its result into the first operand
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

/* ---- sqrt -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sqrt_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_sqrt, site, x);
}

wk_tensor *(wk_sqrt)(wk_tensor *x)
{
    return wk__unary(&wk__op_sqrt, (wk_site){0}, x);
}

wk_tensor *wk_sqrt__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_sqrt, site, x);
}

wk_tensor *(wk_sqrt_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_sqrt, (wk_site){0}, x);
}

/* ---- rsqrt ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_rsqrt_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_rsqrt, site, x);
}

wk_tensor *(wk_rsqrt)(wk_tensor *x)
{
    return wk__unary(&wk__op_rsqrt, (wk_site){0}, x);
}

wk_tensor *wk_rsqrt__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_rsqrt, site, x);
}

wk_tensor *(wk_rsqrt_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_rsqrt, (wk_site){0}, x);
}

/* ---- reciprocal -------------------------------------------------------------------------------------------------- */

wk_tensor *wk_reciprocal_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_reciprocal, site, x);
}

wk_tensor *(wk_reciprocal)(wk_tensor *x)
{
    return wk__unary(&wk__op_reciprocal, (wk_site){0}, x);
}

wk_tensor *wk_reciprocal__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_reciprocal, site, x);
}

wk_tensor *(wk_reciprocal_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_reciprocal, (wk_site){0}, x);
}

/* ---- exp --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_exp_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_exp, site, x);
}

wk_tensor *(wk_exp)(wk_tensor *x)
{
    return wk__unary(&wk__op_exp, (wk_site){0}, x);
}

wk_tensor *wk_exp__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_exp, site, x);
}

wk_tensor *(wk_exp_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_exp, (wk_site){0}, x);
}

/* ---- expm1 ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_expm1_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_expm1, site, x);
}

wk_tensor *(wk_expm1)(wk_tensor *x)
{
    return wk__unary(&wk__op_expm1, (wk_site){0}, x);
}

wk_tensor *wk_expm1__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_expm1, site, x);
}

wk_tensor *(wk_expm1_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_expm1, (wk_site){0}, x);
}

/* ---- exp2 -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_exp2_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_exp2, site, x);
}

wk_tensor *(wk_exp2)(wk_tensor *x)
{
    return wk__unary(&wk__op_exp2, (wk_site){0}, x);
}

wk_tensor *wk_exp2__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_exp2, site, x);
}

wk_tensor *(wk_exp2_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_exp2, (wk_site){0}, x);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_log_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_log, site, x);
}

wk_tensor *(wk_log)(wk_tensor *x)
{
    return wk__unary(&wk__op_log, (wk_site){0}, x);
}

wk_tensor *wk_log__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_log, site, x);
}

wk_tensor *(wk_log_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_log, (wk_site){0}, x);
}

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_log1p_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_log1p, site, x);
}

wk_tensor *(wk_log1p)(wk_tensor *x)
{
    return wk__unary(&wk__op_log1p, (wk_site){0}, x);
}

wk_tensor *wk_log1p__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_log1p, site, x);
}

wk_tensor *(wk_log1p_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_log1p, (wk_site){0}, x);
}

/* ---- log2 -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_log2_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_log2, site, x);
}

wk_tensor *(wk_log2)(wk_tensor *x)
{
    return wk__unary(&wk__op_log2, (wk_site){0}, x);
}

wk_tensor *wk_log2__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_log2, site, x);
}

wk_tensor *(wk_log2_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_log2, (wk_site){0}, x);
}

/* ---- log10 ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_log10_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_log10, site, x);
}

wk_tensor *(wk_log10)(wk_tensor *x)
{
    return wk__unary(&wk__op_log10, (wk_site){0}, x);
}

wk_tensor *wk_log10__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_log10, site, x);
}

wk_tensor *(wk_log10_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_log10, (wk_site){0}, x);
}

/* ---- sin --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sin_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_sin, site, x);
}

wk_tensor *(wk_sin)(wk_tensor *x)
{
    return wk__unary(&wk__op_sin, (wk_site){0}, x);
}

wk_tensor *wk_sin__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_sin, site, x);
}

wk_tensor *(wk_sin_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_sin, (wk_site){0}, x);
}

/* ---- cos --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_cos_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_cos, site, x);
}

wk_tensor *(wk_cos)(wk_tensor *x)
{
    return wk__unary(&wk__op_cos, (wk_site){0}, x);
}

wk_tensor *wk_cos__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_cos, site, x);
}

wk_tensor *(wk_cos_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_cos, (wk_site){0}, x);
}

/* ---- tan --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_tan_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_tan, site, x);
}

wk_tensor *(wk_tan)(wk_tensor *x)
{
    return wk__unary(&wk__op_tan, (wk_site){0}, x);
}

wk_tensor *wk_tan__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_tan, site, x);
}

wk_tensor *(wk_tan_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_tan, (wk_site){0}, x);
}

/* ---- asin -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_asin_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_asin, site, x);
}

wk_tensor *(wk_asin)(wk_tensor *x)
{
    return wk__unary(&wk__op_asin, (wk_site){0}, x);
}

wk_tensor *wk_asin__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_asin, site, x);
}

wk_tensor *(wk_asin_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_asin, (wk_site){0}, x);
}

/* ---- acos -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_acos_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_acos, site, x);
}

wk_tensor *(wk_acos)(wk_tensor *x)
{
    return wk__unary(&wk__op_acos, (wk_site){0}, x);
}

wk_tensor *wk_acos__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_acos, site, x);
}

wk_tensor *(wk_acos_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_acos, (wk_site){0}, x);
}

/* ---- atan -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_atan_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_atan, site, x);
}

wk_tensor *(wk_atan)(wk_tensor *x)
{
    return wk__unary(&wk__op_atan, (wk_site){0}, x);
}

wk_tensor *wk_atan__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_atan, site, x);
}

wk_tensor *(wk_atan_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_atan, (wk_site){0}, x);
}

/* ---- sinh -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sinh_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_sinh, site, x);
}

wk_tensor *(wk_sinh)(wk_tensor *x)
{
    return wk__unary(&wk__op_sinh, (wk_site){0}, x);
}

wk_tensor *wk_sinh__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_sinh, site, x);
}

wk_tensor *(wk_sinh_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_sinh, (wk_site){0}, x);
}

/* ---- cosh -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_cosh_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_cosh, site, x);
}

wk_tensor *(wk_cosh)(wk_tensor *x)
{
    return wk__unary(&wk__op_cosh, (wk_site){0}, x);
}

wk_tensor *wk_cosh__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_cosh, site, x);
}

wk_tensor *(wk_cosh_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_cosh, (wk_site){0}, x);
}

/* ---- tanh -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_tanh_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_tanh, site, x);
}

wk_tensor *(wk_tanh)(wk_tensor *x)
{
    return wk__unary(&wk__op_tanh, (wk_site){0}, x);
}

wk_tensor *wk_tanh__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_tanh, site, x);
}

wk_tensor *(wk_tanh_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_tanh, (wk_site){0}, x);
}

/* ---- sigmoid ----------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sigmoid_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_sigmoid, site, x);
}

wk_tensor *(wk_sigmoid)(wk_tensor *x)
{
    return wk__unary(&wk__op_sigmoid, (wk_site){0}, x);
}

wk_tensor *wk_sigmoid__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_sigmoid, site, x);
}

wk_tensor *(wk_sigmoid_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_sigmoid, (wk_site){0}, x);
}

/* ---- logit ------------------------------------------------------------------------------------------------------- */

int wk__invoke_logit(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_logit_options options = {.size = sizeof options, .eps = wk__value_option(&args[1])};
    return wk__return_one(out, wk_logit_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_logit_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_logit_options options = {.size = sizeof options, .eps = wk__value_option(&args[1])};
    return wk__return_one(out, wk_logit__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- erf --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_erf_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_erf, site, x);
}

wk_tensor *(wk_erf)(wk_tensor *x)
{
    return wk__unary(&wk__op_erf, (wk_site){0}, x);
}

wk_tensor *wk_erf__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_erf, site, x);
}

wk_tensor *(wk_erf_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_erf, (wk_site){0}, x);
}

/* ---- erfc -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_erfc_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_erfc, site, x);
}

wk_tensor *(wk_erfc)(wk_tensor *x)
{
    return wk__unary(&wk__op_erfc, (wk_site){0}, x);
}

wk_tensor *wk_erfc__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_erfc, site, x);
}

wk_tensor *(wk_erfc_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_erfc, (wk_site){0}, x);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/pointwise.h. Section: arithmetic: a tensor or a number on either side.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk_NAME_, wk_NAME__at  in place: writes its result into the first operand
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

/* ---- add --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_add_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_add, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_add_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_add, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_add_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_add, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_add_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_add, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_add_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_add, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_add)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_add, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_add__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_add, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_add__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_add, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_add__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_add, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- sub --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_sub_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_sub_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_sub_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_sub_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_sub, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_sub_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_sub, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_sub)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_sub, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_sub__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_sub__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_sub__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_sub, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- mul --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_mul_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_mul_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_mul_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_mul_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_mul, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_mul_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_mul, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_mul)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_mul, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_mul__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_mul__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_mul__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_mul, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- div --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_div_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_div, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_div_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_div, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_div_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_div, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_div_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_div, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_div_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_div, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_div)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_div, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_div__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_div, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_div__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_div, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_div__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_div, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

int wk__invoke_div(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_div_options options = {.size = sizeof options, .rounding_mode = wk__value_text(&args[2], NULL)};
    return wk__return_one(out, wk_div_rounded_at(site, args[0], args[1], &options));
}

int wk__invoke_div_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_div_options options = {.size = sizeof options, .rounding_mode = wk__value_text(&args[2], NULL)};
    return wk__return_one(out, wk_div_rounded__at(site, wk__value_tensor(&args[0]), args[1], &options));
}

/* ---- floor_divide ------------------------------------------------------------------------------------------------ */

wk_tensor *wk_floor_divide_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_floor_divide_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_floor_divide_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_floor_divide_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_floor_divide, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_floor_divide_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_floor_divide, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_floor_divide)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_floor_divide, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_floor_divide__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_floor_divide__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_floor_divide__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_floor_divide, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- remainder --------------------------------------------------------------------------------------------------- */

wk_tensor *wk_remainder_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_remainder_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_remainder_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_remainder_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_remainder, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_remainder_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_remainder, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_remainder)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_remainder, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_remainder__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_remainder__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_remainder__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_remainder, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- fmod -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_fmod_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_fmod_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_fmod_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_fmod_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_fmod, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_fmod_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_fmod, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_fmod)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_fmod, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_fmod__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_fmod__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_fmod__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_fmod, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- pow --------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_pow_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__pow(site, wk__tensor_arg(a), wk__tensor_arg(b));
}

wk_tensor *wk_pow_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__pow(site, wk__tensor_arg(a), wk__float_arg(b));
}

wk_tensor *wk_pow_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__pow(site, wk__tensor_arg(a), wk__int_arg(b));
}

wk_tensor *wk_pow_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__pow(site, wk__float_arg(a), wk__tensor_arg(b));
}

wk_tensor *wk_pow_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__pow(site, wk__int_arg(a), wk__tensor_arg(b));
}

wk_tensor *(wk_pow)(wk_tensor *a, wk_tensor *b)
{
    return wk__pow((wk_site){0}, wk__tensor_arg(a), wk__tensor_arg(b));
}

wk_tensor *wk_pow__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__pow_(site, a, wk__tensor_arg(b));
}

wk_tensor *wk_pow__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__pow_(site, a, wk__float_arg(b));
}

wk_tensor *wk_pow__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__pow_(site, a, wk__int_arg(b));
}

int wk__invoke_pow(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk__pow(site, wk__value_arg(&args[0]), wk__value_arg(&args[1])));
}

int wk__invoke_pow_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk__pow_(site, wk__value_tensor(&args[0]), wk__value_arg(&args[1])));
}

/* ---- maximum ----------------------------------------------------------------------------------------------------- */

wk_tensor *wk_maximum_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_maximum, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_maximum_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_maximum, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_maximum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_maximum, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_maximum_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_maximum, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_maximum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_maximum, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_maximum)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_maximum, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

/* ---- minimum ----------------------------------------------------------------------------------------------------- */

wk_tensor *wk_minimum_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_minimum, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_minimum_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_minimum, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_minimum_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_minimum, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_minimum_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_minimum, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_minimum_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_minimum, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_minimum)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_minimum, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

/* ---- atan2 ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_atan2_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_atan2_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_atan2_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_atan2_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_atan2, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_atan2_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_atan2, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_atan2)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_atan2, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_atan2__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_atan2__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_atan2__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_atan2, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- logaddexp --------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logaddexp_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logaddexp, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logaddexp_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_logaddexp, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logaddexp_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_logaddexp, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_logaddexp_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logaddexp, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logaddexp_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logaddexp, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_logaddexp)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logaddexp, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

/* ---- hypot ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_hypot_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_hypot_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_hypot_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_hypot_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_hypot, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_hypot_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_hypot, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_hypot)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_hypot, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_hypot__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_hypot__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_hypot__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_hypot, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- copysign ---------------------------------------------------------------------------------------------------- */

wk_tensor *wk_copysign_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_copysign_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_copysign_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_copysign_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_copysign, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_copysign_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_copysign, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_copysign)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_copysign, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_copysign__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_copysign__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_copysign__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_copysign, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/pointwise.h. Section: comparison and logic: a tensor or a number on either side.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk_NAME_, wk_NAME__at  in place: writes its result into the first operand
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

/* ---- eq ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_eq_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_eq_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_eq_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_eq_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_eq, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_eq_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_eq, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_eq)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_eq, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_eq__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_eq__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_eq__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_eq, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- ne ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_ne_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ne_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_ne_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_ne_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ne, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ne_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ne, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_ne)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ne, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ne__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ne__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_ne__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_ne, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- lt ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_lt_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_lt_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_lt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_lt_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_lt, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_lt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_lt, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_lt)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_lt, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_lt__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_lt__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_lt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_lt, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- le ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_le_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_le, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_le_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_le, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_le_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_le, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_le_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_le, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_le_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_le, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_le)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_le, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_le__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_le, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_le__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_le, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_le__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_le, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- gt ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_gt_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_gt_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_gt_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_gt_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_gt, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_gt_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_gt, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_gt)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_gt, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_gt__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_gt__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_gt__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_gt, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- ge ---------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_ge_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ge_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_ge_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_ge_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ge, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ge_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ge, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_ge)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_ge, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ge__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_ge__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_ge__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_ge, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- logical_and ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logical_and_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_and_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_and, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_and, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_logical_and)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_and, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_and__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_and__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_logical_and, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- logical_or -------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logical_or_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_or_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_or, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_or, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_logical_or)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_or, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_or__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_or__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_logical_or, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- logical_xor ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logical_xor_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_xor, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_xor, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_logical_xor)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_logical_xor, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_xor__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_logical_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_logical_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_logical_xor, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- bitwise_and ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_bitwise_and_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_and_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_and_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_and_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_and, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_and_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_and, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_bitwise_and)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_and, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_and__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_and__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_and__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_bitwise_and, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- bitwise_or -------------------------------------------------------------------------------------------------- */

wk_tensor *wk_bitwise_or_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_or_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_or_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_or_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_or, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_or_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_or, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_bitwise_or)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_or, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_or__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_or__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_or__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_bitwise_or, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- bitwise_xor ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_bitwise_xor_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_xor_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_xor_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_xor_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_xor, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_xor_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_xor, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_bitwise_xor)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_xor, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_xor__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_xor__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_xor__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_bitwise_xor, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- bitwise_left_shift ------------------------------------------------------------------------------------------ */

wk_tensor *wk_bitwise_left_shift_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_bitwise_left_shift)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_left_shift, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2,
                           NULL);
}

wk_tensor *wk_bitwise_left_shift__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_left_shift__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_bitwise_left_shift, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- bitwise_right_shift ----------------------------------------------------------------------------------------- */

wk_tensor *wk_bitwise_right_shift_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift_scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift_scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift_rscalar_f64_at(wk_site site, double a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, site, (wk__arg[]){wk__float_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift_rscalar_i64_at(wk_site site, int64_t a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, site, (wk__arg[]){wk__int_arg(a), {.tensor = b}}, 2, NULL);
}

wk_tensor *(wk_bitwise_right_shift)(wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise(&wk__op_bitwise_right_shift, (wk_site){0}, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2,
                           NULL);
}

wk_tensor *wk_bitwise_right_shift__at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return wk__elementwise_(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, {.tensor = b}}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift__scalar_f64_at(wk_site site, wk_tensor *a, double b)
{
    return wk__elementwise_(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, wk__float_arg(b)}, 2, NULL);
}

wk_tensor *wk_bitwise_right_shift__scalar_i64_at(wk_site site, wk_tensor *a, int64_t b)
{
    return wk__elementwise_(&wk__op_bitwise_right_shift, site, (wk__arg[]){{.tensor = a}, wk__int_arg(b)}, 2, NULL);
}

/* ---- isclose ----------------------------------------------------------------------------------------------------- */

int wk__invoke_isclose(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_isclose_options options = {.size = sizeof options,
                                        .rtol = wk__value_option(&args[2]),
                                        .atol = wk__value_option(&args[3]),
                                        .equal_nan = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(out, wk_isclose_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

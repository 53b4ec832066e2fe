/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/pointwise.h. Section: functions of several operands.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

/* ---- nan_to_num -------------------------------------------------------------------------------------------------- */

int wk__invoke_nan_to_num(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_nan_to_num_options options = {.size = sizeof options,
                                           .nan = wk__value_option(&args[1]),
                                           .posinf = wk__value_option(&args[2]),
                                           .neginf = wk__value_option(&args[3])};
    return wk__return_one(out, wk_nan_to_num_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_nan_to_num_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_nan_to_num_options options = {.size = sizeof options,
                                           .nan = wk__value_option(&args[1]),
                                           .posinf = wk__value_option(&args[2]),
                                           .neginf = wk__value_option(&args[3])};
    return wk__return_one(out, wk_nan_to_num__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- clamp ------------------------------------------------------------------------------------------------------- */

int wk__invoke_clamp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_clamp_at(site, wk__value_tensor(&args[0]), args[1], args[2]));
}

int wk__invoke_clamp_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_clamp__at(site, wk__value_tensor(&args[0]), args[1], args[2]));
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

int wk__invoke_where(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_where_at(site, wk__value_tensor(&args[0]), args[1], args[2]));
}

/* ---- masked_fill ------------------------------------------------------------------------------------------------- */

int wk__invoke_masked_fill(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out,
                          wk_masked_fill_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), args[2]));
}

int wk__invoke_masked_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out,
                          wk_masked_fill__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), args[2]));
}

/* ---- lerp -------------------------------------------------------------------------------------------------------- */

int wk__invoke_lerp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_lerp_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), args[2]));
}

int wk__invoke_lerp_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_lerp__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), args[2]));
}

/* ---- addcmul ----------------------------------------------------------------------------------------------------- */

int wk__invoke_addcmul(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addc_options options = {.size = sizeof options, .value = wk__value_option(&args[3])};
    return wk__return_one(out, wk_addcmul_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                             wk__value_tensor(&args[2]), &options));
}

int wk__invoke_addcmul_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addc_options options = {.size = sizeof options, .value = wk__value_option(&args[3])};
    return wk__return_one(out, wk_addcmul__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                              wk__value_tensor(&args[2]), &options));
}

/* ---- addcdiv ----------------------------------------------------------------------------------------------------- */

int wk__invoke_addcdiv(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addc_options options = {.size = sizeof options, .value = wk__value_option(&args[3])};
    return wk__return_one(out, wk_addcdiv_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                             wk__value_tensor(&args[2]), &options));
}

int wk__invoke_addcdiv_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addc_options options = {.size = sizeof options, .value = wk__value_option(&args[3])};
    return wk__return_one(out, wk_addcdiv__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                              wk__value_tensor(&args[2]), &options));
}

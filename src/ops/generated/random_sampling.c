/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/random.h. Section: sampling.
 *
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#include "ops/core/entries.h"

/* ---- uniform_ ---------------------------------------------------------------------------------------------------- */

int wk__invoke_uniform_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_uniform__at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                              wk__value_float(&args[2], 1)));
}

/* ---- normal_ ----------------------------------------------------------------------------------------------------- */

int wk__invoke_normal_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_normal__at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                             wk__value_float(&args[2], 1)));
}

/* ---- bernoulli --------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_bernoulli)(wk_tensor *x)
{
    return wk_bernoulli_at((wk_site){0}, x);
}

int wk__invoke_bernoulli(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_bernoulli_at(site, wk__value_tensor(&args[0])));
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

int wk__invoke_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_dropout_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                             wk__value_int(&args[2], 1) != 0));
}

/* ---- dropout1d --------------------------------------------------------------------------------------------------- */

int wk__invoke_dropout1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_dropout1d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                               wk__value_int(&args[2], 1) != 0));
}

/* ---- dropout2d --------------------------------------------------------------------------------------------------- */

int wk__invoke_dropout2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_dropout2d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                               wk__value_int(&args[2], 1) != 0));
}

/* ---- dropout3d --------------------------------------------------------------------------------------------------- */

int wk__invoke_dropout3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_dropout3d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                               wk__value_int(&args[2], 1) != 0));
}

/* ---- alpha_dropout ----------------------------------------------------------------------------------------------- */

int wk__invoke_alpha_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_alpha_dropout_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                                   wk__value_int(&args[2], 0) != 0));
}

/* ---- feature_alpha_dropout --------------------------------------------------------------------------------------- */

int wk__invoke_feature_alpha_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out,
                          wk_feature_alpha_dropout_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0.5),
                                                      wk__value_int(&args[2], 0) != 0));
}

/* ---- multinomial ------------------------------------------------------------------------------------------------- */

int wk__invoke_multinomial(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_multinomial_options options = {.size = sizeof options, .replacement = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out,
                          wk_multinomial_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), &options));
}

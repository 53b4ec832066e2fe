/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/creation.h. Section: random factories.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#include "ops/core/entries.h"

/* ---- rand -------------------------------------------------------------------------------------------------------- */

int wk__invoke_rand(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_rand_at(site, shape, ndim, &options));
}

/* ---- rand_like --------------------------------------------------------------------------------------------------- */

int wk__invoke_rand_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_rand_like_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- randn ------------------------------------------------------------------------------------------------------- */

int wk__invoke_randn(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_randn_at(site, shape, ndim, &options));
}

/* ---- randn_like -------------------------------------------------------------------------------------------------- */

int wk__invoke_randn_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_randn_like_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- randint ----------------------------------------------------------------------------------------------------- */

int wk__invoke_randint(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[2], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[3], 0), .device = wk__value_device(&args[4])};
    return wk__return_one(
        out, wk_randint_at(site, wk__value_int(&args[0], 0), wk__value_int(&args[1], 0), shape, ndim, &options));
}

/* ---- randperm ---------------------------------------------------------------------------------------------------- */

int wk__invoke_randperm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_randperm_at(site, wk__value_int(&args[0], 0), &options));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/creation.h. Section: factories.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#include "ops/core/entries.h"

/* ---- zeros ------------------------------------------------------------------------------------------------------- */

int wk__invoke_zeros(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_zeros_at(site, shape, ndim, &options));
}

/* ---- ones -------------------------------------------------------------------------------------------------------- */

int wk__invoke_ones(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_ones_at(site, shape, ndim, &options));
}

/* ---- empty ------------------------------------------------------------------------------------------------------- */

int wk__invoke_empty(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_empty_at(site, shape, ndim, &options));
}

/* ---- full -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_full_f64_at(wk_site site, const int64_t *shape, int ndim, double value, const wk_tensor_options *options)
{
    return wk__full(site, shape, ndim, wk__float_arg(value), options);
}

wk_tensor *wk_full_i64_at(wk_site site, const int64_t *shape, int ndim, int64_t value, const wk_tensor_options *options)
{
    return wk__full(site, shape, ndim, wk__int_arg(value), options);
}

int wk__invoke_full(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[0], &ndim);
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[2], 0), .device = wk__value_device(&args[3])};
    return wk__return_one(out, wk__full(site, shape, ndim, wk__value_arg(&args[1]), &options));
}

/* ---- zeros_like -------------------------------------------------------------------------------------------------- */

int wk__invoke_zeros_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_zeros_like_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- ones_like --------------------------------------------------------------------------------------------------- */

int wk__invoke_ones_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_ones_like_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- empty_like -------------------------------------------------------------------------------------------------- */

int wk__invoke_empty_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_empty_like_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- full_like --------------------------------------------------------------------------------------------------- */

wk_tensor *wk_full_like_f64_at(wk_site site, wk_tensor *x, double value, const wk_tensor_options *options)
{
    return wk__full_like(site, x, wk__float_arg(value), options);
}

wk_tensor *wk_full_like_i64_at(wk_site site, wk_tensor *x, int64_t value, const wk_tensor_options *options)
{
    return wk__full_like(site, x, wk__int_arg(value), options);
}

int wk__invoke_full_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[2], 0), .device = wk__value_device(&args[3])};
    return wk__return_one(out, wk__full_like(site, wk__value_tensor(&args[0]), wk__value_arg(&args[1]), &options));
}

/* ---- arange ------------------------------------------------------------------------------------------------------ */

int wk__invoke_arange(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[3], 0), .device = wk__value_device(&args[4])};
    return wk__return_one(out, wk__arange(site, wk__value_arg(&args[0]), wk__value_arg(&args[1]),
                                          args[2].kind == WK_VALUE_NONE ? wk__int_arg(1) : wk__value_arg(&args[2]),
                                          &options));
}

/* ---- linspace ---------------------------------------------------------------------------------------------------- */

int wk__invoke_linspace(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[3], 0), .device = wk__value_device(&args[4])};
    return wk__return_one(out, wk_linspace_at(site, wk__value_float(&args[0], 0), wk__value_float(&args[1], 0),
                                              wk__value_int(&args[2], 0), &options));
}

/* ---- eye --------------------------------------------------------------------------------------------------------- */

int wk__invoke_eye(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = (wk_dtype)wk__value_int(&args[1], 0), .device = wk__value_device(&args[2])};
    return wk__return_one(out, wk_eye_at(site, wk__value_int(&args[0], 0), &options));
}

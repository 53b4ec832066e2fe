/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/shape.h. Section: views.
 *
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

/* ---- reshape ----------------------------------------------------------------------------------------------------- */

int wk__invoke_reshape(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[1], &ndim);
    return wk__return_one(out, wk_reshape_at(site, wk__value_tensor(&args[0]), shape, ndim));
}

/* ---- view_as ----------------------------------------------------------------------------------------------------- */

int wk__invoke_view_as(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_view_as_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- flatten ----------------------------------------------------------------------------------------------------- */

int wk__invoke_flatten(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_flatten_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], -1)));
}

/* ---- unflatten --------------------------------------------------------------------------------------------------- */

int wk__invoke_unflatten(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *sizes = wk__value_dims(&args[2], &count);
    return wk__return_one(out,
                          wk_unflatten_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), sizes, count));
}

/* ---- expand ------------------------------------------------------------------------------------------------------ */

int wk__invoke_expand(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[1], &ndim);
    return wk__return_one(out, wk_expand_at(site, wk__value_tensor(&args[0]), shape, ndim));
}

/* ---- expand_as --------------------------------------------------------------------------------------------------- */

int wk__invoke_expand_as(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_expand_as_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- squeeze ----------------------------------------------------------------------------------------------------- */

int wk__invoke_squeeze(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    return wk__return_one(out, wk_squeeze_at(site, wk__value_tensor(&args[0]), dims, count));
}

/* ---- unsqueeze --------------------------------------------------------------------------------------------------- */

int wk__invoke_unsqueeze(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_unsqueeze_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- transpose --------------------------------------------------------------------------------------------------- */

int wk__invoke_transpose(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_transpose_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

/* ---- swapaxes ---------------------------------------------------------------------------------------------------- */

int wk__invoke_swapaxes(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_swapaxes_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

/* ---- t ----------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_t)(wk_tensor *x)
{
    return wk_t_at((wk_site){0}, x);
}

int wk__invoke_t(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_t_at(site, wk__value_tensor(&args[0])));
}

/* ---- permute ----------------------------------------------------------------------------------------------------- */

int wk__invoke_permute(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    return wk__return_one(out, wk_permute_at(site, wk__value_tensor(&args[0]), dims, count));
}

/* ---- movedim ----------------------------------------------------------------------------------------------------- */

int wk__invoke_movedim(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_movedim_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

/* ---- slice ------------------------------------------------------------------------------------------------------- */

int wk__invoke_slice(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_slice_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                           wk__value_int(&args[2], 0), wk__value_int(&args[3], INT64_MAX),
                                           wk__value_int(&args[4], 1)));
}

/* ---- narrow ------------------------------------------------------------------------------------------------------ */

int wk__invoke_narrow(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_narrow_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                            wk__value_int(&args[2], 0), wk__value_int(&args[3], 0)));
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

int wk__invoke_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_select_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

/* ---- diagonal ---------------------------------------------------------------------------------------------------- */

int wk__invoke_diagonal(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_diagonal_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                              wk__value_int(&args[2], 0), wk__value_int(&args[3], 1)));
}

/* ---- unfold ------------------------------------------------------------------------------------------------------ */

int wk__invoke_unfold(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_unfold_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                            wk__value_int(&args[2], 0), wk__value_int(&args[3], 0)));
}

/* ---- as_strided -------------------------------------------------------------------------------------------------- */

int wk__invoke_as_strided(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    if (!wk__check_same_length(op, site, args, 1, 2)) return -1;
    const int64_t *shape = args[1].ints;
    int ndim;
    const int64_t *stride = wk__value_dims(&args[2], &ndim);
    return wk__return_one(
        out, wk_as_strided_at(site, wk__value_tensor(&args[0]), shape, stride, ndim, wk__value_int(&args[3], 0)));
}

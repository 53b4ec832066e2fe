/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/shape.h. Section: joining and repeating: new tensors.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

/* ---- cat --------------------------------------------------------------------------------------------------------- */

int wk__invoke_cat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_cat_at(site, args[0].tensors, args[0].kind == WK_VALUE_TENSORS ? args[0].count : 0,
                                         wk__value_int(&args[1], 0)));
}

/* ---- stack ------------------------------------------------------------------------------------------------------- */

int wk__invoke_stack(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_stack_at(site, args[0].tensors, args[0].kind == WK_VALUE_TENSORS ? args[0].count : 0,
                                           wk__value_int(&args[1], 0)));
}

/* ---- repeat ------------------------------------------------------------------------------------------------------ */

int wk__invoke_repeat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *repeats = wk__value_dims(&args[1], &count);
    return wk__return_one(out, wk_repeat_at(site, wk__value_tensor(&args[0]), repeats, count));
}

/* ---- tile -------------------------------------------------------------------------------------------------------- */

int wk__invoke_tile(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *repeats = wk__value_dims(&args[1], &count);
    return wk__return_one(out, wk_tile_at(site, wk__value_tensor(&args[0]), repeats, count));
}

/* ---- repeat_interleave ------------------------------------------------------------------------------------------- */

int wk__invoke_repeat_interleave(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[2].kind == WK_VALUE_NONE)
        return wk__return_one(
            out, wk_repeat_interleave_flat_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
    return wk__return_one(out, wk_repeat_interleave_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                       wk__value_int(&args[2], 0)));
}

/* ---- flip -------------------------------------------------------------------------------------------------------- */

int wk__invoke_flip(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    return wk__return_one(out, wk_flip_at(site, wk__value_tensor(&args[0]), dims, count));
}

/* ---- roll -------------------------------------------------------------------------------------------------------- */

int wk__invoke_roll(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int shift_count;
    const int64_t *shifts = wk__value_dims(&args[1], &shift_count);
    int dim_count;
    const int64_t *dims = wk__value_dims(&args[2], &dim_count);
    if (dim_count < 0) dim_count = 0;
    return wk__return_one(out, wk_roll_at(site, wk__value_tensor(&args[0]), shifts, shift_count, dims, dim_count));
}

/* ---- rot90 ------------------------------------------------------------------------------------------------------- */

int wk__invoke_rot90(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[2], &count);
    return wk__return_one(out, wk_rot90_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 1), dims, count));
}

/* ---- meshgrid ---------------------------------------------------------------------------------------------------- */

int wk__invoke_meshgrid(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_meshgrid_options options = {.size = sizeof options, .indexing = wk__value_text(&args[1], NULL)};
    return wk_meshgrid_at(site, args[0].tensors, args[0].kind == WK_VALUE_TENSORS ? args[0].count : 0, out, &options);
}

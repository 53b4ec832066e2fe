/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: sets.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- unique ------------------------------------------------------------------------------------------------------ */

int wk__invoke_unique(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INVERSE, RETURN_COUNTS, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_unique_options options = {.size = sizeof options,
                                       .return_inverse = wk__value_int(&args[2], 0) != 0 ? &more[RETURN_INVERSE] : NULL,
                                       .return_counts = wk__value_int(&args[3], 0) != 0 ? &more[RETURN_COUNTS] : NULL};
    return wk__return_one_and_optional(out, wk_unique_at(site, wk__value_tensor(&args[0]), &options), more, MORE);
}

/* ---- isin -------------------------------------------------------------------------------------------------------- */

int wk__invoke_isin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_isin_options options = {.size = sizeof options, .invert = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_isin_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- searchsorted ------------------------------------------------------------------------------------------------ */

int wk__invoke_searchsorted(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_searchsorted_options options = {.size = sizeof options,
                                             .out_int32 = wk__value_int(&args[2], 0) != 0,
                                             .right = wk__value_int(&args[3], 0) != 0,
                                             .side = wk__value_text(&args[4], NULL),
                                             .sorter = wk__value_tensor(&args[5])};
    return wk__return_one(out,
                          wk_searchsorted_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- bucketize --------------------------------------------------------------------------------------------------- */

int wk__invoke_bucketize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_bucketize_options options = {
        .size = sizeof options, .out_int32 = wk__value_int(&args[2], 0) != 0, .right = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_bucketize_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- bincount ---------------------------------------------------------------------------------------------------- */

int wk__invoke_bincount(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_bincount_options options = {
        .size = sizeof options, .weights = wk__value_tensor(&args[1]), .minlength = wk__value_int(&args[2], 0)};
    return wk__return_one(out, wk_bincount_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- histc ------------------------------------------------------------------------------------------------------- */

int wk__invoke_histc(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_histc_options options = {.size = sizeof options,
                                      .bins = wk__value_int(&args[1], 100),
                                      .min = wk__value_option(&args[2]),
                                      .max = wk__value_option(&args[3])};
    return wk__return_one(out, wk_histc_at(site, wk__value_tensor(&args[0]), &options));
}

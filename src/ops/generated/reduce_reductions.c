/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: reductions.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- sum --------------------------------------------------------------------------------------------------------- */

int wk__invoke_sum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options,
                                       .keepdim = wk__value_int(&args[2], 0) != 0,
                                       .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__return_one(out, wk_sum_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- mean -------------------------------------------------------------------------------------------------------- */

int wk__invoke_mean(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options,
                                       .keepdim = wk__value_int(&args[2], 0) != 0,
                                       .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__return_one(out, wk_mean_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- prod -------------------------------------------------------------------------------------------------------- */

int wk__invoke_prod(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options,
                                       .keepdim = wk__value_int(&args[2], 0) != 0,
                                       .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__return_one(out, wk_prod_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- amax -------------------------------------------------------------------------------------------------------- */

int wk__invoke_amax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_amax_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- amin -------------------------------------------------------------------------------------------------------- */

int wk__invoke_amin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_amin_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int wk__invoke_all(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_all_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- any --------------------------------------------------------------------------------------------------------- */

int wk__invoke_any(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_any_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- count_nonzero ----------------------------------------------------------------------------------------------- */

int wk__invoke_count_nonzero(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_count_nonzero_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- logsumexp --------------------------------------------------------------------------------------------------- */

int wk__invoke_logsumexp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_logsumexp_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- argmax ------------------------------------------------------------------------------------------------------ */

int wk__invoke_argmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_argmax_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- argmin ------------------------------------------------------------------------------------------------------ */

int wk__invoke_argmin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options, .keepdim = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_argmin_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- var --------------------------------------------------------------------------------------------------------- */

int wk__invoke_var(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_var_options options = {
        .size = sizeof options, .correction = wk__value_option(&args[2]), .keepdim = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_var_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- std --------------------------------------------------------------------------------------------------------- */

int wk__invoke_std(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_var_options options = {
        .size = sizeof options, .correction = wk__value_option(&args[2]), .keepdim = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_std_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- norm -------------------------------------------------------------------------------------------------------- */

int wk__invoke_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[2], &count);
    const wk_norm_options options = {
        .size = sizeof options, .p = wk__value_option(&args[1]), .keepdim = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_norm_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- dist -------------------------------------------------------------------------------------------------------- */

int wk__invoke_dist(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_dist_options options = {.size = sizeof options, .p = wk__value_option(&args[2])};
    return wk__return_one(out, wk_dist_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- pairwise_distance ------------------------------------------------------------------------------------------- */

int wk__invoke_pairwise_distance(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_pairwise_distance_options options = {.size = sizeof options,
                                                  .p = wk__value_option(&args[2]),
                                                  .eps = wk__value_option(&args[3]),
                                                  .keepdim = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(
        out, wk_pairwise_distance_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- cosine_similarity ------------------------------------------------------------------------------------------- */

int wk__invoke_cosine_similarity(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_cosine_similarity_options options = {.size = sizeof options, .eps = wk__value_option(&args[3])};
    return wk__return_one(out, wk_cosine_similarity_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                       wk__value_int(&args[2], 1), &options));
}

/* ---- nansum ------------------------------------------------------------------------------------------------------ */

int wk__invoke_nansum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options,
                                       .keepdim = wk__value_int(&args[2], 0) != 0,
                                       .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__return_one(out, wk_nansum_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- nanmean ----------------------------------------------------------------------------------------------------- */

int wk__invoke_nanmean(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *dims = wk__value_dims(&args[1], &count);
    const wk_reduce_options options = {.size = sizeof options,
                                       .keepdim = wk__value_int(&args[2], 0) != 0,
                                       .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__return_one(out, wk_nanmean_at(site, wk__value_tensor(&args[0]), dims, count, &options));
}

/* ---- cdist ------------------------------------------------------------------------------------------------------- */

int wk__invoke_cdist(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_cdist_options options = {.size = sizeof options, .p = wk__value_option(&args[2])};
    return wk__return_one(out, wk_cdist_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

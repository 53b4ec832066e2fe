/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/vision.h. Section: pooling.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#include "ops/core/entries.h"

/* ---- max_pool1d -------------------------------------------------------------------------------------------------- */

int wk__invoke_max_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_max_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .dilation = wk__value_sizes(&args[4]),
                                         .ceil_mode = wk__value_int(&args[5], 0) != 0,
                                         .return_indices =
                                             wk__value_int(&args[6], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_max_pool1d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more, MORE);
}

/* ---- max_pool2d -------------------------------------------------------------------------------------------------- */

int wk__invoke_max_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_max_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .dilation = wk__value_sizes(&args[4]),
                                         .ceil_mode = wk__value_int(&args[5], 0) != 0,
                                         .return_indices =
                                             wk__value_int(&args[6], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_max_pool2d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more, MORE);
}

/* ---- max_pool3d -------------------------------------------------------------------------------------------------- */

int wk__invoke_max_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_max_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .dilation = wk__value_sizes(&args[4]),
                                         .ceil_mode = wk__value_int(&args[5], 0) != 0,
                                         .return_indices =
                                             wk__value_int(&args[6], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_max_pool3d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more, MORE);
}

/* ---- avg_pool1d -------------------------------------------------------------------------------------------------- */

int wk__invoke_avg_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_avg_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .ceil_mode = wk__value_int(&args[4], 0) != 0,
                                         .no_count_include_pad = wk__value_int(&args[5], 1) == 0,
                                         .divisor_override = wk__value_int(&args[6], 0)};
    return wk__return_one(out, wk_avg_pool1d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options));
}

/* ---- avg_pool2d -------------------------------------------------------------------------------------------------- */

int wk__invoke_avg_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_avg_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .ceil_mode = wk__value_int(&args[4], 0) != 0,
                                         .no_count_include_pad = wk__value_int(&args[5], 1) == 0,
                                         .divisor_override = wk__value_int(&args[6], 0)};
    return wk__return_one(out, wk_avg_pool2d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options));
}

/* ---- avg_pool3d -------------------------------------------------------------------------------------------------- */

int wk__invoke_avg_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_avg_pool_options options = {.size = sizeof options,
                                         .stride = wk__value_sizes(&args[2]),
                                         .padding = wk__value_sizes(&args[3]),
                                         .ceil_mode = wk__value_int(&args[4], 0) != 0,
                                         .no_count_include_pad = wk__value_int(&args[5], 1) == 0,
                                         .divisor_override = wk__value_int(&args[6], 0)};
    return wk__return_one(out, wk_avg_pool3d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options));
}

/* ---- adaptive_avg_pool1d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_avg_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_adaptive_avg_pool1d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1])));
}

/* ---- adaptive_avg_pool2d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_avg_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_adaptive_avg_pool2d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1])));
}

/* ---- adaptive_avg_pool3d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_avg_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_adaptive_avg_pool3d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1])));
}

/* ---- adaptive_max_pool1d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_max_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_adaptive_max_pool_options options = {
        .size = sizeof options, .return_indices = wk__value_int(&args[2], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_adaptive_max_pool1d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more,
        MORE);
}

/* ---- adaptive_max_pool2d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_max_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_adaptive_max_pool_options options = {
        .size = sizeof options, .return_indices = wk__value_int(&args[2], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_adaptive_max_pool2d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more,
        MORE);
}

/* ---- adaptive_max_pool3d ----------------------------------------------------------------------------------------- */

int wk__invoke_adaptive_max_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INDICES, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_adaptive_max_pool_options options = {
        .size = sizeof options, .return_indices = wk__value_int(&args[2], 0) != 0 ? &more[RETURN_INDICES] : NULL};
    return wk__return_one_and_optional(
        out, wk_adaptive_max_pool3d_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options), more,
        MORE);
}

/* ---- lp_pool1d --------------------------------------------------------------------------------------------------- */

int wk__invoke_lp_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_lp_pool_options options = {
        .size = sizeof options, .stride = wk__value_sizes(&args[3]), .ceil_mode = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(out, wk_lp_pool1d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                               wk__value_sizes(&args[2]), &options));
}

/* ---- lp_pool2d --------------------------------------------------------------------------------------------------- */

int wk__invoke_lp_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_lp_pool_options options = {
        .size = sizeof options, .stride = wk__value_sizes(&args[3]), .ceil_mode = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(out, wk_lp_pool2d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                               wk__value_sizes(&args[2]), &options));
}

/* ---- lp_pool3d --------------------------------------------------------------------------------------------------- */

int wk__invoke_lp_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_lp_pool_options options = {
        .size = sizeof options, .stride = wk__value_sizes(&args[3]), .ceil_mode = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(out, wk_lp_pool3d_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                               wk__value_sizes(&args[2]), &options));
}

/* ---- max_unpool1d ------------------------------------------------------------------------------------------------ */

int wk__invoke_max_unpool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_max_unpool_options options = {.size = sizeof options,
                                           .stride = wk__value_sizes(&args[3]),
                                           .padding = wk__value_sizes(&args[4]),
                                           .output_size = wk__value_sizes(&args[5])};
    return wk__return_one(out, wk_max_unpool1d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                  wk__value_sizes(&args[2]), &options));
}

/* ---- max_unpool2d ------------------------------------------------------------------------------------------------ */

int wk__invoke_max_unpool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_max_unpool_options options = {.size = sizeof options,
                                           .stride = wk__value_sizes(&args[3]),
                                           .padding = wk__value_sizes(&args[4]),
                                           .output_size = wk__value_sizes(&args[5])};
    return wk__return_one(out, wk_max_unpool2d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                  wk__value_sizes(&args[2]), &options));
}

/* ---- max_unpool3d ------------------------------------------------------------------------------------------------ */

int wk__invoke_max_unpool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_max_unpool_options options = {.size = sizeof options,
                                           .stride = wk__value_sizes(&args[3]),
                                           .padding = wk__value_sizes(&args[4]),
                                           .output_size = wk__value_sizes(&args[5])};
    return wk__return_one(out, wk_max_unpool3d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                  wk__value_sizes(&args[2]), &options));
}

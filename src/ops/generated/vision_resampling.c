/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/vision.h. Section: resampling.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#include "ops/core/entries.h"

/* ---- interpolate ------------------------------------------------------------------------------------------------- */

int wk__invoke_interpolate(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int mode = wk__value_choice(
        site, "interpolate", "mode", &args[3],
        (const char *const[]){"nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact", NULL});
    if (mode < 0) return -1;
    const wk_interpolate_options options = {.size = sizeof options,
                                            .output_size = wk__value_sizes(&args[1]),
                                            .scale_factor = wk__value_option(&args[2]),
                                            .mode = 301 + mode,
                                            .align_corners = wk__value_int(&args[4], 0) != 0,
                                            .recompute_scale_factor = wk__value_int(&args[5], 0) != 0,
                                            .antialias = wk__value_int(&args[6], 0) != 0,
                                            .scales_d = wk__value_option(&args[7]),
                                            .scales_h = wk__value_option(&args[8]),
                                            .scales_w = wk__value_option(&args[9])};
    return wk__return_one(out, wk_interpolate_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- affine_grid ------------------------------------------------------------------------------------------------- */

int wk__invoke_affine_grid(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *size = wk__value_dims(&args[1], &count);
    const wk_affine_grid_options options = {.size = sizeof options, .align_corners = wk__value_int(&args[2], 0) != 0};
    return wk__return_one(out, wk_affine_grid_at(site, wk__value_tensor(&args[0]), size, count, &options));
}

/* ---- grid_sample ------------------------------------------------------------------------------------------------- */

int wk__invoke_grid_sample(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int mode = wk__value_choice(site, "grid_sample", "mode", &args[2],
                                      (const char *const[]){"bilinear", "nearest", "bicubic", NULL});
    if (mode < 0) return -1;
    const int padding_mode = wk__value_choice(site, "grid_sample", "padding_mode", &args[3],
                                              (const char *const[]){"zeros", "border", "reflection", NULL});
    if (padding_mode < 0) return -1;
    const wk_grid_sample_options options = {.size = sizeof options,
                                            .mode = 401 + mode,
                                            .padding_mode = 501 + padding_mode,
                                            .align_corners = wk__value_int(&args[4], 0) != 0};
    return wk__return_one(out,
                          wk_grid_sample_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- im2col ------------------------------------------------------------------------------------------------------ */

int wk__invoke_im2col(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_im2col_options options = {.size = sizeof options,
                                       .dilation = wk__value_sizes(&args[2]),
                                       .padding = wk__value_sizes(&args[3]),
                                       .stride = wk__value_sizes(&args[4])};
    return wk__return_one(out, wk_im2col_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]), &options));
}

/* ---- col2im ------------------------------------------------------------------------------------------------------ */

int wk__invoke_col2im(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_im2col_options options = {.size = sizeof options,
                                       .dilation = wk__value_sizes(&args[3]),
                                       .padding = wk__value_sizes(&args[4]),
                                       .stride = wk__value_sizes(&args[5])};
    return wk__return_one(out, wk_col2im_at(site, wk__value_tensor(&args[0]), wk__value_sizes(&args[1]),
                                            wk__value_sizes(&args[2]), &options));
}

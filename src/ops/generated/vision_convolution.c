/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/vision.h. Section: convolutions.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#include "ops/core/entries.h"

/* ---- conv1d ------------------------------------------------------------------------------------------------------ */

int wk__invoke_conv1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv1d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                            wk__value_tensor(&args[2]), &options));
}

/* ---- conv2d ------------------------------------------------------------------------------------------------------ */

int wk__invoke_conv2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv2d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                            wk__value_tensor(&args[2]), &options));
}

/* ---- conv3d ------------------------------------------------------------------------------------------------------ */

int wk__invoke_conv3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv3d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                            wk__value_tensor(&args[2]), &options));
}

/* ---- conv_transpose1d -------------------------------------------------------------------------------------------- */

int wk__invoke_conv_transpose1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_transpose_options options = {.size = sizeof options,
                                               .stride = wk__value_sizes(&args[3]),
                                               .padding = wk__value_sizes(&args[4]),
                                               .output_padding = wk__value_sizes(&args[5]),
                                               .groups = wk__value_int(&args[6], 1),
                                               .dilation = wk__value_sizes(&args[7])};
    return wk__return_one(out, wk_conv_transpose1d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                      wk__value_tensor(&args[2]), &options));
}

/* ---- conv_transpose2d -------------------------------------------------------------------------------------------- */

int wk__invoke_conv_transpose2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_transpose_options options = {.size = sizeof options,
                                               .stride = wk__value_sizes(&args[3]),
                                               .padding = wk__value_sizes(&args[4]),
                                               .output_padding = wk__value_sizes(&args[5]),
                                               .groups = wk__value_int(&args[6], 1),
                                               .dilation = wk__value_sizes(&args[7])};
    return wk__return_one(out, wk_conv_transpose2d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                      wk__value_tensor(&args[2]), &options));
}

/* ---- conv_transpose3d -------------------------------------------------------------------------------------------- */

int wk__invoke_conv_transpose3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_conv_transpose_options options = {.size = sizeof options,
                                               .stride = wk__value_sizes(&args[3]),
                                               .padding = wk__value_sizes(&args[4]),
                                               .output_padding = wk__value_sizes(&args[5]),
                                               .groups = wk__value_int(&args[6], 1),
                                               .dilation = wk__value_sizes(&args[7])};
    return wk__return_one(out, wk_conv_transpose3d_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                      wk__value_tensor(&args[2]), &options));
}

/* ---- conv1d_input ------------------------------------------------------------------------------------------------ */

int wk__invoke_conv1d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *input_size = wk__value_dims(&args[0], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv1d_input_at(site, input_size, count, wk__value_tensor(&args[1]),
                                                  wk__value_tensor(&args[2]), &options));
}

/* ---- conv2d_input ------------------------------------------------------------------------------------------------ */

int wk__invoke_conv2d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *input_size = wk__value_dims(&args[0], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv2d_input_at(site, input_size, count, wk__value_tensor(&args[1]),
                                                  wk__value_tensor(&args[2]), &options));
}

/* ---- conv3d_input ------------------------------------------------------------------------------------------------ */

int wk__invoke_conv3d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *input_size = wk__value_dims(&args[0], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv3d_input_at(site, input_size, count, wk__value_tensor(&args[1]),
                                                  wk__value_tensor(&args[2]), &options));
}

/* ---- conv1d_weight ----------------------------------------------------------------------------------------------- */

int wk__invoke_conv1d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *weight_size = wk__value_dims(&args[1], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv1d_weight_at(site, wk__value_tensor(&args[0]), weight_size, count,
                                                   wk__value_tensor(&args[2]), &options));
}

/* ---- conv2d_weight ----------------------------------------------------------------------------------------------- */

int wk__invoke_conv2d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *weight_size = wk__value_dims(&args[1], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv2d_weight_at(site, wk__value_tensor(&args[0]), weight_size, count,
                                                   wk__value_tensor(&args[2]), &options));
}

/* ---- conv3d_weight ----------------------------------------------------------------------------------------------- */

int wk__invoke_conv3d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *weight_size = wk__value_dims(&args[1], &count);
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = wk__value_sizes(&args[3]),
                                     .padding = wk__value_sizes(&args[4]),
                                     .dilation = wk__value_sizes(&args[5]),
                                     .groups = wk__value_int(&args[6], 1)};
    return wk__return_one(out, wk_conv3d_weight_at(site, wk__value_tensor(&args[0]), weight_size, count,
                                                   wk__value_tensor(&args[2]), &options));
}

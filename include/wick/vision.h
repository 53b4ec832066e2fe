/* SPDX-License-Identifier: Apache-2.0 */
/* wick/vision.h: convolutions.
 *
 * Images are (N, C, L), (N, C, H, W) or (N, C, D, H, W): samples, channels, then one to three spatial dimensions.
 * Without the first dimension a tensor is one sample, and so is the result. A size is one number for all spatial
 * dimensions or a number for each: see wk_sizes. */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#ifndef WICK_VISION_H
#define WICK_VISION_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "vision_calls.h"

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

#ifndef __cplusplus
/* wk_conv1d(x, weight, bias): Convolves x with weight and adds bias. bias may be NULL. The kernel is not mirrored
 * (cross-correlation), as in PyTorch.
 *     out[n][o][t] = bias[o] + sum over c, k of weight[o][c][k] x[n][c][stride t + dilation k - padding]
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, L), weight (O, C / groups, k), bias (O) -> (N, O, L') where each spatial size L becomes (L + 2
 *            padding - dilation (k - 1) - 1) / stride + 1, rounded down
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv1d(x, y, NULL) is {{{21, 32}}} for x = {{{1, 2, 3}}}, y = {{{1, 10}}}
 * PyTorch:   torch.nn.functional.conv1d */
#define wk_conv1d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv1d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv2d(x, weight, bias): Convolves x with weight and adds bias. bias may be NULL. The kernel is not mirrored
 * (cross-correlation), as in PyTorch.
 *     out[n][o][t] = bias[o] + sum over c, k of weight[o][c][k] x[n][c][stride t + dilation k - padding]
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) -> (N, O, H', W') where each spatial size L
 *            becomes (L + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv2d(x, y, NULL) is {{{{21, 32}}}} for x = {{{{1, 2, 3}}}}, y = {{{{1, 10}}}}
 * PyTorch:   torch.nn.functional.conv2d */
#define wk_conv2d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv2d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv3d(x, weight, bias): Convolves x with weight and adds bias. bias may be NULL. The kernel is not mirrored
 * (cross-correlation), as in PyTorch.
 *     out[n][o][t] = bias[o] + sum over c, k of weight[o][c][k] x[n][c][stride t + dilation k - padding]
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), bias (O) -> (N, O, D', H', W') where each
 *            spatial size L becomes (L + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv3d(x, y, NULL) is {{{{{21, 32}}}}} for x = {{{{{1, 2, 3}}}}}, y = {{{{{1, 10}}}}}
 * PyTorch:   torch.nn.functional.conv3d */
#define wk_conv3d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv3d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv_transpose1d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, L), weight (C, O / groups, k), bias (O) -> (N, O, L') where each spatial size L becomes (L -
 *            1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the result would have none; WK_ERR_ARGUMENT if a stride, dilation
 *            or .groups is less than 1, a padding negative or an output padding too large; WK_ERR_DTYPE if the
 *            dtypes differ
 * Example:   wk_conv_transpose1d(x, y, NULL) is {{{1, 12, 23, 30}}} for x = {{{1, 2, 3}}}, y = {{{1, 10}}}
 * PyTorch:   torch.nn.functional.conv_transpose1d */
#define wk_conv_transpose1d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv_transpose1d, wk_conv_transpose_options, "x, weight, bias", x, weight, \
                            __VA_ARGS__))

/* wk_conv_transpose2d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, H, W), weight (C, O / groups, kh, kw), bias (O) -> (N, O, H', W') where each spatial size L
 *            becomes (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the result would have none; WK_ERR_ARGUMENT if a stride, dilation
 *            or .groups is less than 1, a padding negative or an output padding too large; WK_ERR_DTYPE if the
 *            dtypes differ
 * Example:   wk_conv_transpose2d(x, y, NULL) is {{{{1, 12, 23, 30}}}} for x = {{{{1, 2, 3}}}}, y = {{{{1, 10}}}}
 * PyTorch:   torch.nn.functional.conv_transpose2d */
#define wk_conv_transpose2d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv_transpose2d, wk_conv_transpose_options, "x, weight, bias", x, weight, \
                            __VA_ARGS__))

/* wk_conv_transpose3d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, D, H, W), weight (C, O / groups, kd, kh, kw), bias (O) -> (N, O, D', H', W') where each
 *            spatial size L becomes (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the result would have none; WK_ERR_ARGUMENT if a stride, dilation
 *            or .groups is less than 1, a padding negative or an output padding too large; WK_ERR_DTYPE if the
 *            dtypes differ
 * Example:   wk_conv_transpose3d(x, y, NULL) is {{{{{1, 12, 23, 30}}}}} for x = {{{{{1, 2, 3}}}}}, y = {{{{{1,
 *            10}}}}}
 * PyTorch:   torch.nn.functional.conv_transpose3d */
#define wk_conv_transpose3d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_conv_transpose3d, wk_conv_transpose_options, "x, weight, bias", x, weight, \
                            __VA_ARGS__))

/* wk_conv1d_input((input_size), weight, grad_output): Computes the gradient of wk_conv1d by its input, whose sizes
 * are input_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    input_size (N, C, L), weight (O, C / groups, k), grad_output (N, O, L') -> input_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv1d
 * Example:   wk_conv1d_input((1, 1, 3), x, y) is {{{1, 12, 20}}} for x = {{{1, 10}}}, y = {{{1, 2}}}
 * PyTorch:   torch.nn.grad.conv1d_input */
#define wk_conv1d_input(input_size, weight, ...)                                                                       \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_LIST_OPT_(wk_conv1d_input, wk_conv_options,                                                                 \
                     "wk_conv1d_input: write sizes in parentheses: wk_conv1d_input((1, 1, 3), weight, grad_output)",   \
                     input_size, (), (weight, ), __VA_ARGS__))

/* wk_conv2d_input((input_size), weight, grad_output): Computes the gradient of wk_conv2d by its input, whose sizes
 * are input_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    input_size (N, C, H, W), weight (O, C / groups, kh, kw), grad_output (N, O, H', W') -> input_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv2d
 * Example:   wk_conv2d_input((1, 1, 1, 3), x, y) is {{{{1, 12, 20}}}} for x = {{{{1, 10}}}}, y = {{{{1, 2}}}}
 * PyTorch:   torch.nn.grad.conv2d_input */
#define wk_conv2d_input(input_size, weight, ...)                                                                       \
    WK_NEW_TENSOR_(WK_LIST_OPT_(                                                                                       \
        wk_conv2d_input, wk_conv_options,                                                                              \
        "wk_conv2d_input: write sizes in parentheses: wk_conv2d_input((1, 1, 3, 3), weight, grad_output)", input_size, \
        (), (weight, ), __VA_ARGS__))

/* wk_conv3d_input((input_size), weight, grad_output): Computes the gradient of wk_conv3d by its input, whose sizes
 * are input_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    input_size (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), grad_output (N, O, D', H', W') ->
 *            input_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv3d
 * Example:   wk_conv3d_input((1, 1, 1, 1, 3), x, y) is {{{{{1, 12, 20}}}}} for x = {{{{{1, 10}}}}}, y = {{{{{1,
 *            2}}}}}
 * PyTorch:   torch.nn.grad.conv3d_input */
#define wk_conv3d_input(input_size, weight, ...)                                                                       \
    WK_NEW_TENSOR_(WK_LIST_OPT_(                                                                                       \
        wk_conv3d_input, wk_conv_options,                                                                              \
        "wk_conv3d_input: write sizes in parentheses: wk_conv3d_input((1, 1, 3, 3, 3), weight, grad_output)",          \
        input_size, (), (weight, ), __VA_ARGS__))

/* wk_conv1d_weight(x, (weight_size), grad_output): Computes the gradient of wk_conv1d by its weight, whose sizes are
 * weight_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, L), weight_size (O, C / groups, k), grad_output (N, O, L') -> weight_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv1d
 * Example:   wk_conv1d_weight(x, (1, 1, 2), y) is {{{5, 8}}} for x = {{{1, 2, 3}}}, y = {{{1, 2}}}
 * PyTorch:   torch.nn.grad.conv1d_weight */
#define wk_conv1d_weight(x, weight_size, ...)                                                                          \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_LIST_OPT_(wk_conv1d_weight, wk_conv_options,                                                                \
                     "wk_conv1d_weight: write sizes in parentheses: wk_conv1d_weight(x, (1, 1, 3), grad_output)",      \
                     weight_size, (x, ), (), __VA_ARGS__))

/* wk_conv2d_weight(x, (weight_size), grad_output): Computes the gradient of wk_conv2d by its weight, whose sizes are
 * weight_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, H, W), weight_size (O, C / groups, kh, kw), grad_output (N, O, H', W') -> weight_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv2d
 * Example:   wk_conv2d_weight(x, (1, 1, 1, 2), y) is {{{{5, 8}}}} for x = {{{{1, 2, 3}}}}, y = {{{{1, 2}}}}
 * PyTorch:   torch.nn.grad.conv2d_weight */
#define wk_conv2d_weight(x, weight_size, ...)                                                                          \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_LIST_OPT_(wk_conv2d_weight, wk_conv_options,                                                                \
                     "wk_conv2d_weight: write sizes in parentheses: wk_conv2d_weight(x, (1, 1, 3, 3), grad_output)",   \
                     weight_size, (x, ), (), __VA_ARGS__))

/* wk_conv3d_weight(x, (weight_size), grad_output): Computes the gradient of wk_conv3d by its weight, whose sizes are
 * weight_size.
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, D, H, W), weight_size (O, C / groups, kd, kh, kw), grad_output (N, O, D', H', W') ->
 *            weight_size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_conv3d
 * Example:   wk_conv3d_weight(x, (1, 1, 1, 1, 2), y) is {{{{{5, 8}}}}} for x = {{{{{1, 2, 3}}}}}, y = {{{{{1, 2}}}}}
 * PyTorch:   torch.nn.grad.conv3d_weight */
#define wk_conv3d_weight(x, weight_size, ...)                                                                          \
    WK_NEW_TENSOR_(WK_LIST_OPT_(                                                                                       \
        wk_conv3d_weight, wk_conv_options,                                                                             \
        "wk_conv3d_weight: write sizes in parentheses: wk_conv3d_weight(x, (1, 1, 3, 3, 3), grad_output)",             \
        weight_size, (x, ), (), __VA_ARGS__))

#endif

#endif

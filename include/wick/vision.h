/* SPDX-License-Identifier: Apache-2.0 */
/* wick/vision.h: convolutions, pooling, resampling.
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
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv1d(x, y, NULL) is {{{21, 32}}} for x = {{{1, 2, 3}}}, y = {{{1, 10}}}
 * PyTorch:   torch.nn.functional.conv1d */
#define wk_conv1d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv1d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv2d(x, weight, bias): Convolves x with weight and adds bias. bias may be NULL. The kernel is not mirrored
 * (cross-correlation), as in PyTorch.
 *     out[n][o][t] = bias[o] + sum over c, k of weight[o][c][k] x[n][c][stride t + dilation k - padding]
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) -> (N, O, H', W') where each spatial size L
 *            becomes (L + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv2d(x, y, NULL) is {{{{21, 32}}}} for x = {{{{1, 2, 3}}}}, y = {{{{1, 10}}}}
 * PyTorch:   torch.nn.functional.conv2d */
#define wk_conv2d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv2d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv3d(x, weight, bias): Convolves x with weight and adds bias. bias may be NULL. The kernel is not mirrored
 * (cross-correlation), as in PyTorch.
 *     out[n][o][t] = bias[o] + sum over c, k of weight[o][c][k] x[n][c][stride t + dilation k - padding]
 * Options:   .stride: default 1. .padding: zeros before and after each dimension; WK_SAME keeps the sizes, with
 *            stride 1; WK_VALID is 0; default 0. .dilation: distance between elements of the kernel; default 1.
 *            .groups: default 1
 * Shapes:    x (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), bias (O) -> (N, O, D', H', W') where each
 *            spatial size L becomes (L + 2 padding - dilation (k - 1) - 1) / stride + 1, rounded down
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or the kernel exceeds the padded input; WK_ERR_ARGUMENT if a stride,
 *            dilation or .groups is less than 1 or a padding negative; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv3d(x, y, NULL) is {{{{{21, 32}}}}} for x = {{{{{1, 2, 3}}}}}, y = {{{{{1, 10}}}}}
 * PyTorch:   torch.nn.functional.conv3d */
#define wk_conv3d(x, weight, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv3d, wk_conv_options, "x, weight, bias", x, weight, __VA_ARGS__))

/* wk_conv_transpose1d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, L), weight (C, O / groups, k), bias (O) -> (N, O, L') where each spatial size L becomes (L -
 *            1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or a size of the result would be less than 1; WK_ERR_ARGUMENT if a
 *            stride, dilation or .groups is less than 1, a padding negative or an output padding too large;
 *            WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv_transpose1d(x, y, NULL) is {{{1, 12, 23, 30}}} for x = {{{1, 2, 3}}}, y = {{{1, 10}}}
 * PyTorch:   torch.nn.functional.conv_transpose1d */
#define wk_conv_transpose1d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv_transpose1d, wk_conv_transpose_options, "x, weight, bias", x,  \
                                   weight, __VA_ARGS__))

/* wk_conv_transpose2d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, H, W), weight (C, O / groups, kh, kw), bias (O) -> (N, O, H', W') where each spatial size L
 *            becomes (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or a size of the result would be less than 1; WK_ERR_ARGUMENT if a
 *            stride, dilation or .groups is less than 1, a padding negative or an output padding too large;
 *            WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv_transpose2d(x, y, NULL) is {{{{1, 12, 23, 30}}}} for x = {{{{1, 2, 3}}}}, y = {{{{1, 10}}}}
 * PyTorch:   torch.nn.functional.conv_transpose2d */
#define wk_conv_transpose2d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv_transpose2d, wk_conv_transpose_options, "x, weight, bias", x,  \
                                   weight, __VA_ARGS__))

/* wk_conv_transpose3d(x, weight, bias): Computes the transposed convolution of x with weight, which is the gradient
 * of a convolution, and adds bias. bias may be NULL. .output_padding, less than the stride or the dilation, adds to
 * the size of the result.
 *     out[n][o][p] = bias[o] + sum over c, k, t with stride t + dilation k - padding = p of weight[c][o][k] x[n][c][t]
 * Options:   .stride: default 1. .padding: elements removed before and after each dimension; default 0.
 *            .output_padding: default 0. .groups: default 1. .dilation: distance between elements of the kernel;
 *            default 1
 * Shapes:    x (N, C, D, H, W), weight (C, O / groups, kd, kh, kw), bias (O) -> (N, O, D', H', W') where each
 *            spatial size L becomes (L - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match or a size of the result would be less than 1; WK_ERR_ARGUMENT if a
 *            stride, dilation or .groups is less than 1, a padding negative or an output padding too large;
 *            WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_conv_transpose3d(x, y, NULL) is {{{{{1, 12, 23, 30}}}}} for x = {{{{{1, 2, 3}}}}}, y = {{{{{1,
 *            10}}}}}
 * PyTorch:   torch.nn.functional.conv_transpose3d */
#define wk_conv_transpose3d(x, weight, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_conv_transpose3d, wk_conv_transpose_options, "x, weight, bias", x,  \
                                   weight, __VA_ARGS__))

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

/* ---- pooling ----------------------------------------------------------------------------------------------------- */

/* wk_max_pool1d(x, kernel): Finds the largest element of each window. The windows have kernel elements, .dilation
 * apart, and start every .stride elements, by default every kernel. .padding adds elements less than any other at
 * both ends of each dimension; with .ceil_mode the last window may reach past the end, if it begins in x or in the
 * padding before it. NaN is largest. .return_indices receives the index of each element in its plane of x, the first
 * of equal elements; NULL: indices are not returned.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .dilation: default 1.
 *            .ceil_mode: round sizes up; default false. .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, L) or (C, L); each spatial size L becomes (L + 2 padding - dilation (kernel - 1) - 1) / stride
 *            + 1, rounded down, or up with .ceil_mode
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE for
 *            bool
 * Example:   wk_max_pool1d(x, 2) is {{3, 4}} for x = {{1, 3, 2, 4}}
 * PyTorch:   torch.nn.functional.max_pool1d */
#define wk_max_pool1d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_max_pool1d, wk_max_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_max_pool2d(x, kernel): Finds the largest element of each window. The windows have kernel elements, .dilation
 * apart, and start every .stride elements, by default every kernel. .padding adds elements less than any other at
 * both ends of each dimension; with .ceil_mode the last window may reach past the end, if it begins in x or in the
 * padding before it. NaN is largest. .return_indices receives the index of each element in its plane of x, the first
 * of equal elements; NULL: indices are not returned.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .dilation: default 1.
 *            .ceil_mode: round sizes up; default false. .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, H, W) or (C, H, W); each spatial size L becomes (L + 2 padding - dilation (kernel - 1) - 1) /
 *            stride + 1, rounded down, or up with .ceil_mode
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE for
 *            bool
 * Example:   wk_max_pool2d(x, (1, 2)) is {{{3, 4}}} for x = {{{1, 3, 2, 4}}}
 * PyTorch:   torch.nn.functional.max_pool2d */
#define wk_max_pool2d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_max_pool2d, wk_max_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_max_pool3d(x, kernel): Finds the largest element of each window. The windows have kernel elements, .dilation
 * apart, and start every .stride elements, by default every kernel. .padding adds elements less than any other at
 * both ends of each dimension; with .ceil_mode the last window may reach past the end, if it begins in x or in the
 * padding before it. NaN is largest. .return_indices receives the index of each element in its plane of x, the first
 * of equal elements; NULL: indices are not returned.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .dilation: default 1.
 *            .ceil_mode: round sizes up; default false. .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); each spatial size L becomes (L + 2 padding - dilation (kernel - 1) -
 *            1) / stride + 1, rounded down, or up with .ceil_mode
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE for
 *            bool
 * Example:   wk_max_pool3d(x, (1, 1, 2)) is {{{{3, 4}}}} for x = {{{{1, 3, 2, 4}}}}
 * PyTorch:   torch.nn.functional.max_pool3d */
#define wk_max_pool3d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_max_pool3d, wk_max_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_avg_pool1d(x, kernel): Computes the mean of each window. The windows have kernel elements and start every
 * .stride elements, by default every kernel. .padding adds zeros at both ends of each dimension, which count as
 * elements unless .no_count_include_pad is set; with .ceil_mode the last window may reach past them, but elements
 * there do not count.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .ceil_mode: round sizes up;
 *            default false. .no_count_include_pad: count elements of x only; default false. .divisor_override:
 *            divides the sums instead of the number of elements; default none
 * Shapes:    x (N, C, L) or (C, L); each spatial size L becomes (L + 2 padding - kernel) / stride + 1, rounded down,
 *            or up with .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE if
 *            x is not floating
 * Example:   wk_avg_pool1d(x, 2) is {{2, 3}} for x = {{1, 3, 2, 4}}
 * PyTorch:   torch.nn.functional.avg_pool1d, which has no divisor_override; count_include_pad=False is
 *            .no_count_include_pad */
#define wk_avg_pool1d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_avg_pool1d, wk_avg_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_avg_pool2d(x, kernel): Computes the mean of each window. The windows have kernel elements and start every
 * .stride elements, by default every kernel. .padding adds zeros at both ends of each dimension, which count as
 * elements unless .no_count_include_pad is set; with .ceil_mode the last window may reach past them, but elements
 * there do not count.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .ceil_mode: round sizes up;
 *            default false. .no_count_include_pad: count elements of x only; default false. .divisor_override:
 *            divides the sums instead of the number of elements; default none
 * Shapes:    x (N, C, H, W) or (C, H, W); each spatial size L becomes (L + 2 padding - kernel) / stride + 1, rounded
 *            down, or up with .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE if
 *            x is not floating
 * Example:   wk_avg_pool2d(x, (1, 2)) is {{{2, 3}}} for x = {{{1, 3, 2, 4}}}
 * PyTorch:   torch.nn.functional.avg_pool2d; count_include_pad=False is .no_count_include_pad */
#define wk_avg_pool2d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_avg_pool2d, wk_avg_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_avg_pool3d(x, kernel): Computes the mean of each window. The windows have kernel elements and start every
 * .stride elements, by default every kernel. .padding adds zeros at both ends of each dimension, which count as
 * elements unless .no_count_include_pad is set; with .ceil_mode the last window may reach past them, but elements
 * there do not count.
 * Options:   .stride: default kernel. .padding: at most half of the kernel; default 0. .ceil_mode: round sizes up;
 *            default false. .no_count_include_pad: count elements of x only; default false. .divisor_override:
 *            divides the sums instead of the number of elements; default none
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); each spatial size L becomes (L + 2 padding - kernel) / stride + 1,
 *            rounded down, or up with .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small or a padding greater than half of the kernel; WK_ERR_DTYPE if
 *            x is not floating
 * Example:   wk_avg_pool3d(x, (1, 1, 2)) is {{{{2, 3}}}} for x = {{{{1, 3, 2, 4}}}}
 * PyTorch:   torch.nn.functional.avg_pool3d; count_include_pad=False is .no_count_include_pad */
#define wk_avg_pool3d(x, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_avg_pool3d, wk_avg_pool_options, "x, kernel", x, __VA_ARGS__))

/* wk_adaptive_avg_pool1d(x, size): Computes the mean of each of size windows. A size of -1 keeps that of x. Windows
 * cover x; if its size is not a multiple, they differ in size and overlap.
 *     window i has the elements floor(i L / size) to ceil((i + 1) L / size) - 1
 * Shapes:    x (N, C, L) or (C, L); the spatial sizes become size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE if x is not floating; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_avg_pool1d(x, 2) is {{2, 3}} for x = {{1, 3, 2, 4}}
 * PyTorch:   torch.nn.functional.adaptive_avg_pool1d, where None is -1 */
#define wk_adaptive_avg_pool1d(x, size) WK_NEW_TENSOR_(wk_adaptive_avg_pool1d_at(WK_HERE, x, WK_SIZES_OF_(size)))

/* wk_adaptive_avg_pool2d(x, size): Computes the mean of each of size windows. A size of -1 keeps that of x. Windows
 * cover x; if its size is not a multiple, they differ in size and overlap.
 *     window i has the elements floor(i L / size) to ceil((i + 1) L / size) - 1
 * Shapes:    x (N, C, H, W) or (C, H, W); the spatial sizes become size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE if x is not floating; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_avg_pool2d(x, (1, 2)) is {{{2, 3}}} for x = {{{1, 3, 2, 4}}}
 * PyTorch:   torch.nn.functional.adaptive_avg_pool2d, where None is -1 */
#define wk_adaptive_avg_pool2d(x, size) WK_NEW_TENSOR_(wk_adaptive_avg_pool2d_at(WK_HERE, x, WK_SIZES_OF_(size)))

/* wk_adaptive_avg_pool3d(x, size): Computes the mean of each of size windows. A size of -1 keeps that of x. Windows
 * cover x; if its size is not a multiple, they differ in size and overlap.
 *     window i has the elements floor(i L / size) to ceil((i + 1) L / size) - 1
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); the spatial sizes become size
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE if x is not floating; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_avg_pool3d(x, (1, 1, 2)) is {{{{2, 3}}}} for x = {{{{1, 3, 2, 4}}}}
 * PyTorch:   torch.nn.functional.adaptive_avg_pool3d, where None is -1 */
#define wk_adaptive_avg_pool3d(x, size) WK_NEW_TENSOR_(wk_adaptive_avg_pool3d_at(WK_HERE, x, WK_SIZES_OF_(size)))

/* wk_adaptive_max_pool1d(x, size): Finds the largest element of each of size windows. The windows are those of
 * wk_adaptive_avg_pool1d. NaN is largest. .return_indices receives the index of each element in its plane of x, the
 * first of equal elements; NULL: indices are not returned.
 * Options:   .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, L) or (C, L); the spatial sizes become size
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE for bool; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_max_pool1d(x, 2) is {{3, 4}} for x = {{1, 3, 2, 4}}
 * PyTorch:   torch.nn.functional.adaptive_max_pool1d, where None is -1 */
#define wk_adaptive_max_pool1d(x, ...)                                                                                 \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_SIZES_(wk_tensor *, wk_adaptive_max_pool1d, wk_adaptive_max_pool_options, "x, size", x, __VA_ARGS__))

/* wk_adaptive_max_pool2d(x, size): Finds the largest element of each of size windows. The windows are those of
 * wk_adaptive_avg_pool2d. NaN is largest. .return_indices receives the index of each element in its plane of x, the
 * first of equal elements; NULL: indices are not returned.
 * Options:   .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, H, W) or (C, H, W); the spatial sizes become size
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE for bool; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_max_pool2d(x, (1, 2)) is {{{3, 4}}} for x = {{{1, 3, 2, 4}}}
 * PyTorch:   torch.nn.functional.adaptive_max_pool2d, where None is -1 */
#define wk_adaptive_max_pool2d(x, ...)                                                                                 \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_SIZES_(wk_tensor *, wk_adaptive_max_pool2d, wk_adaptive_max_pool_options, "x, size", x, __VA_ARGS__))

/* wk_adaptive_max_pool3d(x, size): Finds the largest element of each of size windows. The windows are those of
 * wk_adaptive_avg_pool3d. NaN is largest. .return_indices receives the index of each element in its plane of x, the
 * first of equal elements; NULL: indices are not returned.
 * Options:   .return_indices: receives the indices; default NULL
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); the spatial sizes become size
 * Dtypes:    floats and integers; out as x, indices i64
 * Gradient:  added to the elements at the indices
 * Returns:   a new tensor, owned by the innermost scope, as the indices; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions; WK_ERR_ARGUMENT if a size is less than -1;
 *            WK_ERR_DTYPE for bool; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_adaptive_max_pool3d(x, (1, 1, 2)) is {{{{3, 4}}}} for x = {{{{1, 3, 2, 4}}}}
 * PyTorch:   torch.nn.functional.adaptive_max_pool3d, where None is -1 */
#define wk_adaptive_max_pool3d(x, ...)                                                                                 \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_SIZES_(wk_tensor *, wk_adaptive_max_pool3d, wk_adaptive_max_pool_options, "x, size", x, __VA_ARGS__))

/* wk_lp_pool1d(x, p, kernel): Computes the p-norm of each window, without absolute values. The windows are those of
 * wk_avg_pool1d without padding.
 *     (sum x^p)^(1/p)
 * Options:   .stride: default kernel. .ceil_mode: round sizes up; default false
 * Shapes:    x (N, C, L) or (C, L); each spatial size L becomes (L - kernel) / stride + 1, rounded down, or up with
 *            .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than x; WK_ERR_ARGUMENT if p
 *            is 0 or a number is too small; WK_ERR_DTYPE if x is not floating
 * Example:   wk_lp_pool1d(x, 2, 2) is {{2.236068, 4.472136}} for x = {{1, 2, 2, 4}}
 * PyTorch:   torch.nn.functional.lp_pool1d */
#define wk_lp_pool1d(x, p, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_lp_pool1d, wk_lp_pool_options, "x, p, kernel", x, p, __VA_ARGS__))

/* wk_lp_pool2d(x, p, kernel): Computes the p-norm of each window, without absolute values. The windows are those of
 * wk_avg_pool2d without padding.
 *     (sum x^p)^(1/p)
 * Options:   .stride: default kernel. .ceil_mode: round sizes up; default false
 * Shapes:    x (N, C, H, W) or (C, H, W); each spatial size L becomes (L - kernel) / stride + 1, rounded down, or up
 *            with .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than x; WK_ERR_ARGUMENT if p
 *            is 0 or a number is too small; WK_ERR_DTYPE if x is not floating
 * Example:   wk_lp_pool2d(x, 2, (1, 2)) is {{{2.236068, 4.472136}}} for x = {{{1, 2, 2, 4}}}
 * PyTorch:   torch.nn.functional.lp_pool2d */
#define wk_lp_pool2d(x, p, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_lp_pool2d, wk_lp_pool_options, "x, p, kernel", x, p, __VA_ARGS__))

/* wk_lp_pool3d(x, p, kernel): Computes the p-norm of each window, without absolute values. The windows are those of
 * wk_avg_pool3d without padding.
 *     (sum x^p)^(1/p)
 * Options:   .stride: default kernel. .ceil_mode: round sizes up; default false
 * Shapes:    x (N, C, D, H, W) or (C, D, H, W); each spatial size L becomes (L - kernel) / stride + 1, rounded down,
 *            or up with .ceil_mode
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than x; WK_ERR_ARGUMENT if p
 *            is 0 or a number is too small; WK_ERR_DTYPE if x is not floating
 * Example:   wk_lp_pool3d(x, 2, (1, 1, 2)) is {{{{2.236068, 4.472136}}}} for x = {{{{1, 2, 2, 4}}}}
 * PyTorch:   torch.nn.functional.lp_pool3d */
#define wk_lp_pool3d(x, p, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_lp_pool3d, wk_lp_pool_options, "x, p, kernel", x, p, __VA_ARGS__))

/* wk_max_unpool1d(x, indices, kernel): Writes the elements of x to their indices in planes of zeros, to undo
 * wk_max_pool1d. Of several elements with one index the last one stays.
 * Options:   .stride: default kernel. .padding: default 0. .output_size: spatial sizes of the result
 * Shapes:    x and indices (N, C, L) or (C, L); each spatial size L becomes that of .output_size, which must be less
 *            than a stride away from the default (L - 1) stride - 2 padding + kernel
 * Dtypes:    indices i64; out as x
 * Gradient:  that of the element at the index
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ or the size of the result is not possible; WK_ERR_INDEX if an index
 *            is out of range; WK_ERR_ARGUMENT if a number is too small; WK_ERR_DTYPE for bool, or if indices is not
 *            i64; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_max_unpool1d(x, y, 2) is {{5, 0, 6, 0}} for x = {{5, 6}}, y = {{0, 2}}
 * PyTorch:   torch.nn.functional.max_unpool1d */
#define wk_max_unpool1d(x, indices, ...)                                                                               \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_max_unpool1d, wk_max_unpool_options, "x, indices, kernel", x,        \
                                  indices, __VA_ARGS__))

/* wk_max_unpool2d(x, indices, kernel): Writes the elements of x to their indices in planes of zeros, to undo
 * wk_max_pool2d. Of several elements with one index the last one stays.
 * Options:   .stride: default kernel. .padding: default 0. .output_size: spatial sizes of the result
 * Shapes:    x and indices (N, C, H, W) or (C, H, W); each spatial size L becomes that of .output_size, which must
 *            be less than a stride away from the default (L - 1) stride - 2 padding + kernel
 * Dtypes:    indices i64; out as x
 * Gradient:  that of the element at the index
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ or the size of the result is not possible; WK_ERR_INDEX if an index
 *            is out of range; WK_ERR_ARGUMENT if a number is too small; WK_ERR_DTYPE for bool, or if indices is not
 *            i64; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_max_unpool2d(x, y, (1, 2)) is {{{5, 0, 6, 0}}} for x = {{{5, 6}}}, y = {{{0, 2}}}
 * PyTorch:   torch.nn.functional.max_unpool2d */
#define wk_max_unpool2d(x, indices, ...)                                                                               \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_max_unpool2d, wk_max_unpool_options, "x, indices, kernel", x,        \
                                  indices, __VA_ARGS__))

/* wk_max_unpool3d(x, indices, kernel): Writes the elements of x to their indices in planes of zeros, to undo
 * wk_max_pool3d. Of several elements with one index the last one stays.
 * Options:   .stride: default kernel. .padding: default 0. .output_size: spatial sizes of the result
 * Shapes:    x and indices (N, C, D, H, W) or (C, D, H, W); each spatial size L becomes that of .output_size, which
 *            must be less than a stride away from the default (L - 1) stride - 2 padding + kernel
 * Dtypes:    indices i64; out as x
 * Gradient:  that of the element at the index
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ or the size of the result is not possible; WK_ERR_INDEX if an index
 *            is out of range; WK_ERR_ARGUMENT if a number is too small; WK_ERR_DTYPE for bool, or if indices is not
 *            i64; WK_ERR_MEMORY if the result exceeds the memory limit of the device
 * Example:   wk_max_unpool3d(x, y, (1, 1, 2)) is {{{{5, 0, 6, 0}}}} for x = {{{{5, 6}}}}, y = {{{{0, 2}}}}
 * PyTorch:   torch.nn.functional.max_unpool3d */
#define wk_max_unpool3d(x, indices, ...)                                                                               \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_max_unpool3d, wk_max_unpool_options, "x, indices, kernel", x,        \
                                  indices, __VA_ARGS__))

/* ---- resampling -------------------------------------------------------------------------------------------------- */

/* wk_interpolate(x): Resamples the spatial dimensions of x to .output_size, or to their sizes times a scale, rounded
 * down. The scale of a dimension is .scales_d, .scales_h or .scales_w for depth, height and width; those omitted
 * have .scale_factor or, without it, 1. WK_INTERPOLATE_NEAREST takes x[floor(i step)], WK_INTERPOLATE_NEAREST_EXACT
 * x[floor((i + 1/2) step)], where step is 1 / scale or, with .recompute_scale_factor or .output_size, the size of x
 * divided by that of the result. WK_INTERPOLATE_LINEAR, BILINEAR and TRILINEAR, for one, two and three dimensions,
 * interpolate between neighbours, WK_INTERPOLATE_BICUBIC between four elements of each dimension, at (i + 1/2) step
 * - 1/2; with .align_corners the first and last elements of x and the result coincide. .antialias, for bilinear and
 * bicubic, averages over more elements when the size decreases. Linear modes and .antialias copy a dimension whose
 * size stays the same, whatever its scale. WK_INTERPOLATE_AREA is adaptive average pooling.
 * Options:   .output_size: spatial sizes of the result. .scale_factor: scale of all dimensions. .mode:
 *            WK_INTERPOLATE_NEAREST or WK_INTERPOLATE_LINEAR or WK_INTERPOLATE_BILINEAR or WK_INTERPOLATE_BICUBIC or
 *            WK_INTERPOLATE_TRILINEAR or WK_INTERPOLATE_AREA or WK_INTERPOLATE_NEAREST_EXACT; default
 *            WK_INTERPOLATE_NEAREST. .align_corners: default false. .recompute_scale_factor: default false.
 *            .antialias: default false. .scales_d: scale of the depth; default .scale_factor. .scales_h: scale of
 *            the height; default .scale_factor. .scales_w: scale of the width; default .scale_factor
 * Shapes:    (N, C, L), (N, C, H, W) or (N, C, D, H, W); the spatial sizes change
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the mode does not fit x or a spatial dimension is empty; WK_ERR_ARGUMENT if not exactly
 *            one of .output_size and a scale is given, a size is less than 1, x does not have the dimension of a
 *            scale, or an option does not fit the mode; WK_ERR_DTYPE if x is not floating; WK_ERR_MEMORY if the
 *            result exceeds the memory limit of the device
 * Example:   wk_interpolate(x, .scale_factor = 2) is {{{1, 1, 2, 2}}} for x = {{{1, 2}}}
 * PyTorch:   torch.nn.functional.interpolate, whose size is .output_size; scale_factor (2, 3) is .scales_h = 2,
 *            .scales_w = 3; dtypes are floating */
#define wk_interpolate(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_interpolate, wk_interpolate_options, __VA_ARGS__))

/* wk_affine_grid(theta, (size)): Creates the grid of an affine transformation, for wk_grid_sample. theta has a
 * matrix for each sample. Its product with (x, y, 1), or (x, y, z, 1), is the position in the grid of the element at
 * x, y and z of a result of the given size. These run from -1, the first element along a dimension, to 1, the last
 * one; without .align_corners -1 and 1 are the outer edges of these elements.
 *     x_i = (2 i + 1 - W) / W; with .align_corners (2 i + 1 - W) / (W - 1), or 0 for W = 1
 * Options:   .align_corners: default false
 * Shapes:    theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); theta (N, 3, 4), size (N, C, D, H, W) -> (N, D, H,
 *            W, 3)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if theta does not have the shape that size requires; WK_ERR_ARGUMENT if size does not have
 *            four or five numbers, or a spatial size is less than 1; WK_ERR_DTYPE if theta is not floating
 * Example:   wk_affine_grid(theta, (1, 1, 1, 2)) is {{{{-0.5, 0}, {0.5, 0}}}} for theta = {{{1, 0, 0}, {0, 1, 0}}}
 * PyTorch:   torch.nn.functional.affine_grid */
#define wk_affine_grid(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_affine_grid, wk_affine_grid_options, __VA_ARGS__))

/* wk_grid_sample(x, grid): Takes the values of x at the positions of a grid. A position of the grid has a coordinate
 * for each spatial dimension of x, the last dimension first. -1 is the first element along a dimension and 1 the
 * last one; without .align_corners these are the outer edges of the two elements. WK_GRID_SAMPLE_BILINEAR
 * interpolates between the neighbours of a position, also in three dimensions, WK_GRID_SAMPLE_BICUBIC between 4 x 4
 * elements of an image, WK_GRID_SAMPLE_NEAREST takes the nearest element. Outside of x WK_GRID_SAMPLE_ZEROS has
 * zeros, WK_GRID_SAMPLE_BORDER the nearest element of x, and WK_GRID_SAMPLE_REFLECTION x mirrored at -1 and 1. A
 * coordinate that is NaN counts as less than all numbers.
 * Options:   .mode: WK_GRID_SAMPLE_BILINEAR or WK_GRID_SAMPLE_NEAREST or WK_GRID_SAMPLE_BICUBIC; default
 *            WK_GRID_SAMPLE_BILINEAR. .padding_mode: WK_GRID_SAMPLE_ZEROS or WK_GRID_SAMPLE_BORDER or
 *            WK_GRID_SAMPLE_REFLECTION; default WK_GRID_SAMPLE_ZEROS. .align_corners: default false
 * Shapes:    x (N, C, H, W), grid (N, Ho, Wo, 2) -> (N, C, Ho, Wo); x (N, C, D, H, W), grid (N, Do, Ho, Wo, 3) ->
 *            (N, C, Do, Ho, Wo)
 * Dtypes:    floating
 * Gradient:  zero for the grid with WK_GRID_SAMPLE_NEAREST
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shape of the grid does not fit x, a spatial dimension of x is empty, or bicubic x
 *            has five dimensions; WK_ERR_DTYPE if x and the grid do not have the same floating dtype;
 *            WK_ERR_ARGUMENT if .mode or .padding_mode is unknown
 * Example:   wk_grid_sample(x, grid, .align_corners = true) is {{{{1, 3.5}}}} for x = {{{{1, 2, 5}}}}, grid =
 *            {{{{-1, 0}, {0.5, 0}}}}
 * PyTorch:   torch.nn.functional.grid_sample */
#define wk_grid_sample(x, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_grid_sample, wk_grid_sample_options, "x, grid", x, __VA_ARGS__))

/* wk_im2col(x, kernel): Takes the windows of an image as columns. Windows have kernel elements, .dilation apart, and
 * start every .stride elements of x with .padding zeros at both ends of each dimension. Row (c kh + i) kw + j is
 * element (i, j) of the windows of channel c.
 * Options:   .dilation: default 1. .padding: default 0. .stride: default 1
 * Shapes:    (N, C, H, W) -> (N, C kh kw, windows), also without N; windows along a dimension L: (L + 2 padding -
 *            dilation (kernel - 1) - 1) / stride + 1, rounded down
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or the kernel is larger than the padded size;
 *            WK_ERR_ARGUMENT if a number is too small
 * Example:   wk_im2col(x, (1, 2)) is {{1, 2}, {2, 3}} for x = {{{1, 2, 3}}}
 * PyTorch:   torch.nn.functional.unfold */
#define wk_im2col(x, ...)                                                                                              \
    WK_NEW_TENSOR_(WK_OPT2_SIZES_(wk_tensor *, wk_im2col, wk_im2col_options, "x, kernel", x, __VA_ARGS__))

/* wk_col2im(x, size, kernel): Adds columns into an image of the given size, at the windows from which wk_im2col
 * takes them. An element in several windows is the sum of their columns; x and the options are those of wk_im2col.
 * Options:   .dilation: default 1. .padding: default 0. .stride: default 1
 * Shapes:    (N, C kh kw, windows) -> (N, C, H, W), also without N
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x does not have the rows and columns of such windows, or the kernel is larger than the
 *            padded size; WK_ERR_ARGUMENT if a number is too small; WK_ERR_DTYPE for bool
 * Example:   wk_col2im(x, (1, 3), (1, 2)) is {{{1, 4, 3}}} for x = {{1, 2}, {2, 3}}
 * PyTorch:   torch.nn.functional.fold */
#define wk_col2im(x, size, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT3_SIZES_(wk_tensor *, wk_col2im, wk_im2col_options, "x, size, kernel", x, WK_SIZES_OF_(size), \
                                  __VA_ARGS__))

#endif

#endif

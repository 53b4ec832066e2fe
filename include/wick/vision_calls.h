/* SPDX-License-Identifier: Apache-2.0 */
/* wick/vision_calls.h: the functions behind wick/vision.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#ifndef WICK_VISION_CALLS_H
#define WICK_VISION_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

/* conv1d: Convolves x with weight and adds bias. */
typedef struct wk_conv_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;  /* default 1 */
    wk_sizes padding; /* zeros before and after each dimension; WK_SAME keeps the sizes, with stride 1; WK_VALID is 0 */
    wk_sizes dilation; /* default 1; distance between elements of the kernel */
    int64_t groups;
} wk_conv_options;
#ifndef __cplusplus
#define wk_conv_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_conv1d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                      const wk_conv_options *options);

/* conv2d: Convolves x with weight and adds bias. */
WK_RESULT_API wk_tensor *wk_conv2d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                      const wk_conv_options *options);

/* conv3d: Convolves x with weight and adds bias. */
WK_RESULT_API wk_tensor *wk_conv3d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                      const wk_conv_options *options);

/* conv_transpose1d: Computes the transposed convolution of x with weight, which is the gradient of a convolution,
 * and adds bias. */
typedef struct wk_conv_transpose_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;  /* default 1 */
    wk_sizes padding; /* elements removed before and after each dimension */
    wk_sizes output_padding;
    int64_t groups;
    wk_sizes dilation; /* default 1; distance between elements of the kernel */
} wk_conv_transpose_options;
#ifndef __cplusplus
#define wk_conv_transpose_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_conv_transpose1d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                                const wk_conv_transpose_options *options);

/* conv_transpose2d: Computes the transposed convolution of x with weight, which is the gradient of a convolution,
 * and adds bias. */
WK_RESULT_API wk_tensor *wk_conv_transpose2d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                                const wk_conv_transpose_options *options);

/* conv_transpose3d: Computes the transposed convolution of x with weight, which is the gradient of a convolution,
 * and adds bias. */
WK_RESULT_API wk_tensor *wk_conv_transpose3d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                                const wk_conv_transpose_options *options);

/* conv1d_input: Computes the gradient of wk_conv1d by its input, whose sizes are input_size. */
WK_RESULT_API wk_tensor *wk_conv1d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                                            wk_tensor *grad_output, const wk_conv_options *options);

/* conv2d_input: Computes the gradient of wk_conv2d by its input, whose sizes are input_size. */
WK_RESULT_API wk_tensor *wk_conv2d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                                            wk_tensor *grad_output, const wk_conv_options *options);

/* conv3d_input: Computes the gradient of wk_conv3d by its input, whose sizes are input_size. */
WK_RESULT_API wk_tensor *wk_conv3d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                                            wk_tensor *grad_output, const wk_conv_options *options);

/* conv1d_weight: Computes the gradient of wk_conv1d by its weight, whose sizes are weight_size. */
WK_RESULT_API wk_tensor *wk_conv1d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                                             wk_tensor *grad_output, const wk_conv_options *options);

/* conv2d_weight: Computes the gradient of wk_conv2d by its weight, whose sizes are weight_size. */
WK_RESULT_API wk_tensor *wk_conv2d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                                             wk_tensor *grad_output, const wk_conv_options *options);

/* conv3d_weight: Computes the gradient of wk_conv3d by its weight, whose sizes are weight_size. */
WK_RESULT_API wk_tensor *wk_conv3d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                                             wk_tensor *grad_output, const wk_conv_options *options);

#ifdef __cplusplus
}
#endif
#endif

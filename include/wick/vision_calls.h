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

/* ---- pooling ----------------------------------------------------------------------------------------------------- */

/* max_pool1d: Finds the largest element of each window. */
typedef struct wk_max_pool_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;            /* default kernel */
    wk_sizes padding;           /* at most half of the kernel */
    wk_sizes dilation;          /* default 1 */
    bool ceil_mode;             /* round sizes up; default false */
    wk_tensor **return_indices; /* receives the indices; default NULL */
} wk_max_pool_options;
#ifndef __cplusplus
#define wk_max_pool_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_max_pool1d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_max_pool_options *options);

/* max_pool2d: Finds the largest element of each window. */
WK_RESULT_API wk_tensor *wk_max_pool2d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_max_pool_options *options);

/* max_pool3d: Finds the largest element of each window. */
WK_RESULT_API wk_tensor *wk_max_pool3d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_max_pool_options *options);

/* avg_pool1d: Computes the mean of each window. */
typedef struct wk_avg_pool_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;           /* default kernel */
    wk_sizes padding;          /* at most half of the kernel */
    bool ceil_mode;            /* round sizes up; default false */
    bool no_count_include_pad; /* count elements of x only; default false */
    int64_t divisor_override;  /* divides the sums instead of the number of elements; default none */
} wk_avg_pool_options;
#ifndef __cplusplus
#define wk_avg_pool_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_avg_pool1d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_avg_pool_options *options);

/* avg_pool2d: Computes the mean of each window. */
WK_RESULT_API wk_tensor *wk_avg_pool2d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_avg_pool_options *options);

/* avg_pool3d: Computes the mean of each window. */
WK_RESULT_API wk_tensor *wk_avg_pool3d_at(wk_site site, wk_tensor *x, wk_sizes kernel,
                                          const wk_avg_pool_options *options);

/* adaptive_avg_pool1d: Computes the mean of each of size windows. */
WK_RESULT_API wk_tensor *wk_adaptive_avg_pool1d_at(wk_site site, wk_tensor *x, wk_sizes size);

/* adaptive_avg_pool2d: Computes the mean of each of size windows. */
WK_RESULT_API wk_tensor *wk_adaptive_avg_pool2d_at(wk_site site, wk_tensor *x, wk_sizes size);

/* adaptive_avg_pool3d: Computes the mean of each of size windows. */
WK_RESULT_API wk_tensor *wk_adaptive_avg_pool3d_at(wk_site site, wk_tensor *x, wk_sizes size);

/* adaptive_max_pool1d: Finds the largest element of each of size windows. */
typedef struct wk_adaptive_max_pool_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor **return_indices; /* receives the indices; default NULL */
} wk_adaptive_max_pool_options;
#ifndef __cplusplus
#define wk_adaptive_max_pool_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_adaptive_max_pool1d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                                   const wk_adaptive_max_pool_options *options);

/* adaptive_max_pool2d: Finds the largest element of each of size windows. */
WK_RESULT_API wk_tensor *wk_adaptive_max_pool2d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                                   const wk_adaptive_max_pool_options *options);

/* adaptive_max_pool3d: Finds the largest element of each of size windows. */
WK_RESULT_API wk_tensor *wk_adaptive_max_pool3d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                                   const wk_adaptive_max_pool_options *options);

/* lp_pool1d: Computes the p-norm of each window, without absolute values. */
typedef struct wk_lp_pool_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride; /* default kernel */
    bool ceil_mode;  /* round sizes up; default false */
    char reserved[7];
} wk_lp_pool_options;
#ifndef __cplusplus
#define wk_lp_pool_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_lp_pool1d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel,
                                         const wk_lp_pool_options *options);

/* lp_pool2d: Computes the p-norm of each window, without absolute values. */
WK_RESULT_API wk_tensor *wk_lp_pool2d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel,
                                         const wk_lp_pool_options *options);

/* lp_pool3d: Computes the p-norm of each window, without absolute values. */
WK_RESULT_API wk_tensor *wk_lp_pool3d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel,
                                         const wk_lp_pool_options *options);

/* max_unpool1d: Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool1d. */
typedef struct wk_max_unpool_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride; /* default kernel */
    wk_sizes padding;
    wk_sizes output_size; /* spatial sizes of the result */
} wk_max_unpool_options;
#ifndef __cplusplus
#define wk_max_unpool_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_max_unpool1d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                                            const wk_max_unpool_options *options);

/* max_unpool2d: Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool2d. */
WK_RESULT_API wk_tensor *wk_max_unpool2d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                                            const wk_max_unpool_options *options);

/* max_unpool3d: Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool3d. */
WK_RESULT_API wk_tensor *wk_max_unpool3d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                                            const wk_max_unpool_options *options);

/* ---- resampling -------------------------------------------------------------------------------------------------- */

/* interpolate: Resamples the spatial dimensions of x to .output_size, or to their sizes times a scale, rounded down. */
/* For .mode: 0 counts as WK_INTERPOLATE_NEAREST; no number is a constant of two options, so others are refused. */
enum {
    WK_INTERPOLATE_NEAREST = 301,
    WK_INTERPOLATE_LINEAR = 302,
    WK_INTERPOLATE_BILINEAR = 303,
    WK_INTERPOLATE_BICUBIC = 304,
    WK_INTERPOLATE_TRILINEAR = 305,
    WK_INTERPOLATE_AREA = 306,
    WK_INTERPOLATE_NEAREST_EXACT = 307
};
typedef struct wk_interpolate_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes output_size; /* spatial sizes of the result */
    double scale_factor;  /* scale of all dimensions */
    int mode;
    bool align_corners;          /* default false */
    bool recompute_scale_factor; /* default false */
    bool antialias;              /* default false */
    double scales_d;             /* scale of the depth; default .scale_factor */
    double scales_h;             /* scale of the height; default .scale_factor */
    double scales_w;             /* scale of the width; default .scale_factor */
} wk_interpolate_options;
#ifndef __cplusplus
#define wk_interpolate_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_do_(wk_o_, scale_factor) wk_do_(wk_o_, scales_d) wk_do_(wk_o_, scales_h) wk_do_(wk_o_, scales_w)
#endif
WK_RESULT_API wk_tensor *wk_interpolate_at(wk_site site, wk_tensor *x, const wk_interpolate_options *options);

/* affine_grid: Creates the grid of an affine transformation, for wk_grid_sample. */
typedef struct wk_affine_grid_options {
    size_t size;
    wk_by_name by_name;
    bool align_corners; /* default false */
    char reserved[7];
} wk_affine_grid_options;
#ifndef __cplusplus
#define wk_affine_grid_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_affine_grid_at(wk_site site, wk_tensor *theta, const int64_t *size, int count,
                                           const wk_affine_grid_options *options);

/* grid_sample: Takes the values of x at the positions of a grid. */
/* For .mode: 0 counts as WK_GRID_SAMPLE_BILINEAR; no number is a constant of two options, so others are refused. */
enum { WK_GRID_SAMPLE_BILINEAR = 401, WK_GRID_SAMPLE_NEAREST = 402, WK_GRID_SAMPLE_BICUBIC = 403 };
/* For .padding_mode: 0 counts as WK_GRID_SAMPLE_ZEROS; no number is a constant of two options, so others are
 * refused. */
enum { WK_GRID_SAMPLE_ZEROS = 501, WK_GRID_SAMPLE_BORDER = 502, WK_GRID_SAMPLE_REFLECTION = 503 };
typedef struct wk_grid_sample_options {
    size_t size;
    wk_by_name by_name;
    int mode;
    int padding_mode;
    bool align_corners; /* default false */
    char reserved[7];
} wk_grid_sample_options;
#ifndef __cplusplus
#define wk_grid_sample_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_grid_sample_at(wk_site site, wk_tensor *x, wk_tensor *grid,
                                           const wk_grid_sample_options *options);

/* im2col: Takes the windows of an image as columns. */
typedef struct wk_im2col_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes dilation; /* default 1 */
    wk_sizes padding;
    wk_sizes stride; /* default 1 */
} wk_im2col_options;
#ifndef __cplusplus
#define wk_im2col_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_im2col_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_im2col_options *options);

/* col2im: Adds columns into an image of the given size, at the windows from which wk_im2col takes them. */
WK_RESULT_API wk_tensor *wk_col2im_at(wk_site site, wk_tensor *x, wk_sizes size, wk_sizes kernel,
                                      const wk_im2col_options *options);

#ifdef __cplusplus
}
#endif
#endif

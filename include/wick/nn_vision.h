/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_vision.h: layers for images: convolutions, pooling, padding, shuffling, resampling.
 *
 *     wk_module *net = wk_nn_sequential(wk_nn_conv2d(1, 6, 5, .padding = 2), wk_nn_relu(), wk_nn_flatten(),
 *                                       wk_nn_linear(6 * 28 * 28, 10));
 *
 * Shapes are those of wick/vision.h. A size is a number or, for two or three spatial dimensions, a list: 5 or (5, 3);
 * an option is a number, WK_PAIR(1, 0) or WK_TRIPLE(1, 0, 2). */
#ifndef WICK_NN_VISION_H
#define WICK_NN_VISION_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"
#include "vision_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

typedef struct wk_nn_conv_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;   /* default 1 */
    wk_sizes padding;  /* default 0; WK_SAME keeps the sizes, with stride 1 */
    wk_sizes dilation; /* distance between elements of the kernel; default 1 */
    int64_t groups;    /* default 1 */
    int padding_mode;  /* WK_PAD_REFLECT, WK_PAD_REPLICATE or WK_PAD_CIRCULAR; default zeros */
    bool no_bias;      /* without bias; default false */
    wk_dtype dtype;    /* default f32; of lazy layers that of the first input */
    wk_device device;  /* default WK_DEVICE, else the CPU; of lazy layers that of the first input */
    char reserved[4];
} wk_nn_conv_options;
/* wk_nn_conv1d(in, out, kernel), wk_nn_conv2d, wk_nn_conv3d: Create a convolution of in channels to out channels, with
 * parameters weight (out, in / groups, kernel..) and bias (out), both initialised uniformly in +-1 / sqrt(fan_in),
 * where fan_in is in / groups times the elements of the kernel. wk_conv2d has the formula.
 *     wk_nn_conv2d(3, 16, 5, .stride = 2)
 *     wk_nn_conv2d(3, 16, (3, 5), .padding = WK_PAIR(1, 2), .no_bias = true)
 * Shapes:    (N, in, H, W) -> (N, out, H', W'), also without N, with H' = (H + 2 padding - dilation (kernel - 1) - 1) /
 *            stride + 1, rounded down
 * Errors:    WK_ERR_ARGUMENT if a size is less than 1, a stride, dilation, padding or groups negative, .padding_mode
 *            unknown, or in or out no multiple of groups; WK_ERR_SHAPE if in is negative or out less than 1
 * PyTorch:   torch.nn.Conv1d, Conv2d, Conv3d */
WK_RESULT_API wk_module *wk_nn_conv1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                         const wk_nn_conv_options *options);
WK_RESULT_API wk_module *wk_nn_conv2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                         const wk_nn_conv_options *options);
WK_RESULT_API wk_module *wk_nn_conv3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                         const wk_nn_conv_options *options);
/* wk_nn_lazy_conv1d(out, kernel), wk_nn_lazy_conv2d, wk_nn_lazy_conv3d: Create a convolution whose in is the number of
 * channels of the first input, on whose device the parameters are created.
 * PyTorch:   torch.nn.LazyConv1d, LazyConv2d, LazyConv3d */
WK_RESULT_API wk_module *wk_nn_lazy_conv1d_at(wk_site site, int64_t out, wk_sizes kernel,
                                              const wk_nn_conv_options *options);
WK_RESULT_API wk_module *wk_nn_lazy_conv2d_at(wk_site site, int64_t out, wk_sizes kernel,
                                              const wk_nn_conv_options *options);
WK_RESULT_API wk_module *wk_nn_lazy_conv3d_at(wk_site site, int64_t out, wk_sizes kernel,
                                              const wk_nn_conv_options *options);

typedef struct wk_nn_conv_transpose_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;         /* default 1 */
    wk_sizes padding;        /* elements removed before and after each dimension; default 0 */
    wk_sizes output_padding; /* elements added after each dimension; default 0 */
    int64_t groups;          /* default 1 */
    wk_sizes dilation;       /* distance between elements of the kernel; default 1 */
    bool no_bias;            /* without bias; default false */
    wk_dtype dtype;          /* default f32; of lazy layers that of the first input */
    wk_device device;        /* default WK_DEVICE, else the CPU; of lazy layers that of the first input */
} wk_nn_conv_transpose_options;
/* wk_nn_conv_transpose1d(in, out, kernel), wk_nn_conv_transpose2d, wk_nn_conv_transpose3d: Create a transposed
 * convolution of in channels to out channels, with parameters weight (in, out / groups, kernel..) and bias (out),
 * initialised uniformly in +-1 / sqrt(out / groups times the elements of the kernel).
 * Shapes:    (N, in, H, W) -> (N, out, H', W'), also without N, with H' = (H - 1) stride - 2 padding + dilation (kernel
 *            - 1) + output_padding + 1
 * Errors:    as wk_nn_conv2d
 * PyTorch:   torch.nn.ConvTranspose1d, ConvTranspose2d, ConvTranspose3d */
WK_RESULT_API wk_module *wk_nn_conv_transpose1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                                   const wk_nn_conv_transpose_options *options);
WK_RESULT_API wk_module *wk_nn_conv_transpose2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                                   const wk_nn_conv_transpose_options *options);
WK_RESULT_API wk_module *wk_nn_conv_transpose3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                                   const wk_nn_conv_transpose_options *options);
/* wk_nn_lazy_conv_transpose1d(out, kernel), wk_nn_lazy_conv_transpose2d, wk_nn_lazy_conv_transpose3d: as
 * wk_nn_lazy_conv2d.
 * PyTorch:   torch.nn.LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d */
WK_RESULT_API wk_module *wk_nn_lazy_conv_transpose1d_at(wk_site site, int64_t out, wk_sizes kernel,
                                                        const wk_nn_conv_transpose_options *options);
WK_RESULT_API wk_module *wk_nn_lazy_conv_transpose2d_at(wk_site site, int64_t out, wk_sizes kernel,
                                                        const wk_nn_conv_transpose_options *options);
WK_RESULT_API wk_module *wk_nn_lazy_conv_transpose3d_at(wk_site site, int64_t out, wk_sizes kernel,
                                                        const wk_nn_conv_transpose_options *options);

/* ---- pooling ----------------------------------------------------------------------------------------------------- */

typedef struct wk_nn_max_pool_options {
    size_t size;
    wk_by_name by_name;
    wk_sizes stride;     /* default kernel */
    wk_sizes padding;    /* at most half of the kernel; default 0 */
    wk_sizes dilation;   /* distance between elements of a window; default 1 */
    bool return_indices; /* the indices are a second output, for wk_forward_n; default false */
    bool ceil_mode;      /* round sizes up; default false */
    char reserved[6];
} wk_nn_max_pool_options;
/* wk_nn_max_pool1d(kernel), wk_nn_max_pool2d, wk_nn_max_pool3d: Create a layer that calls the op of the same name.
 *     wk_nn_max_pool2d(2)
 *     wk_nn_max_pool2d((3, 2), .stride = 2, .padding = WK_PAIR(1, 0))
 * Errors:    WK_ERR_ARGUMENT if a size is too small or a padding greater than half of the kernel
 * PyTorch:   torch.nn.MaxPool1d, MaxPool2d, MaxPool3d */
WK_RESULT_API wk_module *wk_nn_max_pool1d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options);
WK_RESULT_API wk_module *wk_nn_max_pool2d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options);
WK_RESULT_API wk_module *wk_nn_max_pool3d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options);
/* wk_nn_avg_pool1d(kernel), wk_nn_avg_pool2d, wk_nn_avg_pool3d: Create a layer that calls the op of the same name, with
 * its options.
 * Errors:    as wk_nn_max_pool2d
 * PyTorch:   torch.nn.AvgPool1d, AvgPool2d, AvgPool3d */
WK_RESULT_API wk_module *wk_nn_avg_pool1d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options);
WK_RESULT_API wk_module *wk_nn_avg_pool2d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options);
WK_RESULT_API wk_module *wk_nn_avg_pool3d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options);
/* wk_nn_lp_pool1d(p, kernel), wk_nn_lp_pool2d, wk_nn_lp_pool3d: Create a layer that calls the op of the same name, with
 * its options.
 * Errors:    WK_ERR_ARGUMENT if p is 0 or a size is too small
 * PyTorch:   torch.nn.LPPool1d, LPPool2d, LPPool3d */
WK_RESULT_API wk_module *wk_nn_lp_pool1d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options);
WK_RESULT_API wk_module *wk_nn_lp_pool2d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options);
WK_RESULT_API wk_module *wk_nn_lp_pool3d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options);
/* wk_nn_adaptive_avg_pool1d(size), wk_nn_adaptive_avg_pool2d, wk_nn_adaptive_avg_pool3d: Create a layer that calls
 * the op of the same name.
 *     wk_nn_adaptive_avg_pool2d((1, 1))
 * Errors:    WK_ERR_ARGUMENT if a size is less than -1
 * PyTorch:   torch.nn.AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d */
WK_RESULT_API wk_module *wk_nn_adaptive_avg_pool1d_at(wk_site site, wk_sizes size);
WK_RESULT_API wk_module *wk_nn_adaptive_avg_pool2d_at(wk_site site, wk_sizes size);
WK_RESULT_API wk_module *wk_nn_adaptive_avg_pool3d_at(wk_site site, wk_sizes size);

typedef struct wk_nn_adaptive_max_pool_options {
    size_t size;
    wk_by_name by_name;
    bool return_indices; /* the indices are a second output, for wk_forward_n; default false */
    char reserved[7];
} wk_nn_adaptive_max_pool_options;
/* wk_nn_adaptive_max_pool1d(size), wk_nn_adaptive_max_pool2d, wk_nn_adaptive_max_pool3d: Create a layer that calls
 * the op of the same name.
 * Errors:    WK_ERR_ARGUMENT if a size is less than -1
 * PyTorch:   torch.nn.AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d */
WK_RESULT_API wk_module *wk_nn_adaptive_max_pool1d_at(wk_site site, wk_sizes size,
                                                      const wk_nn_adaptive_max_pool_options *options);
WK_RESULT_API wk_module *wk_nn_adaptive_max_pool2d_at(wk_site site, wk_sizes size,
                                                      const wk_nn_adaptive_max_pool_options *options);
WK_RESULT_API wk_module *wk_nn_adaptive_max_pool3d_at(wk_site site, wk_sizes size,
                                                      const wk_nn_adaptive_max_pool_options *options);
/* wk_nn_max_unpool1d(kernel), wk_nn_max_unpool2d, wk_nn_max_unpool3d: Create a layer that calls the op of the same
 * name, with its options, of two inputs: wk_forward_n(m, (x, indices), &y, 1).
 * Errors:    WK_ERR_ARGUMENT if a size is too small or a padding greater than half of the kernel
 * PyTorch:   torch.nn.MaxUnpool1d, MaxUnpool2d, MaxUnpool3d */
WK_RESULT_API wk_module *wk_nn_max_unpool1d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options);
WK_RESULT_API wk_module *wk_nn_max_unpool2d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options);
WK_RESULT_API wk_module *wk_nn_max_unpool3d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options);

/* ---- padding ----------------------------------------------------------------------------------------------------- */

/* wk_nn_zero_pad1d(padding), wk_nn_reflection_pad1d, wk_nn_replication_pad1d, wk_nn_circular_pad1d and those of two and
 * three dimensions: Create a layer that calls wk_pad. padding is one number for all sides or a list as that of wk_pad.
 * wk_nn_constant_pad2d(padding, value) pads with value.
 *     wk_nn_zero_pad2d(1)
 *     wk_nn_reflection_pad2d((1, 1, 2, 0))        left, right, top, bottom
 * Errors:    WK_ERR_ARGUMENT if padding has neither one number nor two for each dimension
 * PyTorch:   torch.nn.ZeroPad2d, ReflectionPad2d, ReplicationPad2d, CircularPad2d, ConstantPad2d, ... */
WK_RESULT_API wk_module *wk_nn_zero_pad1d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_reflection_pad1d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_replication_pad1d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_circular_pad1d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_constant_pad1d_at(wk_site site, const int64_t *padding, int count, double value);
WK_RESULT_API wk_module *wk_nn_zero_pad2d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_reflection_pad2d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_replication_pad2d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_circular_pad2d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_constant_pad2d_at(wk_site site, const int64_t *padding, int count, double value);
WK_RESULT_API wk_module *wk_nn_zero_pad3d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_reflection_pad3d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_replication_pad3d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_circular_pad3d_at(wk_site site, const int64_t *padding, int count);
WK_RESULT_API wk_module *wk_nn_constant_pad3d_at(wk_site site, const int64_t *padding, int count, double value);

/* ---- shuffling --------------------------------------------------------------------------------------------------- */

/* wk_nn_pixel_shuffle(factor), wk_nn_pixel_unshuffle(factor), wk_nn_channel_shuffle(groups): Create a layer that calls
 * wk_pixel_shuffle, wk_pixel_unshuffle or wk_channel_shuffle.
 * Errors:    WK_ERR_ARGUMENT if factor or groups is less than 1
 * PyTorch:   torch.nn.PixelShuffle, PixelUnshuffle, ChannelShuffle */
WK_RESULT_API wk_module *wk_nn_pixel_shuffle_at(wk_site site, int64_t factor);
WK_RESULT_API wk_module *wk_nn_pixel_unshuffle_at(wk_site site, int64_t factor);
WK_RESULT_API wk_module *wk_nn_channel_shuffle_at(wk_site site, int64_t groups);

#define wk_nn_pixel_shuffle(...)   WK_NEW_MODULE_(wk_nn_pixel_shuffle_at(WK_HERE, __VA_ARGS__))
#define wk_nn_pixel_unshuffle(...) WK_NEW_MODULE_(wk_nn_pixel_unshuffle_at(WK_HERE, __VA_ARGS__))
#define wk_nn_channel_shuffle(...) WK_NEW_MODULE_(wk_nn_channel_shuffle_at(WK_HERE, __VA_ARGS__))

/* ---- resampling -------------------------------------------------------------------------------------------------- */

typedef struct wk_nn_upsample_options {
    size_t size;
    wk_by_name by_name;
    double scale_factor;         /* of all sizes; default none */
    int mode;                    /* as wk_interpolate; default WK_INTERPOLATE_NEAREST */
    bool align_corners;          /* default false */
    bool recompute_scale_factor; /* default false */
    char reserved[2];
    double scales_d, scales_h, scales_w; /* of depth, height and width; default .scale_factor */
} wk_nn_upsample_options;
/* wk_nn_upsample(size): Creates a layer that calls wk_interpolate. size is that of the result in its spatial
 * dimensions, or 0 if a scale is given.
 *     wk_nn_upsample(0, .scale_factor = 2, .mode = WK_INTERPOLATE_BILINEAR)
 *     wk_nn_upsample((14, 20))
 * Errors:    WK_ERR_ARGUMENT if not exactly one of size and a scale is given
 * PyTorch:   torch.nn.Upsample */
WK_RESULT_API wk_module *wk_nn_upsample_at(wk_site site, wk_sizes size, const wk_nn_upsample_options *options);
/* wk_nn_upsampling_nearest2d(size), wk_nn_upsampling_bilinear2d(size): Create a wk_nn_upsample layer for images, with
 * WK_INTERPOLATE_NEAREST, or with WK_INTERPOLATE_BILINEAR and .align_corners. Their options are scales and
 * .recompute_scale_factor.
 * Errors:    WK_ERR_ARGUMENT if not exactly one of size and a scale is given, or another option is
 * PyTorch:   torch.nn.UpsamplingNearest2d, torch.nn.UpsamplingBilinear2d */
WK_RESULT_API wk_module *wk_nn_upsampling_nearest2d_at(wk_site site, wk_sizes size,
                                                       const wk_nn_upsample_options *options);
WK_RESULT_API wk_module *wk_nn_upsampling_bilinear2d_at(wk_site site, wk_sizes size,
                                                        const wk_nn_upsample_options *options);

/* wk_nn_unfold(kernel), wk_nn_fold(size, kernel): Create a layer that calls wk_im2col or wk_col2im, with its options.
 * Errors:    WK_ERR_ARGUMENT if a number is too small
 * PyTorch:   torch.nn.Unfold, torch.nn.Fold */
WK_RESULT_API wk_module *wk_nn_unfold_at(wk_site site, wk_sizes kernel, const wk_im2col_options *options);
WK_RESULT_API wk_module *wk_nn_fold_at(wk_site site, wk_sizes size, wk_sizes kernel, const wk_im2col_options *options);

/* ---- macros ------------------------------------------------------------------------------------------------------ */

#ifndef __cplusplus

#define WK_NN_CONV_(f, type, in, ...)                                                                                  \
    WK_NEW_MODULE_(WK_OPT3_SIZES_(wk_module *, f, type, "in, out, kernel", in, __VA_ARGS__))
#define WK_NN_LAZY_CONV_(f, type, out, ...)                                                                            \
    WK_NEW_MODULE_(WK_OPT2_SIZES_(wk_module *, f, type, "out, kernel", out, __VA_ARGS__))
#define wk_nn_conv1d(in, ...)       WK_NN_CONV_(wk_nn_conv1d, wk_nn_conv_options, in, __VA_ARGS__)
#define wk_nn_conv2d(in, ...)       WK_NN_CONV_(wk_nn_conv2d, wk_nn_conv_options, in, __VA_ARGS__)
#define wk_nn_conv3d(in, ...)       WK_NN_CONV_(wk_nn_conv3d, wk_nn_conv_options, in, __VA_ARGS__)
#define wk_nn_lazy_conv1d(out, ...) WK_NN_LAZY_CONV_(wk_nn_lazy_conv1d, wk_nn_conv_options, out, __VA_ARGS__)
#define wk_nn_lazy_conv2d(out, ...) WK_NN_LAZY_CONV_(wk_nn_lazy_conv2d, wk_nn_conv_options, out, __VA_ARGS__)
#define wk_nn_lazy_conv3d(out, ...) WK_NN_LAZY_CONV_(wk_nn_lazy_conv3d, wk_nn_conv_options, out, __VA_ARGS__)
#define wk_nn_conv_transpose1d(in, ...)                                                                                \
    WK_NN_CONV_(wk_nn_conv_transpose1d, wk_nn_conv_transpose_options, in, __VA_ARGS__)
#define wk_nn_conv_transpose2d(in, ...)                                                                                \
    WK_NN_CONV_(wk_nn_conv_transpose2d, wk_nn_conv_transpose_options, in, __VA_ARGS__)
#define wk_nn_conv_transpose3d(in, ...)                                                                                \
    WK_NN_CONV_(wk_nn_conv_transpose3d, wk_nn_conv_transpose_options, in, __VA_ARGS__)
#define wk_nn_lazy_conv_transpose1d(out, ...)                                                                          \
    WK_NN_LAZY_CONV_(wk_nn_lazy_conv_transpose1d, wk_nn_conv_transpose_options, out, __VA_ARGS__)
#define wk_nn_lazy_conv_transpose2d(out, ...)                                                                          \
    WK_NN_LAZY_CONV_(wk_nn_lazy_conv_transpose2d, wk_nn_conv_transpose_options, out, __VA_ARGS__)
#define wk_nn_lazy_conv_transpose3d(out, ...)                                                                          \
    WK_NN_LAZY_CONV_(wk_nn_lazy_conv_transpose3d, wk_nn_conv_transpose_options, out, __VA_ARGS__)

#define wk_nn_unfold(...) WK_NN_POOL_(wk_nn_unfold, wk_im2col_options, __VA_ARGS__)
#define wk_nn_fold(size, ...)                                                                                          \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_SIZES_(wk_module *, wk_nn_fold, wk_im2col_options, "size, kernel", WK_SIZES_OF_(size), __VA_ARGS__))
#define WK_NN_UPSAMPLE_(f, ...)                                                                                        \
    WK_NEW_MODULE_(WK_OPT_SIZES_(wk_module *, f, wk_nn_upsample_options, "size", __VA_ARGS__))
#define wk_nn_upsample(...)              WK_NN_UPSAMPLE_(wk_nn_upsample, __VA_ARGS__)
#define wk_nn_upsampling_nearest2d(...)  WK_NN_UPSAMPLE_(wk_nn_upsampling_nearest2d, __VA_ARGS__)
#define wk_nn_upsampling_bilinear2d(...) WK_NN_UPSAMPLE_(wk_nn_upsampling_bilinear2d, __VA_ARGS__)
#define WK_NN_POOL_(f, type, ...)        WK_NEW_MODULE_(WK_OPT_SIZES_(wk_module *, f, type, "kernel", __VA_ARGS__))
#define WK_NN_LP_POOL_(f, p, ...)                                                                                      \
    WK_NEW_MODULE_(WK_OPT2_SIZES_(wk_module *, f, wk_lp_pool_options, "p, kernel", p, __VA_ARGS__))
#define wk_nn_max_pool1d(...)           WK_NN_POOL_(wk_nn_max_pool1d, wk_nn_max_pool_options, __VA_ARGS__)
#define wk_nn_avg_pool1d(...)           WK_NN_POOL_(wk_nn_avg_pool1d, wk_avg_pool_options, __VA_ARGS__)
#define wk_nn_lp_pool1d(p, ...)         WK_NN_LP_POOL_(wk_nn_lp_pool1d, p, __VA_ARGS__)
#define wk_nn_adaptive_avg_pool1d(size) WK_NEW_MODULE_(wk_nn_adaptive_avg_pool1d_at(WK_HERE, WK_SIZES_OF_(size)))
#define wk_nn_adaptive_max_pool1d(...)                                                                                 \
    WK_NN_POOL_(wk_nn_adaptive_max_pool1d, wk_nn_adaptive_max_pool_options, __VA_ARGS__)
#define wk_nn_max_unpool1d(...)         WK_NN_POOL_(wk_nn_max_unpool1d, wk_max_unpool_options, __VA_ARGS__)
#define wk_nn_max_pool2d(...)           WK_NN_POOL_(wk_nn_max_pool2d, wk_nn_max_pool_options, __VA_ARGS__)
#define wk_nn_avg_pool2d(...)           WK_NN_POOL_(wk_nn_avg_pool2d, wk_avg_pool_options, __VA_ARGS__)
#define wk_nn_lp_pool2d(p, ...)         WK_NN_LP_POOL_(wk_nn_lp_pool2d, p, __VA_ARGS__)
#define wk_nn_adaptive_avg_pool2d(size) WK_NEW_MODULE_(wk_nn_adaptive_avg_pool2d_at(WK_HERE, WK_SIZES_OF_(size)))
#define wk_nn_adaptive_max_pool2d(...)                                                                                 \
    WK_NN_POOL_(wk_nn_adaptive_max_pool2d, wk_nn_adaptive_max_pool_options, __VA_ARGS__)
#define wk_nn_max_unpool2d(...)         WK_NN_POOL_(wk_nn_max_unpool2d, wk_max_unpool_options, __VA_ARGS__)
#define wk_nn_max_pool3d(...)           WK_NN_POOL_(wk_nn_max_pool3d, wk_nn_max_pool_options, __VA_ARGS__)
#define wk_nn_avg_pool3d(...)           WK_NN_POOL_(wk_nn_avg_pool3d, wk_avg_pool_options, __VA_ARGS__)
#define wk_nn_lp_pool3d(p, ...)         WK_NN_LP_POOL_(wk_nn_lp_pool3d, p, __VA_ARGS__)
#define wk_nn_adaptive_avg_pool3d(size) WK_NEW_MODULE_(wk_nn_adaptive_avg_pool3d_at(WK_HERE, WK_SIZES_OF_(size)))
#define wk_nn_adaptive_max_pool3d(...)                                                                                 \
    WK_NN_POOL_(wk_nn_adaptive_max_pool3d, wk_nn_adaptive_max_pool_options, __VA_ARGS__)
#define wk_nn_max_unpool3d(...) WK_NN_POOL_(wk_nn_max_unpool3d, wk_max_unpool_options, __VA_ARGS__)

/* A number for all sides, or a list; more ends with the operands that follow. */
#define WK_NN_PAD_(f, padding, more)     WK_NEW_MODULE_(WK_JOIN_(WK_NN_PAD_, WK_IS_LIST_(padding, ))(f, padding, more))
#define WK_NN_PAD_1(f, padding, more)    f##_at(WK_HERE, (const int64_t[]){WK_SIZE_(padding)}, 1 WK_BARE_ more)
#define WK_NN_PAD_WK2_(f, padding, more) WK_NN_PAD_LIST_(f, WK_INTS_NAME_, padding, more)
#define WK_NN_PAD_LIST_(f, wk_s_, padding, more)                                                                       \
    WK_SIZED_(wk_module *, wk_s_, padding, "",                                                                         \
              WK_GIVE_(wk_module *, f##_at(WK_HERE, wk_s_.at, wk_s_.count WK_BARE_ more)))
#define wk_nn_zero_pad1d(padding)            WK_NN_PAD_(wk_nn_zero_pad1d, padding, ())
#define wk_nn_reflection_pad1d(padding)      WK_NN_PAD_(wk_nn_reflection_pad1d, padding, ())
#define wk_nn_replication_pad1d(padding)     WK_NN_PAD_(wk_nn_replication_pad1d, padding, ())
#define wk_nn_circular_pad1d(padding)        WK_NN_PAD_(wk_nn_circular_pad1d, padding, ())
#define wk_nn_constant_pad1d(padding, value) WK_NN_PAD_(wk_nn_constant_pad1d, padding, (, value))
#define wk_nn_zero_pad2d(padding)            WK_NN_PAD_(wk_nn_zero_pad2d, padding, ())
#define wk_nn_reflection_pad2d(padding)      WK_NN_PAD_(wk_nn_reflection_pad2d, padding, ())
#define wk_nn_replication_pad2d(padding)     WK_NN_PAD_(wk_nn_replication_pad2d, padding, ())
#define wk_nn_circular_pad2d(padding)        WK_NN_PAD_(wk_nn_circular_pad2d, padding, ())
#define wk_nn_constant_pad2d(padding, value) WK_NN_PAD_(wk_nn_constant_pad2d, padding, (, value))
#define wk_nn_zero_pad3d(padding)            WK_NN_PAD_(wk_nn_zero_pad3d, padding, ())
#define wk_nn_reflection_pad3d(padding)      WK_NN_PAD_(wk_nn_reflection_pad3d, padding, ())
#define wk_nn_replication_pad3d(padding)     WK_NN_PAD_(wk_nn_replication_pad3d, padding, ())
#define wk_nn_circular_pad3d(padding)        WK_NN_PAD_(wk_nn_circular_pad3d, padding, ())
#define wk_nn_constant_pad3d(padding, value) WK_NN_PAD_(wk_nn_constant_pad3d, padding, (, value))
#endif

#ifdef __cplusplus
}
#endif
#endif

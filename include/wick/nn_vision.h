/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_vision.h: layers for images: convolutions.
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
 * Errors:    WK_ERR_ARGUMENT if a size, stride, dilation or groups is less than 1, a padding negative, or in or out no
 *            multiple of groups; WK_ERR_SHAPE if in is negative or out less than 1
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

/* ---- macros ------------------------------------------------------------------------------------------------------ */

#ifndef __cplusplus
#define wk_nn_conv_options_numbers_(wk_do_, wk_o_)
#define wk_nn_conv_transpose_options_numbers_(wk_do_, wk_o_)

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
#endif

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/vision.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/vision: edit those. */
#ifndef WICK_OPS_GENERATED_VISION_H
#define WICK_OPS_GENERATED_VISION_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/vision.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_conv1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv_transpose1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv_transpose2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv_transpose3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv1d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv2d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv3d_input(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv1d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv2d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_conv3d_weight(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_avg_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_avg_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_avg_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_avg_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_avg_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_avg_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_max_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_max_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_adaptive_max_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_lp_pool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_lp_pool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_lp_pool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_unpool1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_unpool2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_max_unpool3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_interpolate(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_affine_grid(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_grid_sample(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_im2col(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_col2im(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__check_interpolate_mode(wk_site site, const char *op, const char *option, int *value)
{
    static const char *const names[] = {
        "WK_INTERPOLATE_NEAREST",   "WK_INTERPOLATE_LINEAR", "WK_INTERPOLATE_BILINEAR",     "WK_INTERPOLATE_BICUBIC",
        "WK_INTERPOLATE_TRILINEAR", "WK_INTERPOLATE_AREA",   "WK_INTERPOLATE_NEAREST_EXACT"};
    return wk__option_choice(site, op, option, names, 7, WK_INTERPOLATE_NEAREST, value);
}
static inline bool wk__read_interpolate_options(wk_site site, const char *op, const wk_interpolate_options *given,
                                                wk_interpolate_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    if (!wk__check_interpolate_mode(site, op, ".mode", &own->mode)) return false;
    return true;
}
static inline bool wk__check_grid_sample_mode(wk_site site, const char *op, const char *option, int *value)
{
    static const char *const names[] = {"WK_GRID_SAMPLE_BILINEAR", "WK_GRID_SAMPLE_NEAREST", "WK_GRID_SAMPLE_BICUBIC"};
    return wk__option_choice(site, op, option, names, 3, WK_GRID_SAMPLE_BILINEAR, value);
}
static inline bool wk__check_grid_sample_padding_mode(wk_site site, const char *op, const char *option, int *value)
{
    static const char *const names[] = {"WK_GRID_SAMPLE_ZEROS", "WK_GRID_SAMPLE_BORDER", "WK_GRID_SAMPLE_REFLECTION"};
    return wk__option_choice(site, op, option, names, 3, WK_GRID_SAMPLE_ZEROS, value);
}
static inline bool wk__read_grid_sample_options(wk_site site, const char *op, const wk_grid_sample_options *given,
                                                wk_grid_sample_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    if (!wk__check_grid_sample_mode(site, op, ".mode", &own->mode)) return false;
    if (!wk__check_grid_sample_padding_mode(site, op, ".padding_mode", &own->padding_mode)) return false;
    return true;
}

extern const wk_parameter wk__parameters_conv1d[];
extern const wk_parameter wk__parameters_conv_transpose1d[];
extern const wk_parameter wk__parameters_conv1d_input[];
extern const wk_parameter wk__parameters_conv1d_weight[];
extern const wk_parameter wk__parameters_max_pool1d[];
extern const wk_parameter wk__parameters_avg_pool1d[];
extern const wk_parameter wk__parameters_adaptive_avg_pool1d[];
extern const wk_parameter wk__parameters_adaptive_max_pool1d[];
extern const wk_parameter wk__parameters_lp_pool1d[];
extern const wk_parameter wk__parameters_max_unpool1d[];
extern const wk_parameter wk__parameters_interpolate[];
extern const wk_parameter wk__parameters_affine_grid[];
extern const wk_parameter wk__parameters_grid_sample[];
extern const wk_parameter wk__parameters_im2col[];
extern const wk_parameter wk__parameters_col2im[];

#define WK__SIGNATURE_conv1d                                                                                           \
    .name = "conv1d",                                                                                                  \
    .schema = "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] "      \
              "dilation=1, int groups=1) -> Tensor",                                                                   \
    .category = "convolution", .doc = "Convolves x with weight and adds bias.",                                        \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv1d,                \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv1d

#define WK__SIGNATURE_conv2d                                                                                           \
    .name = "conv2d",                                                                                                  \
    .schema = "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "      \
              "dilation=1, int groups=1) -> Tensor",                                                                   \
    .category = "convolution", .doc = "Convolves x with weight and adds bias.",                                        \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv1d,                \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv2d

#define WK__SIGNATURE_conv3d                                                                                           \
    .name = "conv3d",                                                                                                  \
    .schema = "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] "      \
              "dilation=1, int groups=1) -> Tensor",                                                                   \
    .category = "convolution", .doc = "Convolves x with weight and adds bias.",                                        \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv1d,                \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv3d

#define WK__SIGNATURE_conv_transpose1d                                                                                 \
    .name = "conv_transpose1d",                                                                                        \
    .schema = "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, "   \
              "int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",                                   \
    .category = "convolution",                                                                                         \
    .doc = "Computes the transposed convolution of x with weight, which is the gradient of a convolution, and adds "   \
           "bias.",                                                                                                    \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv_transpose1d,      \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_conv_transpose1d

#define WK__SIGNATURE_conv_transpose2d                                                                                 \
    .name = "conv_transpose2d",                                                                                        \
    .schema = "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "   \
              "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",                                   \
    .category = "convolution",                                                                                         \
    .doc = "Computes the transposed convolution of x with weight, which is the gradient of a convolution, and adds "   \
           "bias.",                                                                                                    \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv_transpose1d,      \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_conv_transpose2d

#define WK__SIGNATURE_conv_transpose3d                                                                                 \
    .name = "conv_transpose3d",                                                                                        \
    .schema = "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "   \
              "int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",                                   \
    .category = "convolution",                                                                                         \
    .doc = "Computes the transposed convolution of x with weight, which is the gradient of a convolution, and adds "   \
           "bias.",                                                                                                    \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_conv_transpose1d,      \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_conv_transpose3d

#define WK__SIGNATURE_conv1d_input                                                                                     \
    .name = "conv1d_input",                                                                                            \
    .schema = "conv1d_input(int[] input_size, Tensor weight, Tensor grad_output, int[1] stride=1, int[1] padding=0, "  \
              "int[1] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution", .doc = "Computes the gradient of wk_conv1d by its input, whose sizes are input_size.",  \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_input,           \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv1d_input

#define WK__SIGNATURE_conv2d_input                                                                                     \
    .name = "conv2d_input",                                                                                            \
    .schema = "conv2d_input(int[] input_size, Tensor weight, Tensor grad_output, int[2] stride=1, int[2] padding=0, "  \
              "int[2] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution", .doc = "Computes the gradient of wk_conv2d by its input, whose sizes are input_size.",  \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_input,           \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv2d_input

#define WK__SIGNATURE_conv3d_input                                                                                     \
    .name = "conv3d_input",                                                                                            \
    .schema = "conv3d_input(int[] input_size, Tensor weight, Tensor grad_output, int[3] stride=1, int[3] padding=0, "  \
              "int[3] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution", .doc = "Computes the gradient of wk_conv3d by its input, whose sizes are input_size.",  \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_input,           \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv3d_input

#define WK__SIGNATURE_conv1d_weight                                                                                    \
    .name = "conv1d_weight",                                                                                           \
    .schema = "conv1d_weight(Tensor input, int[] weight_size, Tensor grad_output, int[1] stride=1, int[1] padding=0, " \
              "int[1] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution",                                                                                         \
    .doc = "Computes the gradient of wk_conv1d by its weight, whose sizes are weight_size.",                           \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_weight,          \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv1d_weight

#define WK__SIGNATURE_conv2d_weight                                                                                    \
    .name = "conv2d_weight",                                                                                           \
    .schema = "conv2d_weight(Tensor input, int[] weight_size, Tensor grad_output, int[2] stride=1, int[2] padding=0, " \
              "int[2] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution",                                                                                         \
    .doc = "Computes the gradient of wk_conv2d by its weight, whose sizes are weight_size.",                           \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_weight,          \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv2d_weight

#define WK__SIGNATURE_conv3d_weight                                                                                    \
    .name = "conv3d_weight",                                                                                           \
    .schema = "conv3d_weight(Tensor input, int[] weight_size, Tensor grad_output, int[3] stride=1, int[3] padding=0, " \
              "int[3] dilation=1, int groups=1) -> Tensor",                                                            \
    .category = "convolution",                                                                                         \
    .doc = "Computes the gradient of wk_conv3d by its weight, whose sizes are weight_size.",                           \
    .grad_fn_name = "ConvolutionBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_conv1d_weight,          \
    .parameter_count = 7, .results = 1, .invoke = wk__invoke_conv3d_weight

#define WK__SIGNATURE_max_pool1d                                                                                       \
    .name = "max_pool1d",                                                                                              \
    .schema = "max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] "            \
              "dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor output, Tensor indices)",       \
    .category = "pooling", .doc = "Finds the largest element of each window.", .grad_fn_name = "SqueezeBackward1",     \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_pool1d, .parameter_count = 7, .results = -1,               \
    .invoke = wk__invoke_max_pool1d

#define WK__SIGNATURE_max_pool2d                                                                                       \
    .name = "max_pool2d",                                                                                              \
    .schema = "max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] "            \
              "dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor output, Tensor indices)",       \
    .category = "pooling", .doc = "Finds the largest element of each window.",                                         \
    .grad_fn_name = "MaxPool2DWithIndicesBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_pool1d,   \
    .parameter_count = 7, .results = -1, .invoke = wk__invoke_max_pool2d

#define WK__SIGNATURE_max_pool3d                                                                                       \
    .name = "max_pool3d",                                                                                              \
    .schema = "max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] "            \
              "dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor output, Tensor indices)",       \
    .category = "pooling", .doc = "Finds the largest element of each window.",                                         \
    .grad_fn_name = "MaxPool3DWithIndicesBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_pool1d,   \
    .parameter_count = 7, .results = -1, .invoke = wk__invoke_max_pool3d

#define WK__SIGNATURE_avg_pool1d                                                                                       \
    .name = "avg_pool1d",                                                                                              \
    .schema = "avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool "              \
              "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",                   \
    .category = "pooling", .doc = "Computes the mean of each window.", .grad_fn_name = "SqueezeBackward1",             \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_avg_pool1d, .parameter_count = 7, .results = 1,                 \
    .invoke = wk__invoke_avg_pool1d

#define WK__SIGNATURE_avg_pool2d                                                                                       \
    .name = "avg_pool2d",                                                                                              \
    .schema = "avg_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool "              \
              "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",                   \
    .category = "pooling", .doc = "Computes the mean of each window.", .grad_fn_name = "AvgPool2DBackward0",           \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_avg_pool1d, .parameter_count = 7, .results = 1,                 \
    .invoke = wk__invoke_avg_pool2d

#define WK__SIGNATURE_avg_pool3d                                                                                       \
    .name = "avg_pool3d",                                                                                              \
    .schema = "avg_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool "              \
              "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",                   \
    .category = "pooling", .doc = "Computes the mean of each window.", .grad_fn_name = "AvgPool3DBackward0",           \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_avg_pool1d, .parameter_count = 7, .results = 1,                 \
    .invoke = wk__invoke_avg_pool3d

#define WK__SIGNATURE_adaptive_avg_pool1d                                                                              \
    .name = "adaptive_avg_pool1d", .schema = "adaptive_avg_pool1d(Tensor input, int[1] output_size) -> Tensor",        \
    .category = "pooling", .doc = "Computes the mean of each of size windows.", .grad_fn_name = "SqueezeBackward1",    \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_adaptive_avg_pool1d, .parameter_count = 2, .results = 1,        \
    .invoke = wk__invoke_adaptive_avg_pool1d

#define WK__SIGNATURE_adaptive_avg_pool2d                                                                              \
    .name = "adaptive_avg_pool2d", .schema = "adaptive_avg_pool2d(Tensor input, int[2] output_size) -> Tensor",        \
    .category = "pooling", .doc = "Computes the mean of each of size windows.",                                        \
    .grad_fn_name = "AdaptiveAvgPool2DBackward0", .dtypes = WK__FLOATS,                                                \
    .parameters = wk__parameters_adaptive_avg_pool1d, .parameter_count = 2, .results = 1,                              \
    .invoke = wk__invoke_adaptive_avg_pool2d

#define WK__SIGNATURE_adaptive_avg_pool3d                                                                              \
    .name = "adaptive_avg_pool3d", .schema = "adaptive_avg_pool3d(Tensor input, int[3] output_size) -> Tensor",        \
    .category = "pooling", .doc = "Computes the mean of each of size windows.",                                        \
    .grad_fn_name = "AdaptiveAvgPool3DBackward0", .dtypes = WK__FLOATS,                                                \
    .parameters = wk__parameters_adaptive_avg_pool1d, .parameter_count = 2, .results = 1,                              \
    .invoke = wk__invoke_adaptive_avg_pool3d

#define WK__SIGNATURE_adaptive_max_pool1d                                                                              \
    .name = "adaptive_max_pool1d",                                                                                     \
    .schema = "adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> (Tensor output, "   \
              "Tensor indices)",                                                                                       \
    .category = "pooling", .doc = "Finds the largest element of each of size windows.",                                \
    .grad_fn_name = "SqueezeBackward1", .dtypes = WK__NUMBERS, .parameters = wk__parameters_adaptive_max_pool1d,       \
    .parameter_count = 3, .results = -1, .invoke = wk__invoke_adaptive_max_pool1d

#define WK__SIGNATURE_adaptive_max_pool2d                                                                              \
    .name = "adaptive_max_pool2d",                                                                                     \
    .schema = "adaptive_max_pool2d(Tensor input, int[2] output_size, bool return_indices=False) -> (Tensor output, "   \
              "Tensor indices)",                                                                                       \
    .category = "pooling", .doc = "Finds the largest element of each of size windows.",                                \
    .grad_fn_name = "AdaptiveMaxPool2DBackward0", .dtypes = WK__NUMBERS,                                               \
    .parameters = wk__parameters_adaptive_max_pool1d, .parameter_count = 3, .results = -1,                             \
    .invoke = wk__invoke_adaptive_max_pool2d

#define WK__SIGNATURE_adaptive_max_pool3d                                                                              \
    .name = "adaptive_max_pool3d",                                                                                     \
    .schema = "adaptive_max_pool3d(Tensor input, int[3] output_size, bool return_indices=False) -> (Tensor output, "   \
              "Tensor indices)",                                                                                       \
    .category = "pooling", .doc = "Finds the largest element of each of size windows.",                                \
    .grad_fn_name = "AdaptiveMaxPool3DBackward0", .dtypes = WK__NUMBERS,                                               \
    .parameters = wk__parameters_adaptive_max_pool1d, .parameter_count = 3, .results = -1,                             \
    .invoke = wk__invoke_adaptive_max_pool3d

#define WK__SIGNATURE_lp_pool1d                                                                                        \
    .name = "lp_pool1d",                                                                                               \
    .schema = "lp_pool1d(Tensor input, float norm_type, int[1] kernel_size, int[1]? stride=None, bool "                \
              "ceil_mode=False) -> Tensor",                                                                            \
    .category = "pooling", .doc = "Computes the p-norm of each window, without absolute values.",                      \
    .grad_fn_name = "PowBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_lp_pool1d,                      \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_lp_pool1d

#define WK__SIGNATURE_lp_pool2d                                                                                        \
    .name = "lp_pool2d",                                                                                               \
    .schema = "lp_pool2d(Tensor input, float norm_type, int[2] kernel_size, int[2]? stride=None, bool "                \
              "ceil_mode=False) -> Tensor",                                                                            \
    .category = "pooling", .doc = "Computes the p-norm of each window, without absolute values.",                      \
    .grad_fn_name = "PowBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_lp_pool1d,                      \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_lp_pool2d

#define WK__SIGNATURE_lp_pool3d                                                                                        \
    .name = "lp_pool3d",                                                                                               \
    .schema = "lp_pool3d(Tensor input, float norm_type, int[3] kernel_size, int[3]? stride=None, bool "                \
              "ceil_mode=False) -> Tensor",                                                                            \
    .category = "pooling", .doc = "Computes the p-norm of each window, without absolute values.",                      \
    .grad_fn_name = "PowBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_lp_pool1d,                      \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_lp_pool3d

#define WK__SIGNATURE_max_unpool1d                                                                                     \
    .name = "max_unpool1d",                                                                                            \
    .schema = "max_unpool1d(Tensor input, Tensor indices, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, " \
              "int[1]? output_size=None) -> Tensor",                                                                   \
    .category = "pooling",                                                                                             \
    .doc = "Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool1d.",                     \
    .grad_fn_name = "SqueezeBackward1", .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_unpool1d,              \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_max_unpool1d

#define WK__SIGNATURE_max_unpool2d                                                                                     \
    .name = "max_unpool2d",                                                                                            \
    .schema = "max_unpool2d(Tensor input, Tensor indices, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, " \
              "int[2]? output_size=None) -> Tensor",                                                                   \
    .category = "pooling",                                                                                             \
    .doc = "Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool2d.",                     \
    .grad_fn_name = "MaxUnpool2DBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_unpool1d,          \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_max_unpool2d

#define WK__SIGNATURE_max_unpool3d                                                                                     \
    .name = "max_unpool3d",                                                                                            \
    .schema = "max_unpool3d(Tensor input, Tensor indices, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, " \
              "int[3]? output_size=None) -> Tensor",                                                                   \
    .category = "pooling",                                                                                             \
    .doc = "Writes the elements of x to their indices in planes of zeros, to undo wk_max_pool3d.",                     \
    .grad_fn_name = "MaxUnpool3DBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_max_unpool1d,          \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_max_unpool3d

#define WK__SIGNATURE_interpolate                                                                                      \
    .name = "interpolate",                                                                                             \
    .schema = "interpolate(Tensor input, int[3]? size=None, float? scale_factor=None, str mode=\"nearest\", bool "     \
              "align_corners=False, bool recompute_scale_factor=False, bool antialias=False, float? scales_d=None, "   \
              "float? scales_h=None, float? scales_w=None) -> Tensor",                                                 \
    .category = "resampling",                                                                                          \
    .doc = "Resamples the spatial dimensions of x to .output_size, or to their sizes times a scale, rounded down.",    \
    .grad_fn_name = "UpsampleNearest2DBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_interpolate,      \
    .parameter_count = 10, .results = 1, .invoke = wk__invoke_interpolate

#define WK__SIGNATURE_affine_grid                                                                                      \
    .name = "affine_grid", .schema = "affine_grid(Tensor theta, int[] size, bool align_corners=False) -> Tensor",      \
    .category = "resampling", .doc = "Creates the grid of an affine transformation, for wk_grid_sample.",              \
    .grad_fn_name = "AffineGridGeneratorBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_affine_grid,    \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_affine_grid

#define WK__SIGNATURE_grid_sample                                                                                      \
    .name = "grid_sample",                                                                                             \
    .schema = "grid_sample(Tensor input, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool "        \
              "align_corners=False) -> Tensor",                                                                        \
    .category = "resampling", .doc = "Takes the values of x at the positions of a grid.",                              \
    .grad_fn_name = "GridSampler2DBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_grid_sample,          \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_grid_sample

#define WK__SIGNATURE_im2col                                                                                           \
    .name = "im2col",                                                                                                  \
    .schema =                                                                                                          \
        "im2col(Tensor self, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",     \
    .category = "resampling", .doc = "Takes the windows of an image as columns.", .grad_fn_name = "Im2ColBackward0",   \
    .parameters = wk__parameters_im2col, .parameter_count = 5, .results = 1, .invoke = wk__invoke_im2col

#define WK__SIGNATURE_col2im                                                                                           \
    .name = "col2im",                                                                                                  \
    .schema = "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, "      \
              "int[2] stride=1) -> Tensor",                                                                            \
    .category = "resampling",                                                                                          \
    .doc = "Adds columns into an image of the given size, at the windows from which wk_im2col takes them.",            \
    .grad_fn_name = "Col2ImBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_col2im,                     \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_col2im

#endif

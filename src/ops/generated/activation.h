/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/activation.h: what their descriptors begin with. The compiler refuses a member
 * that the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#ifndef WICK_OPS_GENERATED_ACTIVATION_H
#define WICK_OPS_GENERATED_ACTIVATION_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/activation.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_softshrink(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_hardshrink(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_threshold(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_threshold_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_leaky_relu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_leaky_relu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_prelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rrelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_elu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_elu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_celu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_celu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_gelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_softplus(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_hardtanh(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_hardtanh_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_glu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_swiglu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_geglu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__read_softshrink_options(wk_site site, const char *op, const wk_softshrink_options *given,
                                               wk_softshrink_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->lambd = wk__option_or(own->lambd, 0.5);
    return true;
}
static inline bool wk__read_hardshrink_options(wk_site site, const char *op, const wk_hardshrink_options *given,
                                               wk_hardshrink_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->lambd = wk__option_or(own->lambd, 0.5);
    return true;
}
static inline bool wk__read_leaky_relu_options(wk_site site, const char *op, const wk_leaky_relu_options *given,
                                               wk_leaky_relu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->negative_slope = wk__option_or(own->negative_slope, 0.01);
    return true;
}
static inline bool wk__read_rrelu_options(wk_site site, const char *op, const wk_rrelu_options *given,
                                          wk_rrelu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->lower = wk__option_or(own->lower, 0.125);
    own->upper = wk__option_or(own->upper, 0.3333333333333333);
    return true;
}
static inline bool wk__read_elu_options(wk_site site, const char *op, const wk_elu_options *given, wk_elu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->alpha = wk__option_or(own->alpha, 1);
    return true;
}
static inline bool wk__read_celu_options(wk_site site, const char *op, const wk_celu_options *given,
                                         wk_celu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->alpha = wk__option_or(own->alpha, 1);
    return true;
}
static inline bool wk__check_gelu_approximate(wk_site site, const char *op, const char *option, int *value)
{
    static const char *const names[] = {"WK_GELU_NONE", "WK_GELU_TANH"};
    return wk__option_choice(site, op, option, names, 2, WK_GELU_NONE, value);
}
static inline bool wk__read_gelu_options(wk_site site, const char *op, const wk_gelu_options *given,
                                         wk_gelu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    if (!wk__check_gelu_approximate(site, op, ".approximate", &own->approximate)) return false;
    return true;
}
static inline bool wk__read_softplus_options(wk_site site, const char *op, const wk_softplus_options *given,
                                             wk_softplus_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->beta = wk__option_or(own->beta, 1);
    own->threshold = wk__option_or(own->threshold, 20);
    return true;
}
static inline bool wk__read_hardtanh_options(wk_site site, const char *op, const wk_hardtanh_options *given,
                                             wk_hardtanh_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->min_val = wk__option_or(own->min_val, -1);
    own->max_val = wk__option_or(own->max_val, 1);
    return true;
}

extern const wk_parameter wk__parameters_relu[];
extern const wk_parameter wk__parameters_softshrink[];
extern const wk_parameter wk__parameters_threshold[];
extern const wk_parameter wk__parameters_leaky_relu[];
extern const wk_parameter wk__parameters_prelu[];
extern const wk_parameter wk__parameters_rrelu[];
extern const wk_parameter wk__parameters_elu[];
extern const wk_parameter wk__parameters_gelu[];
extern const wk_parameter wk__parameters_softplus[];
extern const wk_parameter wk__parameters_hardtanh[];
extern const wk_parameter wk__parameters_glu[];

#define WK__SIGNATURE_relu                                                                                             \
    .name = "relu", .schema = "relu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "Replaces negative elements by 0.", .grad_fn_name = "ReluBackward0", .arity = 1, .dtypes = WK__NUMBERS,     \
    .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,             \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_relu6                                                                                            \
    .name = "relu6", .schema = "relu6(Tensor self) -> Tensor", .category = "activation", .doc = "Clamps x to [0, 6].", \
    .grad_fn_name = "HardtanhBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_relu,         \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_selu                                                                                             \
    .name = "selu", .schema = "selu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "Computes the scaled exponential linear unit.", .grad_fn_name = "EluBackward0", .arity = 1,                 \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1,                       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_silu                                                                                             \
    .name = "silu", .schema = "silu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "Computes the sigmoid linear unit, also called swish.", .grad_fn_name = "SiluBackward0", .arity = 1,        \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1,                       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_mish                                                                                             \
    .name = "mish", .schema = "mish(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "Computes the Mish activation.", .grad_fn_name = "MishBackward0", .arity = 1, .dtypes = WK__FLOATS,         \
    .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,             \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_hardsigmoid                                                                                      \
    .name = "hardsigmoid", .schema = "hardsigmoid(Tensor self) -> Tensor", .category = "activation",                   \
    .doc = "Computes a piecewise linear approximation of the logistic function.",                                      \
    .grad_fn_name = "HardsigmoidBackward0", .arity = 1, .dtypes = WK__FLOATS, .parameters = wk__parameters_relu,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_hardswish                                                                                        \
    .name = "hardswish", .schema = "hardswish(Tensor self) -> Tensor", .category = "activation",                       \
    .doc = "Computes a piecewise approximation of silu.", .grad_fn_name = "HardswishBackward0", .arity = 1,            \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1,                       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_softsign                                                                                         \
    .name = "softsign", .schema = "softsign(Tensor self) -> Tensor", .category = "activation",                         \
    .doc = "Computes the softsign function.", .grad_fn_name = "DivBackward0", .arity = 1, .result = WK__RESULT_FLOAT,  \
    .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_logsigmoid                                                                                       \
    .name = "logsigmoid", .schema = "logsigmoid(Tensor self) -> Tensor", .category = "pointwise",                      \
    .doc = "Computes the logarithm of the logistic function.", .grad_fn_name = "LogSigmoidBackward0", .arity = 1,      \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_relu, .parameter_count = 1, .results = 1,                       \
    .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_tanhshrink                                                                                       \
    .name = "tanhshrink", .schema = "tanhshrink(Tensor self) -> Tensor", .category = "activation",                     \
    .doc = "Subtracts the hyperbolic tangent of x from x.", .grad_fn_name = "SubBackward0", .arity = 1,                \
    .result = WK__RESULT_FLOAT, .dtypes = WK__NUMBERS, .parameters = wk__parameters_relu, .parameter_count = 1,        \
    .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_softshrink                                                                                       \
    .name = "softshrink", .schema = "softshrink(Tensor self, float lambd=0.5) -> Tensor", .category = "activation",    \
    .doc = "Moves x towards 0 by .lambd.", .grad_fn_name = "SoftshrinkBackward0", .arity = 2, .dtypes = WK__FLOATS,    \
    .parameters = wk__parameters_softshrink, .parameter_count = 2, .results = 1, .invoke = wk__invoke_softshrink

#define WK__SIGNATURE_hardshrink                                                                                       \
    .name = "hardshrink", .schema = "hardshrink(Tensor self, float lambd=0.5) -> Tensor", .category = "activation",    \
    .doc = "Replaces elements between -.lambd and .lambd by 0.", .grad_fn_name = "HardshrinkBackward0", .arity = 2,    \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_softshrink, .parameter_count = 2, .results = 1,                 \
    .invoke = wk__invoke_hardshrink

#define WK__SIGNATURE_threshold                                                                                        \
    .name = "threshold", .schema = "threshold(Tensor self, float threshold, float value) -> Tensor",                   \
    .category = "activation", .doc = "Replaces elements that do not exceed threshold by value.",                       \
    .grad_fn_name = "ThresholdBackward0", .arity = 3, .dtypes = WK__NUMBERS, .parameters = wk__parameters_threshold,   \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_threshold, .invoke_in_place = wk__invoke_threshold_

#define WK__SIGNATURE_leaky_relu                                                                                       \
    .name = "leaky_relu", .schema = "leaky_relu(Tensor self, float negative_slope=0.01) -> Tensor",                    \
    .category = "activation", .doc = "Scales negative elements by .negative_slope.",                                   \
    .grad_fn_name = "LeakyReluBackward0", .arity = 2, .dtypes = WK__FLOATS, .parameters = wk__parameters_leaky_relu,   \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_leaky_relu, .invoke_in_place = wk__invoke_leaky_relu_

#define WK__SIGNATURE_prelu                                                                                            \
    .name = "prelu", .schema = "prelu(Tensor self, Tensor weight) -> Tensor", .category = "activation",                \
    .doc = "Scales negative elements by weight, of which there is one or one per channel (dimension 1).",              \
    .grad_fn_name = "PreluKernelBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_prelu,                  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_prelu

#define WK__SIGNATURE_rrelu                                                                                            \
    .name = "rrelu",                                                                                                   \
    .schema = "rrelu(Tensor self, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor",  \
    .category = "random",                                                                                              \
    .doc = "Scales each negative element by a random number of [lower, upper), or by their mean without .training.",   \
    .grad_fn_name = "RreluWithNoiseBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_rrelu,               \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_rrelu

#define WK__SIGNATURE_elu                                                                                              \
    .name = "elu", .schema = "elu(Tensor self, float alpha=1) -> Tensor", .category = "activation",                    \
    .doc = "Computes the exponential linear unit.", .grad_fn_name = "EluBackward0", .arity = 2, .dtypes = WK__FLOATS,  \
    .parameters = wk__parameters_elu, .parameter_count = 2, .results = 1, .invoke = wk__invoke_elu,                    \
    .invoke_in_place = wk__invoke_elu_

#define WK__SIGNATURE_celu                                                                                             \
    .name = "celu", .schema = "celu(Tensor self, float alpha=1) -> Tensor", .category = "activation",                  \
    .doc = "Computes the continuously differentiable exponential linear unit.", .grad_fn_name = "CeluBackward0",       \
    .arity = 2, .dtypes = WK__FLOATS, .parameters = wk__parameters_elu, .parameter_count = 2, .results = 1,            \
    .invoke = wk__invoke_celu, .invoke_in_place = wk__invoke_celu_

#define WK__SIGNATURE_gelu                                                                                             \
    .name = "gelu", .schema = "gelu(Tensor self, *, str approximate=\"none\") -> Tensor", .category = "activation",    \
    .doc = "Computes the Gaussian error linear unit.", .grad_fn_name = "GeluBackward0", .arity = 1,                    \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_gelu, .parameter_count = 2, .results = 1,                       \
    .invoke = wk__invoke_gelu

#define WK__SIGNATURE_softplus                                                                                         \
    .name = "softplus", .schema = "softplus(Tensor self, float beta=1, float threshold=20) -> Tensor",                 \
    .category = "activation", .doc = "Computes a smooth approximation of relu.", .grad_fn_name = "SoftplusBackward0",  \
    .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_softplus, .parameter_count = 3, .results = 1,       \
    .invoke = wk__invoke_softplus

#define WK__SIGNATURE_hardtanh                                                                                         \
    .name = "hardtanh", .schema = "hardtanh(Tensor self, float min_val=-1, float max_val=1) -> Tensor",                \
    .category = "activation", .doc = "Clamps x to [min_val, max_val].", .grad_fn_name = "HardtanhBackward0",           \
    .arity = 3, .dtypes = WK__NUMBERS, .parameters = wk__parameters_hardtanh, .parameter_count = 3, .results = 1,      \
    .invoke = wk__invoke_hardtanh, .invoke_in_place = wk__invoke_hardtanh_

#define WK__SIGNATURE_glu                                                                                              \
    .name = "glu", .schema = "glu(Tensor self, int dim=-1) -> Tensor", .category = "activation",                       \
    .doc = "Multiplies the first half of x along dim by the logistic function of the second half.",                    \
    .grad_fn_name = "GluBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_glu, .parameter_count = 2,      \
    .results = 1, .invoke = wk__invoke_glu

#define WK__SIGNATURE_swiglu                                                                                           \
    .name = "swiglu", .schema = "swiglu(Tensor self, int dim=-1) -> Tensor", .category = "activation",                 \
    .doc = "Multiplies silu of the first half of x along dim by the second half.", .grad_fn_name = "MulBackward0",     \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_glu, .parameter_count = 2, .results = 1,                        \
    .invoke = wk__invoke_swiglu

#define WK__SIGNATURE_geglu                                                                                            \
    .name = "geglu", .schema = "geglu(Tensor self, int dim=-1) -> Tensor", .category = "activation",                   \
    .doc = "Multiplies gelu of the first half of x along dim by the second half.", .grad_fn_name = "MulBackward0",     \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_glu, .parameter_count = 2, .results = 1,                        \
    .invoke = wk__invoke_geglu

#endif

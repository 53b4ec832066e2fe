/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/pointwise.h: what their descriptors begin with. The compiler refuses a member
 * that the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#ifndef WICK_OPS_GENERATED_POINTWISE_H
#define WICK_OPS_GENERATED_POINTWISE_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/pointwise.h>

/* The entries for wk_call of ops that take more than tensors. */
int wk__invoke_div(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_div_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pow(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pow_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_round(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_round_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logit(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logit_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_leaky_relu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_leaky_relu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_elu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_elu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_gelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_softplus(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_hardtanh(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_hardtanh_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nan_to_num(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nan_to_num_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_clamp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_clamp_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_where(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_fill(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_lerp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_lerp_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_addcmul(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_addcmul_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_addcdiv(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_addcdiv_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* What the functions of an op call that has an entry of its own, in its file. */
wk_tensor *wk__pow(wk_site site, wk__arg a, wk__arg b);
wk_tensor *wk__pow_(wk_site site, wk_tensor *a, wk__arg b);

/* Options as wk__options reads them, with the default of each number that is not given. */
static inline bool wk__read_leaky_relu_options(wk_site site, const char *op, const wk_leaky_relu_options *given,
                                               wk_leaky_relu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->negative_slope = wk__option_or(own->negative_slope, 0.01);
    return true;
}
static inline bool wk__read_elu_options(wk_site site, const char *op, const wk_elu_options *given, wk_elu_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->alpha = wk__option_or(own->alpha, 1);
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
static inline bool wk__read_nan_to_num_options(wk_site site, const char *op, const wk_nan_to_num_options *given,
                                               wk_nan_to_num_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->nan = wk__option_or(own->nan, 0);
    return true;
}
static inline bool wk__read_addc_options(wk_site site, const char *op, const wk_addc_options *given,
                                         wk_addc_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->value = wk__option_or(own->value, 1);
    return true;
}

extern const wk_parameter wk__parameters_add[];
extern const wk_parameter wk__parameters_div[];
extern const wk_parameter wk__parameters_pow[];
extern const wk_parameter wk__parameters_logical_not[];
extern const wk_parameter wk__parameters_round[];
extern const wk_parameter wk__parameters_logit[];
extern const wk_parameter wk__parameters_leaky_relu[];
extern const wk_parameter wk__parameters_elu[];
extern const wk_parameter wk__parameters_gelu[];
extern const wk_parameter wk__parameters_softplus[];
extern const wk_parameter wk__parameters_hardtanh[];
extern const wk_parameter wk__parameters_nan_to_num[];
extern const wk_parameter wk__parameters_clamp[];
extern const wk_parameter wk__parameters_where[];
extern const wk_parameter wk__parameters_masked_fill[];
extern const wk_parameter wk__parameters_lerp[];
extern const wk_parameter wk__parameters_addcmul[];

#define WK__SIGNATURE_add                                                                                              \
    .name = "add", .schema = "add(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "a + b; of bool: or", .grad_fn_name = "AddBackward0", .arity = 2, .parameters = wk__parameters_add,         \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sub                                                                                              \
    .name = "sub", .schema = "sub(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "a - b; not of bool", .grad_fn_name = "SubBackward0", .grad_fn_name_scalar = {[0] = "RsubBackward1"},       \
    .arity = 2, .dtypes = WK__NUMBERS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,           \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_mul                                                                                              \
    .name = "mul", .schema = "mul(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "a b; of bool: and", .grad_fn_name = "MulBackward0", .arity = 2, .parameters = wk__parameters_add,          \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_div                                                                                              \
    .name = "div", .schema = "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor",                   \
    .category = "pointwise",                                                                                           \
    .doc =                                                                                                             \
        "a / b, floats: 1 / 2 is 0.5; rounding_mode \"floor\" or \"trunc\": a whole number, in the operands' dtype",   \
    .grad_fn_name = "DivBackward0", .grad_fn_name_scalar = {[0] = "MulBackward0"}, .arity = 2,                         \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_div, .parameter_count = 3, .results = 1,                  \
    .invoke = wk__invoke_div, .invoke_in_place = wk__invoke_div_

#define WK__SIGNATURE_floor_divide                                                                                     \
    .name = "floor_divide", .schema = "floor_divide(Tensor self, Tensor other) -> Tensor", .category = "pointwise",    \
    .doc = "floor(a / b), Python's //; an integer by 0 gives 0; no gradient", .arity = 2, .dtypes = WK__NUMBERS,       \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_remainder                                                                                        \
    .name = "remainder", .schema = "remainder(Tensor self, Tensor other) -> Tensor", .category = "pointwise",          \
    .doc = "a - b floor(a / b), Python's %: the sign of b; an integer by 0 gives 0",                                   \
    .grad_fn_name = "RemainderBackward1", .grad_fn_name_scalar = {[1] = "RemainderBackward0"}, .arity = 2,             \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,                       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_fmod                                                                                             \
    .name = "fmod", .schema = "fmod(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                    \
    .doc = "a - b trunc(a / b), C's fmod: the sign of a; an integer by 0 gives 0", .grad_fn_name = "FmodBackward1",    \
    .grad_fn_name_scalar = {[1] = "FmodBackward0"}, .arity = 2, .dtypes = WK__NUMBERS,                                 \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_pow                                                                                              \
    .name = "pow", .schema = "pow(Tensor self, Tensor exponent) -> Tensor", .category = "pointwise",                   \
    .doc = "a^b; integers to a negative number are an error: convert them first", .grad_fn_name = "PowBackward1",      \
    .grad_fn_name_scalar = {[0] = "PowBackward2", [1] = "PowBackward0"}, .arity = 2, .dtypes = WK__NUMBERS,            \
    .parameters = wk__parameters_pow, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pow,                    \
    .invoke_in_place = wk__invoke_pow_

#define WK__SIGNATURE_maximum                                                                                          \
    .name = "maximum", .schema = "maximum(Tensor self, Tensor other) -> Tensor", .category = "pointwise",              \
    .doc = "the larger of a and b, NaN if one is; equal operands share the gradient",                                  \
    .grad_fn_name = "MaximumBackward0", .arity = 2, .parameters = wk__parameters_add, .parameter_count = 2,            \
    .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_minimum                                                                                          \
    .name = "minimum", .schema = "minimum(Tensor self, Tensor other) -> Tensor", .category = "pointwise",              \
    .doc = "the smaller of a and b, NaN if one is; equal operands share the gradient",                                 \
    .grad_fn_name = "MinimumBackward0", .arity = 2, .parameters = wk__parameters_add, .parameter_count = 2,            \
    .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_atan2                                                                                            \
    .name = "atan2", .schema = "atan2(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                  \
    .doc = "the angle of the point (b, a) in (-pi, pi], floats; the gradient at (0, 0) is 0",                          \
    .grad_fn_name = "Atan2Backward0", .arity = 2, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_add,        \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logaddexp                                                                                        \
    .name = "logaddexp", .schema = "logaddexp(Tensor self, Tensor other) -> Tensor", .category = "pointwise",          \
    .doc = "log(e^a + e^b) without overflow; of floats", .grad_fn_name = "LogaddexpBackward0", .arity = 2,             \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,                        \
    .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_hypot                                                                                            \
    .name = "hypot", .schema = "hypot(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                  \
    .doc = "the length of (a, b), sqrt(a^2 + b^2), without overflow; of floats; the gradient at (0, 0) is 0",          \
    .grad_fn_name = "HypotBackward0", .arity = 2, .dtypes = WK__FLOATS, .parameters = wk__parameters_add,              \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_copysign                                                                                         \
    .name = "copysign", .schema = "copysign(Tensor self, Tensor other) -> Tensor", .category = "pointwise",            \
    .doc = "|a| with the sign of b, which a zero has, too; floats", .grad_fn_name = "CopysignBackward0",               \
    .grad_fn_name_scalar = {[1] = "CopysignBackward1"}, .arity = 2, .result = WK__RESULT_FLOAT,                        \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_eq                                                                                               \
    .name = "eq", .schema = "eq(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "a == b, element by element, as bools; in a condition of C: wk_item(wk_all(..))", .arity = 2,               \
    .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,                   \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ne                                                                                               \
    .name = "ne", .schema = "ne(Tensor self, Tensor other) -> Tensor", .category = "comparison", .doc = "a != b",      \
    .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_lt                                                                                               \
    .name = "lt", .schema = "lt(Tensor self, Tensor other) -> Tensor", .category = "comparison", .doc = "a < b",       \
    .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_le                                                                                               \
    .name = "le", .schema = "le(Tensor self, Tensor other) -> Tensor", .category = "comparison", .doc = "a <= b",      \
    .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_gt                                                                                               \
    .name = "gt", .schema = "gt(Tensor self, Tensor other) -> Tensor", .category = "comparison", .doc = "a > b",       \
    .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ge                                                                                               \
    .name = "ge", .schema = "ge(Tensor self, Tensor other) -> Tensor", .category = "comparison", .doc = "a >= b",      \
    .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_and                                                                                      \
    .name = "logical_and", .schema = "logical_and(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "a != 0 and b != 0", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add,               \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_or                                                                                       \
    .name = "logical_or", .schema = "logical_or(Tensor self, Tensor other) -> Tensor", .category = "logic",            \
    .doc = "a != 0 or b != 0", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add,                \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_xor                                                                                      \
    .name = "logical_xor", .schema = "logical_xor(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "one of a, b is 0, the other is not", .arity = 2, .result = WK__RESULT_BOOL,                                \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_and                                                                                      \
    .name = "bitwise_and", .schema = "bitwise_and(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "a & b, bit by bit, of integers and bool; the result has the operands' dtype", .arity = 2,                  \
    .dtypes = WK__INTS | WK__BOOLS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,              \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_or                                                                                       \
    .name = "bitwise_or", .schema = "bitwise_or(Tensor self, Tensor other) -> Tensor", .category = "logic",            \
    .doc = "a | b, bit by bit, of integers and bool; the result has the operands' dtype", .arity = 2,                  \
    .dtypes = WK__INTS | WK__BOOLS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,              \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_xor                                                                                      \
    .name = "bitwise_xor", .schema = "bitwise_xor(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "a ^ b, bit by bit, of integers and bool; the result has the operands' dtype", .arity = 2,                  \
    .dtypes = WK__INTS | WK__BOOLS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,              \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_not                                                                                      \
    .name = "logical_not", .schema = "logical_not(Tensor self) -> Tensor", .category = "logic", .doc = "x == 0, bool", \
    .arity = 1, .result = WK__RESULT_BOOL, .parameters = wk__parameters_logical_not, .parameter_count = 1,             \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_not                                                                                      \
    .name = "bitwise_not", .schema = "bitwise_not(Tensor self) -> Tensor", .category = "logic",                        \
    .doc = "~x, every bit the other way; of bool: not; of integers and bool", .arity = 1,                              \
    .dtypes = WK__INTS | WK__BOOLS, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,      \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_isnan                                                                                            \
    .name = "isnan", .schema = "isnan(Tensor self) -> Tensor", .category = "comparison",                               \
    .doc = "is x NaN? bool; integers never are", .arity = 1, .result = WK__RESULT_BOOL,                                \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_isinf                                                                                            \
    .name = "isinf", .schema = "isinf(Tensor self) -> Tensor", .category = "comparison",                               \
    .doc = "is x an infinity, of either sign? bool", .arity = 1, .result = WK__RESULT_BOOL,                            \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_isfinite                                                                                         \
    .name = "isfinite", .schema = "isfinite(Tensor self) -> Tensor", .category = "comparison",                         \
    .doc = "neither NaN nor an infinity; bool", .arity = 1, .result = WK__RESULT_BOOL,                                 \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_neg                                                                                              \
    .name = "neg", .schema = "neg(Tensor self) -> Tensor", .category = "pointwise", .doc = "-x; not of bool",          \
    .grad_fn_name = "NegBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_abs                                                                                              \
    .name = "abs", .schema = "abs(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "|x|; the gradient at 0 is 0", .grad_fn_name = "AbsBackward0", .arity = 1, .dtypes = WK__NUMBERS,           \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sign                                                                                             \
    .name = "sign", .schema = "sign(Tensor self) -> Tensor", .category = "pointwise", .doc = "-1, 0 or 1",             \
    .grad_fn_name = "SignBackward0", .arity = 1, .parameters = wk__parameters_logical_not, .parameter_count = 1,       \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_floor                                                                                            \
    .name = "floor", .schema = "floor(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "rounded down: the largest whole number that is not above x; the gradient is 0",                            \
    .grad_fn_name = "FloorBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,     \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ceil                                                                                             \
    .name = "ceil", .schema = "ceil(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "rounded up: the smallest whole number that is not below x; the gradient is 0",                             \
    .grad_fn_name = "CeilBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,      \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_trunc                                                                                            \
    .name = "trunc", .schema = "trunc(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "rounded towards 0; the gradient is 0", .grad_fn_name = "TruncBackward0", .arity = 1,                       \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,               \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_square                                                                                           \
    .name = "square", .schema = "square(Tensor self) -> Tensor", .category = "pointwise", .doc = "x^2",                \
    .grad_fn_name = "PowBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_round                                                                                            \
    .name = "round", .schema = "round(Tensor self, *, int decimals=0) -> Tensor", .category = "pointwise",             \
    .doc = "to the nearest whole number, or one with this many decimals; half to even; the gradient is 0",             \
    .grad_fn_name = "RoundBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_round,           \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_round, .invoke_in_place = wk__invoke_round_

#define WK__SIGNATURE_sqrt                                                                                             \
    .name = "sqrt", .schema = "sqrt(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "square root; NaN below 0", .grad_fn_name = "SqrtBackward0", .arity = 1, .result = WK__RESULT_FLOAT,        \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_rsqrt                                                                                            \
    .name = "rsqrt", .schema = "rsqrt(Tensor self) -> Tensor", .category = "pointwise", .doc = "1 / sqrt(x)",          \
    .grad_fn_name = "RsqrtBackward0", .arity = 1, .result = WK__RESULT_FLOAT,                                          \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_reciprocal                                                                                       \
    .name = "reciprocal", .schema = "reciprocal(Tensor self) -> Tensor", .category = "pointwise", .doc = "1 / x",      \
    .grad_fn_name = "ReciprocalBackward0", .arity = 1, .result = WK__RESULT_FLOAT,                                     \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_exp                                                                                              \
    .name = "exp", .schema = "exp(Tensor self) -> Tensor", .category = "pointwise", .doc = "e^x",                      \
    .grad_fn_name = "ExpBackward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not,  \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_expm1                                                                                            \
    .name = "expm1", .schema = "expm1(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "e^x - 1, exact near 0", .grad_fn_name = "Expm1Backward0", .arity = 1, .result = WK__RESULT_FLOAT,          \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_exp2                                                                                             \
    .name = "exp2", .schema = "exp2(Tensor self) -> Tensor", .category = "pointwise", .doc = "2^x",                    \
    .grad_fn_name = "Exp2Backward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log                                                                                              \
    .name = "log", .schema = "log(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "natural logarithm; NaN below 0", .grad_fn_name = "LogBackward0", .arity = 1, .result = WK__RESULT_FLOAT,   \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log1p                                                                                            \
    .name = "log1p", .schema = "log1p(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "log(1 + x), exact near 0; NaN below -1", .grad_fn_name = "Log1PBackward0", .arity = 1,                     \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log2                                                                                             \
    .name = "log2", .schema = "log2(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "logarithm to base 2; NaN below 0", .grad_fn_name = "Log2Backward0", .arity = 1,                            \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log10                                                                                            \
    .name = "log10", .schema = "log10(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "logarithm to base 10; NaN below 0", .grad_fn_name = "Log10Backward0", .arity = 1,                          \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sin                                                                                              \
    .name = "sin", .schema = "sin(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "sine, of an angle in radians", .grad_fn_name = "SinBackward0", .arity = 1, .result = WK__RESULT_FLOAT,     \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_cos                                                                                              \
    .name = "cos", .schema = "cos(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "cosine, of an angle in radians", .grad_fn_name = "CosBackward0", .arity = 1, .result = WK__RESULT_FLOAT,   \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_tan                                                                                              \
    .name = "tan", .schema = "tan(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "tangent, of an angle in radians", .grad_fn_name = "TanBackward0", .arity = 1, .result = WK__RESULT_FLOAT,  \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_asin                                                                                             \
    .name = "asin", .schema = "asin(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1]", .grad_fn_name = "AsinBackward0", .arity = 1,         \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_acos                                                                                             \
    .name = "acos", .schema = "acos(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "inverse cosine, in [0, pi]; NaN outside [-1, 1]", .grad_fn_name = "AcosBackward0", .arity = 1,             \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_atan                                                                                             \
    .name = "atan", .schema = "atan(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "inverse tangent, in (-pi/2, pi/2)", .grad_fn_name = "AtanBackward0", .arity = 1,                           \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sinh                                                                                             \
    .name = "sinh", .schema = "sinh(Tensor self) -> Tensor", .category = "pointwise", .doc = "(e^x - e^-x) / 2",       \
    .grad_fn_name = "SinhBackward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_cosh                                                                                             \
    .name = "cosh", .schema = "cosh(Tensor self) -> Tensor", .category = "pointwise", .doc = "(e^x + e^-x) / 2",       \
    .grad_fn_name = "CoshBackward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_tanh                                                                                             \
    .name = "tanh", .schema = "tanh(Tensor self) -> Tensor", .category = "pointwise", .doc = "sinh(x) / cosh(x)",      \
    .grad_fn_name = "TanhBackward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sigmoid                                                                                          \
    .name = "sigmoid", .schema = "sigmoid(Tensor self) -> Tensor", .category = "pointwise", .doc = "1 / (1 + e^-x)",   \
    .grad_fn_name = "SigmoidBackward0", .arity = 1, .result = WK__RESULT_FLOAT,                                        \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logit                                                                                            \
    .name = "logit", .schema = "logit(Tensor self, float? eps=None) -> Tensor", .category = "pointwise",               \
    .doc = "log(x / (1 - x)), the inverse of sigmoid; eps: of x clamped to eps .. 1 - eps; without it NaN outside of " \
           "0 .. 1",                                                                                                   \
    .grad_fn_name = "LogitBackward0", .arity = 2, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logit,      \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_logit, .invoke_in_place = wk__invoke_logit_

#define WK__SIGNATURE_erf                                                                                              \
    .name = "erf", .schema = "erf(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "error function: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x", .grad_fn_name = "ErfBackward0",  \
    .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1,            \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_erfc                                                                                             \
    .name = "erfc", .schema = "erfc(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "1 - erf(x), exact for large x", .grad_fn_name = "ErfcBackward0", .arity = 1, .result = WK__RESULT_FLOAT,   \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_relu                                                                                             \
    .name = "relu", .schema = "relu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "max(x, 0); the gradient at 0 is 0", .grad_fn_name = "ReluBackward0", .arity = 1, .dtypes = WK__NUMBERS,    \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_relu6                                                                                            \
    .name = "relu6", .schema = "relu6(Tensor self) -> Tensor", .category = "activation",                               \
    .doc = "min(max(x, 0), 6); the gradient at 0 and 6 is 0", .grad_fn_name = "HardtanhBackward0", .arity = 1,         \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,               \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_selu                                                                                             \
    .name = "selu", .schema = "selu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "1.0507 x for x > 0, else 1.7581 (e^x - 1)", .grad_fn_name = "EluBackward0", .arity = 1,                    \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,                \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_silu                                                                                             \
    .name = "silu", .schema = "silu(Tensor self) -> Tensor", .category = "activation",                                 \
    .doc = "x sigmoid(x), also called swish", .grad_fn_name = "SiluBackward0", .arity = 1, .dtypes = WK__FLOATS,       \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_mish                                                                                             \
    .name = "mish", .schema = "mish(Tensor self) -> Tensor", .category = "activation", .doc = "x tanh(softplus(x))",   \
    .grad_fn_name = "MishBackward0", .arity = 1, .dtypes = WK__FLOATS, .parameters = wk__parameters_logical_not,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_hardsigmoid                                                                                      \
    .name = "hardsigmoid", .schema = "hardsigmoid(Tensor self) -> Tensor", .category = "activation",                   \
    .doc = "relu6(x + 3) / 6", .grad_fn_name = "HardsigmoidBackward0", .arity = 1, .dtypes = WK__FLOATS,               \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_hardswish                                                                                        \
    .name = "hardswish", .schema = "hardswish(Tensor self) -> Tensor", .category = "activation",                       \
    .doc = "x relu6(x + 3) / 6", .grad_fn_name = "HardswishBackward0", .arity = 1, .dtypes = WK__FLOATS,               \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_softsign                                                                                         \
    .name = "softsign", .schema = "softsign(Tensor self) -> Tensor", .category = "activation", .doc = "x / (1 + |x|)", \
    .grad_fn_name = "DivBackward0", .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not,  \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_logsigmoid                                                                                       \
    .name = "logsigmoid", .schema = "logsigmoid(Tensor self) -> Tensor", .category = "pointwise",                      \
    .doc = "log(sigmoid(x))", .grad_fn_name = "LogSigmoidBackward0", .arity = 1, .dtypes = WK__FLOATS,                 \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_leaky_relu                                                                                       \
    .name = "leaky_relu", .schema = "leaky_relu(Tensor self, float negative_slope=0.01) -> Tensor",                    \
    .category = "activation", .doc = "x for x > 0, else negative_slope x", .grad_fn_name = "LeakyReluBackward0",       \
    .arity = 2, .dtypes = WK__FLOATS, .parameters = wk__parameters_leaky_relu, .parameter_count = 2, .results = 1,     \
    .invoke = wk__invoke_leaky_relu, .invoke_in_place = wk__invoke_leaky_relu_

#define WK__SIGNATURE_elu                                                                                              \
    .name = "elu", .schema = "elu(Tensor self, float alpha=1) -> Tensor", .category = "activation",                    \
    .doc = "x for x > 0, else alpha (e^x - 1)", .grad_fn_name = "EluBackward0", .arity = 2, .dtypes = WK__FLOATS,      \
    .parameters = wk__parameters_elu, .parameter_count = 2, .results = 1, .invoke = wk__invoke_elu,                    \
    .invoke_in_place = wk__invoke_elu_

#define WK__SIGNATURE_gelu                                                                                             \
    .name = "gelu", .schema = "gelu(Tensor self, *, str approximate=\"none\") -> Tensor", .category = "activation",    \
    .doc = "x (1 + erf(x / sqrt(2))) / 2; approximate \"tanh\": with tanh", .grad_fn_name = "GeluBackward0",           \
    .arity = 1, .dtypes = WK__FLOATS, .parameters = wk__parameters_gelu, .parameter_count = 2, .results = 1,           \
    .invoke = wk__invoke_gelu

#define WK__SIGNATURE_softplus                                                                                         \
    .name = "softplus", .schema = "softplus(Tensor self, float beta=1, float threshold=20) -> Tensor",                 \
    .category = "activation", .doc = "log(1 + e^(beta x)) / beta; x where beta x > threshold",                         \
    .grad_fn_name = "SoftplusBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_softplus,      \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_softplus

#define WK__SIGNATURE_hardtanh                                                                                         \
    .name = "hardtanh", .schema = "hardtanh(Tensor self, float min_val=-1, float max_val=1) -> Tensor",                \
    .category = "activation", .doc = "min_val below it, max_val above it, x between; the gradient at a limit is 0",    \
    .grad_fn_name = "HardtanhBackward0", .arity = 3, .dtypes = WK__NUMBERS, .parameters = wk__parameters_hardtanh,     \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_hardtanh, .invoke_in_place = wk__invoke_hardtanh_

#define WK__SIGNATURE_nan_to_num                                                                                       \
    .name = "nan_to_num",                                                                                              \
    .schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",            \
    .category = "pointwise", .doc = "numbers in place of NaN and the infinities; integers come back as they are",      \
    .grad_fn_name = "NanToNumBackward0", .arity = 4, .parameters = wk__parameters_nan_to_num, .parameter_count = 4,    \
    .results = 1, .invoke = wk__invoke_nan_to_num, .invoke_in_place = wk__invoke_nan_to_num_

#define WK__SIGNATURE_clamp                                                                                            \
    .name = "clamp", .schema = "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",                     \
    .category = "pointwise", .doc = "min(max(x, low), high); WK_NONE for no limit on a side",                          \
    .grad_fn_name = "ClampBackward0", .grad_fn_name_scalar = {[1] = "ClampBackward1", [2] = "ClampBackward1"},         \
    .arity = 3, .dtypes = WK__NUMBERS, .parameters = wk__parameters_clamp, .parameter_count = 3, .results = 1,         \
    .invoke = wk__invoke_clamp, .invoke_in_place = wk__invoke_clamp_

#define WK__SIGNATURE_where                                                                                            \
    .name = "where", .schema = "where(Tensor condition, Tensor self, Tensor other) -> Tensor",                         \
    .category = "pointwise", .doc = "a where the condition (bool) holds, else b", .grad_fn_name = "WhereBackward0",    \
    .arity = 3, .parameters = wk__parameters_where, .parameter_count = 3, .results = 1, .invoke = wk__invoke_where

#define WK__SIGNATURE_masked_fill                                                                                      \
    .name = "masked_fill", .schema = "masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor",                  \
    .category = "pointwise",                                                                                           \
    .doc = "value (a number or a 0-d tensor, converted to x's dtype) where mask (bool, broadcast) holds, else x",      \
    .grad_fn_name = "MaskedFillBackward1", .grad_fn_name_scalar = {[2] = "MaskedFillBackward0"}, .arity = 3,           \
    .parameters = wk__parameters_masked_fill, .parameter_count = 3, .results = 1, .invoke = wk__invoke_masked_fill,    \
    .invoke_in_place = wk__invoke_masked_fill_

#define WK__SIGNATURE_lerp                                                                                             \
    .name = "lerp", .schema = "lerp(Tensor self, Tensor end, Tensor weight) -> Tensor", .category = "pointwise",       \
    .doc = "a + weight (b - a), of floats", .grad_fn_name = "LerpBackward1",                                           \
    .grad_fn_name_scalar = {[2] = "LerpBackward0"}, .arity = 3, .dtypes = WK__FLOATS,                                  \
    .parameters = wk__parameters_lerp, .parameter_count = 3, .results = 1, .invoke = wk__invoke_lerp,                  \
    .invoke_in_place = wk__invoke_lerp_

#define WK__SIGNATURE_addcmul                                                                                          \
    .name = "addcmul", .schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",   \
    .category = "pointwise", .doc = "x + value a b", .grad_fn_name = "AddcmulBackward0", .arity = 4,                   \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_addcmul, .parameter_count = 4, .results = 1,                   \
    .invoke = wk__invoke_addcmul, .invoke_in_place = wk__invoke_addcmul_

#define WK__SIGNATURE_addcdiv                                                                                          \
    .name = "addcdiv", .schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",   \
    .category = "pointwise", .doc = "x + value a / b, of floats", .grad_fn_name = "AddcdivBackward0", .arity = 4,      \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_addcmul, .parameter_count = 4, .results = 1,                    \
    .invoke = wk__invoke_addcdiv, .invoke_in_place = wk__invoke_addcdiv_

#endif

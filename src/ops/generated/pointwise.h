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

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_div(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_div_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pow(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pow_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_isclose(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_round(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_round_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logit(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logit_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
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

/* Entries defined in the files of the ops. */
wk_tensor *wk__pow(wk_site site, wk__arg a, wk__arg b);
wk_tensor *wk__pow_(wk_site site, wk_tensor *a, wk__arg b);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__read_isclose_options(wk_site site, const char *op, const wk_isclose_options *given,
                                            wk_isclose_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->rtol = wk__option_or(own->rtol, 1e-05);
    own->atol = wk__option_or(own->atol, 1e-08);
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
extern const wk_parameter wk__parameters_isclose[];
extern const wk_parameter wk__parameters_logical_not[];
extern const wk_parameter wk__parameters_round[];
extern const wk_parameter wk__parameters_logit[];
extern const wk_parameter wk__parameters_nan_to_num[];
extern const wk_parameter wk__parameters_clamp[];
extern const wk_parameter wk__parameters_where[];
extern const wk_parameter wk__parameters_masked_fill[];
extern const wk_parameter wk__parameters_lerp[];
extern const wk_parameter wk__parameters_addcmul[];

#define WK__SIGNATURE_add                                                                                              \
    .name = "add", .schema = "add(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "Adds a and b.", .grad_fn_name = "AddBackward0", .arity = 2, .parameters = wk__parameters_add,              \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sub                                                                                              \
    .name = "sub", .schema = "sub(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "Subtracts b from a.", .grad_fn_name = "SubBackward0", .grad_fn_name_scalar = {[0] = "RsubBackward1"},      \
    .arity = 2, .dtypes = WK__NUMBERS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,           \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_mul                                                                                              \
    .name = "mul", .schema = "mul(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                      \
    .doc = "Multiplies a by b.", .grad_fn_name = "MulBackward0", .arity = 2, .parameters = wk__parameters_add,         \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_div                                                                                              \
    .name = "div", .schema = "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor",                   \
    .category = "pointwise", .doc = "Divides a by b.", .grad_fn_name = "DivBackward0",                                 \
    .grad_fn_name_scalar = {[0] = "MulBackward0"}, .arity = 2, .result = WK__RESULT_FLOAT,                             \
    .parameters = wk__parameters_div, .parameter_count = 3, .results = 1, .invoke = wk__invoke_div,                    \
    .invoke_in_place = wk__invoke_div_

#define WK__SIGNATURE_floor_divide                                                                                     \
    .name = "floor_divide", .schema = "floor_divide(Tensor self, Tensor other) -> Tensor", .category = "pointwise",    \
    .doc = "Divides a by b and rounds down, as // in Python.", .arity = 2, .dtypes = WK__NUMBERS,                      \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_remainder                                                                                        \
    .name = "remainder", .schema = "remainder(Tensor self, Tensor other) -> Tensor", .category = "pointwise",          \
    .doc = "Computes the remainder with the sign of b, as % in Python.", .grad_fn_name = "RemainderBackward1",         \
    .grad_fn_name_scalar = {[1] = "RemainderBackward0"}, .arity = 2, .dtypes = WK__NUMBERS,                            \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_fmod                                                                                             \
    .name = "fmod", .schema = "fmod(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                    \
    .doc = "Computes the remainder with the sign of a, as fmod in C.", .grad_fn_name = "FmodBackward1",                \
    .grad_fn_name_scalar = {[1] = "FmodBackward0"}, .arity = 2, .dtypes = WK__NUMBERS,                                 \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_pow                                                                                              \
    .name = "pow", .schema = "pow(Tensor self, Tensor exponent) -> Tensor", .category = "pointwise",                   \
    .doc = "Raises a to the power b.", .grad_fn_name = "PowBackward1",                                                 \
    .grad_fn_name_scalar = {[0] = "PowBackward2", [1] = "PowBackward0"}, .arity = 2, .dtypes = WK__NUMBERS,            \
    .parameters = wk__parameters_pow, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pow,                    \
    .invoke_in_place = wk__invoke_pow_

#define WK__SIGNATURE_maximum                                                                                          \
    .name = "maximum", .schema = "maximum(Tensor self, Tensor other) -> Tensor", .category = "pointwise",              \
    .doc = "Takes the larger of a and b, NaN if one is NaN.", .grad_fn_name = "MaximumBackward0", .arity = 2,          \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_minimum                                                                                          \
    .name = "minimum", .schema = "minimum(Tensor self, Tensor other) -> Tensor", .category = "pointwise",              \
    .doc = "Takes the smaller of a and b, NaN if one is NaN.", .grad_fn_name = "MinimumBackward0", .arity = 2,         \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_atan2                                                                                            \
    .name = "atan2", .schema = "atan2(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                  \
    .doc = "Computes the angle of the point (b, a) in radians, in (-pi, pi].", .grad_fn_name = "Atan2Backward0",       \
    .arity = 2, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,      \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logaddexp                                                                                        \
    .name = "logaddexp", .schema = "logaddexp(Tensor self, Tensor other) -> Tensor", .category = "pointwise",          \
    .doc = "Computes log(e^a + e^b) without overflow.", .grad_fn_name = "LogaddexpBackward0", .arity = 2,              \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,                        \
    .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_hypot                                                                                            \
    .name = "hypot", .schema = "hypot(Tensor self, Tensor other) -> Tensor", .category = "pointwise",                  \
    .doc = "Computes the length of (a, b) without overflow.", .grad_fn_name = "HypotBackward0", .arity = 2,            \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_add, .parameter_count = 2, .results = 1,                        \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_copysign                                                                                         \
    .name = "copysign", .schema = "copysign(Tensor self, Tensor other) -> Tensor", .category = "pointwise",            \
    .doc = "Combines the magnitude of a with the sign of b; a zero has a sign.", .grad_fn_name = "CopysignBackward0",  \
    .grad_fn_name_scalar = {[1] = "CopysignBackward1"}, .arity = 2, .result = WK__RESULT_FLOAT,                        \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_eq                                                                                               \
    .name = "eq", .schema = "eq(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Compares a and b for equality.", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add,  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ne                                                                                               \
    .name = "ne", .schema = "ne(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Compares a and b for inequality.", .arity = 2, .result = WK__RESULT_BOOL,                                  \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_lt                                                                                               \
    .name = "lt", .schema = "lt(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Tests whether a is less than b.", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add, \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_le                                                                                               \
    .name = "le", .schema = "le(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Tests whether a is at most b.", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add,   \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_gt                                                                                               \
    .name = "gt", .schema = "gt(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Tests whether a is greater than b.", .arity = 2, .result = WK__RESULT_BOOL,                                \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ge                                                                                               \
    .name = "ge", .schema = "ge(Tensor self, Tensor other) -> Tensor", .category = "comparison",                       \
    .doc = "Tests whether a is at least b.", .arity = 2, .result = WK__RESULT_BOOL, .parameters = wk__parameters_add,  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_and                                                                                      \
    .name = "logical_and", .schema = "logical_and(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "Tests whether a and b are both nonzero.", .arity = 2, .result = WK__RESULT_BOOL,                           \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_or                                                                                       \
    .name = "logical_or", .schema = "logical_or(Tensor self, Tensor other) -> Tensor", .category = "logic",            \
    .doc = "Tests whether a or b is nonzero.", .arity = 2, .result = WK__RESULT_BOOL,                                  \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logical_xor                                                                                      \
    .name = "logical_xor", .schema = "logical_xor(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "Tests whether exactly one of a and b is nonzero.", .arity = 2, .result = WK__RESULT_BOOL,                  \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_and                                                                                      \
    .name = "bitwise_and", .schema = "bitwise_and(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "Computes the bitwise and of a and b.", .arity = 2, .dtypes = WK__INTS | WK__BOOLS,                         \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_or                                                                                       \
    .name = "bitwise_or", .schema = "bitwise_or(Tensor self, Tensor other) -> Tensor", .category = "logic",            \
    .doc = "Computes the bitwise or of a and b.", .arity = 2, .dtypes = WK__INTS | WK__BOOLS,                          \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_xor                                                                                      \
    .name = "bitwise_xor", .schema = "bitwise_xor(Tensor self, Tensor other) -> Tensor", .category = "logic",          \
    .doc = "Computes the bitwise exclusive or of a and b.", .arity = 2, .dtypes = WK__INTS | WK__BOOLS,                \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_left_shift                                                                               \
    .name = "bitwise_left_shift", .schema = "bitwise_left_shift(Tensor self, Tensor other) -> Tensor",                 \
    .category = "logic", .doc = "Shifts the bits of a to the left by b.", .arity = 2, .dtypes = WK__INTS,              \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_right_shift                                                                              \
    .name = "bitwise_right_shift", .schema = "bitwise_right_shift(Tensor self, Tensor other) -> Tensor",               \
    .category = "logic", .doc = "Shifts the bits of a to the right by b.", .arity = 2, .dtypes = WK__INTS,             \
    .parameters = wk__parameters_add, .parameter_count = 2, .results = 1, .invoke = wk__invoke_pointwise,              \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_isclose                                                                                          \
    .name = "isclose",                                                                                                 \
    .schema =                                                                                                          \
        "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",      \
    .category = "comparison", .doc = "Tests whether a and b are close to each other.",                                 \
    .parameters = wk__parameters_isclose, .parameter_count = 5, .results = 1, .invoke = wk__invoke_isclose

#define WK__SIGNATURE_logical_not                                                                                      \
    .name = "logical_not", .schema = "logical_not(Tensor self) -> Tensor", .category = "logic",                        \
    .doc = "Tests whether x is 0.", .arity = 1, .result = WK__RESULT_BOOL, .parameters = wk__parameters_logical_not,   \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_bitwise_not                                                                                      \
    .name = "bitwise_not", .schema = "bitwise_not(Tensor self) -> Tensor", .category = "logic",                        \
    .doc = "Inverts every bit of x; for bool, logical not.", .arity = 1, .dtypes = WK__INTS | WK__BOOLS,               \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_isnan                                                                                            \
    .name = "isnan", .schema = "isnan(Tensor self) -> Tensor", .category = "comparison",                               \
    .doc = "Tests whether x is NaN; an integer never is.", .arity = 1, .result = WK__RESULT_BOOL,                      \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_isinf                                                                                            \
    .name = "isinf", .schema = "isinf(Tensor self) -> Tensor", .category = "comparison",                               \
    .doc = "Tests whether x is an infinity of either sign.", .arity = 1, .result = WK__RESULT_BOOL,                    \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_isfinite                                                                                         \
    .name = "isfinite", .schema = "isfinite(Tensor self) -> Tensor", .category = "comparison",                         \
    .doc = "Tests whether x is neither NaN nor an infinity.", .arity = 1, .result = WK__RESULT_BOOL,                   \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise

#define WK__SIGNATURE_neg                                                                                              \
    .name = "neg", .schema = "neg(Tensor self) -> Tensor", .category = "pointwise", .doc = "Negates x.",               \
    .grad_fn_name = "NegBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_abs                                                                                              \
    .name = "abs", .schema = "abs(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the absolute value of x.", .grad_fn_name = "AbsBackward0", .arity = 1, .dtypes = WK__NUMBERS,     \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sign                                                                                             \
    .name = "sign", .schema = "sign(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the sign of x: -1, 0 or 1.", .grad_fn_name = "SignBackward0", .arity = 1,                         \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_floor                                                                                            \
    .name = "floor", .schema = "floor(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "Rounds x down to an integer value.", .grad_fn_name = "FloorBackward0", .arity = 1, .dtypes = WK__NUMBERS,  \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_ceil                                                                                             \
    .name = "ceil", .schema = "ceil(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Rounds x up to an integer value.", .grad_fn_name = "CeilBackward0", .arity = 1, .dtypes = WK__NUMBERS,     \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_trunc                                                                                            \
    .name = "trunc", .schema = "trunc(Tensor self) -> Tensor", .category = "pointwise", .doc = "Rounds x towards 0.",  \
    .grad_fn_name = "TruncBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,     \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_square                                                                                           \
    .name = "square", .schema = "square(Tensor self) -> Tensor", .category = "pointwise", .doc = "Squares x.",         \
    .grad_fn_name = "PowBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_logical_not,       \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_round                                                                                            \
    .name = "round", .schema = "round(Tensor self, *, int decimals=0) -> Tensor", .category = "pointwise",             \
    .doc = "Rounds x to the nearest integer value, or to .decimals decimals; ties to even.",                           \
    .grad_fn_name = "RoundBackward0", .arity = 1, .dtypes = WK__NUMBERS, .parameters = wk__parameters_round,           \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_round, .invoke_in_place = wk__invoke_round_

#define WK__SIGNATURE_sqrt                                                                                             \
    .name = "sqrt", .schema = "sqrt(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the square root, NaN for x below 0.", .grad_fn_name = "SqrtBackward0", .arity = 1,                \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_rsqrt                                                                                            \
    .name = "rsqrt", .schema = "rsqrt(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "Computes the reciprocal of the square root.", .grad_fn_name = "RsqrtBackward0", .arity = 1,                \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_reciprocal                                                                                       \
    .name = "reciprocal", .schema = "reciprocal(Tensor self) -> Tensor", .category = "pointwise",                      \
    .doc = "Computes the reciprocal.", .grad_fn_name = "ReciprocalBackward0", .arity = 1, .result = WK__RESULT_FLOAT,  \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_exp                                                                                              \
    .name = "exp", .schema = "exp(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes e to the power x.", .grad_fn_name = "ExpBackward0", .arity = 1, .result = WK__RESULT_FLOAT,       \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_expm1                                                                                            \
    .name = "expm1", .schema = "expm1(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "Computes e^x - 1, accurately near 0.", .grad_fn_name = "Expm1Backward0", .arity = 1,                       \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_exp2                                                                                             \
    .name = "exp2", .schema = "exp2(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes 2 to the power x.", .grad_fn_name = "Exp2Backward0", .arity = 1, .result = WK__RESULT_FLOAT,      \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log                                                                                              \
    .name = "log", .schema = "log(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the natural logarithm, NaN for x below 0.", .grad_fn_name = "LogBackward0", .arity = 1,           \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log1p                                                                                            \
    .name = "log1p", .schema = "log1p(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "Computes log(1 + x), accurately near 0; NaN for x below -1.", .grad_fn_name = "Log1PBackward0",            \
    .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1,            \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log2                                                                                             \
    .name = "log2", .schema = "log2(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the logarithm to base 2, NaN for x below 0.", .grad_fn_name = "Log2Backward0", .arity = 1,        \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_log10                                                                                            \
    .name = "log10", .schema = "log10(Tensor self) -> Tensor", .category = "pointwise",                                \
    .doc = "Computes the logarithm to base 10, NaN for x below 0.", .grad_fn_name = "Log10Backward0", .arity = 1,      \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sin                                                                                              \
    .name = "sin", .schema = "sin(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the sine of x in radians.", .grad_fn_name = "SinBackward0", .arity = 1,                           \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_cos                                                                                              \
    .name = "cos", .schema = "cos(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the cosine of x in radians.", .grad_fn_name = "CosBackward0", .arity = 1,                         \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_tan                                                                                              \
    .name = "tan", .schema = "tan(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the tangent of x in radians.", .grad_fn_name = "TanBackward0", .arity = 1,                        \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_asin                                                                                             \
    .name = "asin", .schema = "asin(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the inverse sine in [-pi/2, pi/2], NaN for x outside [-1, 1].", .grad_fn_name = "AsinBackward0",  \
    .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1,            \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_acos                                                                                             \
    .name = "acos", .schema = "acos(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the inverse cosine in [0, pi], NaN for x outside [-1, 1].", .grad_fn_name = "AcosBackward0",      \
    .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1,            \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_atan                                                                                             \
    .name = "atan", .schema = "atan(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the inverse tangent in (-pi/2, pi/2).", .grad_fn_name = "AtanBackward0", .arity = 1,              \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sinh                                                                                             \
    .name = "sinh", .schema = "sinh(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the hyperbolic sine.", .grad_fn_name = "SinhBackward0", .arity = 1, .result = WK__RESULT_FLOAT,   \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_cosh                                                                                             \
    .name = "cosh", .schema = "cosh(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the hyperbolic cosine.", .grad_fn_name = "CoshBackward0", .arity = 1, .result = WK__RESULT_FLOAT, \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_tanh                                                                                             \
    .name = "tanh", .schema = "tanh(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the hyperbolic tangent.", .grad_fn_name = "TanhBackward0", .arity = 1,                            \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_sigmoid                                                                                          \
    .name = "sigmoid", .schema = "sigmoid(Tensor self) -> Tensor", .category = "pointwise",                            \
    .doc = "Computes the logistic function.", .grad_fn_name = "SigmoidBackward0", .arity = 1,                          \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1,          \
    .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_logit                                                                                            \
    .name = "logit", .schema = "logit(Tensor self, float? eps=None) -> Tensor", .category = "pointwise",               \
    .doc = "Computes the inverse of the logistic function.", .grad_fn_name = "LogitBackward0", .arity = 2,             \
    .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logit, .parameter_count = 2, .results = 1,                \
    .invoke = wk__invoke_logit, .invoke_in_place = wk__invoke_logit_

#define WK__SIGNATURE_erf                                                                                              \
    .name = "erf", .schema = "erf(Tensor self) -> Tensor", .category = "pointwise",                                    \
    .doc = "Computes the error function.", .grad_fn_name = "ErfBackward0", .arity = 1, .result = WK__RESULT_FLOAT,     \
    .parameters = wk__parameters_logical_not, .parameter_count = 1, .results = 1, .invoke = wk__invoke_pointwise,      \
    .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_erfc                                                                                             \
    .name = "erfc", .schema = "erfc(Tensor self) -> Tensor", .category = "pointwise",                                  \
    .doc = "Computes the complementary error function, accurately for large x.", .grad_fn_name = "ErfcBackward0",      \
    .arity = 1, .result = WK__RESULT_FLOAT, .parameters = wk__parameters_logical_not, .parameter_count = 1,            \
    .results = 1, .invoke = wk__invoke_pointwise, .invoke_in_place = wk__invoke_pointwise_

#define WK__SIGNATURE_nan_to_num                                                                                       \
    .name = "nan_to_num",                                                                                              \
    .schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",            \
    .category = "pointwise", .doc = "Replaces NaN and infinities by numbers; integers are copied.",                    \
    .grad_fn_name = "NanToNumBackward0", .arity = 4, .parameters = wk__parameters_nan_to_num, .parameter_count = 4,    \
    .results = 1, .invoke = wk__invoke_nan_to_num, .invoke_in_place = wk__invoke_nan_to_num_

#define WK__SIGNATURE_clamp                                                                                            \
    .name = "clamp", .schema = "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",                     \
    .category = "pointwise", .doc = "Limits x to [low, high].", .grad_fn_name = "ClampBackward0",                      \
    .grad_fn_name_scalar = {[1] = "ClampBackward1", [2] = "ClampBackward1"}, .arity = 3, .dtypes = WK__NUMBERS,        \
    .parameters = wk__parameters_clamp, .parameter_count = 3, .results = 1, .invoke = wk__invoke_clamp,                \
    .invoke_in_place = wk__invoke_clamp_

#define WK__SIGNATURE_where                                                                                            \
    .name = "where", .schema = "where(Tensor condition, Tensor self, Tensor other) -> Tensor",                         \
    .category = "pointwise", .doc = "Takes a where condition is true, else b.", .grad_fn_name = "WhereBackward0",      \
    .arity = 3, .parameters = wk__parameters_where, .parameter_count = 3, .results = 1, .invoke = wk__invoke_where

#define WK__SIGNATURE_masked_fill                                                                                      \
    .name = "masked_fill", .schema = "masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor",                  \
    .category = "pointwise", .doc = "Replaces the elements of x by value where mask is true.",                         \
    .grad_fn_name = "MaskedFillBackward1", .grad_fn_name_scalar = {[2] = "MaskedFillBackward0"}, .arity = 3,           \
    .parameters = wk__parameters_masked_fill, .parameter_count = 3, .results = 1, .invoke = wk__invoke_masked_fill,    \
    .invoke_in_place = wk__invoke_masked_fill_

#define WK__SIGNATURE_lerp                                                                                             \
    .name = "lerp", .schema = "lerp(Tensor self, Tensor end, Tensor weight) -> Tensor", .category = "pointwise",       \
    .doc = "Interpolates linearly between a and b.", .grad_fn_name = "LerpBackward1",                                  \
    .grad_fn_name_scalar = {[2] = "LerpBackward0"}, .arity = 3, .dtypes = WK__FLOATS,                                  \
    .parameters = wk__parameters_lerp, .parameter_count = 3, .results = 1, .invoke = wk__invoke_lerp,                  \
    .invoke_in_place = wk__invoke_lerp_

#define WK__SIGNATURE_addcmul                                                                                          \
    .name = "addcmul", .schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",   \
    .category = "pointwise", .doc = "Adds a multiple of the product of a and b to x.",                                 \
    .grad_fn_name = "AddcmulBackward0", .arity = 4, .dtypes = WK__NUMBERS, .parameters = wk__parameters_addcmul,       \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_addcmul, .invoke_in_place = wk__invoke_addcmul_

#define WK__SIGNATURE_addcdiv                                                                                          \
    .name = "addcdiv", .schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=1) -> Tensor",   \
    .category = "pointwise", .doc = "Adds a multiple of the quotient of a and b to x.",                                \
    .grad_fn_name = "AddcdivBackward0", .arity = 4, .dtypes = WK__FLOATS, .parameters = wk__parameters_addcmul,        \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_addcdiv, .invoke_in_place = wk__invoke_addcdiv_

#endif

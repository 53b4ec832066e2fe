/* SPDX-License-Identifier: Apache-2.0 */
/* wick/pointwise.h: arithmetic, comparison and functions element by element.
 *
 * Of all of them: operands are broadcast (sizes are equal or 1, from the right); mixed dtypes meet as PyTorch's do; a
 * form whose name ends in _ writes the result into its first operand, whose shape and class of dtype it must fit, and
 * returns it. "Floats": bool and integers become f32 first. Several calls in a row run as one pass over memory.
 * Operands lie on one device; a 0-d tensor of the CPU is a number, as in PyTorch: it is copied to where the others are,
 * as by wk_to, and its gradient comes back.
 *
 * Errors: sizes that do not broadcast, or a result larger than the target of a form in place, are WK_ERR_SHAPE; a dtype
 * that an op does not take, or a result that the target's dtype cannot hold, WK_ERR_DTYPE; other operands on different
 * devices WK_ERR_DEVICE; writing over a leaf that requires grad, or where elements share memory, WK_ERR_STATE. */
#ifndef WICK_POINTWISE_H
#define WICK_POINTWISE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arithmetic: a tensor or a number on either side -------------------------------------------------------------- A
 * whole number stays whole (i64 + 1 is i64), a fraction is a float of the tensor's class (i64 + 0.5 is f32). Either
 * takes the dtype that is computed in, as in PyTorch: u8 with -1 is u8 with 255 (and with 256 it is with 0), and f16 is
 * compared with 0.1 as f16 has it. */
#define WK_ARITH_DECL_(name)                                                                                           \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *a, wk_tensor *b);                                             \
    WK_API wk_tensor *name##_tf_at(wk_site site, wk_tensor *a, double b);                                              \
    WK_API wk_tensor *name##_ti_at(wk_site site, wk_tensor *a, int64_t b);                                             \
    WK_API wk_tensor *name##_ft_at(wk_site site, double a, wk_tensor *b);                                              \
    WK_API wk_tensor *name##_it_at(wk_site site, int64_t a, wk_tensor *b);                                             \
    WK_API wk_tensor *name(wk_tensor *a, wk_tensor *b)
#define WK_ARITH_IN_PLACE_DECL_(name)                                                                                  \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *a, wk_tensor *b);                                             \
    WK_API wk_tensor *name##_tf_at(wk_site site, wk_tensor *a, double b);                                              \
    WK_API wk_tensor *name##_ti_at(wk_site site, wk_tensor *a, int64_t b)

WK_ARITH_DECL_(wk_add);          /* a + b; of bool: or */
WK_ARITH_DECL_(wk_sub);          /* a - b; not of bool */
WK_ARITH_DECL_(wk_mul);          /* a b; of bool: and */
WK_ARITH_DECL_(wk_div);          /* a / b, floats: 1 / 2 is 0.5; wk_div(a, b, .rounding_mode = "floor"): see below */
WK_ARITH_DECL_(wk_floor_divide); /* floor(a / b), Python's //; an integer by 0 gives 0; no gradient */
WK_ARITH_DECL_(wk_remainder);    /* a - b floor(a / b), Python's %: the sign of b; an integer by 0 gives 0 */
WK_ARITH_DECL_(wk_fmod);         /* a - b trunc(a / b), C's fmod: the sign of a; an integer by 0 gives 0 */
WK_ARITH_DECL_(wk_pow);          /* a^b; integers to a negative number are an error: convert them first */
WK_ARITH_DECL_(wk_maximum);      /* the larger; NaN if one is; equal operands share the gradient */
WK_ARITH_DECL_(wk_minimum);      /* the smaller, likewise */
WK_ARITH_DECL_(wk_atan2);        /* the angle of the point (b, a) in (-pi, pi], floats; the gradient at (0, 0) is 0 */

/* a / b as a whole number, in the dtype in which a and b meet; an integer by 0 gives 0; the gradient is 0. What
 * wk_div(a, b, .rounding_mode = ...) calls. WK_ERR_ARGUMENT for another mode. */
typedef struct wk_div_options {
    size_t size;
    wk_by_name by_name;
    const char *rounding_mode; /* "floor": down, "trunc": towards 0; NULL: no rounding, floats */
} wk_div_options;
WK_API wk_tensor *wk_div_rounded_at(wk_site site, wk_value a, wk_value b, const wk_div_options *options);
WK_API wk_tensor *wk_div_rounded__at(wk_site site, wk_tensor *a, wk_value b, const wk_div_options *options);

WK_ARITH_IN_PLACE_DECL_(wk_add_);
WK_ARITH_IN_PLACE_DECL_(wk_sub_);
WK_ARITH_IN_PLACE_DECL_(wk_mul_);
WK_ARITH_IN_PLACE_DECL_(wk_div_);
WK_ARITH_IN_PLACE_DECL_(wk_floor_divide_);
WK_ARITH_IN_PLACE_DECL_(wk_remainder_);
WK_ARITH_IN_PLACE_DECL_(wk_fmod_);
WK_ARITH_IN_PLACE_DECL_(wk_pow_);
WK_ARITH_IN_PLACE_DECL_(wk_atan2_);

/* ---- comparison and logic: a tensor or a number on either side; the result is bool, without a gradient ----------- */
WK_ARITH_DECL_(wk_eq);          /* a == b, element by element, as bools; in a condition of C: wk_item(wk_all(..)) */
WK_ARITH_DECL_(wk_ne);          /* a != b */
WK_ARITH_DECL_(wk_lt);          /* a < b */
WK_ARITH_DECL_(wk_le);          /* a <= b */
WK_ARITH_DECL_(wk_gt);          /* a > b */
WK_ARITH_DECL_(wk_ge);          /* a >= b */
WK_ARITH_DECL_(wk_logical_and); /* a != 0 and b != 0 */
WK_ARITH_DECL_(wk_logical_or);  /* a != 0 or b != 0 */
WK_ARITH_DECL_(wk_logical_xor); /* one of the two is 0, the other is not */
/* Bit by bit, of integers and bool; the result has the operands' dtype. */
WK_ARITH_DECL_(wk_bitwise_and); /* a & b */
WK_ARITH_DECL_(wk_bitwise_or);  /* a | b */
WK_ARITH_DECL_(wk_bitwise_xor); /* a ^ b */

/* In place the result is 0 or 1 in the dtype of a. */
WK_ARITH_IN_PLACE_DECL_(wk_eq_);
WK_ARITH_IN_PLACE_DECL_(wk_ne_);
WK_ARITH_IN_PLACE_DECL_(wk_lt_);
WK_ARITH_IN_PLACE_DECL_(wk_le_);
WK_ARITH_IN_PLACE_DECL_(wk_gt_);
WK_ARITH_IN_PLACE_DECL_(wk_ge_);
WK_ARITH_IN_PLACE_DECL_(wk_logical_and_);
WK_ARITH_IN_PLACE_DECL_(wk_logical_or_);
WK_ARITH_IN_PLACE_DECL_(wk_logical_xor_);
WK_ARITH_IN_PLACE_DECL_(wk_bitwise_and_);
WK_ARITH_IN_PLACE_DECL_(wk_bitwise_or_);
WK_ARITH_IN_PLACE_DECL_(wk_bitwise_xor_);

/* ---- functions of one tensor: wk_NAME(x), and in place wk_NAME_(x) ----------------------------------------------- */
#define WK_FUNCTION_DECL_(name)                                                                                        \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *x);                                                           \
    WK_API wk_tensor *name(wk_tensor *x)
#define WK_UNARY_DECL_(name)                                                                                           \
    WK_FUNCTION_DECL_(name);                                                                                           \
    WK_FUNCTION_DECL_(name##_)

WK_UNARY_DECL_(wk_logical_not); /* x == 0, bool */
WK_UNARY_DECL_(wk_bitwise_not); /* every bit the other way; of bool: not */
WK_FUNCTION_DECL_(wk_isnan);    /* bool; integers never are */
WK_FUNCTION_DECL_(wk_isinf);    /* bool; both infinities */
WK_FUNCTION_DECL_(wk_isfinite); /* bool */

/* Of any number; the dtype stays. */
WK_UNARY_DECL_(wk_neg);    /* -x; not of bool */
WK_UNARY_DECL_(wk_abs);    /* |x|; the gradient at 0 is 0 */
WK_UNARY_DECL_(wk_sign);   /* -1, 0 or 1 */
WK_UNARY_DECL_(wk_floor);  /* the largest whole number that is not above x; the gradient of these four is 0 */
WK_UNARY_DECL_(wk_ceil);   /* the smallest that is not below */
WK_UNARY_DECL_(wk_trunc);  /* towards 0 */
WK_UNARY_DECL_(wk_square); /* x^2 */
WK_UNARY_DECL_(wk_relu);   /* max(x, 0); the gradient at 0 is 0 */
WK_UNARY_DECL_(wk_relu6);  /* min(max(x, 0), 6) */

/* To the nearest whole number, half to even: wk_round(x). Or to the nearest number with so many decimals, of floats
 * only: wk_round(x, .decimals = 2), wk_round(x, .decimals = -3) to thousands. */
typedef struct wk_round_options {
    size_t size;
    wk_by_name by_name;
    int64_t decimals;
} wk_round_options;
WK_API wk_tensor *wk_round_at(wk_site site, wk_tensor *x, const wk_round_options *options);
WK_API wk_tensor *wk_round__at(wk_site site, wk_tensor *x, const wk_round_options *options);
WK_API wk_tensor *wk_round(wk_tensor *x);
WK_API wk_tensor *wk_round_(wk_tensor *x);

/* Floats. */
WK_UNARY_DECL_(wk_sqrt);       /* square root; NaN below 0 */
WK_UNARY_DECL_(wk_rsqrt);      /* 1 / sqrt(x) */
WK_UNARY_DECL_(wk_reciprocal); /* 1 / x */
WK_UNARY_DECL_(wk_exp);        /* e^x */
WK_UNARY_DECL_(wk_expm1);      /* e^x - 1, exact near 0 */
WK_UNARY_DECL_(wk_exp2);       /* 2^x */
WK_UNARY_DECL_(wk_log);        /* natural logarithm; NaN below 0, as of the three below */
WK_UNARY_DECL_(wk_log1p);      /* log(1 + x), exact near 0 */
WK_UNARY_DECL_(wk_log2);       /* logarithm to base 2 */
WK_UNARY_DECL_(wk_log10);      /* logarithm to base 10 */
WK_UNARY_DECL_(wk_sin);        /* angles in radians */
WK_UNARY_DECL_(wk_cos);
WK_UNARY_DECL_(wk_tan);
WK_UNARY_DECL_(wk_asin);    /* in [-pi/2, pi/2]; NaN outside [-1, 1] */
WK_UNARY_DECL_(wk_acos);    /* in [0, pi], likewise */
WK_UNARY_DECL_(wk_atan);    /* in (-pi/2, pi/2) */
WK_UNARY_DECL_(wk_sinh);    /* (e^x - e^-x) / 2 */
WK_UNARY_DECL_(wk_cosh);    /* (e^x + e^-x) / 2 */
WK_UNARY_DECL_(wk_tanh);    /* sinh(x) / cosh(x) */
WK_UNARY_DECL_(wk_sigmoid); /* 1 / (1 + e^-x) */
WK_UNARY_DECL_(wk_erf);     /* 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x */
WK_UNARY_DECL_(wk_erfc);    /* 1 - erf(x), exact for large x */

/* ---- activations of floats --------------------------------------------------------------------------------------- */
WK_UNARY_DECL_(wk_selu);          /* 1.0507 x for x > 0, else 1.7581 (e^x - 1) */
WK_UNARY_DECL_(wk_silu);          /* x sigmoid(x), also called swish */
WK_UNARY_DECL_(wk_mish);          /* x tanh(softplus(x)) */
WK_UNARY_DECL_(wk_hardsigmoid);   /* relu6(x + 3) / 6 */
WK_UNARY_DECL_(wk_hardswish);     /* x relu6(x + 3) / 6 */
WK_FUNCTION_DECL_(wk_softsign);   /* x / (1 + |x|) */
WK_FUNCTION_DECL_(wk_logsigmoid); /* log(sigmoid(x)) */

/* Of the functions with options: a struct of options may be NULL. */
/* x for x > 0, else negative_slope x */
typedef struct wk_leaky_relu_options {
    size_t size;
    wk_by_name by_name;
    double negative_slope; /* default 0.01 */
} wk_leaky_relu_options;
WK_API wk_tensor *wk_leaky_relu_at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options);
WK_API wk_tensor *wk_leaky_relu__at(wk_site site, wk_tensor *x, const wk_leaky_relu_options *options);

/* x for x > 0, else alpha (e^x - 1) */
typedef struct wk_elu_options {
    size_t size;
    wk_by_name by_name;
    double alpha; /* default 1 */
} wk_elu_options;
WK_API wk_tensor *wk_elu_at(wk_site site, wk_tensor *x, const wk_elu_options *options);
WK_API wk_tensor *wk_elu__at(wk_site site, wk_tensor *x, const wk_elu_options *options);

/* x Phi(x), with Phi the distribution function of the normal distribution: x (1 + erf(x / sqrt(2))) / 2; or
 * its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. PyTorch's approximate="tanh" is
 * .approximate = WK_GELU_TANH. */
enum { WK_GELU_NONE = 0, WK_GELU_TANH = 1 };
typedef struct wk_gelu_options {
    size_t size;
    wk_by_name by_name;
    int approximate;
    char reserved[4];
} wk_gelu_options;
WK_API wk_tensor *wk_gelu_at(wk_site site, wk_tensor *x, const wk_gelu_options *options);

/* log(1 + e^(beta x)) / beta; x itself where beta x > threshold */
typedef struct wk_softplus_options {
    size_t size;
    wk_by_name by_name;
    double beta;      /* default 1 */
    double threshold; /* default 20 */
} wk_softplus_options;
WK_API wk_tensor *wk_softplus_at(wk_site site, wk_tensor *x, const wk_softplus_options *options);

/* min_val below it, max_val above it, x between; the gradient at the limits is 0. WK_ERR_ARGUMENT where
 * min_val > max_val. */
typedef struct wk_hardtanh_options {
    size_t size;
    wk_by_name by_name;
    double min_val; /* default -1 */
    double max_val; /* default 1 */
} wk_hardtanh_options;
WK_API wk_tensor *wk_hardtanh_at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options);
WK_API wk_tensor *wk_hardtanh__at(wk_site site, wk_tensor *x, const wk_hardtanh_options *options);

/* Numbers in place of those that are none. Not of integers: they come back as they are. */
typedef struct wk_nan_to_num_options {
    size_t size;
    wk_by_name by_name;
    double nan;    /* for NaN; default 0 */
    double posinf; /* for infinity; default the largest number of the dtype */
    double neginf; /* for -infinity; default the lowest */
} wk_nan_to_num_options;
WK_API wk_tensor *wk_nan_to_num_at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);
WK_API wk_tensor *wk_nan_to_num__at(wk_site site, wk_tensor *x, const wk_nan_to_num_options *options);

/* ---- of several operands -------------------------------------------------------------------------------------------
 * A wk_value is a tensor or a number; the macros below make it of either. WK_NONE is neither. */
static inline wk_value wk_value_of_tensor(wk_tensor *x)
{
    wk_value value = {WK_VALUE_TENSOR, 0, {x}};
    return value;
}
static inline wk_value wk_value_of_int(int64_t x)
{
    wk_value value = {WK_VALUE_INT, 0, {NULL}};
    value.i = x;
    return value;
}
static inline wk_value wk_value_of_float(double x)
{
    wk_value value = {WK_VALUE_FLOAT, 0, {NULL}};
    value.f = x;
    return value;
}
static inline wk_value wk_value_itself(wk_value x)
{
    return x;
}

/* min(max(x, low), high); WK_NONE for no limit on a side. Of integers a number past what their dtype holds is
 * the last that it does. Where x meets a limit, its gradient is 0 if that is a number, as in PyTorch 2.15; a
 * tensor and x get half each. A bool with one limit that is a bool tensor gives bool, with numbers i64.
 * WK_ERR_ARGUMENT without any limit. */
WK_API wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high);
WK_API wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high);
/* a where the condition (bool) holds, else b. For where with the condition alone see wk_nonzero_numpy. */
WK_API wk_tensor *wk_where_at(wk_site site, wk_tensor *condition, wk_value a, wk_value b);
/* value (a number or a 0-d tensor, converted to x's dtype) where mask (bool, broadcast) holds, else x. */
WK_API wk_tensor *wk_masked_fill_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);
WK_API wk_tensor *wk_masked_fill__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value);
/* a + weight (b - a), of floats. */
WK_API wk_tensor *wk_lerp_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);
WK_API wk_tensor *wk_lerp__at(wk_site site, wk_tensor *a, wk_tensor *b, wk_value weight);

typedef struct wk_addc_options {
    size_t size;
    wk_by_name by_name;
    double value; /* default 1 */
} wk_addc_options;
/* x + value a b */
WK_API wk_tensor *wk_addcmul_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options);
WK_API wk_tensor *wk_addcmul__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                 const wk_addc_options *options);
/* x + value a / b, of floats */
WK_API wk_tensor *wk_addcdiv_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addc_options *options);
WK_API wk_tensor *wk_addcdiv__at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                 const wk_addc_options *options);

#undef WK_ARITH_DECL_
#undef WK_ARITH_IN_PLACE_DECL_
#undef WK_FUNCTION_DECL_
#undef WK_UNARY_DECL_

#define wk_logical_not(...)  wk_logical_not_at(WK_HERE, __VA_ARGS__)
#define wk_bitwise_not(...)  wk_bitwise_not_at(WK_HERE, __VA_ARGS__)
#define wk_isnan(...)        wk_isnan_at(WK_HERE, __VA_ARGS__)
#define wk_isinf(...)        wk_isinf_at(WK_HERE, __VA_ARGS__)
#define wk_isfinite(...)     wk_isfinite_at(WK_HERE, __VA_ARGS__)
#define wk_neg(...)          wk_neg_at(WK_HERE, __VA_ARGS__)
#define wk_abs(...)          wk_abs_at(WK_HERE, __VA_ARGS__)
#define wk_sign(...)         wk_sign_at(WK_HERE, __VA_ARGS__)
#define wk_floor(...)        wk_floor_at(WK_HERE, __VA_ARGS__)
#define wk_ceil(...)         wk_ceil_at(WK_HERE, __VA_ARGS__)
#define wk_trunc(...)        wk_trunc_at(WK_HERE, __VA_ARGS__)
#define wk_square(...)       wk_square_at(WK_HERE, __VA_ARGS__)
#define wk_relu(...)         wk_relu_at(WK_HERE, __VA_ARGS__)
#define wk_relu6(...)        wk_relu6_at(WK_HERE, __VA_ARGS__)
#define wk_sqrt(...)         wk_sqrt_at(WK_HERE, __VA_ARGS__)
#define wk_rsqrt(...)        wk_rsqrt_at(WK_HERE, __VA_ARGS__)
#define wk_reciprocal(...)   wk_reciprocal_at(WK_HERE, __VA_ARGS__)
#define wk_exp(...)          wk_exp_at(WK_HERE, __VA_ARGS__)
#define wk_expm1(...)        wk_expm1_at(WK_HERE, __VA_ARGS__)
#define wk_exp2(...)         wk_exp2_at(WK_HERE, __VA_ARGS__)
#define wk_log(...)          wk_log_at(WK_HERE, __VA_ARGS__)
#define wk_log1p(...)        wk_log1p_at(WK_HERE, __VA_ARGS__)
#define wk_log2(...)         wk_log2_at(WK_HERE, __VA_ARGS__)
#define wk_log10(...)        wk_log10_at(WK_HERE, __VA_ARGS__)
#define wk_sin(...)          wk_sin_at(WK_HERE, __VA_ARGS__)
#define wk_cos(...)          wk_cos_at(WK_HERE, __VA_ARGS__)
#define wk_tan(...)          wk_tan_at(WK_HERE, __VA_ARGS__)
#define wk_asin(...)         wk_asin_at(WK_HERE, __VA_ARGS__)
#define wk_acos(...)         wk_acos_at(WK_HERE, __VA_ARGS__)
#define wk_atan(...)         wk_atan_at(WK_HERE, __VA_ARGS__)
#define wk_sinh(...)         wk_sinh_at(WK_HERE, __VA_ARGS__)
#define wk_cosh(...)         wk_cosh_at(WK_HERE, __VA_ARGS__)
#define wk_tanh(...)         wk_tanh_at(WK_HERE, __VA_ARGS__)
#define wk_sigmoid(...)      wk_sigmoid_at(WK_HERE, __VA_ARGS__)
#define wk_erf(...)          wk_erf_at(WK_HERE, __VA_ARGS__)
#define wk_erfc(...)         wk_erfc_at(WK_HERE, __VA_ARGS__)
#define wk_selu(...)         wk_selu_at(WK_HERE, __VA_ARGS__)
#define wk_silu(...)         wk_silu_at(WK_HERE, __VA_ARGS__)
#define wk_mish(...)         wk_mish_at(WK_HERE, __VA_ARGS__)
#define wk_hardsigmoid(...)  wk_hardsigmoid_at(WK_HERE, __VA_ARGS__)
#define wk_hardswish(...)    wk_hardswish_at(WK_HERE, __VA_ARGS__)
#define wk_softsign(...)     wk_softsign_at(WK_HERE, __VA_ARGS__)
#define wk_logsigmoid(...)   wk_logsigmoid_at(WK_HERE, __VA_ARGS__)
#define wk_logical_not_(...) wk_logical_not__at(WK_HERE, __VA_ARGS__)
#define wk_bitwise_not_(...) wk_bitwise_not__at(WK_HERE, __VA_ARGS__)
#define wk_neg_(...)         wk_neg__at(WK_HERE, __VA_ARGS__)
#define wk_abs_(...)         wk_abs__at(WK_HERE, __VA_ARGS__)
#define wk_sign_(...)        wk_sign__at(WK_HERE, __VA_ARGS__)
#define wk_floor_(...)       wk_floor__at(WK_HERE, __VA_ARGS__)
#define wk_ceil_(...)        wk_ceil__at(WK_HERE, __VA_ARGS__)
#define wk_trunc_(...)       wk_trunc__at(WK_HERE, __VA_ARGS__)
#define wk_square_(...)      wk_square__at(WK_HERE, __VA_ARGS__)
#define wk_relu_(...)        wk_relu__at(WK_HERE, __VA_ARGS__)
#define wk_relu6_(...)       wk_relu6__at(WK_HERE, __VA_ARGS__)
#define wk_sqrt_(...)        wk_sqrt__at(WK_HERE, __VA_ARGS__)
#define wk_rsqrt_(...)       wk_rsqrt__at(WK_HERE, __VA_ARGS__)
#define wk_reciprocal_(...)  wk_reciprocal__at(WK_HERE, __VA_ARGS__)
#define wk_exp_(...)         wk_exp__at(WK_HERE, __VA_ARGS__)
#define wk_expm1_(...)       wk_expm1__at(WK_HERE, __VA_ARGS__)
#define wk_exp2_(...)        wk_exp2__at(WK_HERE, __VA_ARGS__)
#define wk_log_(...)         wk_log__at(WK_HERE, __VA_ARGS__)
#define wk_log1p_(...)       wk_log1p__at(WK_HERE, __VA_ARGS__)
#define wk_log2_(...)        wk_log2__at(WK_HERE, __VA_ARGS__)
#define wk_log10_(...)       wk_log10__at(WK_HERE, __VA_ARGS__)
#define wk_sin_(...)         wk_sin__at(WK_HERE, __VA_ARGS__)
#define wk_cos_(...)         wk_cos__at(WK_HERE, __VA_ARGS__)
#define wk_tan_(...)         wk_tan__at(WK_HERE, __VA_ARGS__)
#define wk_asin_(...)        wk_asin__at(WK_HERE, __VA_ARGS__)
#define wk_acos_(...)        wk_acos__at(WK_HERE, __VA_ARGS__)
#define wk_atan_(...)        wk_atan__at(WK_HERE, __VA_ARGS__)
#define wk_sinh_(...)        wk_sinh__at(WK_HERE, __VA_ARGS__)
#define wk_cosh_(...)        wk_cosh__at(WK_HERE, __VA_ARGS__)
#define wk_tanh_(...)        wk_tanh__at(WK_HERE, __VA_ARGS__)
#define wk_sigmoid_(...)     wk_sigmoid__at(WK_HERE, __VA_ARGS__)
#define wk_erf_(...)         wk_erf__at(WK_HERE, __VA_ARGS__)
#define wk_erfc_(...)        wk_erfc__at(WK_HERE, __VA_ARGS__)
#define wk_selu_(...)        wk_selu__at(WK_HERE, __VA_ARGS__)
#define wk_silu_(...)        wk_silu__at(WK_HERE, __VA_ARGS__)
#define wk_mish_(...)        wk_mish__at(WK_HERE, __VA_ARGS__)
#define wk_hardsigmoid_(...) wk_hardsigmoid__at(WK_HERE, __VA_ARGS__)
#define wk_hardswish_(...)   wk_hardswish__at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define WK_NONE      ((wk_value){.kind = WK_VALUE_NONE})
#define WK_VALUE_(x) WK_VALUE_2_(x, WK_JOIN_(wk_value_, __COUNTER__))
#define WK_VALUE_2_(x, wk_x_)                                                                                          \
    WK_ONCE_(wk_tensor *, wk_x_, x,                                                                                    \
             WK_GIVE_(wk_value, _Generic(wk_x_, wk_tensor *                                                            \
                                         : wk_value_of_tensor, wk_value                                                \
                                         : wk_value_itself, float                                                      \
                                         : wk_value_of_float, double                                                   \
                                         : wk_value_of_float, default                                                  \
                                         : wk_value_of_int)(wk_x_)))

#define wk_add(a, b)   WK_ARITH_(wk_add, a, b)
#define wk_sub(a, b)   WK_ARITH_(wk_sub, a, b)
#define wk_mul(a, b)   WK_ARITH_(wk_mul, a, b)
/* wk_div(a, b), wk_div(a, b, .rounding_mode = "floor") */
#define wk_div(a, ...) WK_JOIN_(WK_DIV_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)
#define WK_DIV_1(a, b) WK_ARITH_(wk_div, a, b)
#define WK_DIV_WK2_(a, b, ...)                                                                                         \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded_at, (WK_VALUE_(a), WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)
#define WK_DIV_TEXT_          "wk_div: options are written by name: wk_div(a, b, .rounding_mode = \"floor\")"
#define wk_floor_divide(a, b) WK_ARITH_(wk_floor_divide, a, b)
#define wk_remainder(a, b)    WK_ARITH_(wk_remainder, a, b)
#define wk_fmod(a, b)         WK_ARITH_(wk_fmod, a, b)
#define wk_pow(a, b)          WK_ARITH_(wk_pow, a, b)
#define wk_maximum(a, b)      WK_ARITH_(wk_maximum, a, b)
#define wk_minimum(a, b)      WK_ARITH_(wk_minimum, a, b)
#define wk_atan2(a, b)        WK_ARITH_(wk_atan2, a, b)
#define wk_eq(a, b)           WK_ARITH_(wk_eq, a, b)
#define wk_ne(a, b)           WK_ARITH_(wk_ne, a, b)
#define wk_lt(a, b)           WK_ARITH_(wk_lt, a, b)
#define wk_le(a, b)           WK_ARITH_(wk_le, a, b)
#define wk_gt(a, b)           WK_ARITH_(wk_gt, a, b)
#define wk_ge(a, b)           WK_ARITH_(wk_ge, a, b)
#define wk_logical_and(a, b)  WK_ARITH_(wk_logical_and, a, b)
#define wk_logical_or(a, b)   WK_ARITH_(wk_logical_or, a, b)
#define wk_logical_xor(a, b)  WK_ARITH_(wk_logical_xor, a, b)
#define wk_bitwise_and(a, b)  WK_ARITH_(wk_bitwise_and, a, b)
#define wk_bitwise_or(a, b)   WK_ARITH_(wk_bitwise_or, a, b)
#define wk_bitwise_xor(a, b)  WK_ARITH_(wk_bitwise_xor, a, b)

#define wk_add_(a, b)           WK_ARITH_1_(wk_add_, a, b)
#define wk_sub_(a, b)           WK_ARITH_1_(wk_sub_, a, b)
#define wk_mul_(a, b)           WK_ARITH_1_(wk_mul_, a, b)
#define wk_div_(a, ...)         WK_JOIN_(WK_DIV_IN_PLACE_, WK_COUNT_(__VA_ARGS__))(a, __VA_ARGS__)
#define WK_DIV_IN_PLACE_1(a, b) WK_ARITH_1_(wk_div_, a, b)
#define WK_DIV_IN_PLACE_WK2_(a, b, ...)                                                                                \
    WK_CALL_OF_(wk_tensor *, wk_div_rounded__at, (a, WK_VALUE_(b)), wk_div_options, WK_DIV_TEXT_, __VA_ARGS__)
#define wk_floor_divide_(a, b) WK_ARITH_1_(wk_floor_divide_, a, b)
#define wk_remainder_(a, b)    WK_ARITH_1_(wk_remainder_, a, b)
#define wk_fmod_(a, b)         WK_ARITH_1_(wk_fmod_, a, b)
#define wk_pow_(a, b)          WK_ARITH_1_(wk_pow_, a, b)
#define wk_atan2_(a, b)        WK_ARITH_1_(wk_atan2_, a, b)
#define wk_eq_(a, b)           WK_ARITH_1_(wk_eq_, a, b)
#define wk_ne_(a, b)           WK_ARITH_1_(wk_ne_, a, b)
#define wk_lt_(a, b)           WK_ARITH_1_(wk_lt_, a, b)
#define wk_le_(a, b)           WK_ARITH_1_(wk_le_, a, b)
#define wk_gt_(a, b)           WK_ARITH_1_(wk_gt_, a, b)
#define wk_ge_(a, b)           WK_ARITH_1_(wk_ge_, a, b)
#define wk_logical_and_(a, b)  WK_ARITH_1_(wk_logical_and_, a, b)
#define wk_logical_or_(a, b)   WK_ARITH_1_(wk_logical_or_, a, b)
#define wk_logical_xor_(a, b)  WK_ARITH_1_(wk_logical_xor_, a, b)
#define wk_bitwise_and_(a, b)  WK_ARITH_1_(wk_bitwise_and_, a, b)
#define wk_bitwise_or_(a, b)   WK_ARITH_1_(wk_bitwise_or_, a, b)
#define wk_bitwise_xor_(a, b)  WK_ARITH_1_(wk_bitwise_xor_, a, b)

#define wk_round(...) WK_OPT_(wk_tensor *, wk_round, wk_round_options, __VA_ARGS__)

#define wk_round_(...) WK_OPT_(wk_tensor *, wk_round_, wk_round_options, __VA_ARGS__)

#define wk_leaky_relu(...)  WK_OPT_(wk_tensor *, wk_leaky_relu, wk_leaky_relu_options, __VA_ARGS__)
#define wk_elu(...)         WK_OPT_(wk_tensor *, wk_elu, wk_elu_options, __VA_ARGS__)
#define wk_gelu(...)        WK_OPT_(wk_tensor *, wk_gelu, wk_gelu_options, __VA_ARGS__)
#define wk_softplus(...)    WK_OPT_(wk_tensor *, wk_softplus, wk_softplus_options, __VA_ARGS__)
#define wk_hardtanh(...)    WK_OPT_(wk_tensor *, wk_hardtanh, wk_hardtanh_options, __VA_ARGS__)
#define wk_nan_to_num(...)  WK_OPT_(wk_tensor *, wk_nan_to_num, wk_nan_to_num_options, __VA_ARGS__)
#define wk_leaky_relu_(...) WK_OPT_(wk_tensor *, wk_leaky_relu_, wk_leaky_relu_options, __VA_ARGS__)
#define wk_elu_(...)        WK_OPT_(wk_tensor *, wk_elu_, wk_elu_options, __VA_ARGS__)
#define wk_hardtanh_(...)   WK_OPT_(wk_tensor *, wk_hardtanh_, wk_hardtanh_options, __VA_ARGS__)
#define wk_nan_to_num_(...) WK_OPT_(wk_tensor *, wk_nan_to_num_, wk_nan_to_num_options, __VA_ARGS__)

#define wk_clamp(x, low, high)          wk_clamp_at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define wk_clamp_(x, low, high)         wk_clamp__at(WK_HERE, x, WK_VALUE_(low), WK_VALUE_(high))
#define wk_where(condition, a, b)       wk_where_at(WK_HERE, condition, WK_VALUE_(a), WK_VALUE_(b))
#define wk_masked_fill(x, mask, value)  wk_masked_fill_at(WK_HERE, x, mask, WK_VALUE_(value))
#define wk_masked_fill_(x, mask, value) wk_masked_fill__at(WK_HERE, x, mask, WK_VALUE_(value))
#define wk_lerp(a, b, weight)           wk_lerp_at(WK_HERE, a, b, WK_VALUE_(weight))
#define wk_lerp_(a, b, weight)          wk_lerp__at(WK_HERE, a, b, WK_VALUE_(weight))

#define wk_addcmul(x, a, ...)  WK_OPT3_(wk_tensor *, wk_addcmul, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)
#define wk_addcmul_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcmul_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)
#define wk_addcdiv(x, a, ...)  WK_OPT3_(wk_tensor *, wk_addcdiv, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)
#define wk_addcdiv_(x, a, ...) WK_OPT3_(wk_tensor *, wk_addcdiv_, wk_addc_options, "x, a, b", x, a, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif

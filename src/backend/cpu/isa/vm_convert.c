/* SPDX-License-Identifier: Apache-2.0 */
/* CAST: conversion between classes, and rounding or wrapping to a narrower dtype within a class. */
#include "block_io.h"
#include "narrow_dtypes.h"
#include "tables.h"

#define WIDE_BLOCK ((block8){{x0, x1, x2, x3, x4, x5, x6, x7}})

/* Truncates; out of range and NaN yield the least integer, like the x86-64 conversion. */
static inline i64v to_i64(f64v x)
{
    i64v in_range = (x >= -0x1p63) & (x < 0x1p63);
    return i64_select(in_range, __builtin_convertvector(x, i64v), i64_splat(INT64_MIN));
}

/* Returns true if every lane fits an i32, so that one instruction converts; otherwise the low bits of the i64 are
 * used. */
static inline bool fits_i32(f32v x)
{
    return !i32_any(~(f32_abs(x) < 0x1p31f));
}

static inline V f32_to_i32(V x)
{
    if (LIKELY(fits_i32((f32v)x))) return (V) __builtin_convertvector((f32v)x, i32v);
    return (V)i32_narrow(to_i64(f64_widen(x, 0)), to_i64(f64_widen(x, 1)));
}

static inline V i32_to_f32(V x)
{
    return (V) __builtin_convertvector((i32v)x, f32v);
}

static inline V f64_to_i64(V x)
{
    return (V)to_i64((f64v)x);
}

static inline V i64_to_f64(V x)
{
    return (V) __builtin_convertvector((i64v)x, f64v);
}

/* One vector to two. */
static inline V f32_to_f64(V x, int half)
{
    return (V)f64_widen(x, half);
}

static inline V f32_to_i64(V x, int half)
{
    return (V)to_i64(f64_widen(x, half));
}

static inline V i32_to_f64(V x, int half)
{
    return (V) __builtin_convertvector(((halves32){.v = x}).i[half], f64v);
}

static inline V i32_to_i64(V x, int half)
{
    return (V)i64_widen(x, half);
}

/* Two vectors to one. */
static inline V f64_to_f32(V low, V high)
{
    return (V)f32_narrow((f64v)low, (f64v)high);
}

static inline V f64_to_i32(V low, V high)
{
    return (V)i32_narrow(to_i64((f64v)low), to_i64((f64v)high));
}

static inline V i64_to_i32(V low, V high)
{
    return (V)i32_narrow((i64v)low, (i64v)high);
}

static inline V i64_to_f32(V low, V high)
{
    halves32 x = {.f = {__builtin_convertvector((i64v)low, f32h), __builtin_convertvector((i64v)high, f32h)}};
    return x.v;
}

#define DEFINE_4(NAME, function)                                                                                       \
    static void NAME(VM_ARGUMENTS)                                                                                     \
    {                                                                                                                  \
        NEXT4(function(x0), function(x1), function(x2), function(x3));                                                 \
    }
#define DEFINE_8(NAME, function)                                                                                       \
    static void NAME(VM_ARGUMENTS)                                                                                     \
    {                                                                                                                  \
        block8 x = WIDE_BLOCK;                                                                                         \
        UNROLL for (int k = 0; k < 8; k++) x.v[k] = function(x.v[k]);                                                  \
        NEXT8(x.v[0], x.v[1], x.v[2], x.v[3], x.v[4], x.v[5], x.v[6], x.v[7]);                                         \
    }
#define DEFINE_4_8(NAME, function)                                                                                     \
    static void NAME(VM_ARGUMENTS)                                                                                     \
    {                                                                                                                  \
        NEXT8(function(x0, 0), function(x0, 1), function(x1, 0), function(x1, 1), function(x2, 0), function(x2, 1),    \
              function(x3, 0), function(x3, 1));                                                                       \
    }
#define DEFINE_8_4(NAME, function)                                                                                     \
    static void NAME(VM_ARGUMENTS)                                                                                     \
    {                                                                                                                  \
        NEXT4(function(x0, x1), function(x2, x3), function(x4, x5), function(x6, x7));                                 \
    }

DEFINE_4(convert_f32_i32, f32_to_i32)
DEFINE_4(convert_i32_f32, i32_to_f32)
DEFINE_8(convert_f64_i64, f64_to_i64)
DEFINE_8(convert_i64_f64, i64_to_f64)
DEFINE_4_8(convert_f32_f64, f32_to_f64)
DEFINE_4_8(convert_f32_i64, f32_to_i64)
DEFINE_4_8(convert_i32_f64, i32_to_f64)
DEFINE_4_8(convert_i32_i64, i32_to_i64)
DEFINE_8_4(convert_f64_f32, f64_to_f32)
DEFINE_8_4(convert_f64_i32, f64_to_i32)
DEFINE_8_4(convert_i64_i32, i64_to_i32)
DEFINE_8_4(convert_i64_f32, i64_to_f32)

/* ---- within a class ---------------------------------------------------------------------------------------------- */

static inline V i8_wrap(V x)
{
    return (V)((i32v)((u32v)x << 24) >> 24);
}

static inline V u8_wrap(V x)
{
    return (V)((u32v)x & 255);
}

static inline V i16_wrap(V x)
{
    return (V)((i32v)((u32v)x << 16) >> 16);
}

static inline V f32_truth(V x)
{
    return (V)(((f32v)x != 0) & 1);
}

static inline V i32_truth(V x)
{
    return (V)(((i32v)x != 0) & 1);
}

static inline V f64_truth(V low, V high)
{
    return (V)(i32_narrow((f64v)low != 0, (f64v)high != 0) & 1);
}

static inline V i64_truth(V low, V high)
{
    return (V)(i32_narrow((i64v)low != 0, (i64v)high != 0) & 1);
}

DEFINE_4(round_f16, f16_round)
DEFINE_4(round_bf16, bf16_round)
DEFINE_4(wrap_i8, i8_wrap)
DEFINE_4(wrap_u8, u8_wrap)
DEFINE_4(wrap_i16, i16_wrap)
DEFINE_4(truth_f32, f32_truth)
DEFINE_4(truth_i32, i32_truth)
DEFINE_8_4(truth_f64, f64_truth)
DEFINE_8_4(truth_i64, i64_truth)

#define OP(function) ((wk__vm_op *)(function))

wk__vm_op *const WK__ISA_NAME(wk__vm_convert)[WK__VM_CLASSES][WK__VM_CLASSES] = {
    [WK__VM_F32] =
        {[WK__VM_F64] = OP(convert_f32_f64), [WK__VM_I32] = OP(convert_f32_i32), [WK__VM_I64] = OP(convert_f32_i64)},
    [WK__VM_F64] =
        {[WK__VM_F32] = OP(convert_f64_f32), [WK__VM_I32] = OP(convert_f64_i32), [WK__VM_I64] = OP(convert_f64_i64)},
    [WK__VM_I32] =
        {[WK__VM_F32] = OP(convert_i32_f32), [WK__VM_F64] = OP(convert_i32_f64), [WK__VM_I64] = OP(convert_i32_i64)},
    [WK__VM_I64] =
        {[WK__VM_F32] = OP(convert_i64_f32), [WK__VM_F64] = OP(convert_i64_f64), [WK__VM_I32] = OP(convert_i64_i32)},
};

wk__vm_op *const WK__ISA_NAME(wk__vm_narrow)[WK_DTYPE_COUNT] = {
    [WK_F16] = OP(round_f16), [WK_BF16] = OP(round_bf16), [WK_I8] = OP(wrap_i8),
    [WK_U8] = OP(wrap_u8),    [WK_I16] = OP(wrap_i16),
};

wk__vm_op *const WK__ISA_NAME(wk__vm_truth)[WK__VM_CLASSES] = {
    [WK__VM_F32] = OP(truth_f32),
    [WK__VM_F64] = OP(truth_f64),
    [WK__VM_I32] = OP(truth_i32),
    [WK__VM_I64] = OP(truth_i64),
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Dtypes of one and two bytes: loading and storing vectors of LANES4 elements, and rounding to them in registers. */
#ifndef WICK_BACKEND_CPU_ISA_NARROW_DTYPES_H
#define WICK_BACKEND_CPU_ISA_NARROW_DTYPES_H

#include "vector.h"

typedef int8_t i8q __attribute__((vector_size(WIDTH / 4)));
typedef uint8_t u8q __attribute__((vector_size(WIDTH / 4)));
typedef int16_t i16h __attribute__((vector_size(WIDTH / 2)));
typedef uint16_t u16h __attribute__((vector_size(WIDTH / 2)));

/* Bytes are converted via 16 bits: gcc 12 converts them element by element otherwise. */
#define DEFINE_INTEGER(DTYPE, PART, HALF)                                                                              \
    static inline V widen_##DTYPE(const char *p)                                                                       \
    {                                                                                                                  \
        PART part;                                                                                                     \
        memcpy(&part, p, sizeof part);                                                                                 \
        return (V) __builtin_convertvector(__builtin_convertvector(part, HALF), i32v);                                 \
    }                                                                                                                  \
    static inline void narrow_##DTYPE(char *p, V x)                                                                    \
    {                                                                                                                  \
        PART part = __builtin_convertvector(__builtin_convertvector((i32v)x, HALF), PART);                             \
        memcpy(p, &part, sizeof part);                                                                                 \
    }

DEFINE_INTEGER(i8, i8q, i16h)
DEFINE_INTEGER(u8, u8q, u16h)
DEFINE_INTEGER(i16, i16h, i16h)
DEFINE_INTEGER(u16, u16h, u16h)

/* User memory may contain any byte: all except 0 are true, as in PyTorch. */
static inline V widen_bool(const char *p)
{
#if WIDTH == 64
    const __m128i part = _mm_loadu_si128((const __m128i_u *)p);
    return (V)_mm512_maskz_set1_epi32(_mm_test_epi8_mask(part, part), 1);
#else
    return (V)(((i32v)widen_u8(p) != 0) & 1);
#endif
}

/* ---- bf16: the upper half of an f32 ------------------------------------------------------------------------------ */

/* Rounds to nearest even: adds half of the last retained bit, less one unit if that bit is 0. A NaN keeps its upper
 * half, made quiet. */
static inline u32v bf16_bits(V x)
{
    u32v bits = (u32v)x;
    u32v rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (u32v)i32_select((f32v)x != (f32v)x, (i32v)(bits >> 16 | 0x40), (i32v)rounded);
}

static inline V bf16_round(V x)
{
    return (V)(bf16_bits(x) << 16);
}

static inline V widen_bf16(const char *p)
{
    return (V)((u32v)widen_u16(p) << 16);
}

static inline void narrow_bf16(char *p, V x)
{
    narrow_u16(p, (V)bf16_bits(x));
}

/* ---- f16: sign, 5 bits of exponent, 10 of mantissa --------------------------------------------------------------- */

#if WIDTH == 64

static inline V widen_f16(const char *p)
{
    return (V)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)p));
}

static inline void narrow_f16(char *p, V x)
{
    _mm256_storeu_si256((__m256i_u *)p, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
}

static inline V f16_round(V x)
{
    return (V)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
}

#elif WIDTH == 32

static inline V widen_f16(const char *p)
{
    return (V)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)p));
}

static inline void narrow_f16(char *p, V x)
{
    _mm_storeu_si128((__m128i_u *)p, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
}

static inline V f16_round(V x)
{
    return (V)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
}

#else

/* Shifts exponent and mantissa into position and scales by 2^(127 - 15), which is correct for denormals too; inf and
 * NaN get the maximum exponent. */
static inline V f16_value(u32v half)
{
    u32v magnitude = half & 0x7fff;
    f32v x = (f32v)(magnitude << 13) * 0x1p112f;
    u32v special = (u32v)(magnitude >= 0x7c00) & 0x7f800000;
    return (V)((u32v)x | special | (half & 0x8000) << 16);
}

/* Below 2^-14 the last bit has a fixed weight, so adding 0.5 rounds there; above, half of the last retained bit is
 * added as in bf16_bits(). From 65520 on, the result is infinite. */
static inline u32v f16_bits(V v)
{
    u32v sign = (u32v)v & 0x80000000, magnitude = (u32v)v ^ sign;
    u32v small = (u32v)((f32v)magnitude + 0.5f) - 0x3f000000;
    u32v normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    u32v half = (u32v)i32_select((i32v)(magnitude < 113u << 23), (i32v)small, (i32v)normal);
    half = (u32v)i32_select((i32v)(magnitude >= 0x477ff000), i32_splat(0x7c00), (i32v)half);
    half = (u32v)i32_select((i32v)(magnitude > 0x7f800000), (i32v)(0x7e00 | (magnitude >> 13 & 0x3ff)), (i32v)half);
    return half | sign >> 16;
}

static inline V widen_f16(const char *p)
{
    return f16_value((u32v)widen_u16(p));
}

static inline void narrow_f16(char *p, V x)
{
    narrow_u16(p, (V)f16_bits(x));
}

static inline V f16_round(V x)
{
    return f16_value(f16_bits(x));
}

#endif

#endif

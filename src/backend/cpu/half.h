/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between f16 or bf16 and f32, rounding to nearest even. Branch-free, so that loops vectorise. */
#ifndef WICK_CPU_HALF_H
#define WICK_CPU_HALF_H

#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f32_of_bf16(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

static inline uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    uint32_t quiet = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* Shifts exponent and mantissa to their positions in an f32, which is then too small by 2^112; the multiplication
 * corrects that, for denormals too. Infinity and NaN become 2^16 or more. */
static inline float f32_of_f16(uint16_t half)
{
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t bits = bits_of_float(float_of_bits(magnitude) * 0x1p112f);
    bits |= magnitude >= 0x7c00u << 13 ? 0x7f800000u : 0;
    return float_of_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

static inline uint16_t f16_of_f32(float value)
{
    uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
    /* below 2^-14, adding 1/2 rounds at the last bit of an f16 denormal, 2^-24 */
    uint32_t small = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude < 0x38800000u ? small : normal;
    half = magnitude >= 0x47800000u ? 0x7c00 : half; /* 65536 and more; 65520 to 65535 have already rounded up to it */
    half = magnitude > 0x7f800000u ? 0x7e00 | (magnitude >> 13 & 0x3ff) : half;
    return (uint16_t)(sign | half);
}

#endif

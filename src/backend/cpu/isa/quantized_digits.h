/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of x in fixed point, for products in integers with the codes of quantised blocks. For quantized_digits.inc.
 *
 * Each 4 elements share a unit, a power of 2: x = q unit, where q has 24 bits and consists of three digits to the base
 * 256, which are signed bytes. So x is rounded by at most 2^-23 of the largest of its 4 elements, and not at all if
 * their 23 upper bits suffice. A lane of a vector adds the products of 4 codes with q, without rounding:
 *
 *     sum code q = 256 (256 sum code digit[2] + sum code digit[1]) + sum code digit[0]
 *
 * Codes have up to 6 bits, so that a sum is less than 2^31. With codes of 8 bits q has 23 bits: sums modulo 2^32, with
 * the constant of the codes subtracted, are then less than 2^31, too. If no q represents 4 elements, as one of them is
 * infinite or NaN, q is 0 and the unit NaN. */
#ifndef WICK_BACKEND_CPU_ISA_QUANTIZED_DIGITS_H
#define WICK_BACKEND_CPU_ISA_QUANTIZED_DIGITS_H

#include "quantized_elements.h"

enum { DIGITS = 3 };

/* WIDTH elements of x: byte e of a digit and lane e / 4 of the units belong to element e. */
typedef struct digits {
    i32v digit[DIGITS];
    f32v unit;
} digits;

/* Returns a vector of bytes x. */
INLINE i32v splat_byte(int x)
{
    return i32_splat(x * 0x01010101);
}

INLINE i32v times_256(i32v x)
{
    return (i32v)((u32v)x << 8);
}

#if WIDTH == 64 && defined(__AVX512VNNI__)

/* Adds to each lane of sum the products of its 4 unsigned bytes of codes with 4 signed bytes. */
INLINE i32v add_dots(i32v sum, i32v codes, i32v digit)
{
    return (i32v)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)codes, (__m512i)digit);
}

/* Returns sum code q. */
INLINE i32v dots_of(i32v codes, const digits *x)
{
    const i32v high = add_dots(i32_splat(0), codes, x->digit[2]);
    return add_dots(times_256(add_dots(times_256(high), codes, x->digit[1])), codes, x->digit[0]);
}

#else

/* Returns factor times the products of 4 unsigned bytes of codes with 4 signed bytes, in each lane. */
INLINE i32v times_dots(int16_t factor, i32v codes, i32v digit)
{
#if WIDTH == 64
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)codes, (__m512i)digit);
    return (i32v)_mm512_madd_epi16(pairs, _mm512_set1_epi16(factor));
#else
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)codes, (__m256i)digit);
    return (i32v)_mm256_madd_epi16(pairs, _mm256_set1_epi16(factor));
#endif
}

/* Returns sum code q. */
INLINE i32v dots_of(i32v codes, const digits *x)
{
    const i32v high = times_dots(256, codes, x->digit[2]) + times_dots(1, codes, x->digit[1]);
    return times_256(high) + times_dots(1, codes, x->digit[0]);
}

#endif

/* ---- preparation ------------------------------------------------------------------------------------------------- */

/* Returns elements 4 l + k of x in lane l. */
INLINE f32v fourths_at(const float *x, int k)
{
    i32v index;
    for (int l = 0; l < LANES4; l++) index[l] = 4 * l + k;
#if WIDTH == 64
    return (f32v)_mm512_i32gather_ps((__m512i)index, x, 4);
#else
    return (f32v)_mm256_i32gather_ps(x, (__m256i)index, 4);
#endif
}

/* Rounds to nearest; finite elements only. */
INLINE i32v to_integer(f32v x)
{
#if WIDTH == 64
    return (i32v)_mm512_cvtps_epi32((__m512)x);
#else
    return (i32v)_mm256_cvtps_epi32((__m256)x);
#endif
}

/* Computes the digits of WIDTH elements and returns the sums of each 4 q. q is at most 128 / 129 2^bits, 22 or 23,
 * so that all digits fit. The unit of denormal elements is 2^-149, which inverts to no float; 22 bits have no unit for
 * them. */
INLINE i32v to_digits(const float *x, int bits, digits *out)
{
    f32v of[4];
    i32v most = i32_splat(0), sum = most, digit[DIGITS] = {most, most, most};
    for (int k = 0; k < 4; k++) {
        of[k] = fourths_at(x, k);
        const i32v size = (i32v)f32_abs(of[k]);
        most = i32_select(size > most, size, most);
    }
    const i32v exponent = (i32v)((f32v)most * (1 + 0x1p-7F)) >> 23;
    const i32v fits = (exponent < 255) & (exponent >= 23 - bits);
    const f32v scale = to_float(126 + bits - exponent);
    for (int k = 0; k < 4; k++) {
        i32v q = to_integer(f32_scale(of[k], scale)) & fits;
        sum += q;
        for (int d = 0; d < DIGITS; d++) {
            const i32v low = (i32v)((u32v)q << 24) >> 24;
            digit[d] |= (i32v)((u32v)(low & 255) << 8 * k);
            q = (q - low) >> 8;
        }
    }
    for (int d = 0; d < DIGITS; d++) out->digit[d] = digit[d];
    out->unit = f32_select(fits, f32_scale(f32_splat(1), -scale), f32_splat(NAN));
    out->unit = f32_select(most == 0, f32_splat(0), out->unit);
    return sum;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of quantised blocks as vectors of bytes in the order of the elements, and the scales of their lanes. For
 * quantized_digits.inc. A vector has WIDTH codes: with the widest, those of two blocks of 32. */
#ifndef WICK_BACKEND_CPU_ISA_QUANTIZED_CODES_H
#define WICK_BACKEND_CPU_ISA_QUANTIZED_CODES_H

#include "quantized_digits.h"

/* Returns vector v of the codes of a block of 256, or the codes of one or two blocks of 32. */
typedef i32v read_codes(const uint8_t *block, const uint8_t *next, int v);

/* ---- bits -------------------------------------------------------------------------------------------------------- */

/* Returns a vector whose lanes have the numbers of the 4 quarters of a vector. */
INLINE u32v of_quarters(int a, int b, int c, int d)
{
    u32v x;
    for (int l = 0; l < LANES4; l++)
        x[l] = (uint32_t)(l < LANES4 / 4 ? a : l < LANES4 / 2 ? b : l < LANES4 * 3 / 4 ? c : d);
    return x;
}

/* Returns 32 bytes, twice with the widest vectors. */
INLINE u32v bytes_32(const uint8_t *at)
{
#if WIDTH == 64
    return (u32v)_mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)at));
#else
    return (u32v)load_vector((const char *)at);
#endif
}

/* Returns 32 bytes, shifted so that bit `low` of each byte is bit `to`. The upper half of the widest vectors has the
 * same bytes, shifted so that bit `high` is bit `to`. The caller masks the other bits, some of which come from adjacent
 * bytes. */
INLINE i32v moved_bits(const uint8_t *at, int low, int high, int to)
{
#if WIDTH == 64
    const u32v by = of_quarters(low - to, low - to, high - to, high - to) & 31;
    return (i32v)_mm512_rorv_epi32((__m512i)bytes_32(at), (__m512i)by);
#else
    (void)high;
    return (i32v)(low >= to ? bytes_32(at) >> (low - to) : bytes_32(at) << (to - low));
#endif
}

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

/* Returns codes of 4 bits from 16 bytes, of a block or two. */
INLINE i32v nibbles_of_32(const uint8_t *codes, const uint8_t *next)
{
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)codes);
#if WIDTH == 64
    const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)next);
    const u32v all = (u32v)_mm512_mask_broadcast_i32x4(_mm512_broadcast_i32x4(first), 0xff00, second);
    return (i32v)(all >> of_quarters(0, 4, 0, 4)) & splat_byte(15);
#else
    (void)next;
    return (i32v)((u32v)_mm256_broadcastsi128_si256(first) >> of_quarters(0, 0, 4, 4)) & splat_byte(15);
#endif
}

/* Returns the bits of 4 bytes, of a block or two, as bits 4 of codes. */
INLINE i32v fifths_of_32(const uint8_t *high, const uint8_t *next)
{
#if WIDTH == 64
    return (i32v)_mm512_maskz_set1_epi8(word_at(high) | (uint64_t)word_at(next) << 32, 16);
#else
    (void)next;
    const __m256i spread = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)word_at(high)), spread);
    return (i32v)_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit) & splat_byte(16);
#endif
}

#ifdef __AVX512VNNI__
/* Codes are signed; these are larger by 128. */
INLINE i32v q8_0_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)v;
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)(block + 2)));
    const __m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(next + 2));
    return (i32v)_mm512_xor_si512(_mm512_inserti64x4(first, second, 1), _mm512_set1_epi8(-128));
}
#endif

INLINE i32v q4_0_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)v;
    return nibbles_of_32(block + 2, next + 2);
}

INLINE i32v q4_1_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)v;
    return nibbles_of_32(block + 4, next + 4);
}

INLINE i32v q5_0_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)v;
    return nibbles_of_32(block + 6, next + 6) | fifths_of_32(block + 2, next + 2);
}

INLINE i32v q5_1_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)v;
    return nibbles_of_32(block + 8, next + 8) | fifths_of_32(block + 4, next + 4);
}

/* ---- blocks of 256 ----------------------------------------------------------------------------------------------- */

/* First part, of 32 elements, of vector v. */
INLINE int part_of(int v)
{
    return v * WIDTH / PART;
}

/* Codes of 2 bits. */
INLINE i32v pairs_of_256_bytes(const uint8_t *codes, int v)
{
    const int part = part_of(v);
    return moved_bits(codes + part / 4 * 32, part % 4 * 2, part % 4 * 2 + 2, 0) & splat_byte(3);
}

INLINE i32v q2_k_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)next;
    return pairs_of_256_bytes(block + 16, v);
}

INLINE i32v q3_k_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)next;
    const i32v high = moved_bits(block, part_of(v), part_of(v) + 1, 2) & splat_byte(4);
    return pairs_of_256_bytes(block + 32, v) | high;
}

/* Codes of 4 bits. */
INLINE i32v nibbles_of_256(const uint8_t *codes, int v)
{
    const int part = part_of(v);
    return moved_bits(codes + part / 2 * 32, part % 2 * 4, 4, 0) & splat_byte(15);
}

INLINE i32v q4_k_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)next;
    return nibbles_of_256(block + 16, v);
}

INLINE i32v q5_k_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)next;
    const i32v high = moved_bits(block + 16, part_of(v), part_of(v) + 1, 4) & splat_byte(16);
    return nibbles_of_256(block + 48, v) | high;
}

INLINE i32v q6_k_codes(const uint8_t *block, const uint8_t *next, int v)
{
    (void)next;
    const int part = part_of(v), group = part / 4, quarter = part % 4;
    const u32v bytes = (u32v)load_vector((const char *)block + group * 64 + quarter % 2 * 32);
    const i32v low = (i32v)(bytes >> quarter / 2 * 4), mask = splat_byte(15);
    const i32v high = moved_bits(block + 128 + group * 32, quarter * 2, quarter * 2 + 2, 4);
    return ((low & mask) | (high & ~mask)) & splat_byte(63);
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

/* Returns the scales of the lanes of vector v. */
typedef f32v read_scales(const numbers *n, int v);

/* Parts of 32 elements. */
INLINE f32v scales_of_32(const numbers *n, int v)
{
#if WIDTH == 64
    const u32v index = of_quarters(0, 0, 1, 1) + (uint32_t)(2 * v);
    return (f32v)_mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(n->scale));
#else
    return f32_splat(n->scale[v]);
#endif
}

/* Parts of 16 elements. */
INLINE f32v scales_of_16(const numbers *n, int v)
{
#if WIDTH == 64
    const u32v index = of_quarters(0, 1, 2, 3) + (uint32_t)(4 * v);
    return (f32v)_mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(n->scale));
#else
    return f32_select((i32v)of_quarters(0, 0, -1, -1), f32_splat(n->scale[2 * v + 1]), f32_splat(n->scale[2 * v]));
#endif
}

#endif

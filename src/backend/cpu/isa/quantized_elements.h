/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of quantised blocks in vectors, by the operations of the decoders in ir/blocks.c. For quantized.c and
 * quantized_digits.inc. */
#ifndef WICK_BACKEND_CPU_ISA_QUANTIZED_ELEMENTS_H
#define WICK_BACKEND_CPU_ISA_QUANTIZED_ELEMENTS_H

#include "backend/cpu/half.h"
#include "block_io.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    PART = 32,   /* elements of a part of a block */
    LINE = 64,   /* bytes of a cache line */
    AHEAD = 2048 /* bytes from the start of a block that is read to the bytes that are prefetched then */
};

/* Numbers that parts of a block share. */
typedef struct numbers {
    float scale[16], offset[16]; /* Q4_K and Q5_K: 8 scales and 8 offsets in `scale` */
} numbers;

/* Reads the numbers of a block. */
typedef void read_numbers(const uint8_t *block, numbers *n);
/* Returns elements e to e + LANES4 - 1 of a part. */
typedef f32v compute_elements(const uint8_t *block, const numbers *n, int part, int e);

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Prefetches as many bytes as the blocks at `block` have, from AHEAD bytes after `block` on. At the end of a row these
 * belong to the next rows, and at the end of the matrix to no block, which a prefetch permits. */
INLINE void prefetch_ahead(const uint8_t *block, int bytes)
{
    for (int line = 0; line < bytes; line += LINE) __builtin_prefetch(block + AHEAD + line);
}

INLINE float half_at(const uint8_t *at)
{
    const uint16_t bits = (uint16_t)(at[0] | at[1] << 8);
#ifdef __F16C__
    return _cvtsh_ss(bits);
#else
    return f32_of_f16(bits);
#endif
}

INLINE uint32_t word_at(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

INLINE void put(float *at, f32v x)
{
    store_vector((char *)at, (V)x);
}

/* Returns LANES4 bytes as integers. */
INLINE i32v unsigned_at(const uint8_t *at)
{
#if WIDTH == 64
    return (i32v)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)at));
#elif WIDTH == 32
    return (i32v)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));
#else
    i32v x;
    for (int l = 0; l < LANES4; l++) x[l] = at[l];
    return x;
#endif
}

INLINE i32v signed_at(const uint8_t *at)
{
#if WIDTH == 64
    return (i32v)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)at));
#elif WIDTH == 32
    return (i32v)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));
#else
    i32v x;
    for (int l = 0; l < LANES4; l++) x[l] = (int8_t)at[l];
    return x;
#endif
}

INLINE f32v to_float(i32v x)
{
    return __builtin_convertvector(x, f32v);
}

/* Returns (byte >> shift) & mask. */
INLINE i32v bits_at(const uint8_t *at, int shift, int mask)
{
    return unsigned_at(at) >> shift & mask;
}

/* Returns the elements with these codes in a part. */
typedef f32v elements_of_codes(i32v codes, const numbers *n, int part);

/* Returns the elements whose codes are (byte >> shift) & 15. The widest vectors hold a table of all 16 elements, which
 * the lower 4 bits of a lane select. */
INLINE f32v elements_of_nibbles(const uint8_t *at, int shift, elements_of_codes *of, const numbers *n, int part)
{
#if WIDTH == 64
    static const int32_t all[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const f32v table = of((i32v)load_vector((const char *)all), n, part);
    return (f32v)_mm512_permutexvar_ps((__m512i)(unsigned_at(at) >> shift), (__m512)table);
#else
    return of(bits_at(at, shift, 15), n, part);
#endif
}

/* Sums the lanes of a vector, upper half onto lower: a fixed tree. */
INLINE float lanes_sum(f32v x)
{
#pragma GCC unroll 4
    for (int half = LANES4 / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int l = 0; l < half; l++) x[l] += x[l + half];
    return x[0];
}

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

INLINE void one_scale(const uint8_t *block, numbers *n)
{
    n->scale[0] = half_at(block);
}

INLINE void scale_and_minimum(const uint8_t *block, numbers *n)
{
    n->scale[0] = half_at(block);
    n->offset[0] = half_at(block + 2);
}

INLINE f32v q8_0_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)part;
    return to_float(signed_at(block + 2 + e)) * n->scale[0];
}

/* Codes of 4 bits. */
INLINE i32v codes_of_32(const uint8_t *codes, int e)
{
    return bits_at(codes + e % 16, e / 16 * 4, 15);
}

/* Bits 4 of codes, from bits e to e + LANES4 - 1 of 4 bytes. */
INLINE i32v upper_of_32(const uint8_t *high, int e)
{
    u32v lane;
    for (int l = 0; l < LANES4; l++) lane[l] = (uint32_t)l;
    return (i32v)(((word_at(high) >> e) - (u32v){0}) >> lane & 1) << 4;
}

INLINE f32v q4_0_of_codes(i32v codes, const numbers *n, int part)
{
    (void)part;
    return to_float(codes - 8) * n->scale[0];
}

INLINE f32v q4_0_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    return elements_of_nibbles(block + 2 + e % 16, e / 16 * 4, q4_0_of_codes, n, part);
}

INLINE f32v q4_1_of_codes(i32v codes, const numbers *n, int part)
{
    (void)part;
    return to_float(codes) * n->scale[0] + n->offset[0];
}

INLINE f32v q4_1_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    return elements_of_nibbles(block + 4 + e % 16, e / 16 * 4, q4_1_of_codes, n, part);
}

INLINE f32v q5_0_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)part;
    return to_float((codes_of_32(block + 6, e) | upper_of_32(block + 2, e)) - 16) * n->scale[0];
}

INLINE f32v q5_1_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)part;
    return to_float(codes_of_32(block + 8, e) | upper_of_32(block + 4, e)) * n->scale[0] + n->offset[0];
}

/* ---- blocks of 256 ----------------------------------------------------------------------------------------------- */

/* Codes of 2 bits. */
INLINE i32v pairs_of_256(const uint8_t *codes, int part, int e)
{
    return bits_at(codes + part / 4 * 32 + e, part % 4 * 2, 3);
}

INLINE void q2_k_numbers(const uint8_t *block, numbers *n)
{
    const float scale = half_at(block + 80), offset = half_at(block + 82);
    for (int p = 0; p < 16; p += LANES4) {
        put(n->scale + p, to_float(bits_at(block + p, 0, 15)) * scale);
        put(n->offset + p, to_float(bits_at(block + p, 4, 15)) * offset);
    }
}

INLINE f32v q2_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const int p = part * 2 + e / 16;
    return to_float(pairs_of_256(block + 16, part, e)) * n->scale[p] - n->offset[p];
}

INLINE void q3_k_numbers(const uint8_t *block, numbers *n)
{
    const uint8_t *scales = block + 96;
    const float scale = half_at(block + 108);
    for (int p = 0; p < 16; p++) {
        const int low = scales[p % 8] >> p / 8 * 4 & 15, high = scales[8 + p % 4] >> p / 4 * 2 & 3;
        n->scale[p] = scale * (float)((low | high << 4) - 32);
    }
}

INLINE f32v q3_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const i32v high = bits_at(block + e, part, 1) << 2;
    return to_float((pairs_of_256(block + 32, part, e) | high) - 4) * n->scale[part * 2 + e / 16];
}

/* Returns 8 scales and then 8 offsets, of 6 bits. A word of the block has those of 4 parts; the upper two bits of the
 * first 4 scales and offsets belong to the others, whose lower 4 bits share the last word. */
INLINE void six_bits_of(const uint8_t *block, uint8_t all[16])
{
#if WIDTH > 16
    const int six = 0x3f3f3f3f, low = 0x0f0f0f0f, high = 0x30303030;
    const __m128i words = _mm_loadu_si128((const __m128i *)(const void *)block);
    const __m128i lower = _mm_srlv_epi32(_mm_shuffle_epi32(words, _MM_SHUFFLE(3, 2, 3, 1)), _mm_setr_epi32(0, 0, 0, 4));
    const __m128i upper = _mm_srli_epi32(_mm_shuffle_epi32(words, _MM_SHUFFLE(2, 2, 1, 1)), 2);
    _mm_storeu_si128((__m128i *)(void *)all, _mm_or_si128(_mm_and_si128(lower, _mm_setr_epi32(six, low, six, low)),
                                                          _mm_and_si128(upper, _mm_setr_epi32(0, high, 0, high))));
#else
    const uint32_t six = 0x3f3f3f3f, low = 0x0f0f0f0f, high = 0x30303030;
    const uint32_t first = word_at(block + 4), second = word_at(block + 8), rest = word_at(block + 12);
    memcpy(all,
           (const uint32_t[]){first & six, (rest & low) | (first >> 2 & high), second & six,
                              (rest >> 4 & low) | (second >> 2 & high)},
           16);
#endif
}

/* Sets the lower half of 16 lanes to one f16 and the upper half to the next. */
INLINE void two_halves(const uint8_t *at, f32v out[16 / LANES4])
{
#if WIDTH == 64
    const __m256i words = _mm256_set1_epi32((int32_t)word_at(at));
    const __m256i order =
        _mm256_setr_epi64x(0x0100010001000100, 0x0100010001000100, 0x0302030203020302, 0x0302030203020302);
    out[0] = (f32v)_mm512_cvtph_ps(_mm256_shuffle_epi8(words, order));
#else
    for (int k = 0; k < 16 / LANES4; k++) out[k] = f32_splat(half_at(at + k * LANES4 / 8 * 2));
#endif
}

INLINE void six_bit_numbers(const uint8_t *block, numbers *n)
{
    uint8_t all[16];
    f32v scale[16 / LANES4];
    six_bits_of(block, all);
    two_halves(block, scale);
    for (int k = 0; k < 16 / LANES4; k++)
        put(n->scale + k * LANES4, to_float(unsigned_at(all + k * LANES4)) * scale[k]);
}

INLINE f32v q4_k_of_codes(i32v codes, const numbers *n, int part)
{
    return to_float(codes) * n->scale[part] - n->scale[8 + part];
}

INLINE f32v q4_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    return elements_of_nibbles(block + 16 + part / 2 * 32 + e, part % 2 * 4, q4_k_of_codes, n, part);
}

INLINE f32v q5_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const i32v low = bits_at(block + 48 + part / 2 * 32 + e, part % 2 * 4, 15);
    return to_float(low | bits_at(block + 16 + e, part, 1) << 4) * n->scale[part] - n->scale[8 + part];
}

INLINE void q6_k_numbers(const uint8_t *block, numbers *n)
{
    const float scale = half_at(block + 208);
    for (int p = 0; p < 16; p += LANES4) put(n->scale + p, to_float(signed_at(block + 192 + p)) * scale);
}

INLINE f32v q6_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const int group = part / 4, quarter = part % 4;
    const i32v low = bits_at(block + group * 64 + quarter % 2 * 32 + e, quarter / 2 * 4, 15);
    const i32v high = bits_at(block + 128 + group * 32 + e, quarter * 2, 3);
    return to_float((low | high << 4) - 32) * n->scale[part * 2 + e / 16];
}

#endif

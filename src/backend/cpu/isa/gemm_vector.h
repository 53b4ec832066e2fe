/* SPDX-License-Identifier: Apache-2.0 */
/* Vector helpers of the GEMM files: unaligned elements, partial vectors, interleaving. */
#ifndef WICK_CPU_GEMM_VECTOR_H
#define WICK_CPU_GEMM_VECTOR_H

#include "vector.h"

/* Access to elements at any valid address and of any type of that size. */
typedef u32v u32v_at __attribute__((aligned(4), may_alias));
typedef u64v u64v_at __attribute__((aligned(8), may_alias));
typedef uint32_t u32_at __attribute__((may_alias));
typedef uint64_t u64_at __attribute__((may_alias));

static inline u32v u32_fma(u32v a, u32v b, u32v c)
{
    return a * b + c;
}

static inline u64v u64_fma(u64v a, u64v b, u64v c)
{
    return a * b + c;
}

/* Load or store the first `count` (1..lanes) elements of a vector; missing lanes read as 0, and no other byte is
 * accessed. */
static inline u32v part_load_32(const u32_at *at, int count)
{
#if WIDTH == 64
    return (u32v)_mm512_maskz_loadu_epi32((__mmask16)((1u << count) - 1), at);
#elif WIDTH == 32
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (u32v)_mm256_maskload_epi32((const int *)at, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
#else
    u32v part = {0};
    for (int i = 0; i < LANES4; i++)
        if (i < count) part[i] = at[i];
    return part;
#endif
}

static inline u64v part_load_64(const u64_at *at, int count)
{
#if WIDTH == 64
    return (u64v)_mm512_maskz_loadu_epi64((__mmask8)((1u << count) - 1), at);
#elif WIDTH == 32
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return (u64v)_mm256_maskload_epi64((const long long *)at, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lane));
#else
    u64v part = {0};
    for (int i = 0; i < LANES8; i++)
        if (i < count) part[i] = at[i];
    return part;
#endif
}

static inline void part_store_32(u32_at *at, u32v value, int count)
{
#if WIDTH == 64
    _mm512_mask_storeu_epi32(at, (__mmask16)((1u << count) - 1), (__m512i)value);
#else
    for (int i = 0; i < LANES4; i++)
        if (i < count) at[i] = value[i];
#endif
}

static inline void part_store_64(u64_at *at, u64v value, int count)
{
#if WIDTH == 64
    _mm512_mask_storeu_epi64(at, (__mmask8)((1u << count) - 1), (__m512i)value);
#else
    for (int i = 0; i < LANES8; i++)
        if (i < count) at[i] = value[i];
#endif
}

/* Interleave a0 b0 a1 b1 .. of the lower halves, or of the upper ones. */
static inline u32v interleave_low_32(u32v a, u32v b)
{
#if WIDTH == 64
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif WIDTH == 32
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

static inline u32v interleave_high_32(u32v a, u32v b)
{
#if WIDTH == 64
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif WIDTH == 32
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

static inline u64v interleave_low_64(u64v a, u64v b)
{
#if WIDTH == 64
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif WIDTH == 32
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#else
    return __builtin_shufflevector(a, b, 0, 2);
#endif
}

static inline u64v interleave_high_64(u64v a, u64v b)
{
#if WIDTH == 64
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif WIDTH == 32
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
    return __builtin_shufflevector(a, b, 1, 3);
#endif
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of blocks: complete ones, and short ones at the end of an operand, which access only existing lanes.
 * With hardware masks a short block costs as much as a complete one; without, it is copied through a buffer. */
#ifndef WICK_BACKEND_CPU_ISA_BLOCK_IO_H
#define WICK_BACKEND_CPU_ISA_BLOCK_IO_H

#include "vector.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

typedef V V_any __attribute__((aligned(1), may_alias)); /* an unaligned vector */

static inline V load_vector(const char *p)
{
    return *(const V_any *)p;
}

static inline void store_vector(char *p, V x)
{
    *(V_any *)p = x;
}

/* Load or store vector k of a block that starts at p and has `count` lanes; missing lanes read as 0 and are not
 * written. */
#if WIDTH == 64

static inline V load_part4(const char *p, int64_t count, int k)
{
    return (V)_mm512_maskz_loadu_ps((__mmask16)(_bzhi_u64(~0ULL, (uint32_t)count) >> 16 * k), p + k * WIDTH);
}

static inline V load_part8(const char *p, int64_t count, int k)
{
    return (V)_mm512_maskz_loadu_pd((__mmask8)(_bzhi_u64(~0ULL, (uint32_t)count) >> 8 * k), p + k * WIDTH);
}

static inline void store_part4(char *p, int64_t count, int k, V x)
{
    _mm512_mask_storeu_ps(p + k * WIDTH, (__mmask16)(_bzhi_u64(~0ULL, (uint32_t)count) >> 16 * k), (__m512)x);
}

static inline void store_part8(char *p, int64_t count, int k, V x)
{
    _mm512_mask_storeu_pd(p + k * WIDTH, (__mmask8)(_bzhi_u64(~0ULL, (uint32_t)count) >> 8 * k), (__m512d)x);
}

#elif WIDTH == 32

static inline __m256i lane_mask4(int64_t count, int k)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count - 8 * k), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline __m256i lane_mask8(int64_t count, int k)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count - 4 * k), _mm256_setr_epi64x(0, 1, 2, 3));
}

static inline V load_part4(const char *p, int64_t count, int k)
{
    return (V)_mm256_maskload_ps((const float *)(p + k * WIDTH), lane_mask4(count, k));
}

static inline V load_part8(const char *p, int64_t count, int k)
{
    return (V)_mm256_maskload_pd((const double *)(p + k * WIDTH), lane_mask8(count, k));
}

static inline void store_part4(char *p, int64_t count, int k, V x)
{
    _mm256_maskstore_ps((float *)(p + k * WIDTH), lane_mask4(count, k), (__m256)x);
}

static inline void store_part8(char *p, int64_t count, int k, V x)
{
    _mm256_maskstore_pd((double *)(p + k * WIDTH), lane_mask8(count, k), (__m256d)x);
}

#else

static inline V load_part(const char *p, int64_t bytes)
{
    V x = {0};
    if (bytes >= WIDTH) return load_vector(p);
    if (bytes > 0) memcpy(&x, p, (size_t)bytes);
    return x;
}

static inline void store_part(char *p, int64_t bytes, V x)
{
    if (bytes >= WIDTH) {
        store_vector(p, x);
    } else if (bytes > 0) {
        memcpy(p, &x, (size_t)bytes);
    }
}

static inline V load_part4(const char *p, int64_t count, int k)
{
    return load_part(p + k * WIDTH, (count - k * LANES4) * 4);
}

static inline V load_part8(const char *p, int64_t count, int k)
{
    return load_part(p + k * WIDTH, (count - k * LANES8) * 8);
}

static inline void store_part4(char *p, int64_t count, int k, V x)
{
    store_part(p + k * WIDTH, (count - k * LANES4) * 4, x);
}

static inline void store_part8(char *p, int64_t count, int k, V x)
{
    store_part(p + k * WIDTH, (count - k * LANES8) * 8, x);
}

#endif

static inline void stream_vector(char *p, V x)
{
#if WIDTH == 64
    _mm512_stream_ps((float *)p, (__m512)x);
#elif WIDTH == 32
    _mm256_stream_ps((float *)p, (__m256)x);
#elif defined(__x86_64__)
    _mm_stream_ps((float *)p, (__m128)x);
#else
    store_vector(p, x);
#endif
}

static inline char *slot_address(const wk__vm_state *s, int place, int64_t i)
{
    return s->place[place].p + i * s->place[place].step;
}

/* Load blocks of 4-byte and of 8-byte lanes from a slot. */
static inline block4 load_block4(const wk__vm_state *s, int place, int64_t i)
{
    const char *p = slot_address(s, place, i);
    block4 x;
    if (LIKELY(s->count >= LANES)) {
        UNROLL for (int k = 0; k < 4; k++) x.v[k] = load_vector(p + k * WIDTH);
    } else {
        UNROLL for (int k = 0; k < 4; k++) x.v[k] = load_part4(p, s->count, k);
    }
    return x;
}

static inline block8 load_block8(const wk__vm_state *s, int place, int64_t i)
{
    const char *p = slot_address(s, place, i);
    block8 x;
    if (LIKELY(s->count >= LANES)) {
        UNROLL for (int k = 0; k < 8; k++) x.v[k] = load_vector(p + k * WIDTH);
    } else {
        UNROLL for (int k = 0; k < 8; k++) x.v[k] = load_part8(p, s->count, k);
    }
    return x;
}

#endif

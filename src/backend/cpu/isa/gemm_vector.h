/* The few things that GNU vectors cannot say: a fused multiply-add, and reading or writing part of a vector. Tiles are
 * written once over these. */
#ifndef WICK_CPU_GEMM_VECTOR_H
#define WICK_CPU_GEMM_VECTOR_H

#include <stdint.h>

#if defined __AVX512F__ && defined __AVX512DQ__
#include <immintrin.h>
#define GEMM_AVX512
enum { GEMM_BYTES = 64, GEMM_REGISTERS = 32 };
#elif defined __AVX2__ && defined __FMA__
#include <immintrin.h>
#define GEMM_AVX2
enum { GEMM_BYTES = 32, GEMM_REGISTERS = 16 };
#elif defined __aarch64__
#include <arm_neon.h>
#define GEMM_NEON
enum { GEMM_BYTES = 16, GEMM_REGISTERS = 32 };
#else
enum { GEMM_BYTES = 16, GEMM_REGISTERS = 16 };
#endif

enum { LANES_32 = GEMM_BYTES / 4, LANES_64 = GEMM_BYTES / 8 };

typedef float v_f32 __attribute__((vector_size(GEMM_BYTES)));
typedef double v_f64 __attribute__((vector_size(GEMM_BYTES)));
typedef uint32_t v_u32 __attribute__((vector_size(GEMM_BYTES)));
typedef uint64_t v_u64 __attribute__((vector_size(GEMM_BYTES)));

/* In memory at any address an element may have, and of any type of that size. */
typedef v_u32 v_u32_at __attribute__((aligned(4), may_alias));
typedef v_u64 v_u64_at __attribute__((aligned(8), may_alias));
typedef uint32_t u32_at __attribute__((may_alias));
typedef uint64_t u64_at __attribute__((may_alias));

static inline v_f32 fma_f32(v_f32 a, v_f32 b, v_f32 c)
{
#ifdef GEMM_AVX512
    return (v_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined GEMM_AVX2
    return (v_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined GEMM_NEON
    return (v_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

static inline v_f64 fma_f64(v_f64 a, v_f64 b, v_f64 c)
{
#ifdef GEMM_AVX512
    return (v_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined GEMM_AVX2
    return (v_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined GEMM_NEON
    return (v_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

static inline v_u32 fma_u32(v_u32 a, v_u32 b, v_u32 c)
{
    return a * b + c;
}

static inline v_u64 fma_u64(v_u64 a, v_u64 b, v_u64 c)
{
    return a * b + c;
}

/* The first `count` (1..lanes) elements of 4 bytes at `at`, the rest 0. Touches no byte beyond them. */
static inline v_u32 part_load_32(const u32_at *at, int count)
{
#ifdef GEMM_AVX512
    return (v_u32)_mm512_maskz_loadu_epi32((__mmask16)((1u << count) - 1), at);
#elif defined GEMM_AVX2
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (v_u32)_mm256_maskload_epi32((const int *)at, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
#else
    v_u32 part = {0};
    for (int i = 0; i < LANES_32; i++)
        if (i < count) part[i] = at[i];
    return part;
#endif
}

static inline v_u64 part_load_64(const u64_at *at, int count)
{
#ifdef GEMM_AVX512
    return (v_u64)_mm512_maskz_loadu_epi64((__mmask8)((1u << count) - 1), at);
#elif defined GEMM_AVX2
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return (v_u64)_mm256_maskload_epi64((const long long *)at, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lane));
#else
    v_u64 part = {0};
    for (int i = 0; i < LANES_64; i++)
        if (i < count) part[i] = at[i];
    return part;
#endif
}

static inline void part_store_32(u32_at *at, v_u32 value, int count)
{
#ifdef GEMM_AVX512
    _mm512_mask_storeu_epi32(at, (__mmask16)((1u << count) - 1), (__m512i)value);
#else
    for (int i = 0; i < LANES_32; i++)
        if (i < count) at[i] = value[i];
#endif
}

static inline void part_store_64(u64_at *at, v_u64 value, int count)
{
#ifdef GEMM_AVX512
    _mm512_mask_storeu_epi64(at, (__mmask8)((1u << count) - 1), (__m512i)value);
#else
    for (int i = 0; i < LANES_64; i++)
        if (i < count) at[i] = value[i];
#endif
}

/* a0 b0 a1 b1 .. of the lower halves, or of the upper ones. */
static inline v_u32 interleave_low_32(v_u32 a, v_u32 b)
{
#ifdef GEMM_AVX512
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined GEMM_AVX2
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

static inline v_u32 interleave_high_32(v_u32 a, v_u32 b)
{
#ifdef GEMM_AVX512
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined GEMM_AVX2
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

static inline v_u64 interleave_low_64(v_u64 a, v_u64 b)
{
#ifdef GEMM_AVX512
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined GEMM_AVX2
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#else
    return __builtin_shufflevector(a, b, 0, 2);
#endif
}

static inline v_u64 interleave_high_64(v_u64 a, v_u64 b)
{
#ifdef GEMM_AVX512
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined GEMM_AVX2
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
    return __builtin_shufflevector(a, b, 1, 3);
#endif
}

#endif

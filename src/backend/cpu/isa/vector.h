/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of one instruction set, and operations that GNU C has no operator for. Everything is static inline: only this
 * header and block_io.h depend on the instruction set they are compiled for.
 *
 *     V                 carrier type: passes a vector from instruction to instruction
 *     f32v ...          the same bits as lanes of a class
 *     block4, block8    the accumulator: 4 vectors of a 4-byte class, 8 of an 8-byte class */
#ifndef WICK_BACKEND_CPU_ISA_VECTOR_H
#define WICK_BACKEND_CPU_ISA_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/vm/vm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX2__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

enum {
    LANES = WIDTH,      /* per block, in every class */
    LANES4 = WIDTH / 4, /* per vector with lanes of 4 bytes */
    LANES8 = WIDTH / 8
};

/* wk__vm_avx2 and so on: names shared between files have the instruction set as a suffix. */
#define ISA_PASTE(name, isa)  name##_##isa
#define ISA_EXPAND(name, isa) ISA_PASTE(name, isa)
#define WK__ISA_NAME(name)    ISA_EXPAND(name, WK__ISA)

typedef float f32v __attribute__((vector_size(WIDTH)));
typedef double f64v __attribute__((vector_size(WIDTH)));
typedef int32_t i32v __attribute__((vector_size(WIDTH)));
typedef int64_t i64v __attribute__((vector_size(WIDTH)));
typedef uint32_t u32v __attribute__((vector_size(WIDTH)));
typedef uint64_t u64v __attribute__((vector_size(WIDTH)));
typedef float f32h __attribute__((vector_size(WIDTH / 2))); /* half vectors, which widen to lanes of 8 bytes */
typedef int32_t i32h __attribute__((vector_size(WIDTH / 2)));
typedef f32v V;

typedef struct block4 {
    V v[4];
} block4;

typedef struct block8 {
    V v[8];
} block8;

/* most instructions use only some of them */
#define MAYBE __attribute__((unused))
#define VM_ARGUMENTS                                                                                                   \
    const wk__vm_ins *in MAYBE, wk__vm_state *s MAYBE, int64_t i MAYBE, V x0 MAYBE, V x1 MAYBE, V x2 MAYBE,            \
        V x3 MAYBE, V x4 MAYBE, V x5 MAYBE, V x6 MAYBE, V x7 MAYBE
typedef void vm_function(VM_ARGUMENTS);

/* Call the next instruction with the accumulator in 4 or 8 vectors; a tail call in optimised builds. */
#define NEXT4(a, b, c, d)             ((vm_function *)in[1].op)(in + 1, s, i, a, b, c, d, x4, x5, x6, x7)
#define NEXT8(a, b, c, d, e, f, g, h) ((vm_function *)in[1].op)(in + 1, s, i, a, b, c, d, e, f, g, h)

/* Loops over the vectors of a block: unrolled if the body is one or two instructions, rolled if it is a function. */
#define UNROLL _Pragma("GCC unroll 8")
#define ROLLED _Pragma("GCC unroll 1")

static inline f32v f32_splat(float x)
{
    return x - (f32v){0};
}

static inline f64v f64_splat(double x)
{
    return x - (f64v){0};
}

static inline i32v i32_splat(int32_t x)
{
    return x - (i32v){0};
}

static inline i64v i64_splat(int64_t x)
{
    return x - (i64v){0};
}

/* mask ? a : b; each lane of a mask is 0 or -1, like the results of comparisons. */
static inline f32v f32_select(i32v mask, f32v a, f32v b)
{
    return (f32v)(((i32v)a & mask) | ((i32v)b & ~mask));
}

static inline f64v f64_select(i64v mask, f64v a, f64v b)
{
    return (f64v)(((i64v)a & mask) | ((i64v)b & ~mask));
}

static inline i32v i32_select(i32v mask, i32v a, i32v b)
{
    return (a & mask) | (b & ~mask);
}

static inline i64v i64_select(i64v mask, i64v a, i64v b)
{
    return (a & mask) | (b & ~mask);
}

static inline f32v f32_abs(f32v x)
{
    return (f32v)((i32v)x & INT32_MAX);
}

static inline f64v f64_abs(f64v x)
{
    return (f64v)((i64v)x & INT64_MAX);
}

/* Magnitude of a with the sign of b. */
static inline f32v f32_copysign(f32v a, f32v b)
{
    return (f32v)(((i32v)a & INT32_MAX) | ((i32v)b & INT32_MIN));
}

static inline f64v f64_copysign(f64v a, f64v b)
{
    return (f64v)(((i64v)a & INT64_MAX) | ((i64v)b & INT64_MIN));
}

static inline bool i32_any(i32v mask)
{
#if WIDTH == 64
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif WIDTH == 32
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    i64v halves = (i64v)mask;
    return (halves[0] | halves[1]) != 0;
#endif
}

static inline bool i64_any(i64v mask)
{
    return i32_any((i32v)mask);
}

/* ---- single instructions, where available ------------------------------------------------------------------------ */

/* x y + z, rounded once if the set has the instruction. The portable version rounds twice; the elementary functions
 * meet their error bounds with both. */
static inline f32v f32_fma(f32v x, f32v y, f32v z)
{
#if WIDTH == 64
    return (f32v)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif WIDTH == 32
    return (f32v)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined(__aarch64__)
    return (f32v)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#else
    return x * y + z;
#endif
}

static inline f64v f64_fma(f64v x, f64v y, f64v z)
{
#if WIDTH == 64
    return (f64v)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif WIDTH == 32
    return (f64v)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#elif defined(__aarch64__)
    return (f64v)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
#else
    return x * y + z;
#endif
}

static inline f32v f32_sqrt(f32v x)
{
#if WIDTH == 64
    return (f32v)_mm512_sqrt_ps((__m512)x);
#elif WIDTH == 32
    return (f32v)_mm256_sqrt_ps((__m256)x);
#elif defined(__x86_64__)
    return (f32v)_mm_sqrt_ps((__m128)x);
#elif defined(__aarch64__)
    return (f32v)vsqrtq_f32((float32x4_t)x);
#else
    for (int l = 0; l < LANES4; l++) x[l] = sqrtf(x[l]);
    return x;
#endif
}

static inline f64v f64_sqrt(f64v x)
{
#if WIDTH == 64
    return (f64v)_mm512_sqrt_pd((__m512d)x);
#elif WIDTH == 32
    return (f64v)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
    return (f64v)_mm_sqrt_pd((__m128d)x);
#elif defined(__aarch64__)
    return (f64v)vsqrtq_f64((float64x2_t)x);
#else
    for (int l = 0; l < LANES8; l++) x[l] = sqrt(x[l]);
    return x;
#endif
}

/* Rounds to the nearest integer, half to even. Without an instruction: adding 2^23 shifts the fraction out. */
static inline f32v f32_round(f32v x)
{
#if WIDTH == 64
    return (f32v)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif WIDTH == 32
    return (f32v)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__aarch64__)
    return (f32v)vrndnq_f32((float32x4_t)x);
#else
    f32v whole = (f32_abs(x) + 0x1p23f) - 0x1p23f;
    return f32_select(f32_abs(x) < 0x1p23f, f32_copysign(whole, x), x);
#endif
}

static inline f64v f64_round(f64v x)
{
#if WIDTH == 64
    return (f64v)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif WIDTH == 32
    return (f64v)_mm256_round_pd((__m256d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__aarch64__)
    return (f64v)vrndnq_f64((float64x2_t)x);
#else
    f64v whole = (f64_abs(x) + 0x1p52) - 0x1p52;
    return f64_select(f64_abs(x) < 0x1p52, f64_copysign(whole, x), x);
#endif
}

/* Rounds down: subtracts 1 from the nearest integer if it is above x. The sign of x makes ceil(-0.3) -0. */
static inline f32v f32_floor(f32v x)
{
    f32v near = f32_round(x);
    f32v down = near - f32_select(near > x, f32_splat(1), f32_splat(0));
    return f32_select(near == x, x, f32_copysign(down, x));
}

static inline f64v f64_floor(f64v x)
{
    f64v near = f64_round(x);
    f64v down = near - f64_select(near > x, f64_splat(1), f64_splat(0));
    return f64_select(near == x, x, f64_copysign(down, x));
}

static inline f32v f32_ceil(f32v x)
{
    return -f32_floor(-x);
}

static inline f64v f64_ceil(f64v x)
{
    return -f64_floor(-x);
}

static inline f32v f32_trunc(f32v x)
{
    return f32_copysign(f32_floor(f32_abs(x)), x);
}

static inline f64v f64_trunc(f64v x)
{
    return f64_copysign(f64_floor(f64_abs(x)), x);
}

/* Maximum and minimum: the second of equal operands (zeros of either sign); NaN if either is. The x86 instructions also
 * return their second operand for a NaN; those of arm64 would order zeros. */
static inline f32v f32_max(f32v x, f32v y)
{
#if WIDTH == 64
    __m512 a = (__m512)x, b = (__m512)y;
    return (f32v)_mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
#elif WIDTH == 32
    __m256 a = (__m256)x, b = (__m256)y;
    return (f32v)_mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
#else
    return f32_select((x > y) | (x != x), x, y);
#endif
}

static inline f32v f32_min(f32v x, f32v y)
{
#if WIDTH == 64
    __m512 a = (__m512)x, b = (__m512)y;
    return (f32v)_mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
#elif WIDTH == 32
    __m256 a = (__m256)x, b = (__m256)y;
    return (f32v)_mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
#else
    return f32_select((x < y) | (x != x), x, y);
#endif
}

static inline f64v f64_max(f64v x, f64v y)
{
    return f64_select((x > y) | (x != x), x, y);
}

static inline f64v f64_min(f64v x, f64v y)
{
    return f64_select((x < y) | (x != x), x, y);
}

/* Order-independent maximum and minimum of a row: NaN if any is, and -0 is less than +0. AVX-512 has an instruction
 * that orders zeros (range, with the sign of the selected operand), but it returns the operand that is not NaN, so for
 * NaNs the bits of both are combined by or, which yields a NaN. Elsewhere equal operands have the same bits except for
 * zeros, of which & yields +0 and | yields -0. */
#if WIDTH == 64
enum { RANGE_LEAST = 4, RANGE_GREATEST = 5 };
#endif

static inline f32v f32_greatest(f32v x, f32v y)
{
#if WIDTH == 64
    __m512 a = (__m512)x, b = (__m512)y;
    return (f32v)_mm512_mask_or_ps(_mm512_range_ps(a, b, RANGE_GREATEST), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
#elif WIDTH == 32
    __m256 a = (__m256)x, b = (__m256)y, both = _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a));
    return (f32v)_mm256_or_ps(both, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
#elif defined(__aarch64__)
    return (f32v)vmaxq_f32((float32x4_t)x, (float32x4_t)y);
#else
    return (f32v)((i32v)f32_max(x, y) & ((i32v)x | (x != y)));
#endif
}

static inline f32v f32_least(f32v x, f32v y)
{
#if WIDTH == 64
    __m512 a = (__m512)x, b = (__m512)y;
    return (f32v)_mm512_mask_or_ps(_mm512_range_ps(a, b, RANGE_LEAST), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
#elif WIDTH == 32
    __m256 a = (__m256)x, b = (__m256)y;
    return (f32v)_mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a));
#elif defined(__aarch64__)
    return (f32v)vminq_f32((float32x4_t)x, (float32x4_t)y);
#else
    return (f32v)((i32v)f32_min(x, y) | ((i32v)x & (x == y)));
#endif
}

static inline f64v f64_greatest(f64v x, f64v y)
{
#if WIDTH == 64
    __m512d a = (__m512d)x, b = (__m512d)y;
    return (f64v)_mm512_mask_or_pd(_mm512_range_pd(a, b, RANGE_GREATEST), _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), a, b);
#elif WIDTH == 32
    __m256d a = (__m256d)x, b = (__m256d)y, both = _mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a));
    return (f64v)_mm256_or_pd(both, _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
#elif defined(__aarch64__)
    return (f64v)vmaxq_f64((float64x2_t)x, (float64x2_t)y);
#else
    return (f64v)((i64v)f64_max(x, y) & ((i64v)x | (x != y)));
#endif
}

static inline f64v f64_least(f64v x, f64v y)
{
#if WIDTH == 64
    __m512d a = (__m512d)x, b = (__m512d)y;
    return (f64v)_mm512_mask_or_pd(_mm512_range_pd(a, b, RANGE_LEAST), _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), a, b);
#elif WIDTH == 32
    __m256d a = (__m256d)x, b = (__m256d)y;
    return (f64v)_mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a));
#elif defined(__aarch64__)
    return (f64v)vminq_f64((float64x2_t)x, (float64x2_t)y);
#else
    return (f64v)((i64v)f64_min(x, y) | ((i64v)x & (x == y)));
#endif
}

/* x times 2^n for integers n in -300..300, rounded once: n is applied in two steps of which the first is exact. */
static inline f32v f32_scale(f32v x, f32v n)
{
#if WIDTH == 64
    return (f32v)_mm512_scalef_ps((__m512)x, (__m512)n);
#else
    i32v whole = __builtin_convertvector(n, i32v);
    i32v half = whole >> 1;
    return x * (f32v)((u32v)(half + 127) << 23) * (f32v)((u32v)(whole - half + 127) << 23);
#endif
}

/* x times 2^n for integers n in -1022..1022. */
static inline f64v f64_scale(f64v x, f64v n)
{
    f64v biased = n + (0x1p52 + 0x1p51 + 1023); /* the low bits of the mantissa are the biased exponent */
    return x * (f64v)((u64v)biased << 52);
}

/* ---- conversion between 4 and 8 bytes ---------------------------------------------------------------------------- */

typedef union halves32 {
    V v;
    f32h f[2];
    i32h i[2];
} halves32;

/* gcc 12 passes the general form through memory in pieces, which stalls the load of all lanes. */
#if WIDTH == 64

static inline f64v f64_widen(V x, int half)
{
    const __m512 lanes = (__m512)x;
    return (f64v)_mm512_cvtps_pd(half ? _mm512_extractf32x8_ps(lanes, 1) : _mm512_castps512_ps256(lanes));
}

static inline f32v f32_narrow(f64v low, f64v high)
{
    const __m256 first = _mm512_cvtpd_ps((__m512d)low), second = _mm512_cvtpd_ps((__m512d)high);
    return (f32v)_mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
}

#elif WIDTH == 32

static inline f64v f64_widen(V x, int half)
{
    const __m256 lanes = (__m256)x;
    return (f64v)_mm256_cvtps_pd(half ? _mm256_extractf128_ps(lanes, 1) : _mm256_castps256_ps128(lanes));
}

static inline f32v f32_narrow(f64v low, f64v high)
{
    const __m128 first = _mm256_cvtpd_ps((__m256d)low), second = _mm256_cvtpd_ps((__m256d)high);
    return (f32v)_mm256_insertf128_ps(_mm256_castps128_ps256(first), second, 1);
}

#else

static inline f64v f64_widen(V x, int half)
{
    return __builtin_convertvector(((halves32){.v = x}).f[half], f64v);
}

static inline f32v f32_narrow(f64v low, f64v high)
{
    return ((halves32){.f = {__builtin_convertvector(low, f32h), __builtin_convertvector(high, f32h)}}).v;
}

#endif

static inline i64v i64_widen(V x, int half)
{
    return __builtin_convertvector(((halves32){.v = x}).i[half], i64v);
}

/* Low 32 bits of each lane. */
static inline i32v i32_narrow(i64v low, i64v high)
{
    return (i32v)((halves32){.i = {__builtin_convertvector(low, i32h), __builtin_convertvector(high, i32h)}}).v;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Source at the start of every module: differences between OpenCL C and CUDA C (prelude_dialect.c), conversions of
 * 16-bit floats by integer arithmetic (neither language has them everywhere), index checks, random numbers; then the
 * functions of each class (prelude_classes.c). */
#include "prelude.h"

#include "backend/gpu/fault.h"
#include "device_source.h"

#include "ir/random.h"

/* clang-format off */ /* of device code */
static const char halves[] = DEVICE_CODE(
    FN float wk_from_bf16(u16 h)
    {
        return wk_as_f32((u32)h << 16);
    }
    FN u16 wk_to_bf16(float x)
    {
        const u32 u = wk_bits_f32(x);
        if ((u & 0x7fffffffu) > 0x7f800000u) return (u16)(u >> 16 | 64u);
        return (u16)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    }
    FN float wk_from_f16(u16 h)
    {
        const u32 sign = (u32)(h & 0x8000u) << 16;
        const u32 exponent = h >> 10 & 31u;
        const u32 mantissa = h & 0x3ffu;
        const u32 small = wk_bits_f32((float)mantissa * 5.9604644775390625e-8f); /* 2^-24 */
        const u32 usual = (exponent + 112u) << 23 | mantissa << 13;
        const u32 huge = 0x7f800000u | mantissa << 13;
        return wk_as_f32(sign | (exponent == 0u ? small : exponent == 31u ? huge : usual));
    }
    FN u16 wk_to_f16(float x)
    {
        const u32 u = wk_bits_f32(x);
        const u32 a = u & 0x7fffffffu;
        const u32 sign = u >> 16 & 0x8000u;
        const u32 usual = (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13;
        if (a > 0x7f800000u) return (u16)(sign | 0x7e00u);
        /* 65520 and more: infinity */
        if (a >= 0x477ff000u) return (u16)(sign | 0x7c00u);
        if (a < 0x38800000u) return (u16)(sign | (u32)(i32)rint(wk_as_f32(a) * 16777216.0f)); /* below 2^-14 */
        return (u16)(sign | usual);
    }
    FN float wk_round_bf16(float x)
    {
        return wk_from_bf16(wk_to_bf16(x));
    }
    FN float wk_round_f16(float x)
    {
        return wk_from_f16(wk_to_f16(x));
    });

/* wk_index returns the index in the range 0..n-1, or -1 after recording a fault in F, a wk__gpu_fault. The first fault
 * in program order is kept, regardless of execution order. A negative index counts from the end if bound = n, and is
 * out of range if bound = -n. `at`: position of the element. Items of one warp take the lock in turn: it is released in
 * the same iteration of the loop in which it was acquired.
 *
 * Few of a million faults need the lock: an item returns immediately if an earlier fault is already recorded. Writers
 * store `at` before `tag`, and readers load `tag` before `at`. So an `at` that was read with a tag belongs to that tag
 * or to an earlier one in program order; in neither case an earlier fault is lost. */
static const char faults[] = DEVICE_CODE(
    FN void wk_raise(GM i32 *F, i64 index, i64 bound, i64 tag, i64 at)
    {
        volatile GM i64 *first = (volatile GM i64 *)F;
        ((volatile GM i32 *)F)[10 + (tag & 1023)] = 1;
        if (((volatile GM i32 *)F)[0] != 0) {
            FENCE;
            const i64 known = first[1];
            FENCE;
            if (known < tag || (known == tag && first[4] <= at)) return;
        }
        for (int done = 0; !done;) {
            if (TRY_LOCK(F + 1)) {
                FENCE;
                if (((volatile GM i32 *)F)[0] == 0 || tag < first[1] || (tag == first[1] && at < first[4])) {
                    first[4] = at;
                    FENCE;
                    first[1] = tag;
                    first[2] = index;
                    first[3] = bound;
                    FENCE;
                    ((volatile GM i32 *)F)[0] = 1;
                }
                FENCE;
                UNLOCK(F + 1);
                done = 1;
            }
        }
    }
    FN i64 wk_index(GM i32 *F, i64 index, i64 bound, i64 tag, i64 at)
    {
        const i64 n = bound < 0 ? -bound : bound;
        const i64 place = index < 0 && bound > 0 ? index + n : index;
        if (place >= 0 && place < n) return place;
        wk_raise(F, index, n, tag, at);
        return -1;
    });
_Static_assert(offsetof(wk__gpu_fault, lock) == 4 && offsetof(wk__gpu_fault, tag) == 8 &&
                   offsetof(wk__gpu_fault, position) == 4 * 8 && offsetof(wk__gpu_fault, tag_raised) == 10 * 4 &&
                   WK__FAULT_TAGS == 1024,
               "the text of wk_raise has these places");

/* See ir/random.h. */
static const char philox[] = DEVICE_CODE(
    FN i64 wk_philox64(i64 counter, i64 key)
    {
        u32 c0 = (u32)counter;
        u32 c1 = (u32)((u64)counter >> 32);
        u32 c2 = 0;
        u32 c3 = 0;
        u32 k0 = (u32)key;
        u32 k1 = (u32)((u64)key >> 32);
        for (int round = 0; round < 10; round++) {
            const u64 a = (u64)c0 * 0xD2511F53u;
            const u64 b = (u64)c2 * 0xCD9E8D57u;
            c0 = (u32)(b >> 32) ^ c1 ^ k0;
            c1 = (u32)b;
            c2 = (u32)(a >> 32) ^ c3 ^ k1;
            c3 = (u32)a;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        return (i64)((u64)c1 << 32 | c0);
    }
    FN i64 wk_philox32(i64 counter, i64 key)
    {
        return wk_philox64(counter, key) & 0xffffffffL;
    });

static const char ndtri32[] = DEVICE_CODE(
    FN float wk_ndtri_f32(i64 word)
    {
        const u32 bits = (u32)word;
        const u32 upper_half = 0u - (bits >> 31);
        const u32 m = bits ^ upper_half;
        const float position = (float)(i32)(m & ~(m >> 8)) + 0.5f;
        const u32 segment = (wk_bits_f32(position) >> 21) - (126u << 2);
        const u32 place = (2u * m + 1u) << (31u - segment / 4u);
        const float t = (float)(i32)((~place & 0x1FFFFFFFu) + 1u) * 1.862645149230957e-9f; /* 2^-29 */
        float value = wk_as_f32(wk_ndtri32_table[5 * 128 + segment]);
        for (int k = 4; k >= 0; k--) value = fma(value, t, wk_as_f32(wk_ndtri32_table[k * 128 + segment]));
        return upper_half != 0u ? value : -value;
    });

static const char ndtri64[] = DEVICE_CODE(
    FN double wk_ndtri_f64(i64 word)
    {
        const u64 bits = (u64)word;
        const u64 upper_half = (u64)0 - (bits >> 63);
        const u64 m = bits ^ upper_half;
        const double position = (double)(i64)(m & ~(m >> 8)) + 0.5;
        const u64 segment = (wk_bits_f64(position) >> 50) - ((u64)1022 << 2);
        const u64 place = (2 * m + 1) << (63 - segment / 4);
        const double t = (double)(i64)((~place & 0x1FFFFFFFFFFFFFFFL) + 1) * 4.336808689942018e-19; /* 2^-61 */
        double value = wk_as_f64(wk_ndtri64_table[10 * 256 + segment]);
        for (int k = 9; k >= 0; k--) value = fma(value, t, wk_as_f64(wk_ndtri64_table[k * 256 + segment]));
        return upper_half != 0 ? value : -value;
    });
_Static_assert(WK__NDTRI32_DEGREE == 5 && WK__NDTRI32_SEGMENTS == 128, "the text of wk_ndtri_f32 has these numbers");
_Static_assert(WK__NDTRI64_DEGREE == 10 && WK__NDTRI64_SEGMENTS == 256, "the text of wk_ndtri_f64 has these numbers");
/* clang-format on */

static void add_ndtri32(wk__text *text)
{
    wk__text_add(text, "CONSTANT u32 wk_ndtri32_table[6 * 128] = {");
    for (int k = 0; k < (WK__NDTRI32_DEGREE + 1) * WK__NDTRI32_SEGMENTS; k++) {
        uint32_t bits;
        memcpy(&bits, (const float *)wk__ndtri32_table + k, sizeof bits);
        wk__text_format(text, "0x%xu,", bits);
    }
    wk__text_add(text, "};\n");
    wk__text_add(text, ndtri32);
}

static void add_ndtri64(wk__text *text)
{
    wk__text_add(text, "CONSTANT u64 wk_ndtri64_table[11 * 256] = {");
    for (int k = 0; k < (WK__NDTRI64_DEGREE + 1) * WK__NDTRI64_SEGMENTS; k++) {
        uint64_t bits;
        memcpy(&bits, (const double *)wk__ndtri64_table + k, sizeof bits);
        wk__text_format(text, "0x%llxL,", (unsigned long long)bits);
    }
    wk__text_add(text, "};\n");
    wk__text_add(text, ndtri64);
}

void wk__gpu_prelude(wk__text *text, const wk__gpu_target *target, unsigned needs)
{
    bool through_double = !target->exact_divide && target->has_f64;
    bool doubles = through_double || (needs & WK__GPU_NEEDS_F64);
    wk__gpu_prelude_dialect(text, target, doubles);
    wk__text_add(text, halves);
    wk__text_add(text, faults);
    wk__text_add(text, philox);
    wk__gpu_prelude_classes(text, target, needs);
    if (needs & WK__GPU_NEEDS_NDTRI32) add_ndtri32(text);
    if (needs & WK__GPU_NEEDS_NDTRI64) add_ndtri64(text);
}

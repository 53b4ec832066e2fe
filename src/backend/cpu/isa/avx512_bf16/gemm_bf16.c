/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of bf16 by VDPBF16PS, which adds two products to each accumulator. A packed element is a pair with
 * the even step of the sum in its low half.
 *
 * The instruction rounds to nearest; it treats denormal inputs as 0 and flushes denormal results. */
#include "backend/cpu/half.h"
#include "backend/cpu/isa/gemm_isa.h"

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static inline f32v add_products(u32v a, u32v b, f32v sum)
{
    return (f32v)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

#define CLASS  wk__gemm_bf16
#define T      uint32_t
#define VECTOR u32v
#define SUM    float
#define SUMS   f32v
#define FMA    add_products
#define SIZE   32
#define GEMM_PAIRS
extern const wk__gemm_microkernels WK__ISA_NAME(CLASS);
#include "backend/cpu/isa/gemm_class.inc"

/* ---- packing ----------------------------------------------------------------------------------------------------- */

typedef uint32_t pair_at __attribute__((aligned(2), may_alias));

enum { GAP = WK__GEMM_GAP / sizeof(uint32_t), AHEAD = 16 };

#define FROM       uint16_t
#define TO         u32_at
#define READ(at)   (*(const pair_at *)(at))
#define STEP       2
#define VECTOR_AT  u32v_at
#define PART_STORE part_store_32
#define LOW        interleave_low_32
#define HIGH       interleave_high_32
#define NAME(x)    x##_pairs
#include "backend/cpu/isa/gemm_transpose.inc"

/* Number of a panel's lines, without and with padding. */
typedef struct panel {
    int used, wide;
} panel;

static inline panel panel_at(int64_t first, int64_t count, int width, int unit)
{
    const int used = (int)(count - first < width ? count - first : width);
    return (panel){used, (used + unit - 1) / unit * unit};
}

/* Writes one row of a panel: pairs, or single elements after the last pair. */
static inline __attribute__((always_inline)) void put_row(u32_at *to, panel p, const uint16_t *from, int64_t across,
                                                          int64_t along, bool pairs)
{
    if (pairs)
        for (int i = 0; i < p.used; i++) to[i] = from[i * across] | (uint32_t)from[i * across + along] << 16;
    else
        for (int i = 0; i < p.used; i++) to[i] = from[i * across];
    for (int i = p.used; i < p.wide; i++) to[i] = 0;
}

/* Packs rows of pairs from two rows of `in` each, for all panels. `across` may be the constant 1. */
static inline __attribute__((always_inline)) void pack_rows(u32_at *out, int width, int unit, int64_t count, int64_t k,
                                                            const uint16_t *in, int64_t across, int64_t along)
{
    const int64_t rows = (k + 1) / 2;
    for (int64_t l = 0; l < rows; l++, in += 2 * along) {
        u32_at *to = out;
        if (l + AHEAD < rows) __builtin_prefetch(in + 2 * AHEAD * along);
        if (l + AHEAD < k / 2) __builtin_prefetch(in + (2 * AHEAD + 1) * along);
        for (int64_t first = 0; first < count; first += width) {
            const panel p = panel_at(first, count, width, unit);
            put_row(to + l * p.wide, p, in + first * across, across, along, 2 * l + 1 < k);
            to += p.wide * rows + GAP;
        }
    }
}

/* Packs columns whose pairs are contiguous in memory. */
static void pack_columns(u32_at *out, int width, int unit, int64_t count, int64_t k, const uint16_t *in, int64_t across)
{
    const int64_t pairs = k / 2, rows = (k + 1) / 2;
    for (int64_t first = 0; first < count; first += width, in += width * across) {
        const panel p = panel_at(first, count, width, unit);
        if (width == 1)
            memcpy(out, in, (size_t)pairs * sizeof *out);
        else
            pack_columns_pairs(out, p.wide, p.used, pairs, in, across);
        if (rows > pairs) put_row(out + pairs * p.wide, p, in + 2 * pairs, across, 1, false);
        out += p.wide * rows + GAP;
    }
}

static void pack(void *out, int width, int unit, int64_t count, int64_t k, const void *in, int64_t across,
                 int64_t along)
{
    if (along == 1)
        pack_columns(out, width, unit, count, k, in, across);
    else if (across == 1)
        pack_rows(out, width, unit, count, k, in, 1, along);
    else
        pack_rows(out, width, unit, count, k, in, across, along);
}

static void unpack(void *out, int64_t step, int64_t count, const void *in)
{
    uint16_t *to = out;
    const float *from = in;
    if (step == 1)
        for (int64_t i = 0; i < count; i++) to[i] = bf16_of_f32(from[i]);
    else
        for (int64_t i = 0; i < count; i++) to[i * step] = bf16_of_f32(from[i]);
}

const wk__gemm WK__ISA_NAME(wk__gemm)[] = {{WK_BF16, &WK__ISA_NAME(wk__gemm_bf16), pack, unpack}, {0}};

/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products with quantised blocks (backend/cpu/quantized/dots.h). Elements are computed in registers, a vector at a
 * time, by the operations of the decoders in ir/blocks.c, and multiplied with several rows of x. Other formats
 * are decoded to memory, one block after the other. */
#include "backend/cpu/quantized/dots.h"
#include "backend/cpu/half.h"
#include "block_io.h"
#include "ir/blocks.h"

#define INLINE static inline __attribute__((always_inline))

enum { PART = 32 /* elements of a part of a block */, SUMS = 2 /* per row of x: they hide the latency of fma */ };

/* Numbers that parts of a block share, or its elements. */
typedef struct numbers {
    float scale[16], offset[8];
    float element[WK__BLOCK_ELEMENTS];
} numbers;

/* Reads the scales of a block. */
typedef void read_numbers(const wk__block_format *format, const uint8_t *block, numbers *n);
/* Returns elements e to e + LANES4 - 1 of a part. */
typedef f32v compute_elements(const uint8_t *block, const numbers *n, int part, int e);

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

INLINE float half_at(const uint8_t *at)
{
    const uint16_t bits = (uint16_t)(at[0] | at[1] << 8);
#ifdef __F16C__
    return _cvtsh_ss(bits);
#else
    return f32_of_f16(bits);
#endif
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

/* ---- formats ----------------------------------------------------------------------------------------------------- */

INLINE void one_scale(const wk__block_format *format, const uint8_t *block, numbers *n)
{
    (void)format;
    n->scale[0] = half_at(block);
}

INLINE f32v q8_0_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)part;
    return to_float(signed_at(block + 2 + e)) * n->scale[0];
}

INLINE f32v q4_0_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)part;
    return to_float(bits_at(block + 2 + e % 16, e / 16 * 4, 15) - 8) * n->scale[0];
}

/* Scales and offsets of 6 bits. */
INLINE void six_bit_numbers(const wk__block_format *format, const uint8_t *block, numbers *n)
{
    (void)format;
    const float scale = half_at(block), offset = half_at(block + 2);
    const uint8_t *first = block + 4, *second = block + 8, *rest = block + 12;
    for (int p = 0; p < 4; p++) {
        n->scale[p] = scale * (float)(first[p] & 63);
        n->offset[p] = offset * (float)(second[p] & 63);
        n->scale[4 + p] = scale * (float)((rest[p] & 15) | first[p] >> 6 << 4);
        n->offset[4 + p] = offset * (float)(rest[p] >> 4 | second[p] >> 6 << 4);
    }
}

INLINE f32v q4_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    return to_float(bits_at(block + 16 + part / 2 * 32 + e, part % 2 * 4, 15)) * n->scale[part] - n->offset[part];
}

INLINE f32v q5_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const i32v low = bits_at(block + 48 + part / 2 * 32 + e, part % 2 * 4, 15);
    return to_float(low | bits_at(block + 16 + e, part, 1) << 4) * n->scale[part] - n->offset[part];
}

INLINE void q6_k_numbers(const wk__block_format *format, const uint8_t *block, numbers *n)
{
    (void)format;
    const float scale = half_at(block + 208);
    for (int p = 0; p < 16; p++) n->scale[p] = scale * (float)(int8_t)block[192 + p];
}

INLINE f32v q6_k_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    const int group = part / 4, quarter = part % 4;
    const i32v low = bits_at(block + group * 64 + quarter % 2 * 32 + e, quarter / 2 * 4, 15);
    const i32v high = bits_at(block + 128 + group * 32 + e, quarter * 2, 3);
    return to_float((low | high << 4) - 32) * n->scale[part * 2 + e / 16];
}

INLINE void decode(const wk__block_format *format, const uint8_t *block, numbers *n)
{
    format->decode(block, n->element);
}

INLINE f32v decoded_elements(const uint8_t *block, const numbers *n, int part, int e)
{
    (void)block;
    return (f32v)load_vector((const char *)(n->element + part * PART + e));
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Sums the lanes of a vector, upper half onto lower: a fixed tree. */
INLINE float lanes_sum(f32v x)
{
    for (int half = LANES4 / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) x[l] += x[l + half];
    return x[0];
}

/* Computes the products of `rows` rows of x from row `first` on. Constants select the code of a format. */
INLINE void dots(const int rows, const wk__quantized_row *row, int first, const int elements, read_numbers *read,
                 compute_elements *compute)
{
    f32v sum[4][SUMS];
    numbers n;
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SUMS; s++) sum[r][s] = f32_splat(0);
    const float *x = row->x + first * row->x_row;
    const uint8_t *block = row->blocks;
    for (int64_t b = 0; b < row->count; b++, block += row->format->bytes, x += elements) {
        read(row->format, block, &n);
        for (int part = 0; part < elements / PART; part++) {
#pragma GCC unroll 8
            for (int v = 0; v < PART / LANES4; v++) {
                const f32v w = compute(block, &n, part, v * LANES4);
                const float *at = x + part * PART + v * LANES4;
#pragma GCC unroll 4
                for (int r = 0; r < rows; r++)
                    sum[r][v % SUMS] =
                        f32_fma(w, (f32v)load_vector((const char *)(at + r * row->x_row)), sum[r][v % SUMS]);
            }
        }
    }
    for (int r = 0; r < rows; r++) row->out[(first + r) * row->out_row] = lanes_sum(sum[r][0] + sum[r][1]);
}

INLINE void all_rows(const wk__quantized_row *row, const int elements, read_numbers *read, compute_elements *compute)
{
    int r = 0;
    for (; r + 4 <= row->rows; r += 4) dots(4, row, r, elements, read, compute);
    for (; r < row->rows; r++) dots(1, row, r, elements, read, compute);
}

static void dots_q8_0(const wk__quantized_row *row)
{
    all_rows(row, 32, one_scale, q8_0_elements);
}

static void dots_q4_0(const wk__quantized_row *row)
{
    all_rows(row, 32, one_scale, q4_0_elements);
}

static void dots_q4_k(const wk__quantized_row *row)
{
    all_rows(row, 256, six_bit_numbers, q4_k_elements);
}

static void dots_q5_k(const wk__quantized_row *row)
{
    all_rows(row, 256, six_bit_numbers, q5_k_elements);
}

static void dots_q6_k(const wk__quantized_row *row)
{
    all_rows(row, 256, q6_k_numbers, q6_k_elements);
}

static void dots_decoded(const wk__quantized_row *row)
{
    all_rows(row, row->format->elements, decode, decoded_elements);
}

wk__quantized_dots *const WK__ISA_NAME(wk__quantized)[WK__BLOCK_OP_FORMATS] = {
    [WK_BLOCKS_Q8_0] = dots_q8_0,    [WK_BLOCKS_Q4_0] = dots_q4_0,    [WK_BLOCKS_Q4_1] = dots_decoded,
    [WK_BLOCKS_Q5_0] = dots_decoded, [WK_BLOCKS_Q5_1] = dots_decoded, [WK_BLOCKS_Q2_K] = dots_decoded,
    [WK_BLOCKS_Q3_K] = dots_decoded, [WK_BLOCKS_Q4_K] = dots_q4_k,    [WK_BLOCKS_Q5_K] = dots_q5_k,
    [WK_BLOCKS_Q6_K] = dots_q6_k,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised blocks (backend/cpu/quantized/dots.h). Elements are computed in registers, a vector at a time, by the
 * operations of the decoders in ir/blocks.c, and multiplied with several rows of x or stored. */
#include "backend/cpu/quantized/dots.h"
#include "quantized_elements.h"

enum { SUMS = 2 }; /* per row of x: they hide the latency of fma */

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* Adds the products of a part with `rows` rows of x. */
INLINE void add_part(const int rows, const wk__quantized_row *row, const uint8_t *block, const numbers *n, int part,
                     const float *x, compute_elements *compute, f32v sum[][SUMS])
{
#pragma GCC unroll 8
    for (int v = 0; v < PART / LANES4; v++) {
        const f32v w = compute(block, n, part, v * LANES4);
        const float *at = x + part * PART + v * LANES4;
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            sum[r][v % SUMS] = f32_fma(w, (f32v)load_vector((const char *)(at + r * row->x_row)), sum[r][v % SUMS]);
    }
}

/* Computes the products of `rows` rows of x from row `first` on. Constants select the code of a format; with one row
 * each part has its own, where shifts of bits are constants. */
INLINE void dots(const int rows, const wk__quantized_row *row, int64_t first, const int elements, read_numbers *read,
                 compute_elements *compute)
{
    f32v sum[4][SUMS];
    numbers n;
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SUMS; s++) sum[r][s] = f32_splat(0);
    const float *x = row->x + first * row->x_row;
    const uint8_t *block = row->blocks;
    for (int64_t b = 0; b < row->count; b++, block += row->format->bytes, x += elements) {
        prefetch_ahead(block, row->format->bytes);
        read(block, &n);
        if (rows == 1) {
#pragma GCC unroll 8
            for (int part = 0; part < elements / PART; part++) add_part(rows, row, block, &n, part, x, compute, sum);
        } else {
            for (int part = 0; part < elements / PART; part++) add_part(rows, row, block, &n, part, x, compute, sum);
        }
    }
    for (int r = 0; r < rows; r++) row->out[(first + r) * row->out_row] = lanes_sum(sum[r][0] + sum[r][1]);
}

/* Formats that quantized_digits.inc multiplies in integers need single rows only. */
INLINE void all_rows(const wk__quantized_row *row, const int elements, read_numbers *read, compute_elements *compute)
{
    int64_t r = 0;
    for (; (WIDTH == 16 || compute == q8_0_elements) && r + 4 <= row->rows; r += 4)
        dots(4, row, r, elements, read, compute);
    for (; r < row->rows; r++) dots(1, row, r, elements, read, compute);
}

INLINE void store(const wk__quantized_row *row, const int elements, read_numbers *read, compute_elements *compute)
{
    const uint8_t *block = row->blocks;
    float *out = row->elements;
    numbers n;
    for (int64_t b = 0; b < row->count; b++, block += row->format->bytes, out += elements) {
        read(block, &n);
        for (int part = 0; part < elements / PART; part++)
#pragma GCC unroll 8
            for (int v = 0; v < PART / LANES4; v++)
                put(out + part * PART + v * LANES4, compute(block, &n, part, v * LANES4));
    }
}

INLINE void multiply_or_store(const wk__quantized_row *row, const int elements, read_numbers *read,
                              compute_elements *compute)
{
    if (row->elements) {
        store(row, elements, read, compute);
    } else {
        all_rows(row, elements, read, compute);
    }
}

/* ---- functions of each format ------------------------------------------------------------------------------------ */

static void q8_0(const wk__quantized_row *row)
{
    multiply_or_store(row, 32, one_scale, q8_0_elements);
}

static void q4_0(const wk__quantized_row *row)
{
    multiply_or_store(row, 32, one_scale, q4_0_elements);
}

static void q4_1(const wk__quantized_row *row)
{
    multiply_or_store(row, 32, scale_and_minimum, q4_1_elements);
}

static void q5_0(const wk__quantized_row *row)
{
    multiply_or_store(row, 32, one_scale, q5_0_elements);
}

static void q5_1(const wk__quantized_row *row)
{
    multiply_or_store(row, 32, scale_and_minimum, q5_1_elements);
}

static void q2_k(const wk__quantized_row *row)
{
    multiply_or_store(row, 256, q2_k_numbers, q2_k_elements);
}

static void q3_k(const wk__quantized_row *row)
{
    multiply_or_store(row, 256, q3_k_numbers, q3_k_elements);
}

static void q4_k(const wk__quantized_row *row)
{
    multiply_or_store(row, 256, six_bit_numbers, q4_k_elements);
}

static void q5_k(const wk__quantized_row *row)
{
    multiply_or_store(row, 256, six_bit_numbers, q5_k_elements);
}

static void q6_k(const wk__quantized_row *row)
{
    multiply_or_store(row, 256, q6_k_numbers, q6_k_elements);
}

wk__quantized_run *const WK__ISA_NAME(wk__quantized)[WK__BLOCK_OP_FORMATS] = {
    [WK_BLOCKS_Q8_0] = q8_0, [WK_BLOCKS_Q4_0] = q4_0, [WK_BLOCKS_Q4_1] = q4_1, [WK_BLOCKS_Q5_0] = q5_0,
    [WK_BLOCKS_Q5_1] = q5_1, [WK_BLOCKS_Q2_K] = q2_k, [WK_BLOCKS_Q3_K] = q3_k, [WK_BLOCKS_Q4_K] = q4_k,
    [WK_BLOCKS_Q5_K] = q5_k, [WK_BLOCKS_Q6_K] = q6_k,
};

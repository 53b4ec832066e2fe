/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of rows of x with one row of quantised blocks, and the elements of a row, compiled for each instruction
 * set (isa/quantized.c). */
#ifndef WICK_BACKEND_CPU_QUANTIZED_DOTS_H
#define WICK_BACKEND_CPU_QUANTIZED_DOTS_H

#include "ir/blocks.h"

typedef struct wk__quantized_row {
    const wk__block_format *format;
    const uint8_t *blocks; /* of the row, one after the other */
    int64_t count;         /* of its blocks */
    const float *x;        /* element i of row r is x[r x_row + i] */
    float *out;            /* product with row r: out[r out_row] */
    int64_t x_row, out_row;
    int64_t rows;    /* of x */
    float *elements; /* NULL: products are computed; else receives the elements of the blocks, and no product is */
} wk__quantized_row;

/* Stores out = x blocks^T, or the elements of the blocks, of one format. The elements are those that a decoder
 * computes (ir/blocks.h); the order of the sum depends on the format and the instruction set only. */
typedef void wk__quantized_run(const wk__quantized_row *row);

#endif

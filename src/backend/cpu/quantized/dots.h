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
    float *out;            /* element of row r: out[r out_row] */
    int64_t x_row, out_row;
    int64_t rows; /* of x */
} wk__quantized_row;

/* Stores out = x blocks^T. The elements are those that a decoder computes (ir/blocks.h); the order of the sum depends
 * on the format and the instruction set only. */
typedef void wk__quantized_dots(const wk__quantized_row *row);
/* Stores the elements of `count` blocks. */
typedef void wk__quantized_decode(const uint8_t *blocks, int64_t count, float *out);

/* Functions for one format. */
typedef struct wk__quantized_kernels {
    wk__quantized_dots *dots;
    wk__quantized_decode *decode;
} wk__quantized_kernels;

#endif

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
    int64_t rows;       /* of x */
    float *elements;    /* NULL: products are computed; else receives the elements of the blocks, and no product is */
    const char *digits; /* of x, for wk__quantized_digits; of row r: digits + r digits_row */
    int64_t digits_row;
} wk__quantized_row;

/* Stores out = x blocks^T, or the elements of the blocks, of one format. The elements are those that a decoder
 * computes (ir/blocks.h); the order of the sum depends on the format and the instruction set only. */
typedef void wk__quantized_run(const wk__quantized_row *row);

/* Products in integers (isa/quantized_digits.h). A product that is not finite must be computed by floats instead. */
typedef struct wk__quantized_digits {
    int64_t (*bytes)(int64_t columns); /* of the digits of a row of x, a multiple of WK__QUANTIZED_ALIGNMENT */
    /* Computes the digits of a row of x for a format. */
    void (*prepare)(int format, const float *x, int64_t columns, char *digits);
    wk__quantized_run *dots[WK__BLOCK_OP_FORMATS]; /* NULL: by floats */
} wk__quantized_digits;
enum { WK__QUANTIZED_ALIGNMENT = 64 /* bytes, of digits */ };

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of layer norm and rms norm for a block of rows, compiled for each instruction set (isa/norm.c). */
#ifndef WICK_BACKEND_CPU_NORM_ROWS_H
#define WICK_BACKEND_CPU_NORM_ROWS_H

#include <stdint.h>

/* Rows of one class. With h = (x - mean) factor and d = grad weight,
 *
 *     dx = factor (d - mean of d - h mean of d h)      d_weight = sum over the rows of grad h      d_bias = of grad
 *
 * of which the mean of d is absent without a mean. Each row is read from memory once. */
typedef struct wk__norm_rows {
    int64_t rows, columns;
    const void *grad, *x; /* rows of contiguous columns; distance of rows in elements */
    int64_t grad_row, x_row;
    const void *mean, *factor, *weight; /* by row, by row, by column; mean and weight may be NULL: 0 and 1 */
    void *dx;                           /* row-major */
    void *d_weight, *d_bias;            /* set, not added to */
} wk__norm_rows;

typedef void wk__norm_backward_rows(const wk__norm_rows *rows);

#endif

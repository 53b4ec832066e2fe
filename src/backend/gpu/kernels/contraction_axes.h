/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of a contraction as its kernels iterate over them: indices of the result that both factors have, or neither
 * (batches); that A has (rows); that B has (columns); and summed ones. The arguments specify how each axis moves the
 * operands. */
#ifndef WICK_BACKEND_GPU_CONTRACTION_AXES_H
#define WICK_BACKEND_GPU_CONTRACTION_AXES_H

#include "backend/gpu/kernel.h"

/* Indices of the arguments that all contraction kernels have. */
enum {
    WK__GPU_SUM_ROWS = 1,
    WK__GPU_SUM_COLUMNS = 2,
    WK__GPU_SUM_LENGTH = 3,
    WK__GPU_SUM_BATCHES = 4,
    WK__GPU_SUM_PART = 5,         /* summed indices per work-group */
    WK__GPU_SUM_AXES = 6,         /* how many batch, row, column and summed axes, which are listed in this order */
    WK__GPU_SUMMED_AXES = 9,      /* the last of these */
    WK__GPU_SUM_STARTS = 10,      /* offsets of C, A, B */
    WK__GPU_SUM_COORDINATES = 13, /* number of affine coordinates of A, and of B */
    WK__GPU_SUM_DIVIDED = 15,     /* true if any coordinate of A, of B is divided */
    WK__GPU_SUM_ALONG = 17,       /* true if adjacent items load adjacent elements along the sum, for A, for B */
    /* per coordinate: offset, extent, stride, divisor, and the factor and shift that replace the division */
    WK__GPU_SUM_COORDINATE = 19,
    WK__GPU_SUM_COORDINATE_NUMBERS = 6,
    WK__GPU_SUM_AXIS = WK__GPU_SUM_COORDINATE + 6 * WK__GPU_SUM_COORDINATE_NUMBERS,
    /* per axis: extent, stride of C, stride of the position in the space; then for A and B the stride and the steps of
     * the numerators of their three coordinates */
    WK__GPU_SUM_AXIS_NUMBERS = 11,
    WK__GPU_CONTRACTION_ARGUMENTS = WK__GPU_SUM_AXIS + WK__MAX_INDICES * WK__GPU_SUM_AXIS_NUMBERS
};

/* Fills in all arguments except WK__GPU_SUM_PART, the buffers, and the number of elements as the launch's count.
 * Returns true if positions, offsets and numerators fit in 32 bits. */
bool wk__gpu_fill_contraction(const wk__work_args *kernel, wk__gpu_launch *launch);

/* Source: names of the arguments, and macros to iterate over axes; must follow one of the two that define the type of
 * offsets. */
extern const char wk__gpu_sum_names[], wk__gpu_sum_narrow[], wk__gpu_sum_wide[], wk__gpu_sum_end[];

#endif

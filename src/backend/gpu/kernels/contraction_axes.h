/* SPDX-License-Identifier: Apache-2.0 */
/* The indices of a contraction as kernels walk them: axes of the result that both factors have or neither (batches),
 * that A has (rows), that B has (columns), and the summed ones; and the arguments that say how each moves the
 * operands. */
#ifndef WICK_BACKEND_GPU_CONTRACTION_AXES_H
#define WICK_BACKEND_GPU_CONTRACTION_AXES_H

#include "backend/gpu/kernel.h"

/* Places of the arguments that all kernels of contractions have. */
enum {
    WK__GPU_SUM_ROWS = 1,
    WK__GPU_SUM_COLUMNS = 2,
    WK__GPU_SUM_LENGTH = 3,
    WK__GPU_SUM_BATCHES = 4,
    WK__GPU_SUM_PART = 5,         /* of the length, that one work-group adds up */
    WK__GPU_SUM_AXES = 6,         /* how many: batches, rows, columns, summed; in that order they stand in the list */
    WK__GPU_SUMMED_AXES = 9,      /* the last of these */
    WK__GPU_SUM_STARTS = 10,      /* of C, A, B */
    WK__GPU_SUM_COORDINATES = 13, /* how many A has, and B */
    WK__GPU_SUM_DIVIDED = 15,     /* is any of A's divided, of B's? */
    WK__GPU_SUM_ALONG = 17,       /* do neighbouring items load neighbours along the sum, of A, of B? */
    WK__GPU_SUM_COORDINATE = 19,  /* each: offset, extent, stride, divisor, and the factor and the shift that divide */
    WK__GPU_SUM_COORDINATE_NUMBERS = 6,
    WK__GPU_SUM_AXIS = WK__GPU_SUM_COORDINATE + 6 * WK__GPU_SUM_COORDINATE_NUMBERS,
    /* each: extent, stride of C, of the position in the space, then of A and of B their stride and what a step adds to
     * the numerators of their three coordinates */
    WK__GPU_SUM_AXIS_NUMBERS = 11,
    WK__GPU_CONTRACTION_ARGUMENTS = WK__GPU_SUM_AXIS + WK__MAX_INDICES * WK__GPU_SUM_AXIS_NUMBERS
};

/* Fills in all arguments but WK__GPU_SUM_PART, the memory, and the number of elements as the launch's count. True:
 * positions, places and numerators fit in 32 bits. */
bool wk__gpu_fill_contraction(const wk__work_args *kernel, wk__gpu_launch *launch);

/* Text: names for the arguments, and macros by which an item walks the axes. They stand behind one of the two that say
 * in what numbers places are counted. */
extern const char wk__gpu_sum_names[], wk__gpu_sum_narrow[], wk__gpu_sum_wide[], wk__gpu_sum_end[];

#endif

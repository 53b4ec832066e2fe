/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of products of matrices share. */
#ifndef WICK_BACKEND_GPU_MATMUL_H
#define WICK_BACKEND_GPU_MATMUL_H

#include "backend/contraction.h"
#include "backend/gpu/kernel.h"

/* Places of the arguments; behind [3] start, stride of rows and stride of columns of each operand, then the batches'
 * shape and the strides of each operand over them. */
enum {
    WK__GPU_MATMUL_M = 1,
    WK__GPU_MATMUL_N = 2,
    WK__GPU_MATMUL_K = 3,
    WK__GPU_MATMUL_OPERANDS = 4,
    WK__GPU_MATMUL_BATCHES = WK__GPU_MATMUL_OPERANDS + 3 * 3,
    WK__GPU_MATMUL_DIMS = WK__MAX_DIMS - 2,
    WK__GPU_MATMUL_COUNT = WK__GPU_MATMUL_BATCHES + 4 * WK__GPU_MATMUL_DIMS, /* work-items */
    WK__GPU_MATMUL_ARGUMENTS = WK__GPU_MATMUL_COUNT + 1
};

/* Text: names for the arguments; and a, b, c, pointers to the matrices of batch number `batch`. */
extern const char wk__gpu_matmul_names[], wk__gpu_matmul_matrices[];

/* Fills in all of them but WK__GPU_MATMUL_COUNT. Returns the number of batches. */
int64_t wk__gpu_fill_matmul(const wk__matmul *product, int64_t *argument);

/* Products in tiles: matmul_tiled.c. *launch has its memory and those arguments. */
wk_code wk__gpu_lower_matmul_tiles(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                                   int64_t batches, wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user,
                                   wk__fail *fail);

#endif

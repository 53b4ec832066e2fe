/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of matrix product kernels. */
#ifndef WICK_BACKEND_GPU_MATMUL_H
#define WICK_BACKEND_GPU_MATMUL_H

#include "backend/contraction.h"
#include "backend/gpu/kernel.h"

/* Indices of arguments; from [4]: offset, row stride and column stride of each operand, then the sizes of the batch
 * dimensions and the strides of each operand over them. */
enum {
    WK__GPU_MATMUL_M = 1,
    WK__GPU_MATMUL_N = 2,
    WK__GPU_MATMUL_K = 3,
    WK__GPU_MATMUL_OPERANDS = 4,
    WK__GPU_MATMUL_BATCHES = WK__GPU_MATMUL_OPERANDS + 3 * 3,
    WK__GPU_MATMUL_DIMS = WK__MAX_DIMS - 2,
    WK__GPU_MATMUL_COUNT = WK__GPU_MATMUL_BATCHES + 4 * WK__GPU_MATMUL_DIMS, /* number of work-items */
    WK__GPU_MATMUL_ARGUMENTS = WK__GPU_MATMUL_COUNT + 1
};

/* Source: names of the arguments; and a, b, c, pointers to the matrices of batch `batch`. */
extern const char wk__gpu_matmul_names[], wk__gpu_matmul_matrices[];

/* Fills in all arguments except WK__GPU_MATMUL_COUNT. Returns the number of batches. */
int64_t wk__gpu_fill_matmul(const wk__matmul *product, int64_t *argument);

/* Lowers tiled products (matmul_tiled.c). *launch has its buffers and these arguments. */
wk_code wk__gpu_lower_matmul_tiles(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                                   int64_t batches, wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user,
                                   wk__fail *fail);

#endif

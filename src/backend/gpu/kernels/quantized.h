/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of kernels that multiply rows of x with rows of quantised blocks (ir/blocks.h). An item decodes elements
 * of a block to registers. */
#ifndef WICK_BACKEND_GPU_KERNELS_QUANTIZED_H
#define WICK_BACKEND_GPU_KERNELS_QUANTIZED_H

#include "backend/gpu/kernel.h"

/* Indices of arguments; offsets and strides in elements. */
enum {
    WK__GPU_QUANTIZED_X_ROWS = 1,
    WK__GPU_QUANTIZED_BLOCK_ROWS = 2,
    WK__GPU_QUANTIZED_ELEMENTS = 3, /* of a row */
    WK__GPU_QUANTIZED_OUT = 4,      /* offset and stride of rows, then those of x and of blocks */
    WK__GPU_QUANTIZED_SHARE = 10,   /* meaning depends on the kernel */
    WK__GPU_QUANTIZED_ARGUMENTS
};

/* Source: names of the arguments, except the last one. */
extern const char wk__gpu_quantized_names[];

/* Lowers products in tiles (quantized_tiled.c). *launch has its buffers and arguments, except the last one. */
wk_code wk__gpu_lower_quantized_tiles(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch *launch,
                                      wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif

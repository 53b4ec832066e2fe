/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering per work family: one function each, in the file of that name. */
#ifndef WICK_BACKEND_GPU_LOWER_H
#define WICK_BACKEND_GPU_LOWER_H

#include "backend/gpu/kernels/tiles.h"

typedef wk_code wk__gpu_lower_fn(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit,
                                 void *user, wk__fail *fail);
wk__gpu_lower_fn wk__gpu_lower_contraction, wk__gpu_lower_scatter_add, wk__gpu_lower_scan, wk__gpu_lower_sort,
    wk__gpu_lower_quantized;

/* Lowers contractions other than matrix products as tiles (contraction_tiled.c). *launch has its buffers and the
 * arguments from wk__gpu_fill_contraction(). */
wk_code wk__gpu_lower_contraction_tiles(const wk__gpu_target *target, const wk__work *work, bool narrow,
                                        wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user, wk__fail *fail);
/* Returns their tiling. */
wk__gpu_tiling wk__gpu_contraction_tiling(const wk__gpu_target *target, const wk__gpu_launch *launch, bool narrow);
/* Returns true if the work becomes several launches, into which no epilogue can be fused: a tiled contraction with
 * divided coordinates. */
bool wk__gpu_splits_strides(const wk__gpu_target *target, const wk__work_args *kernel);
/* Lowers matrix products (matmul.c); `work` is the contraction. */
wk_code wk__gpu_lower_matmul(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which code plans the work of a family: one function each, in the file of its name. */
#ifndef WICK_BACKEND_GPU_FAMILIES_H
#define WICK_BACKEND_GPU_FAMILIES_H

#include "backend/gpu/kernels/tiles.h"

typedef wk_code wk__gpu_lower_fn(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit,
                                 void *user, wk__fail *fail);
wk__gpu_lower_fn wk__gpu_lower_contraction, wk__gpu_lower_scatter_add, wk__gpu_lower_scan, wk__gpu_lower_sort;

/* Of contractions that are no products of matrices, those in tiles: contraction_tiled.c. *launch has its memory and
 * what wk__gpu_fill_contraction filled in. */
wk_code wk__gpu_lower_contraction_tiles(const wk__gpu_target *target, const wk__work *work, bool narrow,
                                        wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user, wk__fail *fail);
/* How those are cut. */
wk__gpu_tiling wk__gpu_contraction_tiling(const wk__gpu_target *target, const wk__gpu_launch *launch, bool narrow);
/* Does the kernel become several launches, which carry no tail? A contraction with divided coordinates in tiles. */
bool wk__gpu_splits_strides(const wk__gpu_target *target, const wk__work_args *kernel);
/* Of contractions, products of matrices: matmul.c. `work` is the product. */
wk_code wk__gpu_lower_matmul(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif

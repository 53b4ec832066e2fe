/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of kernels along one dimension. Lines along that dimension are numbered; items or groups process one
 * each. */
#ifndef WICK_BACKEND_GPU_KERNELS_ALONG_DIM_H
#define WICK_BACKEND_GPU_KERNELS_ALONG_DIM_H

#include "backend/gpu/kernel.h"

/* Indices of arguments; [0] and [1] are the first item of this part of the launch and the number of items. At most
 * three operands. */
enum {
    WK__GPU_LENGTH = 2, /* size of the dimension */
    WK__GPU_STRIDE = 3, /* [operand] stride along the line */
    WK__GPU_START = 6,  /* [operand] offset of the operand */
    WK__GPU_MODE = 9,
    WK__GPU_BOUND = 10,
    WK__GPU_TAG = 11,
    WK__GPU_WIDTH = 12, /* length of sorted runs; for scatter_add, elements between two indices of the dimension */
    WK__GPU_LINES = 13,
    WK__GPU_OUTER = 14, /* sizes of the other dimensions, then the strides of each operand over them */
    WK__GPU_LINE_DIMS = WK__MAX_DIMS - 1,
    /* number of parts of a line, if several items or groups share it */
    WK__GPU_PARTS = WK__GPU_OUTER + 4 * WK__GPU_LINE_DIMS,
    WK__GPU_PART, /* elements per part; the last part may have fewer */
    WK__GPU_LINE_ARGUMENTS
};

/* Source: names of the arguments. */
extern const char wk__gpu_line_names[];
/* Source: o0, o1, o2, the offset of line `line` in each operand. */
extern const char wk__gpu_line_starts[];

enum { WK__GPU_PREFIX_ROW = 16 };
/* Source: exclusive prefix of a work-group's values, in item order. Requires macros JOINED, a type; JOIN(x, y), an
 * associative operation; and NOTHING, its identity. */
/* Local memory of the next two; for groups of at least WK__GPU_PREFIX_ROW items. */
extern const char wk__gpu_prefix_memory[];
/* Computes `before`, the values `own` of all previous items joined. Has two barriers; after the first, all earlier
 * writes of the items are visible. */
extern const char wk__gpu_prefix_before[];
/* After that: computes `all`, the values of all items joined. */
extern const char wk__gpu_prefix_all[];

/* Fills in a launch, except template, count and kernel-specific arguments. Returns the number of lines. */
int64_t wk__gpu_fill_along_dim(const wk__work_args *kernel, int operands, wk__gpu_launch *launch);
/* Emits a launch of `fixed` with `items` items. */
wk_code wk__gpu_emit_along_dim(wk__gpu_launch *launch, const wk__gpu_template *fixed, int64_t items,
                               wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif

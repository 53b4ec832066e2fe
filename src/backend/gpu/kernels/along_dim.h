/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels that walk along one dimension share: the lines of that dimension are numbered, an item finds its
 * own. */
#ifndef WICK_BACKEND_GPU_LINES_H
#define WICK_BACKEND_GPU_LINES_H

#include "backend/gpu/kernel.h"

/* Arguments; [0] and [1]: first item of this part of the launch, number of items. Operands are at most three. */
enum {
    WK__GPU_LENGTH = 2, /* of a line */
    WK__GPU_STRIDE = 3, /* of each operand along the line */
    WK__GPU_START = 6,  /* of each operand */
    WK__GPU_MODE = 9,
    WK__GPU_BOUND = 10,
    WK__GPU_TAG = 11,
    WK__GPU_WIDTH = 12, /* of sorted runs; between the places of a scatter_add, in elements */
    WK__GPU_LINES = 13,
    WK__GPU_OUTER = 14, /* shape of the other dimensions, then the strides of each operand over them */
    WK__GPU_LINE_DIMS = WK__MAX_DIMS - 1,
    WK__GPU_PARTS = WK__GPU_OUTER + 4 * WK__GPU_LINE_DIMS, /* of a line, where several items or groups work at one */
    WK__GPU_PART,                                          /* elements of each, the last may have fewer */
    WK__GPU_LINE_ARGUMENTS
};

/* Text: names for the arguments. */
extern const char wk__gpu_line_names[];
/* Text: o0, o1, o2, where line `line` begins in each operand. */
extern const char wk__gpu_line_starts[];

enum { WK__GPU_PREFIX_ROW = 16 };
/* Text: what the items of a work-group have, joined in their order. Wants the macros JOINED, a type; JOIN(x, y); and
 * NOTHING, which changes nothing that it is joined with. */
/* The memory that the next two share; of groups of at least WK__GPU_PREFIX_ROW items. */
extern const char wk__gpu_prefix_memory[];
/* Gives `before`, what the items before this one have in `own`, joined. Two barriers; behind the first of them all that
 * the items have written before is there. */
extern const char wk__gpu_prefix_before[];
/* Behind that: `all`, what all items of the group have, joined. */
extern const char wk__gpu_prefix_all[];

/* Fills a launch but for its unit's kernel, its count and what only that kernel has. Returns the number of lines. */
int64_t wk__gpu_fill_along_dim(const wk__work_args *kernel, int operands, wk__gpu_launch *launch);
/* Hands on the launch of `fixed` over so many items. */
wk_code wk__gpu_emit_along_dim(wk__gpu_launch *launch, const wk__gpu_template *fixed, int64_t items,
                               wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for work other than programs (backend/work.h), and the lines they share.
 *
 * Each kernel works along one dimension. The elements along it, with all other indices fixed, form a line. Lines are
 * independent of each other and are distributed over threads. A bundle consists of adjacent, equally spaced lines,
 * along which a kernel can step simultaneously:
 *
 *                 across ->
 *     along    e0  e0  e0  e0        4 lines of `length` elements
 *       |      e1  e1  e1  e1
 *       v      ..  ..  ..  .. */
#ifndef WICK_BACKEND_CPU_ALONG_DIM_H
#define WICK_BACKEND_CPU_ALONG_DIM_H

#include "backend/backend.h"

/* Returns true if there is a kernel of the family for a dtype. */
bool wk__cpu_has_kernel(int family, wk_dtype dtype);
/* Runs the kernel of the work's family; each is in a file of the same name. */
wk_code wk__cpu_kernel(const wk__work *work, wk__fail *fail);

typedef wk_code wk__cpu_family_run(const wk__work *work, wk__fail *fail);
wk__cpu_family_run wk__cpu_contraction, wk__cpu_scatter_add, wk__cpu_scan, wk__cpu_sort, wk__cpu_attention,
    wk__cpu_attention_backward, wk__cpu_quantized, wk__cpu_norm_backward;

typedef struct wk__dim_lines {
    int64_t count, length;
    int64_t along[WK__LINE_OPERANDS]; /* strides, in elements */
    int ndim;                         /* the other dimensions, that with the smallest stride last */
    int64_t shape[WK__MAX_DIMS];
    int64_t step[WK__LINE_OPERANDS][WK__MAX_DIMS];
    int64_t max_bundle; /* maximum lines per bundle */
} wk__dim_lines;

typedef struct wk__line_bundle {
    int64_t first, lines;          /* index of its first line; number of lines */
    int64_t at[WK__LINE_OPERANDS]; /* offset of the first element of the first line */
    int64_t across[WK__LINE_OPERANDS];
} wk__line_bundle;

/* Computes the lines of a kernel; the strides of operand `leader` determine the order of dimensions. */
void wk__dim_lines_init(wk__dim_lines *lines, const wk__work_args *kernel, int leader);
/* Returns the number of tasks for the lines: 1 if there is little work, 0 if there is none. */
int64_t wk__dim_lines_ntasks(const wk__dim_lines *lines);
/* Distributes the lines over `tasks` tasks, which run on several threads; each processes its lines in order, in
 * bundles. */
typedef void wk__line_bundle_fn(void *user, const wk__line_bundle *bundle, int64_t task);
void wk__dim_lines_for_each(const wk__dim_lines *lines, int64_t tasks, wk__line_bundle_fn *work, void *user);

static inline char *wk__operand_data(const wk__operand *operand)
{
    return operand->memory->host + operand->offset * (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
}

#endif

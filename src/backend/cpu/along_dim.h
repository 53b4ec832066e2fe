/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are no groups (../work.h), and what they share: lines.
 *
 * Each kernel works along one dimension. The elements along it at one place of the other dimensions are a line; lines
 * are independent of each other and are what threads share out. A bundle is some neighbouring lines that are equally
 * spaced, so that a kernel can step along them together:
 *
 *                 across ->
 *     along    e0  e0  e0  e0        4 lines of `length` elements
 *       |      e1  e1  e1  e1
 *       v      ..  ..  ..  ..
 */
#ifndef WICK_CPU_KERNELS_H
#define WICK_CPU_KERNELS_H

#include "backend/backend.h"

bool wk__cpu_has_kernel(int family);
/* Runs the code of its family, each in the file of its name. */
wk_code wk__cpu_kernel(const wk__work *work, wk__fail *fail);

typedef wk_code wk__cpu_family_run(const wk__work *work, wk__fail *fail);
wk__cpu_family_run wk__cpu_contraction, wk__cpu_scatter_add, wk__cpu_scan, wk__cpu_sort;

typedef struct wk__dim_lines {
    int64_t count, length;
    int64_t along[WK__WORK_OPERANDS]; /* steps are in elements */
    int ndim;                         /* the other dimensions, the one with the smallest steps last */
    int64_t shape[WK__MAX_DIMS];
    int64_t step[WK__WORK_OPERANDS][WK__MAX_DIMS];
    int64_t max_bundle; /* lines in a bundle */
} wk__dim_lines;

typedef struct wk__line_bundle {
    int64_t first, lines;          /* number of its first line; how many */
    int64_t at[WK__WORK_OPERANDS]; /* offset of the first element of the first line */
    int64_t across[WK__WORK_OPERANDS];
} wk__line_bundle;

/* Lines of a kernel; the steps of operand `leader` decide which dimension comes last. */
void wk__dim_lines_init(wk__dim_lines *lines, const wk__work_args *kernel, int leader);
/* How many tasks share the lines: 1 when there is little to do, 0 when there is nothing. */
int64_t wk__dim_lines_ntasks(const wk__dim_lines *lines);
/* Shares the lines among so many tasks, which run on several threads and take theirs in order, bundle by bundle. */
typedef void wk__line_bundle_fn(void *user, const wk__line_bundle *bundle, int64_t task);
void wk__dim_lines_for_each(const wk__dim_lines *lines, int64_t tasks, wk__line_bundle_fn *work, void *user);

static inline char *wk__operand_data(const wk__operand *operand)
{
    return operand->memory->host + operand->offset * (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
}

#endif

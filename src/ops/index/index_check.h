/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of index operands: dtype, shape, and values if they are known at the time of the call. */
#ifndef WICK_OPS_INDEX_INDEX_CHECK_H
#define WICK_OPS_INDEX_INDEX_CHECK_H

#include "ops/core/call.h"

/* Finds the first value, in row-major order, outside [low, high), if the values (i32 or i64) are in host memory
 * already; nothing is run or waited for. Ignores values equal to *skipped (NULL: none). Returns true if there is
 * one. */
bool wk__find_index_out_of_range(const wk_tensor *index, int64_t low, int64_t high, const int64_t *skipped,
                                 int64_t *found);
/* A summary of the values of an index. */
typedef struct wk__index_values {
    bool in_range, falls; /* all are in the range; one is less than the one before it */
    int64_t first, found; /* the first value; the first one that is not in range */
} wk__index_values;
/* Reads all values of an index, i64 or i32, and waits for them; the range is [low, high). Returns false on error. */
bool wk__read_index_values(wk_site site, wk_tensor *index, int64_t low, int64_t high, wk__index_values *out);
/* Returns true if the shapes of x, the index and (count 3) the source fit an op along dimension d, such as gather and
 * scatter. A 0-d tensor counts as a vector of one; an empty index always fits. False on error. */
bool wk__check_index_shape(const wk__op *op, wk_site site, wk_tensor *const in[], int count, int d);
/* Returns the index as i64, which kernels read: converts i32, rejects other dtypes. Values must be in [-bound, bound),
 * or in [0, n) if bound is -n; that is checked here only if they are in host memory already, and by the kernels in any
 * case. in[]: the call's operands, for messages. NULL on error. */
wk_tensor *wk__to_i64_index(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound, wk_tensor *const in[]);
/* Checks the dtype of an index for dimension d of x, which has this size, and its values if they are in host memory
 * already. */
bool wk__check_index_values(const wk__op *op, wk_site site, wk_tensor *index, int64_t size, wk_tensor *x, int d);
/* Checks that in[1] is bool and broadcasts with in[0], and sets the shape of both. */
bool wk__broadcast_mask(const wk__op *op, wk_site site, wk_tensor *const in[], int *ndim, int64_t *shape);
/* Like wk__to_i64_index(), but for ops such as gather and scatter, where the dtype of an empty index is not checked, as
 * in PyTorch. */
wk_tensor *wk__to_i64_index_or_empty(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound,
                                     wk_tensor *const in[]);

/* Returns x, or a 0-d x as a vector of size 1. (scatter_add.c) */
wk_tensor *wk__at_least_1d(wk_tensor *x);
/* Returns the gradient of operand 2, a source of which the index covers `part`: 0 outside it. (scatter_add.c) */
wk_tensor *wk__pad_source_grad(const struct wk__grad_ctx *g, wk_tensor *part);

/* scatter.c: Adds bound to negative indices (i64). An index out of range fails here, before bound is added, in the
 * order of the elements: each index also looks up a 0, in the same pass. */
wk_tensor *wk__normalize_index(wk_tensor *index, int64_t bound);
/* scatter.c: Returns, for each element of `corner`, 1 + the index in dimension d of the last source element written
 * there, or 0. index: i64, nonnegative. */
wk_tensor *wk__last_writers(wk_site site, wk_tensor *index, wk_tensor *corner, int d);
/* scatter.c: Returns the part of x that an index of this shape can reach: all of dimension d (-1: none), the beginning
 * of the others. */
wk_tensor *wk__covered_region(wk_site site, wk_tensor *x, const wk__body *index, int d);

#endif

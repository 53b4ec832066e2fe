/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that are indices: their dtype, and their values as far as they are known at the call. */
#ifndef WICK_OPS_INDICES_H
#define WICK_OPS_INDICES_H

#include "ops/core/call.h"

/* The first value, in row-major order, outside of [low, high), if the values (i32 or i64) are in host memory already:
 * nothing is run or waited for. What *skipped says is passed over (NULL: nothing is). */
bool wk__find_index_out_of_range(const wk_tensor *index, int64_t low, int64_t high, const int64_t *skipped,
                                 int64_t *found);
/* Do the shapes of x, the index and (count 3) the source fit a call that goes along dimension d, like gather and
 * scatter? A tensor without dimensions counts as a vector of one; an index without elements always fits. False
 * with the error recorded. */
bool wk__check_index_shape(const wk__op *op, wk_site site, wk_tensor *const in[], int count, int d);
/* index as i64, which kernels read; i32 is converted, other dtypes are an error. All values must lie in [-bound,
 * bound), or [0, n) for a bound of -n, which is looked at only if they are in host memory already: the kernels check
 * again. NULL with the error recorded; in[] are the call's operands, for the message. */
wk_tensor *wk__to_i64_index(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound, wk_tensor *const in[]);
/* The same for calls like gather and scatter, where the dtype of an index without elements does not matter,
 * as in PyTorch. */
wk_tensor *wk__to_i64_index_or_empty(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound,
                                     wk_tensor *const in[]);

/* x without dimensions is one place of one dimension. (scatter_add.c) */
wk_tensor *wk__at_least_1d(wk_tensor *x);
/* The gradient of a source, operand 2, of which the index covers `part`: 0 outside of it. (scatter_add.c) */
wk_tensor *wk__pad_source_grad(const struct wk__grad_ctx *g, wk_tensor *part);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing slices along one dimension, and indexing by several tensors, as calls of public ops with their gradients. */
#ifndef WICK_OPS_INDEX_ROWS_H
#define WICK_OPS_INDEX_ROWS_H

#include "ops/core/compose.h"
#include <wick/call.h>

/* Return x with the slices of dimension d at `index` (a vector, i64, nonnegative) replaced by those of `source`, the
 * last one of several, or by `value`. NULL on error. */
wk_tensor *wk__replace_slices(wk_site site, wk_tensor *x, int d, wk_tensor *index, wk_tensor *source);
wk_tensor *wk__fill_slices(wk_site site, wk_tensor *x, int d, wk_tensor *index, wk_value value);

/* Writes `out`, computed from x, into x. Returns x; NULL on error. */
wk_tensor *wk__write_back(wk_site site, wk_tensor *x, wk_tensor *out);

/* Indexing of x by tensors for some of its dimensions: the rows of a merged dimension. */
typedef struct wk__tensor_index {
    wk_tensor *named; /* the tensor of the call, for messages: x, or what x is a view of; set by the caller */
    int ndim;         /* of x */
    int64_t order[WK__MAX_DIMS]; /* of x's dimensions, so that the indexed ones are adjacent */
    bool moved;                  /* whether that is another order */
    int first, count;            /* the indexed dimensions, after reordering */
    int64_t shape[WK__MAX_DIMS]; /* of x, reordered */
    int64_t rows;                /* the product of the indexed sizes */
    int index_ndim;              /* broadcast shape of the index tensors */
    int64_t index_shape[WK__MAX_DIMS];
    wk_tensor *row; /* the index of a row for each element of the broadcast shape, a vector */
} wk__tensor_index;

/* Prepares indexing of x by index[d] in dimension d, NULL for all of it; at least one is given. wk__check_index() has
 * checked the index tensors. If the indexed dimensions are adjacent, those of the index tensors are at their position
 * in the result, else they come first. False on error. */
bool wk__tensor_index_begin(wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x,
                            wk_tensor *const index[WK__MAX_DIMS]);
/* Returns the elements of x. */
wk_tensor *wk__tensor_index_read(const wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x);
/* Returns x with values written at its elements, or added. values broadcasts to the elements' shape. */
wk_tensor *wk__tensor_index_write(const wk__tensor_index *t, const wk__op *op, wk_site site, wk_tensor *x,
                                  wk_tensor *values, bool accumulate);
/* Checks that an operand is a tensor on the device of x, or on any with soft placement. */
bool wk__check_index_operand(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index);
/* Checks an index tensor for dimension `dim` of x: i64 or i32, with values in range if they are in host memory already;
 * or bool, with the sizes of x from `dim` on. Returns the next dimension; -1 on error. */
int wk__check_index(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index, int dim);
/* Stores the index tensor for dimension `dim` of a tensor in index[dim]; for a mask, the indices of its true elements
 * in index[dim] and the following ones, which waits for the device. Returns the next dimension; -1 on error. */
int wk__store_index(wk_site site, wk_tensor *tensor, int dim, wk_tensor *index[WK__MAX_DIMS]);

#endif

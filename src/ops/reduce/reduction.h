/* SPDX-License-Identifier: Apache-2.0 */
/* What reductions, and what is built from them, share: dimension arguments, views with one dimension last, row totals.
 *
 * An op of this family is a few small records that the engine makes one row program of. Two things keep them together:
 * reduced dimensions stay with size 1 until the end, and whoever counts positions has its dimension last, because a
 * program walks the reduced dimensions innermost. */
#ifndef WICK_OPS_ROWS_H
#define WICK_OPS_ROWS_H

#include "ops/core/entries.h"

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* A dimension of x; false with the error recorded. A 0-d tensor has dimension 0. */
bool wk__reduction_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int *axis);
/* Errors unless x is of a floating dtype, or has elements along the masked dimensions. */
bool wk__check_float(const wk__op *op, wk_site site, wk_tensor *x);
bool wk__check_nonempty_reduction(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask);
/* The product of the masked sizes. */
int64_t wk__reduced_numel(const wk_tensor *x, uint16_t mask);

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* A call of a reduction, from its checks to its node. Between begin and end the op composes `out` from x and
 * the mask. */
typedef struct wk__reduction_call {
    wk__compose compose;
    wk__reduce_attributes attributes; /* mask and keepdim are set; the rest is the op's */
    const char *node;                 /* what it prints as grad_fn; NULL: op->node */
    uint16_t mask;
    bool keepdim, dtype_given;
    wk_dtype dtype; /* what is reduced: the option's or else that of x; a dtype of op->domain */
} wk__reduction_call;
/* dtype 0: that of x. False with the error recorded. */
bool wk__reduction_begin(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims,
                         int count, bool keepdim, wk_dtype dtype);
/* The same with the options of most reductions; a dtype is refused unless op->takes_dtype. */
bool wk__reduction_begin_options(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x,
                                 const int64_t *dims, int count, const wk_reduce_options *options);
/* out NULL: an error was recorded between. */
wk_tensor *wk__reduction_end(wk__reduction_call *r, wk_tensor *out);

/* ---- inside composed ops: no nodes ------------------------------------------------------------------------------- */

/* The dimension moved last, and moved back from there. */
wk_tensor *wk__move_dim_last(wk_tensor *x, int axis);
wk_tensor *wk__move_dim_back(wk_tensor *x, int axis);
/* x with a new last dimension of size 1. */
wk_tensor *wk__append_unit_dim(wk_tensor *x);
/* Sum and largest element over the masked dimensions in the class of x, which stay with size 1 if keepdim. */
wk_tensor *wk__reduce_sum(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim);
wk_tensor *wk__reduce_max(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim);
/* The result with its reduced dimensions, or seen without them. NULL if it is. */
wk_tensor *wk__drop_reduced_dims(wk_tensor *out, uint16_t mask, bool keepdim);
/* i64: where each element stands in its row, when the masked dimensions are the last. Nothing is stored or divided: the
 * position in the whole space less the row's first, which is one more reduction of the row program. */
wk_tensor *wk__row_iota(wk_site site, wk_tensor *x, uint16_t mask);
/* Running sums (or products) of a floating or i64 tensor along one dimension, from the end on if backwards. */
wk_tensor *wk__record_scan(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool product, bool backwards);
/* Values and positions (i64) along one dimension in order, both shaped like x; equal ones stay in theirs. False
 * with the error recorded. */
bool wk__record_sort(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool descending, wk_tensor *out[2]);
/* The result of a composed op: in `dtype`, NULL if x is. */
wk_tensor *wk__cast_result(wk_tensor *x, wk_dtype dtype);

/* ---- in gradients: public ops ------------------------------------------------------------------------------------ */

/* A tensor of the result's shape with the reduced dimensions there again, of size 1; wk__reduce_attributes say
 * which. */
wk_tensor *wk__restore_reduced_dims(const wk__grad_ctx *g, wk_tensor *result);
/* Public sum, mean and product over the masked dimensions, which stay. */
wk_tensor *wk__sum_keepdim(wk_tensor *x, int64_t mask);
wk_tensor *wk__mean_keepdim(wk_tensor *x, int64_t mask);
wk_tensor *wk__prod_keepdim(wk_tensor *x, int64_t mask);
/* The gradient of a result that is one of several elements: each of these (`same`, bool) gets an equal share of it. */
wk_tensor *wk__split_grad_among_ties(wk_tensor *same, wk_tensor *grad, int64_t mask);
/* The product of what stands before each element along an axis, or behind it; 1 where that is nothing. Gradients of any
 * order. NULL if x is. */
wk_tensor *wk__exclusive_cumprod(wk_tensor *x, int64_t axis, bool backwards);

#endif

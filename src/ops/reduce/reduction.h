/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for reductions and the ops built on them (softmax, layer_norm, losses): dimension arguments, views with one
 * dimension last, row sums.
 *
 * Such an op records several small ops, which the engine fuses into one row program. Two conditions keep them fusible:
 * reduced dimensions keep size 1 until the last step, and ops that use IOTA along a dimension move it last first,
 * because a program iterates over reduced dimensions innermost. */
#ifndef WICK_OPS_REDUCE_REDUCTION_H
#define WICK_OPS_REDUCE_REDUCTION_H

#include "ops/core/compose.h"
#include "ops/core/entries.h"

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Converts a dimension of x to its index; a 0-d tensor has dimension 0. False on error. */
bool wk__reduction_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int *axis);
/* Check that x has a floating dtype, and that x has elements along the masked dimensions. */
bool wk__check_float(const wk__op *op, wk_site site, wk_tensor *x);
bool wk__check_nonempty_reduction(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask);
/* Returns the product of the masked sizes. */
int64_t wk__reduced_numel(const wk_tensor *x, uint16_t mask);

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* One call of a reduction, from its checks to its node. Between begin and end the op composes `out` from x and mask. */
typedef struct wk__reduction_call {
    wk__compose compose;
    wk__reduce_attributes attributes; /* mask and keepdim are set; the op sets the others */
    const char *node;                 /* printed as grad_fn; NULL: op->node */
    uint16_t mask;
    bool keepdim, dtype_given;
    wk_dtype dtype; /* dtype to reduce in: the option's, else x's; in op->domain */
} wk__reduction_call;
/* dtype 0: x's dtype. False on error. */
bool wk__reduction_begin(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims,
                         int count, bool keepdim, wk_dtype dtype);
/* Like wk__reduction_begin(), but with the options of most reductions; a dtype is an error unless op->takes_dtype. */
bool wk__reduction_begin_options(wk__reduction_call *r, const wk__op *op, wk_site site, wk_tensor *x,
                                 const int64_t *dims, int count, const wk_reduce_options *options);
/* out is NULL after an error. */
wk_tensor *wk__reduction_end(wk__reduction_call *r, wk_tensor *out);

/* ---- inside composite ops: no nodes ------------------------------------------------------------------------------ */

/* Move dimension `axis` last, and back. */
wk_tensor *wk__move_dim_last(wk_tensor *x, int axis);
wk_tensor *wk__move_dim_back(wk_tensor *x, int axis);
/* Returns x with a new last dimension of size 1. */
wk_tensor *wk__append_unit_dim(wk_tensor *x);
/* Return the sum and the maximum over the masked dimensions in x's computation dtype; dimensions stay with size 1 if
 * keepdim. */
wk_tensor *wk__reduce_sum(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim);
wk_tensor *wk__reduce_max(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim);
/* Returns the result with its reduced dimensions if keepdim, else as a view without them. NULL if it is NULL. */
wk_tensor *wk__drop_reduced_dims(wk_tensor *out, uint16_t mask, bool keepdim);
/* Returns the index of each element in its row, as i64, if the masked dimensions are the last. Stores nothing and does
 * not divide: it is the element's position in the index space minus the position of the row's first element, which is
 * one more reduction of the row program. */
wk_tensor *wk__row_iota(wk_site site, wk_tensor *x, uint16_t mask);
/* Records running sums (or products) of a floating or i64 tensor along one dimension, from the end if backwards. */
wk_tensor *wk__record_scan(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool product, bool backwards);
/* Records a stable sort along one dimension: values and their indices (i64), both with x's shape. False on error. */
bool wk__record_sort(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool descending, wk_tensor *out[2]);
/* Returns true if the first k of `length` elements along a dimension of x are faster selected than sorted. */
bool wk__selects(const wk_tensor *x, int64_t length, int64_t k);
/* Composes the first k positions of such a sort. False on error, with out[] NULL or incomplete. (selection.c) */
bool wk__select(wk_site site, wk_tensor *x, int axis, int64_t k, bool descending, wk_tensor *out[2]);
/* Ends a composite op with values out[0] and their indices out[1], which become operand 1 of the node. Stores the
 * results; one that the caller does not request (NULL) is released. (sort.c) */
wk_code wk__end_values_and_indices(wk__compose *c, wk_tensor *out[2], const wk__attr *attr, wk_tensor **values,
                                   wk_tensor **indices);
/* Gradient of such an op, with wk__sort_attributes: adds the gradients of the values at their indices. (sort.c) */
void wk__sort_gradient(wk__grad_ctx *g);
/* Returns the result of a composite op converted to `dtype`; NULL if x is NULL. */
wk_tensor *wk__cast_result(wk_tensor *x, wk_dtype dtype);

/* ---- in gradients: public ops ------------------------------------------------------------------------------------ */

/* Returns a tensor of the result's shape with the reduced dimensions restored at size 1, according to
 * wk__reduce_attributes. */
wk_tensor *wk__restore_reduced_dims(const wk__grad_ctx *g, wk_tensor *result);
/* Public sum, mean and product over the masked dimensions, with keepdim. */
wk_tensor *wk__sum_keepdim(wk_tensor *x, int64_t mask);
wk_tensor *wk__mean_keepdim(wk_tensor *x, int64_t mask);
wk_tensor *wk__prod_keepdim(wk_tensor *x, int64_t mask);
/* Returns the sum of two terms of a gradient; a term that is NULL is absent. */
wk_tensor *wk__add_terms(wk_tensor *a, wk_tensor *b);
/* Gradient of a result that selects one of several equal elements: divides grad equally among the elements where `same`
 * (bool) is set. */
wk_tensor *wk__split_grad_among_ties(wk_tensor *same, wk_tensor *grad, int64_t mask);
/* Returns, for each element, the product of the elements before it along an axis (after it if backwards); 1 for an
 * empty product. Differentiable to any order. NULL if x is NULL. */
wk_tensor *wk__exclusive_cumprod(wk_tensor *x, int64_t axis, bool backwards);

#endif

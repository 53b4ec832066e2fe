/* SPDX-License-Identifier: Apache-2.0 */
/* wick/reduce.h: reductions, scans, sorting, softmax, normalisation, losses.
 *
 * Errors: WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if a dimension is named twice; WK_ERR_DTYPE
 * if an op of floats gets integers. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#ifndef WICK_REDUCE_H
#define WICK_REDUCE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "reduce_calls.h"

/* ---- reductions -------------------------------------------------------------------------------------------------- */
/* Over all dimensions, wk_sum(x) or wk_sum(x, .keepdim = true), or over those in parentheses, wk_sum(x, (0, 1),
 * .keepdim = true). */

#ifndef __cplusplus
/* wk_sum(x, (dims)): Sums over all dimensions, or over dims.
 * Options:   .keepdim: keep reduced dimensions with size 1; default false. .dtype: of the result, for sum, mean and
 *            prod; default as PyTorch
 * Dtypes:    any; out has .dtype, by default i64 for integers and bool, else that of x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_sum(x, (1), .keepdim = true) is {{3}, {7}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.sum */
#define wk_sum(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_sum, wk_reduce_options, __VA_ARGS__))

/* wk_mean(x, (dims)): Computes the mean over all dimensions, or over dims.
 * Options:   .keepdim. .dtype
 * Dtypes:    floating, or any with a floating .dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating and .dtype is not set
 * Example:   wk_mean(x, (0)) is {2, 3} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.mean */
#define wk_mean(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_mean, wk_reduce_options, __VA_ARGS__))

/* wk_prod(x, (dims)): Multiplies over all dimensions, or over dims.
 * Options:   .keepdim. .dtype
 * Dtypes:    any; out has .dtype, by default i64 for integers and bool, else that of x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_prod(x) is 24 for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.prod */
#define wk_prod(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_prod, wk_reduce_options, __VA_ARGS__))

/* wk_amax(x, (dims)): Finds the largest element over all dimensions, or over dims; NaN if there is one. -0 is less
 * than 0.
 * Options:   .keepdim
 * Dtypes:    any
 * Gradient:  shared equally among the largest
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a reduced dimension is empty
 * Example:   wk_amax(x, (1)) is {2, 4} for x = {{1, 2}, {4, 3}}
 * PyTorch:   torch.amax */
#define wk_amax(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_amax, wk_reduce_options, __VA_ARGS__))

/* wk_amin(x, (dims)): Finds the smallest element over all dimensions, or over dims; NaN if there is one. -0 is less
 * than 0.
 * Options:   .keepdim
 * Dtypes:    any
 * Gradient:  shared equally among the smallest
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a reduced dimension is empty
 * Example:   wk_amin(x, (1)) is {1, 3} for x = {{1, 2}, {4, 3}}
 * PyTorch:   torch.amin */
#define wk_amin(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_amin, wk_reduce_options, __VA_ARGS__))

/* wk_all(x, (dims)): Tests whether all elements are nonzero, over all dimensions or over dims; true if there are
 * none. In a condition of C write if (wk_item(wk_all(x))): the result is a tensor, and its pointer is always true.
 * Options:   .keepdim
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_all(x, (1)) is {1, 0} for x = {{1, 2}, {0, 3}}
 * PyTorch:   torch.all */
#define wk_all(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_all, wk_reduce_options, __VA_ARGS__))

/* wk_any(x, (dims)): Tests whether an element is nonzero, over all dimensions or over dims; false if there are none.
 * Options:   .keepdim
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_any(x, (1)) is {0, 1} for x = {{0, 0}, {0, 3}}
 * PyTorch:   torch.any */
#define wk_any(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_any, wk_reduce_options, __VA_ARGS__))

/* wk_count_nonzero(x, (dims)): Counts the elements that are not 0, over all dimensions or over dims.
 * Options:   .keepdim
 * Dtypes:    any; out i64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_count_nonzero(x) is 2 for x = {{0, 2}, {0, 3}}
 * PyTorch:   torch.count_nonzero */
#define wk_count_nonzero(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_count_nonzero, wk_reduce_options, __VA_ARGS__))

/* wk_logsumexp(x, (dims)): Computes log(sum of e^x) over all dimensions, or over dims, without overflow.
 *     out = log(sum e^x)
 * Options:   .keepdim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_logsumexp(x, (0)) is 1.313262 for x = {0, 1}
 * PyTorch:   torch.logsumexp */
#define wk_logsumexp(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_logsumexp, wk_reduce_options, __VA_ARGS__))

/* wk_argmax(x, dims): Finds the index of the largest element, the first of equals; NaN counts as largest. At most
 * one dimension, written without parentheses; without it the index is that of the flattened tensor.
 * Options:   .keepdim
 * Dtypes:    any; out i64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a reduced dimension is empty
 * Example:   wk_argmax(x, 1) is {1, 0} for x = {{1, 2}, {4, 3}}
 * PyTorch:   torch.argmax */
#define wk_argmax(...) WK_NEW_TENSOR_(WK_REDUCE_ONE_(wk_argmax, __VA_ARGS__))

/* wk_argmin(x, dims): Finds the index of the smallest element, the first of equals; NaN counts as smallest. At most
 * one dimension, written without parentheses; without it the index is that of the flattened tensor.
 * Options:   .keepdim
 * Dtypes:    any; out i64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a reduced dimension is empty
 * Example:   wk_argmin(x) is 3 for x = {{1, 2}, {4, 0}}
 * PyTorch:   torch.argmin */
#define wk_argmin(...) WK_NEW_TENSOR_(WK_REDUCE_ONE_(wk_argmin, __VA_ARGS__))

/* wk_var(x, (dims)): Computes the variance over all dimensions, or over dims.
 *     out = sum (x - mean)^2 / (n - correction)
 * Options:   .keepdim. .correction: subtracted from the number of elements; default 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_var(x, .correction = 0) is 1 for x = {1, 3}
 * PyTorch:   torch.var */
#define wk_var(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_var, wk_var_options, __VA_ARGS__))

/* wk_std(x, (dims)): Computes the standard deviation over all dimensions, or over dims.
 *     out = sqrt(var(x))
 * Options:   .keepdim. .correction: default 1
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_std(x, (1)) is {1.414214, 2.828427} for x = {{1, 3}, {2, 6}}
 * PyTorch:   torch.std */
#define wk_std(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_std, wk_var_options, __VA_ARGS__))

/* wk_norm(x, (dims)): Computes the p-norm over all dimensions, or over dims.
 *     out = (sum |x|^p)^(1/p)
 * Options:   .keepdim. .p: any number, also INFINITY and -INFINITY; 0 counts the elements that are not 0; default 2
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_norm(x, (1)) is {5, 13} for x = {{3, 4}, {5, 12}}
 * PyTorch:   torch.linalg.vector_norm */
#define wk_norm(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_norm, wk_norm_options, __VA_ARGS__))

/* wk_dist(a, b): Computes the p-norm of the difference of a and b over all elements.
 *     out = (sum |a - b|^p)^(1/p)
 * Options:   .p: as for wk_norm; default 2
 * Shapes:    a and b broadcast; out has no dimensions
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_dist(x, y) is 5 for x = {1, 2}, y = {4, 6}
 * PyTorch:   torch.dist */
#define wk_dist(a, ...) WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_dist, wk_dist_options, "a, b", a, __VA_ARGS__))

/* wk_pairwise_distance(a, b): Computes the p-norm of the difference of a and b along the last dimension.
 *     out = (sum |a - b + eps|^p)^(1/p)
 * Options:   .p: as for wk_norm; default 2. .eps: added to the difference; default 1e-06. .keepdim
 * Shapes:    a and b broadcast; out lacks the last dimension, or has size 1 there for .keepdim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a and b do not broadcast, or for an infinite p if the last dimension is empty
 * Example:   wk_pairwise_distance(x, y, .eps = 0) is {5} for x = {{1, 2}}, y = {{4, 6}}
 * PyTorch:   torch.nn.functional.pairwise_distance */
#define wk_pairwise_distance(a, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_pairwise_distance, wk_pairwise_distance_options, "a, b", a, __VA_ARGS__))

/* wk_cosine_similarity(a, b, dim): Computes the cosine of the angle between vectors along dim.
 *     out = sum a b / (max(|a|, eps) max(|b|, eps))
 * Options:   .eps: smallest length that counts; default 1e-08
 * Shapes:    a and b broadcast; out lacks dim
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if a and b do not broadcast
 * Example:   wk_cosine_similarity(x, y, 0) is 0.707107 for x = {1, 0}, y = {1, 1}
 * PyTorch:   torch.nn.functional.cosine_similarity */
#define wk_cosine_similarity(a, b, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT3_(wk_tensor *, wk_cosine_similarity, wk_cosine_similarity_options, "a, b, dim", a, b, __VA_ARGS__))

/* wk_nansum(x, (dims)): Sums over all dimensions, or over dims, as if NaN were 0.
 * Options:   .keepdim. .dtype
 * Dtypes:    any; out has .dtype, by default i64 for integers and bool, else that of x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_nansum(x, (0)) is 4 for x = {1, NAN, 3}
 * PyTorch:   torch.nansum */
#define wk_nansum(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_nansum, wk_reduce_options, __VA_ARGS__))

/* wk_nanmean(x, (dims)): Computes the mean of the elements that are not NaN, over all dimensions or over dims.
 * Options:   .keepdim. .dtype
 * Dtypes:    floating, or any with a floating .dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating and .dtype is not set
 * Example:   wk_nanmean(x) is 2 for x = {1, NAN, 3}
 * PyTorch:   torch.nanmean */
#define wk_nanmean(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_nanmean, wk_reduce_options, __VA_ARGS__))

/* wk_cdist(a, b): Computes the p-norms of the differences of all pairs of rows of a and b.
 *     out[..., i, j] = (sum over k |a[..., i, k] - b[..., j, k]|^p)^(1/p)
 * Options:   .p: at least 0; inf for the largest difference; default 2
 * Shapes:    a (..., P, M), b (..., R, M) -> (..., P, R); the other dimensions broadcast
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if an operand has fewer than two dimensions or sizes do not match; WK_ERR_ARGUMENT if p is
 *            negative; WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_cdist(x, y) is {{5}, {4}} for x = {{0, 0}, {3, 0}}, y = {{3, 4}}
 * PyTorch:   torch.cdist */
#define wk_cdist(a, ...) WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_cdist, wk_cdist_options, "a, b", a, __VA_ARGS__))

#endif

/* ---- along one dimension ----------------------------------------------------------------------------------------- */
/* *values and *indices (i64, the index along dim of each value) receive tensors that belong to the innermost scope;
 * either pointer may be NULL. On error both are NULL. Gradients flow to the elements at indices. */

/* wk_softmax(x, dim): Normalises e^x to a sum of 1 along dim.
 *     out = e^x / sum e^x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_softmax(x, 0) is {0.268941, 0.731059} for x = {0, 1}
 * PyTorch:   torch.softmax */
#define wk_softmax(...) WK_EXACT_NEW_(2, wk_softmax, "x, dim", __VA_ARGS__)

/* wk_softmin(x, dim): Normalises e^-x to a sum of 1 along dim.
 *     out = softmax(-x)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_softmin(x, 0) is {0.731059, 0.268941} for x = {0, 1}
 * PyTorch:   torch.nn.functional.softmin */
#define wk_softmin(...) WK_EXACT_NEW_(2, wk_softmin, "x, dim", __VA_ARGS__)

/* wk_log_softmax(x, dim): Computes the logarithm of softmax along dim, accurately where softmax is 0.
 *     out = x - log(sum e^x)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_log_softmax(x, 0) is {-1.313262, -0.313262} for x = {0, 1}
 * PyTorch:   torch.log_softmax */
#define wk_log_softmax(...) WK_EXACT_NEW_(2, wk_log_softmax, "x, dim", __VA_ARGS__)

/* wk_cumsum(x, dim): Computes running sums along dim.
 * Dtypes:    any; out i64 for integers and bool, else as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_cumsum(x, 0) is {1, 3, 6} for x = {1, 2, 3}
 * PyTorch:   torch.cumsum */
#define wk_cumsum(...) WK_EXACT_NEW_(2, wk_cumsum, "x, dim", __VA_ARGS__)

/* wk_cumprod(x, dim): Computes running products along dim.
 * Dtypes:    any; out i64 for integers and bool, else as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_cumprod(x, 0) is {1, 2, 6} for x = {1, 2, 3}
 * PyTorch:   torch.cumprod */
#define wk_cumprod(...) WK_EXACT_NEW_(2, wk_cumprod, "x, dim", __VA_ARGS__)

/* wk_sort(x, dim, descending, values, indices): Sorts along dim; equal values keep their order, NaN counts as
 * largest.
 * Dtypes:    any; values as x, indices i64
 * Returns:   WK_OK or an error code; *values and *indices receive new tensors, NULL on error; either pointer may be
 *            NULL
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_sort(x, 0, false, &values, NULL) sets values to {1, 2, 3} for x = {3, 1, 2}
 * PyTorch:   torch.sort */
#define wk_sort(...) WK_EXACT_(wk_code, 5, wk_sort, "x, dim, descending, values, indices", __VA_ARGS__)

/* wk_argsort(x, dim, descending): Computes the indices that sort dim; equal values keep their order, NaN counts as
 * largest.
 * Dtypes:    any; out i64
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_argsort(x, 0, true) is {0, 2, 1} for x = {3, 1, 2}
 * PyTorch:   torch.argsort */
#define wk_argsort(...) WK_EXACT_NEW_(3, wk_argsort, "x, dim, descending", __VA_ARGS__)

/* wk_topk(x, k, dim, largest, values, indices): Finds the k largest (or smallest) values along dim, in order; NaN
 * counts as largest.
 * Dtypes:    any; values as x, indices i64
 * Returns:   WK_OK or an error code; *values and *indices receive new tensors, NULL on error; either pointer may be
 *            NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if k is negative or greater than the size of dim
 * Example:   wk_topk(x, 2, 0, true, &values, NULL) sets values to {3, 2} for x = {3, 1, 2}
 * PyTorch:   torch.topk */
#define wk_topk(...) WK_EXACT_(wk_code, 6, wk_topk, "x, k, dim, largest, values, indices", __VA_ARGS__)

/* wk_kthvalue(x, k, dim, keepdim, values, indices): Finds the k-th smallest value along dim, counted from 1; NaN
 * counts as largest.
 * Dtypes:    any; values as x, indices i64
 * Returns:   WK_OK or an error code; *values and *indices receive new tensors, NULL on error; either pointer may be
 *            NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if k is out of range; WK_ERR_SHAPE if dim is empty
 * Example:   wk_kthvalue(x, 2, 0, false, &values, NULL) sets values to 2 for x = {3, 1, 2}
 * PyTorch:   torch.kthvalue */
#define wk_kthvalue(...) WK_EXACT_(wk_code, 6, wk_kthvalue, "x, k, dim, keepdim, values, indices", __VA_ARGS__)

/* wk_median(x): Finds the lower median of all elements, NaN if there is one. wk_median_dim(x, dim, keepdim, values,
 * indices) finds it along dim.
 * Dtypes:    any
 * Gradient:  shared equally by the elements equal to the median of all; along dim, that of the element at indices
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if there are no elements
 * Example:   wk_median(x) is 2 for x = {3, 1, 2, 5}
 * PyTorch:   torch.median, where that of no elements is NaN */
#define wk_median(...)     WK_EXACT_NEW_(1, wk_median, "x", __VA_ARGS__)
#define wk_median_dim(...) WK_EXACT_(wk_code, 5, wk_median_dim, "x, dim, keepdim, values, indices", __VA_ARGS__)

/* wk_cummax(x, dim, values, indices): Computes running maxima along dim, and the index of each: the last one of
 * equal values. NaN propagates.
 * Dtypes:    any; values as x, indices i64
 * Returns:   WK_OK or an error code; *values and *indices receive new tensors, NULL on error; either pointer may be
 *            NULL
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_cummax(x, 0, &values, NULL) sets values to {1, 3, 3} for x = {1, 3, 2}
 * PyTorch:   torch.cummax */
#define wk_cummax(...) WK_EXACT_(wk_code, 4, wk_cummax, "x, dim, values, indices", __VA_ARGS__)

/* wk_cummin(x, dim, values, indices): Computes running minima along dim, and the index of each: the last one of
 * equal values. NaN propagates.
 * Dtypes:    any; values as x, indices i64
 * Returns:   WK_OK or an error code; *values and *indices receive new tensors, NULL on error; either pointer may be
 *            NULL
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_cummin(x, 0, &values, NULL) sets values to {2, 1, 1} for x = {2, 1, 3}
 * PyTorch:   torch.cummin */
#define wk_cummin(...) WK_EXACT_(wk_code, 4, wk_cummin, "x, dim, values, indices", __VA_ARGS__)

/* wk_logcumsumexp(x, dim): Computes logarithms of running sums of e^x along dim, also where e^x overflows.
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_logcumsumexp(x, 0) is {0, 0.693147, 1000} for x = {0, 0, 1000}
 * PyTorch:   torch.logcumsumexp */
#define wk_logcumsumexp(...) WK_EXACT_NEW_(2, wk_logcumsumexp, "x, dim", __VA_ARGS__)

/* ---- sets -------------------------------------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_unique(x): Finds the distinct elements, sorted. NaN equals nothing, so each NaN is distinct. .return_inverse
 * and .return_counts receive further tensors; NULL asks for none. Waits for the device, as the shape depends on
 * data.
 * Options:   .return_inverse: receives the index in out of each element, shaped like x; default NULL.
 *            .return_counts: receives the count of each element of out; default NULL
 * Shapes:    out (n), inverse as x, counts (n)
 * Dtypes:    any; out as x, inverse and counts i64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope, as the tensors that options receive; NULL on error
 * Example:   wk_unique(x) is {1, 2} for x = {2, 1, 2}
 * PyTorch:   torch.unique */
#define wk_unique(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_unique, wk_unique_options, __VA_ARGS__))

/* wk_isin(elements, test_elements): Tests for each element whether it equals one of test_elements; with .invert,
 * whether it equals none. Mixed dtypes are promoted as in wk_eq.
 * Options:   .invert: test for equality with none; default false
 * Shapes:    out has the shape of elements; test_elements may have any
 * Dtypes:    any; out bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_isin(x, y) is {1, 0, 1} for x = {1, 2, 3}, y = {3, 1}
 * PyTorch:   torch.isin */
#define wk_isin(elements, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_isin, wk_isin_options, "elements, test_elements", elements, __VA_ARGS__))

/* wk_searchsorted(sorted, values): Finds the index in sorted at which each value would be inserted to keep the
 * order.
 *     sorted[out - 1] < value <= sorted[out], or <= and < with .right
 * Options:   .out_int32: i32 indices; default false. .right: after equal elements; default false. .side: as .right;
 *            "left" or "right". .sorter: indices that sort the sequence, i64; default NULL
 * Shapes:    sorted is a vector, or has the shape of values except for the last dimension; out has the shape of
 *            values
 * Dtypes:    any; out i64, or i32 with .out_int32
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ from those above; WK_ERR_DTYPE if .sorter is not i64
 * Example:   wk_searchsorted(x, y) is {1, 2} for x = {1, 3, 5}, y = {3, 4}
 * PyTorch:   torch.searchsorted, which refuses mixed dtypes */
#define wk_searchsorted(sorted, ...)                                                                                   \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_searchsorted, wk_searchsorted_options, "sorted, values", sorted, __VA_ARGS__))

/* wk_bucketize(x, boundaries): Finds the bucket between boundaries, a sorted vector, of each element.
 *     boundaries[out - 1] < x <= boundaries[out], or <= and < with .right
 * Options:   .out_int32: i32 indices; default false. .right: an element equal to a boundary is in the next bucket;
 *            default false
 * Shapes:    boundaries is a vector; out has the shape of x
 * Dtypes:    any; out i64, or i32 with .out_int32
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if boundaries is not a vector
 * Example:   wk_bucketize(x, y) is {0, 1, 3} for x = {0, 2, 9}, y = {1, 2, 3}
 * PyTorch:   torch.bucketize */
#define wk_bucketize(x, ...)                                                                                           \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_bucketize, wk_bucketize_options, "x, boundaries", x, __VA_ARGS__))

/* wk_bincount(x): Counts how often each integer occurs in x, or sums .weights for it. Waits for the device, as the
 * shape depends on data.
 * Options:   .weights: one for each element of x; default NULL. .minlength: smallest number of counts; default 0
 * Shapes:    x is a vector; out has one element more than the largest element of x, at least .minlength
 * Dtypes:    x integers; out i64, with .weights f32 or else f64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if x has no integer dtype; WK_ERR_SHAPE if x is not a vector or .weights has another size;
 *            WK_ERR_ARGUMENT if an element or .minlength is negative
 * Example:   wk_bincount(y, .minlength = 3) is {1, 2, 0} for y = {1, 1, 0}
 * PyTorch:   torch.bincount */
#define wk_bincount(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_bincount, wk_bincount_options, __VA_ARGS__))

/* wk_histc(x): Counts the elements in .bins intervals of equal width from .min to .max. The last interval includes
 * .max. Elements outside and NaN are not counted. If .min equals .max, the limits are the least and the largest
 * element, for which the call waits for the device; if these are equal too, the limits are 1 below and 1 above them.
 * Options:   .bins: number of intervals; 0 is the default, 100; default 100. .min: lower limit; default 0. .max:
 *            upper limit; default 0
 * Shapes:    (bins)
 * Dtypes:    floating
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .bins is negative, .max is less than .min or a limit is not finite; WK_ERR_DTYPE if
 *            x is not floating
 * Example:   wk_histc(x, .bins = 2, .max = 4) is {1, 2} for x = {1, 3, 4}
 * PyTorch:   torch.histc */
#define wk_histc(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_histc, wk_histc_options, __VA_ARGS__))

/* ---- normalisation ----------------------------------------------------------------------------------------------- */

/* wk_batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps): Normalises each channel, that
 * is each index of dimension 1, over the other dimensions. In training, mean and var are those of x, over the n
 * elements of a channel; running_mean and running_var, if not NULL, are updated: running = (1 - momentum) running +
 * momentum value, with var n / (n - 1) for the variance. Otherwise mean and var are running_mean and running_var.
 * training (false), momentum (0.1) and eps (1e-5) may be omitted; weight and bias may be NULL.
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    x (N, C) or (N, C, ...); the other tensors (C); out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if eps is negative, or without training if running_mean or running_var is NULL;
 *            WK_ERR_SHAPE if shapes do not match or, in training, n is 1; WK_ERR_DTYPE if a tensor is not floating;
 *            WK_ERR_STATE if a running statistic requires grad
 * Example:   wk_batch_norm(x, NULL, NULL, NULL, NULL, true, 0.1, 0) is {{-1, 1}, {1, -1}} for x = {{1, 6}, {3, 2}}
 * PyTorch:   torch.nn.functional.batch_norm */
#define wk_batch_norm(x, running_mean, running_var, weight, ...)                                                       \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_JOIN_(WK_BATCH_NORM_, WK_COUNT_4_(__VA_ARGS__))(x, running_mean, running_var, weight, __VA_ARGS__))
#define WK_BATCH_NORM_1(x, running_mean, running_var, weight, bias)                                                    \
    WK_JOIN_(WK_BATCH_NORM_1_, WK_IS_MISSING_(bias))(x, running_mean, running_var, weight, bias)
#define WK_BATCH_NORM_1_WK2_(x, running_mean, running_var, weight, bias)                                               \
    WK_REFUSE_(wk_tensor *,                                                                                            \
               "wk_batch_norm: an argument is missing: wk_batch_norm(x, running_mean, running_var, weight, bias)")
#define WK_BATCH_NORM_1_1(x, running_mean, running_var, weight, bias)                                                  \
    WK_BATCH_NORM_WK4_(x, running_mean, running_var, weight, bias, false, 0.1, 1e-05)
#define WK_BATCH_NORM_2(x, running_mean, running_var, weight, bias, training)                                          \
    WK_BATCH_NORM_WK4_(x, running_mean, running_var, weight, bias, training, 0.1, 1e-05)
#define WK_BATCH_NORM_3(x, running_mean, running_var, weight, bias, training, momentum)                                \
    WK_BATCH_NORM_WK4_(x, running_mean, running_var, weight, bias, training, momentum, 1e-05)
#define WK_BATCH_NORM_WK4_(...) WK_PLAIN_(wk_batch_norm, __VA_ARGS__)

/* wk_instance_norm(x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps): Normalises each
 * channel of each sample, that is each index of dimensions 0 and 1, over the other dimensions. With use_input_stats,
 * mean and var are those of x, over the n elements of a channel of a sample; running_mean and running_var, if not
 * NULL, are updated as by wk_batch_norm, with the means over samples. Otherwise mean and var are running_mean and
 * running_var. use_input_stats (true), momentum (0.1) and eps (1e-5) may be omitted; weight and bias may be NULL.
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    x (N, C, L) or (N, C, ...); the other tensors (C); out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if eps is negative, or without use_input_stats if running_mean or running_var is NULL;
 *            WK_ERR_SHAPE if shapes do not match or, with use_input_stats, n is 1; WK_ERR_DTYPE if a tensor is not
 *            floating; WK_ERR_STATE if a running statistic requires grad
 * Example:   wk_instance_norm(x, NULL, NULL, NULL, NULL, true, 0.1, 0) is {{{-1, 1}, {1, -1}}} for x = {{{1, 3}, {6,
 *            2}}}
 * PyTorch:   torch.nn.functional.instance_norm */
#define wk_instance_norm(x, running_mean, running_var, weight, ...)                                                    \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_JOIN_(WK_INSTANCE_NORM_, WK_COUNT_4_(__VA_ARGS__))(x, running_mean, running_var, weight, __VA_ARGS__))
#define WK_INSTANCE_NORM_1(x, running_mean, running_var, weight, bias)                                                 \
    WK_JOIN_(WK_INSTANCE_NORM_1_, WK_IS_MISSING_(bias))(x, running_mean, running_var, weight, bias)
#define WK_INSTANCE_NORM_1_WK2_(x, running_mean, running_var, weight, bias)                                            \
    WK_REFUSE_(                                                                                                        \
        wk_tensor *,                                                                                                   \
        "wk_instance_norm: an argument is missing: wk_instance_norm(x, running_mean, running_var, weight, bias)")
#define WK_INSTANCE_NORM_1_1(x, running_mean, running_var, weight, bias)                                               \
    WK_INSTANCE_NORM_WK4_(x, running_mean, running_var, weight, bias, true, 0.1, 1e-05)
#define WK_INSTANCE_NORM_2(x, running_mean, running_var, weight, bias, use_input_stats)                                \
    WK_INSTANCE_NORM_WK4_(x, running_mean, running_var, weight, bias, use_input_stats, 0.1, 1e-05)
#define WK_INSTANCE_NORM_3(x, running_mean, running_var, weight, bias, use_input_stats, momentum)                      \
    WK_INSTANCE_NORM_WK4_(x, running_mean, running_var, weight, bias, use_input_stats, momentum, 1e-05)
#define WK_INSTANCE_NORM_WK4_(...) WK_PLAIN_(wk_instance_norm, __VA_ARGS__)

/* wk_group_norm(x, groups, weight, bias, eps): Normalises each group of adjacent channels of each sample over the
 * group and all positions. groups is the number of groups of the C channels, dimension 1. weight and bias may be
 * NULL. eps may be omitted (1e-5).
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    x (N, C) or (N, C, ...); weight and bias (C); out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if groups does not divide C or eps is negative; WK_ERR_SHAPE if shapes do not match or
 *            x does not have 2 to 7 dimensions; WK_ERR_DTYPE if a tensor is not floating
 * Example:   wk_group_norm(x, 1, NULL, NULL, 0) is {{-1, 1}, {1, -1}} for x = {{1, 3}, {6, 2}}
 * PyTorch:   torch.nn.functional.group_norm */
#define wk_group_norm(x, groups, weight, ...)                                                                          \
    WK_NEW_TENSOR_(WK_JOIN_(WK_GROUP_NORM_, WK_COUNT_(__VA_ARGS__))(x, groups, weight, __VA_ARGS__))
#define WK_GROUP_NORM_1(x, groups, weight, bias)                                                                       \
    WK_JOIN_(WK_GROUP_NORM_1_, WK_IS_MISSING_(bias))(x, groups, weight, bias)
#define WK_GROUP_NORM_1_WK2_(x, groups, weight, bias)                                                                  \
    WK_REFUSE_(wk_tensor *, "wk_group_norm: an argument is missing: wk_group_norm(x, groups, weight, bias)")
#define WK_GROUP_NORM_1_1(x, groups, weight, bias) WK_GROUP_NORM_WK2_(x, groups, weight, bias, 1e-05)
#define WK_GROUP_NORM_WK2_(...)                    WK_PLAIN_(wk_group_norm, __VA_ARGS__)

/* wk_rms_norm(x, (shape), weight, eps): Divides by the root of the mean square over the last dimensions, whose sizes
 * are shape. weight may be NULL. If eps is omitted or negative, it is the distance between 1 and the next number of
 * the dtype in which x is computed: 2^-23 for f32, bf16 and f16.
 *     out = x / sqrt(mean(x^2) + eps) weight
 * Shapes:    weight has shape; out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if shapes do not match; WK_ERR_DTYPE if x is not floating
 * Example:   wk_rms_norm(x, (2), NULL, 0) is {{1, -1}, {1.4, 0.2}} for x = {{1, -1}, {7, 1}}
 * PyTorch:   torch.nn.functional.rms_norm */
#define wk_rms_norm(x, shape, ...)                                                                                     \
    WK_NEW_TENSOR_(WK_JOIN_(WK_RMS_NORM_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, x, shape, __VA_ARGS__))
#define WK_RMS_NORM_1(wk_s_, x, shape, weight) WK_JOIN_(WK_RMS_NORM_1_, WK_IS_MISSING_(weight))(wk_s_, x, shape, weight)
#define WK_RMS_NORM_1_WK2_(wk_s_, x, shape, weight)                                                                    \
    WK_REFUSE_(wk_tensor *, "wk_rms_norm: an argument is missing: wk_rms_norm(x, (3), weight)")
#define WK_RMS_NORM_1_1(wk_s_, x, shape, weight) WK_RMS_NORM_WK2_(wk_s_, x, shape, weight, -1)
#define WK_RMS_NORM_WK2_(wk_s_, x, shape, weight, eps)                                                                 \
    WK_SIZED_(wk_tensor *, wk_s_, shape, "wk_rms_norm: write sizes in parentheses: wk_rms_norm(x, (3), weight)",       \
              WK_GIVE_(wk_tensor *, wk_rms_norm_at(WK_HERE, x, wk_s_.at, wk_s_.count, weight, eps)))

/* wk_local_response_norm(x, size, alpha, beta, k): Divides each element by a power of the squares at its position in
 * size adjacent channels. The channels, dimension 1, are those from c - size / 2 to c + (size - 1) / 2, with integer
 * division; squares of channels that do not exist count as 0. alpha (1e-4), beta (0.75) and k (1) may be omitted.
 *     out = x / (k + alpha / size sum(x^2))^beta
 * Shapes:    x (N, C, ...) with 3 to 7 dimensions; out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if size is less than 1; WK_ERR_SHAPE if x does not have 3 to 7 dimensions
 * Example:   wk_local_response_norm(x, 2, 2, 1, 0) is {{{1}, {0.4}}} for x = {{{1}, {2}}}
 * PyTorch:   torch.nn.functional.local_response_norm */
#define wk_local_response_norm(x, ...)                                                                                 \
    WK_NEW_TENSOR_(WK_JOIN_(WK_LOCAL_RESPONSE_NORM_, WK_COUNT_4_(__VA_ARGS__))(x, __VA_ARGS__))
#define WK_LOCAL_RESPONSE_NORM_1(x, size) WK_JOIN_(WK_LOCAL_RESPONSE_NORM_1_, WK_IS_MISSING_(size))(x, size)
#define WK_LOCAL_RESPONSE_NORM_1_WK2_(x, size)                                                                         \
    WK_REFUSE_(wk_tensor *, "wk_local_response_norm: an argument is missing: wk_local_response_norm(x, size)")
#define WK_LOCAL_RESPONSE_NORM_1_1(x, size)            WK_LOCAL_RESPONSE_NORM_WK4_(x, size, 0.0001, 0.75, 1)
#define WK_LOCAL_RESPONSE_NORM_2(x, size, alpha)       WK_LOCAL_RESPONSE_NORM_WK4_(x, size, alpha, 0.75, 1)
#define WK_LOCAL_RESPONSE_NORM_3(x, size, alpha, beta) WK_LOCAL_RESPONSE_NORM_WK4_(x, size, alpha, beta, 1)
#define WK_LOCAL_RESPONSE_NORM_WK4_(...)               WK_PLAIN_(wk_local_response_norm, __VA_ARGS__)

/* wk_normalize(x, p, dim, eps): Divides vectors along a dimension by their norms. p (2), dim (1) and eps (1e-12) may
 * be omitted; p as in wk_norm. Vectors shorter than eps are divided by eps.
 *     out = x / max(norm(x, p), eps)
 * Shapes:    out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_DTYPE if x is not floating
 * Example:   wk_normalize(x) is {{0.6, 0.8}, {0, 1}} for x = {{3, 4}, {0, 2}}
 * PyTorch:   torch.nn.functional.normalize */
#define wk_normalize(...)         WK_NEW_TENSOR_(WK_JOIN_(WK_NORMALIZE_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_NORMALIZE_1(x)         WK_NORMALIZE_WK4_(x, 2, 1, 1e-12)
#define WK_NORMALIZE_2(x, p)      WK_NORMALIZE_WK4_(x, p, 1, 1e-12)
#define WK_NORMALIZE_3(x, p, dim) WK_NORMALIZE_WK4_(x, p, dim, 1e-12)
#define WK_NORMALIZE_WK4_(...)    WK_PLAIN_(wk_normalize, __VA_ARGS__)

/* wk_layer_norm(x, (shape), weight, bias, eps): Normalises over the last dimensions, whose sizes are shape. weight
 * and bias may be NULL. eps may be omitted (1e-5). The variance is that of the population.
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    weight and bias have shape; out has the shape of x
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if eps is negative; WK_ERR_SHAPE if shapes do not match; WK_ERR_DTYPE if x is not
 *            floating
 * Example:   wk_layer_norm(x, (2), NULL, NULL, 0) is {{-1, 1}, {-1, 1}} for x = {{1, 3}, {2, 6}}
 * PyTorch:   torch.nn.functional.layer_norm */
#define wk_layer_norm(x, shape, weight, ...)                                                                           \
    WK_NEW_TENSOR_(WK_JOIN_(WK_LAYER_NORM_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, x, shape, weight, __VA_ARGS__))
#define WK_LAYER_NORM_1(wk_s_, x, shape, weight, bias)                                                                 \
    WK_JOIN_(WK_LAYER_NORM_1_, WK_IS_MISSING_(bias))(wk_s_, x, shape, weight, bias)
#define WK_LAYER_NORM_1_WK2_(wk_s_, x, shape, weight, bias)                                                            \
    WK_REFUSE_(wk_tensor *, "wk_layer_norm: an argument is missing: wk_layer_norm(x, (3), weight, bias)")
#define WK_LAYER_NORM_1_1(wk_s_, x, shape, weight, bias) WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, 1e-05)
#define WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, eps)                                                         \
    WK_SIZED_(wk_tensor *, wk_s_, shape,                                                                               \
              "wk_layer_norm: write sizes in parentheses: wk_layer_norm(x, (3), weight, bias)",                        \
              WK_GIVE_(wk_tensor *, wk_layer_norm_at(WK_HERE, x, wk_s_.at, wk_s_.count, weight, bias, eps)))

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* wk_mse_loss(input, target): Computes the mean squared error, or the sum or each element of it.
 *     (input - target)^2
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_mse_loss(x, y) is 2 for x = {1, 2}, y = {1, 4}
 * PyTorch:   torch.nn.functional.mse_loss */
#define wk_mse_loss(input, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_mse_loss, wk_loss_options, "input, target", input, __VA_ARGS__))

/* wk_l1_loss(input, target): Computes the mean absolute error, or the sum or each element of it.
 *     |input - target|
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_l1_loss(x, y, .reduction = WK_REDUCE_SUM) is 2 for x = {1, 2}, y = {1, 4}
 * PyTorch:   torch.nn.functional.l1_loss */
#define wk_l1_loss(input, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_l1_loss, wk_loss_options, "input, target", input, __VA_ARGS__))

/* wk_smooth_l1_loss(input, target): Computes a squared error below .beta and an absolute error above. A .beta of 0
 * is wk_l1_loss.
 *     d^2 / (2 beta) if |d| < beta, else |d| - beta / 2, with d = input - target
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .beta: default 1.0
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating;
 *            WK_ERR_ARGUMENT if .beta is negative
 * Example:   wk_smooth_l1_loss(x, y, .reduction = WK_REDUCE_NONE) is {0.125} for x = {1}, y = {1.5}
 * PyTorch:   torch.nn.functional.smooth_l1_loss */
#define wk_smooth_l1_loss(input, ...)                                                                                  \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_smooth_l1_loss, wk_smooth_l1_loss_options, "input, target", input, __VA_ARGS__))

/* wk_huber_loss(input, target): Computes a squared error below .delta and an absolute error above.
 *     d^2 / 2 if |d| < delta, else delta (|d| - delta / 2), with d = input - target
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .delta: positive;
 *            default 1.0
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating;
 *            WK_ERR_ARGUMENT if .delta is not positive
 * Example:   wk_huber_loss(x, y, .delta = 2) is 1 for x = {1, 2}, y = {1, 4}
 * PyTorch:   torch.nn.functional.huber_loss */
#define wk_huber_loss(input, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_huber_loss, wk_huber_loss_options, "input, target", input, __VA_ARGS__))

/* wk_binary_cross_entropy(input, target): Computes the cross entropy of probabilities and binary targets. Logarithms
 * are at least -100. An input outside [0, 1] gives NaN, as values are not checked;
 * wk_binary_cross_entropy_with_logits takes any number.
 *     -(target log(input) + (1 - target) log(1 - input))
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .weight: of each
 *            element, broadcast; default none
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Gradient:  none for .weight
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating;
 *            WK_ERR_STATE if .weight requires grad
 * Example:   wk_binary_cross_entropy(x, y) is 0.693147 for x = {0.5, 0.5}, y = {0, 1}
 * PyTorch:   torch.nn.functional.binary_cross_entropy, which refuses an input outside [0, 1] */
#define wk_binary_cross_entropy(input, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_binary_cross_entropy, wk_bce_options, "input, target", input, __VA_ARGS__))

/* wk_binary_cross_entropy_with_logits(input, target): Computes wk_binary_cross_entropy of sigmoid(input) without
 * overflow.
 *     -(pos_weight target log(sigmoid(input)) + (1 - target) log(1 - sigmoid(input)))
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .weight: of each
 *            element, broadcast; default none. .pos_weight: of the positive term, broadcast; default none
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Gradient:  none for .weight and .pos_weight
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating;
 *            WK_ERR_STATE if a weight requires grad
 * Example:   wk_binary_cross_entropy_with_logits(x, y) is 0.693147 for x = {0, 0}, y = {0, 1}
 * PyTorch:   torch.nn.functional.binary_cross_entropy_with_logits */
#define wk_binary_cross_entropy_with_logits(input, ...)                                                                \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_binary_cross_entropy_with_logits, wk_bce_with_logits_options,              \
                            "input, target", input, __VA_ARGS__))

/* wk_kl_div(input, target): Computes the Kullback-Leibler divergence of target from input, which holds
 * log-probabilities.
 *     p (log(p) - input), with p = target, or e^target for .log_target
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM, WK_REDUCE_NONE or WK_REDUCE_BATCHMEAN; default
 *            WK_REDUCE_MEAN. .log_target: target holds logarithms; default false
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_kl_div(x, y, .reduction = WK_REDUCE_SUM) is 1.386294 for x = {0, 0}, y = {1, 2}
 * PyTorch:   torch.nn.functional.kl_div */
#define wk_kl_div(input, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_kl_div, wk_kl_div_options, "input, target", input, __VA_ARGS__))

/* wk_soft_margin_loss(input, target): Computes the logistic loss of scores and targets of 1 or -1.
 *     log(1 + e^(-target input))
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_soft_margin_loss(x, y) is 0.693147 for x = {0, 0}, y = {1, -1}
 * PyTorch:   torch.nn.functional.soft_margin_loss */
#define wk_soft_margin_loss(input, ...)                                                                                \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_soft_margin_loss, wk_loss_options, "input, target", input, __VA_ARGS__))

/* wk_margin_ranking_loss(input1, input2, target): Penalises pairs of scores unless input1 exceeds input2 by .margin,
 * for target 1, or the opposite, for -1.
 *     max(0, margin - target (input1 - input2))
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .margin: default 0
 * Shapes:    the operands have one shape; out has none, or that of input1 for WK_REDUCE_NONE
 * Dtypes:    inputs floating; target any
 * Gradient:  0 where the loss is 0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if the inputs are not floating
 * Example:   wk_margin_ranking_loss(x, y, wk_sign(wk_sub(x, y)), .margin = 2) is 0.5 for x = {3, 2}, y = {2, 7}
 * PyTorch:   torch.nn.functional.margin_ranking_loss */
#define wk_margin_ranking_loss(input1, input2, ...)                                                                    \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_margin_ranking_loss, wk_margin_ranking_loss_options,                       \
                            "input1, input2, target", input1, input2, __VA_ARGS__))

/* wk_poisson_nll_loss(input, target): Computes the negative log-likelihood of counts from the logarithms of Poisson
 * rates. .full adds Stirling's approximation of log(target!) where target > 1.
 *     e^input - target input, or for .no_log_input input - target log(input + eps)
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .no_log_input:
 *            input holds rates, not their logarithms; default false. .full: add the term that depends on target
 *            only; default false. .eps: added to a rate; default 1e-08
 * Shapes:    input and target have one shape; out has none, or that of input for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating
 * Example:   wk_poisson_nll_loss(x, y) is 0.859141 for x = {0, 1}, y = {1, 2}
 * PyTorch:   torch.nn.functional.poisson_nll_loss */
#define wk_poisson_nll_loss(input, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_poisson_nll_loss, wk_poisson_nll_loss_options, "input, target", input, __VA_ARGS__))

/* wk_gaussian_nll_loss(input, target, var): Computes the negative log-likelihood of targets from means and variances
 * of normal distributions. .full adds log(2 pi) / 2. Variances below .eps count as .eps; the gradient of var is that
 * at .eps.
 *     (log(v) + (input - target)^2 / v) / 2, with v = max(var, eps)
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .full: add the
 *            constant; default false. .eps: smallest variance; default 1e-06
 * Shapes:    input and target have one shape; var has it, or a last size of 1, or lacks the last dimension; out has
 *            none, or input's shape for WK_REDUCE_NONE
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes do not fit; WK_ERR_DTYPE if an operand is not floating; WK_ERR_ARGUMENT if
 *            .eps is not positive
 * Example:   wk_gaussian_nll_loss(x, y, wk_ones_like(x)) is 1 for x = {1, 2}, y = {1, 4}
 * PyTorch:   torch.nn.functional.gaussian_nll_loss, which reports an error for a negative variance */
#define wk_gaussian_nll_loss(input, target, ...)                                                                       \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_gaussian_nll_loss, wk_gaussian_nll_loss_options, "input, target, var",     \
                            input, target, __VA_ARGS__))

/* wk_multi_margin_loss(x, labels): Sums max(0, margin - x[label] + x[c])^p over the classes c other than label, and
 * divides by C.
 *     sum over c other than label of weight[label] max(0, margin - x[label] + x[c])^p / C
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .p: 1 or 2;
 *            default 1. .margin: default 1.0. .weight: (C), of each class; default none
 * Shapes:    x (C) or (N, C); labels () or (N); out has none, or that of labels for WK_REDUCE_NONE
 * Dtypes:    x floating; labels i64 (other integers are converted)
 * Gradient:  none for .weight
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a label names no class; WK_ERR_SHAPE or WK_ERR_DTYPE if the operands do not fit;
 *            WK_ERR_ARGUMENT if .p is neither 1 nor 2; WK_ERR_STATE if .weight requires grad
 * Example:   wk_multi_margin_loss(x, y) is 1 for x = {{1, 2, 4}}, y = {1}
 * PyTorch:   torch.nn.functional.multi_margin_loss */
#define wk_multi_margin_loss(x, ...)                                                                                   \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_multi_margin_loss, wk_multi_margin_loss_options, "x, labels", x, __VA_ARGS__))

/* wk_cosine_embedding_loss(a, b, target): Compares directions: the loss is 0 at cosine 1 for target 1, and at
 * cosines up to .margin for target -1. Other targets give 0.
 *     1 - cos for target 1, max(0, cos - margin) for -1, with cos = a b / sqrt((a a + 1e-12) (b b + 1e-12))
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .margin: default 0
 * Shapes:    a and b (D) or (N, D); target () or (N); out has none, or that of target for WK_REDUCE_NONE
 * Dtypes:    a and b floating; target any
 * Gradient:  none for target
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes do not fit; WK_ERR_DTYPE if a or b is not floating
 * Example:   wk_cosine_embedding_loss(x, y, wk_full((), 1)) is 0.292893 for x = {1, 0}, y = {1, 1}
 * PyTorch:   torch.nn.functional.cosine_embedding_loss */
#define wk_cosine_embedding_loss(a, b, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_cosine_embedding_loss, wk_cosine_embedding_loss_options, "a, b, target",   \
                            a, b, __VA_ARGS__))

/* wk_triplet_margin_loss(anchor, positive, negative): Compares distances: that from anchor to positive is to be less
 * than that to negative by .margin. .swap takes the lesser of the distances from negative to anchor and to positive.
 *     max(0, d(anchor, positive) - d(anchor, negative) + margin), with d = wk_pairwise_distance
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .margin: positive;
 *            default 1.0. .p: of the norm; default 2. .eps: added to differences; default 1e-06. .swap
 * Shapes:    the operands have one shape, (D) or (N, D); out has none, or that without D for WK_REDUCE_NONE
 * Dtypes:    floating
 * Gradient:  0 where the loss is 0
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ (they are not broadcast); WK_ERR_DTYPE if an operand is not floating;
 *            WK_ERR_ARGUMENT if .margin is not positive
 * Example:   wk_triplet_margin_loss(x, y, wk_neg(x), .margin = 2) is 1 for x = {1, 0}, y = {0, 0}
 * PyTorch:   torch.nn.functional.triplet_margin_loss */
#define wk_triplet_margin_loss(anchor, positive, ...)                                                                  \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_triplet_margin_loss, wk_triplet_margin_loss_options,                       \
                            "anchor, positive, negative", anchor, positive, __VA_ARGS__))

/* wk_cross_entropy(logits, labels): Computes the cross entropy of logits and labels. labels are classes, or
 * probabilities in the shape of logits. The mean of classes is weighted by .weight.
 *     -log(softmax(logits)[label])
 * Options:   .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN. .weight: (C), of
 *            each class; default none. .ignore_index: label that does not count; default -100. .label_smoothing:
 *            share of each label spread over all classes; default 0.0
 * Shapes:    logits (C), (N, C) or (N, C, d1, ...); classes have that shape without C; out has none, or that of the
 *            classes for WK_REDUCE_NONE
 * Dtypes:    logits floating; classes i64 (other integers are converted); probabilities floating
 * Gradient:  none for .weight with classes
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a label names no class, at the call if its value is known by then; WK_ERR_SHAPE or
 *            WK_ERR_DTYPE if labels do not fit logits; WK_ERR_ARGUMENT if .label_smoothing is outside [0, 1];
 *            WK_ERR_STATE if .weight requires grad beside classes
 * Example:   wk_cross_entropy(x, y) is 0.693147 for x = {{0, 0}, {0, 0}}, y = {0, 1}
 * PyTorch:   torch.nn.functional.cross_entropy */
#define wk_cross_entropy(logits, ...)                                                                                  \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_cross_entropy, wk_cross_entropy_options, "logits, labels", logits, __VA_ARGS__))

/* wk_nll_loss(logs, labels): Computes the negative log-likelihood of labels from log-probabilities.
 *     -logs[label]
 * Options:   .weight. .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE; default WK_REDUCE_MEAN.
 *            .ignore_index: default -100
 * Shapes:    as wk_cross_entropy
 * Dtypes:    logs floating; labels i64 (other integers are converted)
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_cross_entropy
 * Example:   wk_nll_loss(x, y) is 2.5 for x = {{-1, -2}, {-3, -4}}, y = {0, 1}
 * PyTorch:   torch.nn.functional.nll_loss */
#define wk_nll_loss(logs, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_nll_loss, wk_cross_entropy_options, "logs, labels", logs, __VA_ARGS__))

/* wk_ctc_loss(log_probs, targets, input_lengths, target_lengths): Computes the negative log-probability of label
 * sequences under all their alignments (connectionist temporal classification). log_probs are those of
 * wk_log_softmax. An alignment has one class per step; repeated classes, then blanks are removed. WK_REDUCE_MEAN
 * divides each loss by the length of its labels, at least 1, first. Labels that need more steps than there are have
 * an infinite loss, or with .zero_infinity a loss of 0 without gradient. Waits for the device, to check the lengths.
 * Options:   .blank: class of the blank; default 0. .reduction: WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE;
 *            default WK_REDUCE_MEAN. .zero_infinity: 0 for infinite losses; default false
 * Shapes:    log_probs (T, N, C), targets (N, S) or all labels in one vector, lengths (N) -> (), or (N) for
 *            WK_REDUCE_NONE; or without N: log_probs (T, C), targets (S), lengths ()
 * Dtypes:    log_probs floating; targets and lengths i64 or i32
 * Gradient:  that of the formula; PyTorch's differs by a term that the gradient of wk_log_softmax removes
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the shapes differ from those above, or there are fewer labels in one vector than
 *            target_lengths add up to; WK_ERR_DTYPE if log_probs is not floating or the others are not i64 or i32;
 *            WK_ERR_ARGUMENT if .blank or a length is out of range
 * Example:   wk_ctc_loss(wk_log_softmax(x, -1), y, z, v) is 0.287682 for x = {{0, 0}, {0, 0}}, y = {1}, z = 2, v = 1
 * PyTorch:   torch.nn.functional.ctc_loss */
#define wk_ctc_loss(log_probs, targets, input_lengths, ...)                                                            \
    WK_NEW_TENSOR_(WK_OPT4_(wk_tensor *, wk_ctc_loss, wk_ctc_loss_options,                                             \
                            "log_probs, targets, input_lengths, target_lengths", log_probs, targets, input_lengths,    \
                            __VA_ARGS__))

#endif

#endif

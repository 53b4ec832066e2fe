/* SPDX-License-Identifier: Apache-2.0 */
/* wick/reduce.h: reductions, scans, sorting, softmax and its relatives, normalisation, losses.
 *
 * A dimension out of range is WK_ERR_INDEX, one named twice WK_ERR_ARGUMENT; an op of floats gets integers:
 * WK_ERR_DTYPE. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#ifndef WICK_REDUCE_H
#define WICK_REDUCE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "reduce_calls.h"

/* ---- reductions -------------------------------------------------------------------------------------------------- */
/* Over all dimensions, (x) or (x, .keepdim = true), or those in parentheses, (x, (0, 1), .keepdim = true). */

#ifndef __cplusplus
/* wk_sum(x, (dims)): sum over all or the named dimensions.
 * Sums of integers and bool are i64.
 * Options: .keepdim (reduced dimensions stay, with size 1), .dtype (of the result of sum, mean, prod; default as
 * PyTorch).
 *
 *     wk_sum(x, (1), .keepdim = true) is {{3}, {7}} for x = {{1, 2}, {3, 4}} */
#define wk_sum(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_sum, wk_reduce_options, __VA_ARGS__))

/* wk_mean(x, (dims)): mean over all or the named dimensions, of floats.
 * Options: .keepdim, .dtype.
 * WK_ERR_DTYPE for integers without .dtype.
 *
 *     wk_mean(x, (0)) is {2, 3} for x = {{1, 2}, {3, 4}} */
#define wk_mean(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_mean, wk_reduce_options, __VA_ARGS__))

/* wk_prod(x, (dims)): product over all or the named dimensions.
 * Of integers and bool i64.
 * Options: .keepdim, .dtype.
 *
 *     wk_prod(x) is 24 for x = {{1, 2}, {3, 4}} */
#define wk_prod(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_prod, wk_reduce_options, __VA_ARGS__))

/* wk_amax(x, (dims)): largest element over all or the named dimensions; NaN if there is one.
 * Of zeros -0 is the smaller. Equal ones share the gradient.
 * Options: .keepdim.
 * WK_ERR_SHAPE without elements.
 *
 *     wk_amax(x, (1)) is {2, 4} for x = {{1, 2}, {4, 3}} */
#define wk_amax(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_amax, wk_reduce_options, __VA_ARGS__))

/* wk_amin(x, (dims)): smallest element over all or the named dimensions; NaN if there is one.
 * Of zeros -0 is the smaller. Equal ones share the gradient.
 * Options: .keepdim.
 * WK_ERR_SHAPE without elements.
 *
 *     wk_amin(x, (1)) is {1, 3} for x = {{1, 2}, {4, 3}} */
#define wk_amin(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_amin, wk_reduce_options, __VA_ARGS__))

/* wk_all(x, (dims)): are all elements other than 0? true of none.
 * A bool tensor. In a condition of C: if (wk_item(wk_all(x))), as a tensor is a pointer and that is always true.
 * Options: .keepdim.
 *
 *     wk_all(x, (1)) is {1, 0} for x = {{1, 2}, {0, 3}} */
#define wk_all(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_all, wk_reduce_options, __VA_ARGS__))

/* wk_any(x, (dims)): is some element other than 0? false of none.
 * A bool tensor.
 * Options: .keepdim.
 *
 *     wk_any(x, (1)) is {0, 1} for x = {{0, 0}, {0, 3}} */
#define wk_any(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_any, wk_reduce_options, __VA_ARGS__))

/* wk_count_nonzero(x, (dims)): how many elements are other than 0, as i64.
 * No gradient.
 * Options: .keepdim.
 *
 *     wk_count_nonzero(x) is 2 for x = {{0, 2}, {0, 3}} */
#define wk_count_nonzero(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_count_nonzero, wk_reduce_options, __VA_ARGS__))

/* wk_logsumexp(x, (dims)): log(sum e^x) over all or the named dimensions, without overflow.
 * Options: .keepdim.
 *
 *     wk_logsumexp(x, (0)) is 1.313262 for x = {0, 1} */
#define wk_logsumexp(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_logsumexp, wk_reduce_options, __VA_ARGS__))

/* wk_argmax(x, dims): i64 position of the largest element, the first of equals; NaN counts as greatest; without dim
 * in row-major order.
 * At most one dimension, written without parentheses. No gradient.
 * Options: .keepdim.
 * WK_ERR_SHAPE without elements.
 *
 *     wk_argmax(x, 1) is {1, 0} for x = {{1, 2}, {4, 3}} */
#define wk_argmax(...) WK_NEW_TENSOR_(WK_REDUCE_ONE_(wk_argmax, __VA_ARGS__))

/* wk_argmin(x, dims): i64 position of the smallest element, the first of equals; NaN counts as least; without dim in
 * row-major order.
 * At most one dimension, written without parentheses. No gradient.
 * Options: .keepdim.
 * WK_ERR_SHAPE without elements.
 *
 *     wk_argmin(x) is 3 for x = {{1, 2}, {4, 0}} */
#define wk_argmin(...) WK_NEW_TENSOR_(WK_REDUCE_ONE_(wk_argmin, __VA_ARGS__))

/* wk_var(x, (dims)): sum of (x - mean)^2 / (n - correction), over all or the named dimensions; floats.
 * Options: .keepdim, .correction (default 1; 0 for the variance of a population).
 *
 *     wk_var(x, .correction = 0) is 1 for x = {1, 3} */
#define wk_var(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_var, wk_var_options, __VA_ARGS__))

/* wk_std(x, (dims)): the square root of var; floats.
 * Options: .keepdim, .correction (default 1).
 *
 *     wk_std(x, (1)) is {1.414214, 2.828427} for x = {{1, 3}, {2, 6}} */
#define wk_std(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_std, wk_var_options, __VA_ARGS__))

/* wk_norm(x, (dims)): (sum |x|^p)^(1/p) over all or the named dimensions: the length of vectors; floats.
 * Options: .keepdim, .p (default 2; any number, INFINITY and -INFINITY too; 0 counts what is not 0).
 * In PyTorch: torch.linalg.vector_norm.
 *
 *     wk_norm(x, (1)) is {5, 13} for x = {{3, 4}, {5, 12}} */
#define wk_norm(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_norm, wk_norm_options, __VA_ARGS__))

/* wk_dist(a, b): (sum |a - b|^p)^(1/p) over all elements of the difference, broadcast; floats.
 * Options: .p (default 2; as for wk_norm).
 *
 *     wk_dist(x, y) is 5 for x = {1, 2}, y = {4, 6} */
#define wk_dist(a, ...) WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_dist, wk_dist_options, "a, b", a, __VA_ARGS__))

/* wk_cosine_similarity(a, b, dim): a b / (|a| |b|) of the vectors along a dimension, lengths below eps taken as eps;
 * floats.
 * Of a and b, broadcast; without that dimension.
 * Options: .eps (default 1e-08; the least length that counts).
 *
 *     wk_cosine_similarity(x, y, 0) is 0.707107 for x = {1, 0}, y = {1, 1} */
#define wk_cosine_similarity(a, b, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT3_(wk_tensor *, wk_cosine_similarity, wk_cosine_similarity_options, "a, b, dim", a, b, __VA_ARGS__))

#endif

/* ---- along one dimension ----------------------------------------------------------------------------------------- */
/* Sorting is stable and NaN counts as greatest. *values and *indices (i64: where each value stood along dim) become
 * the caller's or the scope's; either may be NULL if it is not wanted. WK_OK, or a code and both are NULL: for a k
 * out of range WK_ERR_ARGUMENT. Gradients go back to where the values stood. */

/* wk_softmax(x, dim): e^x over its sum along a dimension; floats
 *
 *     wk_softmax(x, 0) is {0.268941, 0.731059} for x = {0, 1} */
#define wk_softmax(...) WK_EXACT_NEW_(2, wk_softmax, "x, dim", __VA_ARGS__)

/* wk_softmin(x, dim): softmax of -x
 *
 *     wk_softmin(x, 0) is {0.731059, 0.268941} for x = {0, 1} */
#define wk_softmin(...) WK_EXACT_NEW_(2, wk_softmin, "x, dim", __VA_ARGS__)

/* wk_log_softmax(x, dim): the logarithm of softmax, exact where that is 0
 *
 *     wk_log_softmax(x, 0) is {-1.313262, -0.313262} for x = {0, 1} */
#define wk_log_softmax(...) WK_EXACT_NEW_(2, wk_log_softmax, "x, dim", __VA_ARGS__)

/* wk_cumsum(x, dim): running sum along a dimension; integers and bool give i64
 *
 *     wk_cumsum(x, 0) is {1, 3, 6} for x = {1, 2, 3} */
#define wk_cumsum(...) WK_EXACT_NEW_(2, wk_cumsum, "x, dim", __VA_ARGS__)

/* wk_cumprod(x, dim): running product along a dimension; integers and bool give i64
 *
 *     wk_cumprod(x, 0) is {1, 2, 6} for x = {1, 2, 3} */
#define wk_cumprod(...) WK_EXACT_NEW_(2, wk_cumprod, "x, dim", __VA_ARGS__)

/* wk_sort(x, dim, descending, values, indices): sorted along a dimension, and where each value stood; equal ones
 * keep their order, NaN is greatest
 *
 *     wk_sort(x, 0, false, &values, NULL) sets values to {1, 2, 3} for x = {3, 1, 2} */
#define wk_sort(...) WK_EXACT_(wk_code, 5, wk_sort, "x, dim, descending, values, indices", __VA_ARGS__)

/* wk_argsort(x, dim, descending): the i64 positions that sort a dimension; equal values keep their order
 *
 *     wk_argsort(x, 0, true) is {0, 2, 1} for x = {3, 1, 2} */
#define wk_argsort(...) WK_EXACT_NEW_(3, wk_argsort, "x, dim, descending", __VA_ARGS__)

/* wk_topk(x, k, dim, largest, values, indices): the k largest (or smallest) of a dimension in order, and where they
 * stood
 *
 *     wk_topk(x, 2, 0, true, &values, NULL) sets values to {3, 2} for x = {3, 1, 2} */
#define wk_topk(...) WK_EXACT_(wk_code, 6, wk_topk, "x, k, dim, largest, values, indices", __VA_ARGS__)

/* wk_kthvalue(x, k, dim, keepdim, values, indices): the k-th smallest of a dimension, counted from 1, and where it
 * stood.
 * WK_ERR_SHAPE when dim has no elements.
 *
 *     wk_kthvalue(x, 2, 0, false, &values, NULL) sets values to 2 for x = {3, 1, 2} */
#define wk_kthvalue(...) WK_EXACT_(wk_code, 6, wk_kthvalue, "x, k, dim, keepdim, values, indices", __VA_ARGS__)

/* wk_median(x): the lower of the middle values; NaN if there is one. Without dim of all elements, the value alone.
 * wk_median(x) is of all elements, wk_median_dim(x, dim, keepdim, values, indices) along a dimension. The gradient
 * of the median of all is shared by the elements that equal it; along dim it goes to the place that `indices` names.
 * WK_ERR_SHAPE without elements (torch.median of none is NaN).
 *
 *     wk_median(x) is 2 for x = {3, 1, 2, 5} */
#define wk_median(...)     WK_EXACT_NEW_(1, wk_median, "x", __VA_ARGS__)
#define wk_median_dim(...) WK_EXACT_(wk_code, 5, wk_median_dim, "x, dim, keepdim, values, indices", __VA_ARGS__)

/* ---- sets -------------------------------------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_unique(x): the distinct elements, always sorted; then, if wanted, which of them each element is, and how often
 * each stands there.
 * A vector. NaN equals nothing, so each is one. Waits for the device: the shape depends on data. No gradient. What
 * PyTorch returns beside goes where the options point, NULL for what is not wanted.
 * Options: .return_inverse (i64, shaped like x), .return_counts (i64, of each result).
 *
 *     wk_unique(x) is {1, 2} for x = {2, 1, 2} */
#define wk_unique(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_unique, wk_unique_options, __VA_ARGS__))

/* wk_isin(elements, test_elements): bool: is (or, with invert, is not) the element equal to one of test_elements?.
 * Shaped like elements; test_elements have any shape. Mixed dtypes meet as in wk_eq.
 * Options: .invert (those that are in none).
 *
 *     wk_isin(x, y) is {1, 0, 1} for x = {1, 2, 3}, y = {3, 1} */
#define wk_isin(elements, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_isin, wk_isin_options, "elements, test_elements", elements, __VA_ARGS__))

/* ---- normalisation ----------------------------------------------------------------------------------------------- */

/* wk_layer_norm(x, (shape), weight, bias, eps): (x - mean) / sqrt(var + eps) weight + bias over the last dimensions;
 * floats.
 * Over the last dimensions of x, which must be `shape`; weight and bias of that shape, or NULL. var is without
 * correction. The eps may be left out.
 * WK_ERR_ARGUMENT for an eps less than 0.
 *
 *     wk_layer_norm(x, (2), NULL, NULL, 0) is {{-1, 1}, {-1, 1}} for x = {{1, 3}, {2, 6}} */
#define wk_layer_norm(x, shape, weight, ...)                                                                           \
    WK_NEW_TENSOR_(WK_JOIN_(WK_LAYER_NORM_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, x, shape, weight, __VA_ARGS__))
#define WK_LAYER_NORM_1(wk_s_, x, shape, weight, bias) WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, 1e-05)
#define WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, eps)                                                         \
    WK_SIZED_(wk_tensor *, wk_s_, shape,                                                                               \
              "wk_layer_norm: sizes stand in parentheses: wk_layer_norm(x, (3), weight, bias)",                        \
              WK_GIVE_(wk_tensor *, wk_layer_norm_at(WK_HERE, x, wk_s_.at, wk_s_.count, weight, bias, eps)))

/* ---- losses: 0-d, or of the shape of the elements (or labels) for WK_REDUCE_NONE --------------------------------- */
/* Of each element of input and target, which have the same shape (else WK_ERR_SHAPE: they are not broadcast);
 * floats. */

/* wk_mse_loss(input, target): (input - target)^2, its mean, sum or each.
 * Options: .reduction.
 *
 *     wk_mse_loss(x, y) is 2 for x = {1, 2}, y = {1, 4} */
#define wk_mse_loss(input, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_mse_loss, wk_loss_options, "input, target", input, __VA_ARGS__))

/* wk_l1_loss(input, target): |input - target|, its mean, sum or each.
 * Options: .reduction.
 *
 *     wk_l1_loss(x, y, .reduction = WK_REDUCE_SUM) is 2 for x = {1, 2}, y = {1, 4} */
#define wk_l1_loss(input, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_l1_loss, wk_loss_options, "input, target", input, __VA_ARGS__))

/* wk_smooth_l1_loss(input, target): d^2 / (2 beta) below beta, |d| - beta / 2 above.
 * With d = input - target. A beta of 0 is l1_loss.
 * Options: .reduction, .beta (default 1.0).
 *
 *     wk_smooth_l1_loss(x, y, .reduction = WK_REDUCE_NONE) is {0.125} for x = {1}, y = {1.5} */
#define wk_smooth_l1_loss(input, ...)                                                                                  \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_smooth_l1_loss, wk_smooth_l1_loss_options, "input, target", input, __VA_ARGS__))

/* wk_huber_loss(input, target): d^2 / 2 below delta, delta (|d| - delta / 2) above.
 * With d = input - target.
 * Options: .reduction, .delta (default 1.0; more than 0).
 *
 *     wk_huber_loss(x, y, .delta = 2) is 1 for x = {1, 2}, y = {1, 4} */
#define wk_huber_loss(input, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_huber_loss, wk_huber_loss_options, "input, target", input, __VA_ARGS__))

/* wk_binary_cross_entropy(input, target): -(t log p + (1 - t) log(1 - p)), logarithms cut off at -100.
 * The input is the probability p. What lies outside of 0..1 is no probability and gives NaN, where PyTorch raises an
 * error: numbers are not looked at. wk_binary_cross_entropy_with_logits takes any number.
 * Options: .reduction, .weight (of each element, broadcast; it has no gradient).
 * WK_ERR_STATE for a weight that requires a gradient: it has none.
 *
 *     wk_binary_cross_entropy(x, y) is 0.693147 for x = {0.5, 0.5}, y = {0, 1} */
#define wk_binary_cross_entropy(input, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_binary_cross_entropy, wk_bce_options, "input, target", input, __VA_ARGS__))

/* wk_binary_cross_entropy_with_logits(input, target): binary_cross_entropy of sigmoid(x), without overflow; t counts
 * pos_weight times.
 * Options: .reduction, .weight (of each element, broadcast), .pos_weight (of its positive part).
 * WK_ERR_STATE for a weight that requires a gradient: it has none.
 *
 *     wk_binary_cross_entropy_with_logits(x, y) is 0.693147 for x = {0, 0}, y = {0, 1} */
#define wk_binary_cross_entropy_with_logits(input, ...)                                                                \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_binary_cross_entropy_with_logits, wk_bce_with_logits_options,              \
                            "input, target", input, __VA_ARGS__))

/* wk_kl_div(input, target): p (log p - input), p the target or e^target; input is a logarithm.
 * Options: .reduction, .log_target (the target is log p).
 *
 *     wk_kl_div(x, y, .reduction = WK_REDUCE_SUM) is 1.386294 for x = {0, 0}, y = {1, 2} */
#define wk_kl_div(input, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_kl_div, wk_kl_div_options, "input, target", input, __VA_ARGS__))

/* wk_cross_entropy(logits, labels): -log softmax(input) at the label's class, its mean over the labels, sum or each.
 * Logits (C), (N, C) or (N, C, d1, ...); labels i64 of that shape without C (other integers are converted), or
 * floats of the logits' shape: probabilities. The mean is over the weights of the labels' classes.
 * Options: .reduction, .weight ((C): what each class counts), .ignore_index (default -100; labels that count
 * nothing), .label_smoothing (default 0.0; this part of each label goes to all classes).
 * WK_ERR_INDEX for a label that names no class, at the call if it is known by then; WK_ERR_STATE for a weight that
 * requires a gradient beside labels: it has one for probabilities only.
 *
 *     wk_cross_entropy(x, y) is 0.693147 for x = {{0, 0}, {0, 0}}, y = {0, 1} */
#define wk_cross_entropy(logits, ...)                                                                                  \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_cross_entropy, wk_cross_entropy_options, "logits, labels", logits, __VA_ARGS__))

/* wk_nll_loss(logs, labels): -input at the label's class: for log-probabilities.
 * Options: .weight, .reduction, .ignore_index (default -100).
 *
 *     wk_nll_loss(x, y) is 2.5 for x = {{-1, -2}, {-3, -4}}, y = {0, 1} */
#define wk_nll_loss(logs, ...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_nll_loss, wk_cross_entropy_options, "logs, labels", logs, __VA_ARGS__))

#endif

#endif

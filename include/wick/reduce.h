/* SPDX-License-Identifier: Apache-2.0 */
/* wick/reduce.h: reductions, scans, sorting, softmax and its relatives, normalisation, losses. */
#ifndef WICK_REDUCE_H
#define WICK_REDUCE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions: over all dimensions, (x) or (x, .keepdim = true), or those in parentheses, (x, (0, 1),
 * .keepdim = true) -- */
/* A dimension out of range is WK_ERR_INDEX, one named twice WK_ERR_ARGUMENT; an op of floats gets integers:
 * WK_ERR_DTYPE. */
typedef struct wk_reduce_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;   /* reduced dimensions stay, with size 1 */
    wk_dtype dtype; /* of the result of sum, mean, prod; default as PyTorch: sums of integers and bool are i64 */
} wk_reduce_options;
#define WK_REDUCE_DECL_(name)                                                                                          \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,                            \
                                const wk_reduce_options *options)

WK_REDUCE_DECL_(wk_sum);  /* sum of the elements */
WK_REDUCE_DECL_(wk_mean); /* sum / number of elements; of floats (or with .dtype): an error for integers */
WK_REDUCE_DECL_(wk_prod); /* product of the elements */
/* The largest element, NaN if there is one; WK_ERR_SHAPE without elements. Equal ones share the gradient. */
WK_REDUCE_DECL_(wk_amax);
WK_REDUCE_DECL_(wk_amin); /* the smallest, likewise */
/* A bool tensor: are all elements other than 0? true without elements. In a condition of C: if (wk_item(wk_all(x))),
 * as a tensor is a pointer and that is always true. */
WK_REDUCE_DECL_(wk_all);
WK_REDUCE_DECL_(wk_any);           /* the same: is some element other than 0? false without elements */
WK_REDUCE_DECL_(wk_count_nonzero); /* i64: how many elements are other than 0; no gradient */
WK_REDUCE_DECL_(wk_logsumexp);     /* log(sum e^x) without overflow; floats */
/* i64 position of the largest (smallest) element, the first among equals; NaN wins. At most one dimension, written
 * without parentheses: wk_argmax(x, 1); without it of all elements in row-major order. WK_ERR_SHAPE without
 * elements. No gradient. */
WK_REDUCE_DECL_(wk_argmax);
WK_REDUCE_DECL_(wk_argmin);

typedef struct wk_var_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double correction; /* taken off the number of elements; default 1; 0 for the variance of a whole population */
} wk_var_options;
/* sum (x - mean)^2 / (n - correction), and its square root; floats. */
WK_API wk_tensor *wk_var_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_var_options *options);
WK_API wk_tensor *wk_std_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_var_options *options);

typedef struct wk_norm_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double p; /* default 2; any other, 1, INFINITY and -INFINITY among them; 0 counts what is not 0 */
} wk_norm_options;
/* Length of vectors, (sum |x|^p)^(1/p); floats. torch.linalg.vector_norm. */
WK_API wk_tensor *wk_norm_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                             const wk_norm_options *options);

typedef struct wk_dist_options {
    size_t size;
    wk_by_name by_name;
    double p; /* default 2; as for wk_norm */
} wk_dist_options;
/* The length of a - b, broadcast, over all elements: (sum |a - b|^p)^(1/p); floats. */
WK_API wk_tensor *wk_dist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_dist_options *options);

typedef struct wk_cosine_similarity_options {
    size_t size;
    wk_by_name by_name;
    double eps; /* the least length that counts; default 1e-8 */
} wk_cosine_similarity_options;
/* a b / (|a| |b|) of the vectors along dim of a and b, broadcast; without that dimension; floats. */
WK_API wk_tensor *wk_cosine_similarity_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim,
                                          const wk_cosine_similarity_options *options);

/* ---- along one dimension ----------------------------------------------------------------------------------------- */
WK_API wk_tensor *wk_softmax_at(wk_site site, wk_tensor *x, int64_t dim); /* e^x / sum e^x; floats */
WK_API wk_tensor *wk_softmin_at(wk_site site, wk_tensor *x, int64_t dim); /* softmax(-x) */
WK_API wk_tensor *wk_log_softmax_at(wk_site site, wk_tensor *x,
                                    int64_t dim);                         /* log(softmax(x)), exact where that is 0 */
WK_API wk_tensor *wk_cumsum_at(wk_site site, wk_tensor *x, int64_t dim);  /* running sum; integers and bool give i64 */
WK_API wk_tensor *wk_cumprod_at(wk_site site, wk_tensor *x, int64_t dim); /* running product, likewise */

/* Sorting is stable and NaN counts as greatest. *values and *indices (i64: where each value stood along dim) become
 * the caller's or the scope's; either may be NULL if it is not wanted. WK_OK, or a code and both are NULL: for a k
 * out of range WK_ERR_ARGUMENT. Gradients go back to where the values stood. */
WK_API wk_code wk_sort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending, wk_tensor **values,
                          wk_tensor **indices);
/* The indices alone. */
WK_API wk_tensor *wk_argsort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending);
/* The k largest (else smallest) along dim, in order. */
WK_API wk_code wk_topk_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool largest, wk_tensor **values,
                          wk_tensor **indices);
/* The k-th smallest along dim, counted from 1. WK_ERR_SHAPE when dim has no elements. */
WK_API wk_code wk_kthvalue_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool keepdim, wk_tensor **values,
                              wk_tensor **indices);
/* The lower of the two values in the middle, NaN if there is one: of all elements, or along dim. WK_ERR_SHAPE without
 * elements (torch.median of none is NaN). The gradient of the median of all is shared by the elements that equal it;
 * along dim it goes to the place that `indices` names. torch.median. */
WK_API wk_tensor *wk_median_at(wk_site site, wk_tensor *x);
WK_API wk_code wk_median_dim_at(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values,
                                wk_tensor **indices);

/* The distinct elements of x, sorted, as a vector. NaN equals nothing, so each is one. Waits for the device:
 * the shape depends on data. No gradient. What PyTorch returns beside goes where the options point, NULL for
 * what is not wanted. */
typedef struct wk_unique_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor **return_inverse; /* shaped like x, i64: which of the distinct elements each one is */
    wk_tensor **return_counts;  /* i64: how often each distinct element stands in x */
} wk_unique_options;
WK_API wk_tensor *wk_unique_at(wk_site site, wk_tensor *x, const wk_unique_options *options);

typedef struct wk_isin_options {
    size_t size;
    wk_by_name by_name;
    bool invert; /* those that are in none */
    char reserved[7];
} wk_isin_options;
/* bool, shaped like elements: is the element equal to one of test_elements (of any shape)? Mixed dtypes meet
 * as in wk_eq. */
WK_API wk_tensor *wk_isin_at(wk_site site, wk_tensor *elements, wk_tensor *test_elements,
                             const wk_isin_options *options);

/* ---- normalisation ----------------------------------------------------------------------------------------------- */
/* (x - mean) / sqrt(var + eps) weight + bias, over the last dimensions of x, which must be `shape`; weight and bias of
 * that shape, or NULL. var is without correction. PyTorch's eps is 1e-5, which the macro takes when it is left out;
 * less than 0 is WK_ERR_ARGUMENT. */
WK_API wk_tensor *wk_layer_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight,
                                   wk_tensor *bias, double eps);

/* ---- losses: 0-d, or of the shape of the elements (or labels) for WK_REDUCE_NONE --------------------------------- */
typedef enum wk_reduction {
    WK_REDUCE_MEAN, /* over all elements (or labels): the default */
    WK_REDUCE_SUM,
    WK_REDUCE_NONE,     /* each element's loss */
    WK_REDUCE_BATCHMEAN /* the sum over the size of the first dimension; PyTorch's for kl_div */
} wk_reduction;

/* Of each element of input and target, which have the same shape (else WK_ERR_SHAPE: they are not broadcast);
 * floats. */
typedef struct wk_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    char reserved[4];
} wk_loss_options;
WK_API wk_tensor *wk_mse_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                 const wk_loss_options *options); /* (input - target)^2 */
WK_API wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                const wk_loss_options *options); /* |input - target| */

/* With d = |input - target|: d^2 / (2 beta) below beta, d - beta / 2 above. */
typedef struct wk_smooth_l1_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double beta; /* default 1; 0 is l1_loss */
} wk_smooth_l1_loss_options;
WK_API wk_tensor *wk_smooth_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                       const wk_smooth_l1_loss_options *options);

/* d^2 / 2 below delta, delta (d - delta / 2) above. */
typedef struct wk_huber_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double delta; /* default 1; more than 0 */
} wk_huber_loss_options;
WK_API wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                   const wk_huber_loss_options *options);

/* -(t log p + (1 - t) log(1 - p)), where input is the probability p; its logarithms are cut off at -100. What lies
 * outside of 0..1 is no probability and gives NaN, where PyTorch raises an error: numbers are not looked at.
 * wk_binary_cross_entropy_with_logits takes any number. */
typedef struct wk_bce_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight; /* of each element, broadcast; it has no gradient: WK_ERR_STATE if it requires one */
} wk_bce_options;
WK_API wk_tensor *wk_binary_cross_entropy_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                             const wk_bce_options *options);

/* The same of p = sigmoid(input), without overflow: -(w t log p + (1 - t) log(1 - p)), with w the pos_weight. */
typedef struct wk_bce_with_logits_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight;     /* of each element, */
    wk_tensor *pos_weight; /* of its positive part; both as above */
} wk_bce_with_logits_options;
WK_API wk_tensor *wk_binary_cross_entropy_with_logits_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                         const wk_bce_with_logits_options *options);

/* p (log p - input), where input is a log-probability and p the target. */
typedef struct wk_kl_div_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    bool log_target; /* target is log p */
    char reserved[3];
} wk_kl_div_options;
WK_API wk_tensor *wk_kl_div_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_kl_div_options *options);

typedef struct wk_cross_entropy_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction; /* the mean is over the weights of the labels' classes */
    wk_tensor *weight;      /* (C): what each class counts. It has a gradient for probabilities only: WK_ERR_STATE if it
                             * requires one beside labels */
    double ignore_index;    /* labels that count nothing; default -100 */
    double label_smoothing; /* this part of each label goes to all classes: 0 (the default) to 1; cross_entropy only */
} wk_cross_entropy_options;
/* -log softmax(logits) at the label's class. Logits (C), (N, C) or (N, C, d1, ...); labels i64 of that shape without C
 * (other integers are converted), or floats of the logits' shape: probabilities. A label that names no class is
 * WK_ERR_INDEX, at the call if it is known by then. */
WK_API wk_tensor *wk_cross_entropy_at(wk_site site, wk_tensor *logits, wk_tensor *labels,
                                      const wk_cross_entropy_options *options);
/* -logs at the label's class: for what log_softmax gives. */
WK_API wk_tensor *wk_nll_loss_at(wk_site site, wk_tensor *logs, wk_tensor *labels,
                                 const wk_cross_entropy_options *options);

#undef WK_REDUCE_DECL_

#define wk_softmax(...)     wk_softmax_at(WK_HERE, __VA_ARGS__)
#define wk_softmin(...)     wk_softmin_at(WK_HERE, __VA_ARGS__)
#define wk_log_softmax(...) wk_log_softmax_at(WK_HERE, __VA_ARGS__)
#define wk_cumsum(...)      wk_cumsum_at(WK_HERE, __VA_ARGS__)
#define wk_cumprod(...)     wk_cumprod_at(WK_HERE, __VA_ARGS__)
#define wk_sort(...)        wk_sort_at(WK_HERE, __VA_ARGS__)
#define wk_argsort(...)     wk_argsort_at(WK_HERE, __VA_ARGS__)
#define wk_topk(...)        wk_topk_at(WK_HERE, __VA_ARGS__)
#define wk_kthvalue(...)    wk_kthvalue_at(WK_HERE, __VA_ARGS__)
#define wk_median(...)      wk_median_at(WK_HERE, __VA_ARGS__)
#define wk_median_dim(...)  wk_median_dim_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_sum(...)           WK_REDUCE_(wk_sum, __VA_ARGS__)
#define wk_mean(...)          WK_REDUCE_(wk_mean, __VA_ARGS__)
#define wk_prod(...)          WK_REDUCE_(wk_prod, __VA_ARGS__)
#define wk_amax(...)          WK_REDUCE_(wk_amax, __VA_ARGS__)
#define wk_amin(...)          WK_REDUCE_(wk_amin, __VA_ARGS__)
#define wk_all(...)           WK_REDUCE_(wk_all, __VA_ARGS__)
#define wk_any(...)           WK_REDUCE_(wk_any, __VA_ARGS__)
#define wk_count_nonzero(...) WK_REDUCE_(wk_count_nonzero, __VA_ARGS__)
#define wk_logsumexp(...)     WK_REDUCE_(wk_logsumexp, __VA_ARGS__)
#define wk_argmax(...)        WK_REDUCE_ONE_(wk_argmax, __VA_ARGS__)
#define wk_argmin(...)        WK_REDUCE_ONE_(wk_argmin, __VA_ARGS__)
#define wk_var(...)           WK_REDUCE_OPT_(wk_var, wk_var_options, __VA_ARGS__)
#define wk_std(...)           WK_REDUCE_OPT_(wk_std, wk_var_options, __VA_ARGS__)
#define wk_norm(...)          WK_REDUCE_OPT_(wk_norm, wk_norm_options, __VA_ARGS__)

#define wk_dist(a, ...) WK_OPT2_(wk_tensor *, wk_dist, wk_dist_options, "a, b", a, __VA_ARGS__)
/* wk_cosine_similarity(a, b, dim), (a, b, dim, .eps = 1e-6) */
#define wk_cosine_similarity(a, b, ...)                                                                                \
    WK_OPT3_(wk_tensor *, wk_cosine_similarity, wk_cosine_similarity_options, "a, b, dim", a, b, __VA_ARGS__)
#define wk_unique(...)  WK_OPT_(wk_tensor *, wk_unique, wk_unique_options, __VA_ARGS__)
#define wk_isin(x, ...) WK_OPT2_(wk_tensor *, wk_isin, wk_isin_options, "elements, test_elements", x, __VA_ARGS__)

/* wk_layer_norm(x, shape, weight, bias): eps is 1e-5; wk_layer_norm(x, shape, weight, bias, eps) */
#define wk_layer_norm(x, shape, weight, ...)                                                                           \
    WK_JOIN_(WK_LAYER_NORM_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, x, shape, weight, __VA_ARGS__)
#define WK_LAYER_NORM_1(wk_s_, x, shape, weight, bias) WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, 1e-5)
#define WK_LAYER_NORM_WK2_(wk_s_, x, shape, weight, bias, eps)                                                         \
    WK_SIZED_(wk_tensor *, wk_s_, shape,                                                                               \
              "wk_layer_norm: sizes stand in parentheses: wk_layer_norm(x, (3), weight, bias)",                        \
              WK_GIVE_(wk_tensor *, wk_layer_norm_at(WK_HERE, x, wk_s_.at, wk_s_.count, weight, bias, eps)))

#define wk_mse_loss(a, ...) WK_OPT2_(wk_tensor *, wk_mse_loss, wk_loss_options, "input, target", a, __VA_ARGS__)
#define wk_l1_loss(a, ...)  WK_OPT2_(wk_tensor *, wk_l1_loss, wk_loss_options, "input, target", a, __VA_ARGS__)
#define wk_smooth_l1_loss(a, ...)                                                                                      \
    WK_OPT2_(wk_tensor *, wk_smooth_l1_loss, wk_smooth_l1_loss_options, "input, target", a, __VA_ARGS__)
#define wk_huber_loss(a, ...)                                                                                          \
    WK_OPT2_(wk_tensor *, wk_huber_loss, wk_huber_loss_options, "input, target", a, __VA_ARGS__)
#define wk_kl_div(a, ...) WK_OPT2_(wk_tensor *, wk_kl_div, wk_kl_div_options, "input, target", a, __VA_ARGS__)
#define wk_cross_entropy(a, ...)                                                                                       \
    WK_OPT2_(wk_tensor *, wk_cross_entropy, wk_cross_entropy_options, "logits, labels", a, __VA_ARGS__)
#define wk_nll_loss(a, ...) WK_OPT2_(wk_tensor *, wk_nll_loss, wk_cross_entropy_options, "logs, labels", a, __VA_ARGS__)
#define wk_binary_cross_entropy(a, ...)                                                                                \
    WK_OPT2_(wk_tensor *, wk_binary_cross_entropy, wk_bce_options, "input, target", a, __VA_ARGS__)
#define wk_binary_cross_entropy_with_logits(a, ...)                                                                    \
    WK_OPT2_(wk_tensor *, wk_binary_cross_entropy_with_logits, wk_bce_with_logits_options, "logits, target", a,        \
             __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif

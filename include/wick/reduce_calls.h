/* SPDX-License-Identifier: Apache-2.0 */
/* wick/reduce_calls.h: the functions behind wick/reduce.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * tells the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 stands for all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#ifndef WICK_REDUCE_CALLS_H
#define WICK_REDUCE_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wk_reduction {
    WK_REDUCE_MEAN, /* over all elements (or labels): the default */
    WK_REDUCE_SUM,
    WK_REDUCE_NONE,      /* each element's loss */
    WK_REDUCE_BATCHMEAN, /* the sum over the size of the first dimension; PyTorch's for kl_div */
} wk_reduction;

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* sum: sum over all or the named dimensions */
typedef struct wk_reduce_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;   /* reduced dimensions stay, with size 1 */
    wk_dtype dtype; /* of the result of sum, mean, prod; default as PyTorch */
} wk_reduce_options;
#ifndef __cplusplus
#define wk_reduce_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_sum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* mean: mean over all or the named dimensions, of floats */
WK_RESULT_API wk_tensor *wk_mean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* prod: product over all or the named dimensions */
WK_RESULT_API wk_tensor *wk_prod_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* amax: largest element over all or the named dimensions; NaN if there is one */
WK_RESULT_API wk_tensor *wk_amax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* amin: smallest element over all or the named dimensions; NaN if there is one */
WK_RESULT_API wk_tensor *wk_amin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* all: are all elements other than 0? true of none */
WK_RESULT_API wk_tensor *wk_all_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* any: is some element other than 0? false of none */
WK_RESULT_API wk_tensor *wk_any_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* count_nonzero: how many elements are other than 0, as i64 */
WK_RESULT_API wk_tensor *wk_count_nonzero_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                             const wk_reduce_options *options);

/* logsumexp: log(sum e^x) over all or the named dimensions, without overflow */
WK_RESULT_API wk_tensor *wk_logsumexp_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                         const wk_reduce_options *options);

/* argmax: i64 position of the largest element, the first of equals; NaN counts as greatest; without dim in row-major
 * order */
WK_RESULT_API wk_tensor *wk_argmax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                      const wk_reduce_options *options);

/* argmin: i64 position of the smallest element, the first of equals; NaN counts as least; without dim in row-major
 * order */
WK_RESULT_API wk_tensor *wk_argmin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                      const wk_reduce_options *options);

/* var: sum of (x - mean)^2 / (n - correction), over all or the named dimensions; floats */
typedef struct wk_var_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double correction; /* default 1; 0 for the variance of a population */
} wk_var_options;
#ifndef __cplusplus
#define wk_var_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, correction)
#endif
WK_RESULT_API wk_tensor *wk_var_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_var_options *options);

/* std: the square root of var; floats */
WK_RESULT_API wk_tensor *wk_std_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_var_options *options);

/* norm: (sum |x|^p)^(1/p) over all or the named dimensions: the length of vectors; floats */
typedef struct wk_norm_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double p; /* default 2; any number, INFINITY and -INFINITY too; 0 counts what is not 0 */
} wk_norm_options;
#ifndef __cplusplus
#define wk_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p)
#endif
WK_RESULT_API wk_tensor *wk_norm_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_norm_options *options);

/* dist: (sum |a - b|^p)^(1/p) over all elements of the difference, broadcast; floats */
typedef struct wk_dist_options {
    size_t size;
    wk_by_name by_name;
    double p; /* default 2; as for wk_norm */
} wk_dist_options;
#ifndef __cplusplus
#define wk_dist_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p)
#endif
WK_RESULT_API wk_tensor *wk_dist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_dist_options *options);

/* cosine_similarity: a b / (|a| |b|) of the vectors along a dimension, lengths below eps taken as eps; floats */
typedef struct wk_cosine_similarity_options {
    size_t size;
    wk_by_name by_name;
    double eps; /* default 1e-08; the least length that counts */
} wk_cosine_similarity_options;
#ifndef __cplusplus
#define wk_cosine_similarity_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_cosine_similarity_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim,
                                                 const wk_cosine_similarity_options *options);

/* ---- along one dimension ----------------------------------------------------------------------------------------- */

/* softmax: e^x over its sum along a dimension; floats */
WK_RESULT_API wk_tensor *wk_softmax_at(wk_site site, wk_tensor *x, int64_t dim);

/* softmin: softmax of -x */
WK_RESULT_API wk_tensor *wk_softmin_at(wk_site site, wk_tensor *x, int64_t dim);

/* log_softmax: the logarithm of softmax, exact where that is 0 */
WK_RESULT_API wk_tensor *wk_log_softmax_at(wk_site site, wk_tensor *x, int64_t dim);

/* cumsum: running sum along a dimension; integers and bool give i64 */
WK_RESULT_API wk_tensor *wk_cumsum_at(wk_site site, wk_tensor *x, int64_t dim);

/* cumprod: running product along a dimension; integers and bool give i64 */
WK_RESULT_API wk_tensor *wk_cumprod_at(wk_site site, wk_tensor *x, int64_t dim);

/* sort: sorted along a dimension, and where each value stood; equal ones keep their order, NaN is greatest */
WK_API wk_code wk_sort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending, wk_tensor **values,
                          wk_tensor **indices);

/* argsort: the i64 positions that sort a dimension; equal values keep their order */
WK_RESULT_API wk_tensor *wk_argsort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending);

/* topk: the k largest (or smallest) of a dimension in order, and where they stood */
WK_API wk_code wk_topk_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool largest, wk_tensor **values,
                          wk_tensor **indices);

/* kthvalue: the k-th smallest of a dimension, counted from 1, and where it stood */
WK_API wk_code wk_kthvalue_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool keepdim, wk_tensor **values,
                              wk_tensor **indices);

/* median: the lower of the middle values; NaN if there is one. Without dim of all elements, the value alone */
WK_RESULT_API wk_tensor *wk_median_at(wk_site site, wk_tensor *x);
WK_API wk_code wk_median_dim_at(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values,
                                wk_tensor **indices);

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* unique: the distinct elements, always sorted; then, if wanted, which of them each element is, and how often each
 * stands there */
typedef struct wk_unique_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor **return_inverse; /* i64, shaped like x */
    wk_tensor **return_counts;  /* i64, of each result */
} wk_unique_options;
#ifndef __cplusplus
#define wk_unique_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_unique_at(wk_site site, wk_tensor *x, const wk_unique_options *options);

/* isin: bool: is (or, with invert, is not) the element equal to one of test_elements? */
typedef struct wk_isin_options {
    size_t size;
    wk_by_name by_name;
    bool invert; /* those that are in none */
    char reserved[7];
} wk_isin_options;
#ifndef __cplusplus
#define wk_isin_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_isin_at(wk_site site, wk_tensor *elements, wk_tensor *test_elements,
                                    const wk_isin_options *options);

/* ---- normalisation ----------------------------------------------------------------------------------------------- */

/* layer_norm: (x - mean) / sqrt(var + eps) weight + bias over the last dimensions; floats */
WK_RESULT_API wk_tensor *wk_layer_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight,
                                          wk_tensor *bias, double eps);

/* ---- losses: 0-d, or of the shape of the elements (or labels) for WK_REDUCE_NONE --------------------------------- */

/* mse_loss: (input - target)^2, its mean, sum or each */
typedef struct wk_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    char reserved[4];
} wk_loss_options;
#ifndef __cplusplus
#define wk_loss_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_mse_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                        const wk_loss_options *options);

/* l1_loss: |input - target|, its mean, sum or each */
WK_RESULT_API wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                       const wk_loss_options *options);

/* smooth_l1_loss: d^2 / (2 beta) below beta, |d| - beta / 2 above */
typedef struct wk_smooth_l1_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double beta; /* default 1.0 */
} wk_smooth_l1_loss_options;
#ifndef __cplusplus
#define wk_smooth_l1_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, beta)
#endif
WK_RESULT_API wk_tensor *wk_smooth_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                              const wk_smooth_l1_loss_options *options);

/* huber_loss: d^2 / 2 below delta, delta (|d| - delta / 2) above */
typedef struct wk_huber_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double delta; /* default 1.0; more than 0 */
} wk_huber_loss_options;
#ifndef __cplusplus
#define wk_huber_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, delta)
#endif
WK_RESULT_API wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                          const wk_huber_loss_options *options);

/* binary_cross_entropy: -(t log p + (1 - t) log(1 - p)), logarithms cut off at -100 */
typedef struct wk_bce_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight; /* of each element, broadcast; it has no gradient */
} wk_bce_options;
#ifndef __cplusplus
#define wk_bce_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_binary_cross_entropy_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                    const wk_bce_options *options);

/* binary_cross_entropy_with_logits: binary_cross_entropy of sigmoid(x), without overflow; t counts pos_weight times */
typedef struct wk_bce_with_logits_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight;     /* of each element, broadcast */
    wk_tensor *pos_weight; /* of its positive part */
} wk_bce_with_logits_options;
#ifndef __cplusplus
#define wk_bce_with_logits_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_binary_cross_entropy_with_logits_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                                const wk_bce_with_logits_options *options);

/* kl_div: p (log p - input), p the target or e^target; input is a logarithm */
typedef struct wk_kl_div_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    bool log_target; /* the target is log p */
    char reserved[3];
} wk_kl_div_options;
#ifndef __cplusplus
#define wk_kl_div_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_kl_div_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                      const wk_kl_div_options *options);

/* cross_entropy: -log softmax(input) at the label's class, its mean over the labels, sum or each */
typedef struct wk_cross_entropy_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight;      /* (C): what each class counts */
    double ignore_index;    /* default -100; labels that count nothing */
    double label_smoothing; /* this part of each label goes to all classes */
} wk_cross_entropy_options;
#ifndef __cplusplus
#define wk_cross_entropy_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, ignore_index)
#endif
WK_RESULT_API wk_tensor *wk_cross_entropy_at(wk_site site, wk_tensor *logits, wk_tensor *labels,
                                             const wk_cross_entropy_options *options);

/* nll_loss: -input at the label's class: for log-probabilities */
WK_RESULT_API wk_tensor *wk_nll_loss_at(wk_site site, wk_tensor *logs, wk_tensor *labels,
                                        const wk_cross_entropy_options *options);

#ifdef __cplusplus
}
#endif
#endif

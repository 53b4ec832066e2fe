/* SPDX-License-Identifier: Apache-2.0 */
/* wick/reduce_calls.h: the functions behind wick/reduce.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
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
    WK_REDUCE_MEAN,      /* mean over all elements or labels; the default */
    WK_REDUCE_SUM,       /* sum over all elements or labels */
    WK_REDUCE_NONE,      /* the loss of each element or label */
    WK_REDUCE_BATCHMEAN, /* sum divided by the size of the first dimension; for wk_kl_div */
} wk_reduction;

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* sum: Sums over all dimensions, or over dims. */
typedef struct wk_reduce_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;   /* keep reduced dimensions with size 1; default false */
    wk_dtype dtype; /* of the result, for sum, mean and prod; default as PyTorch */
} wk_reduce_options;
#ifndef __cplusplus
#define wk_reduce_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_sum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* mean: Computes the mean over all dimensions, or over dims. */
WK_RESULT_API wk_tensor *wk_mean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* prod: Multiplies over all dimensions, or over dims. */
WK_RESULT_API wk_tensor *wk_prod_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* amax: Finds the largest element over all dimensions, or over dims; NaN if there is one. */
WK_RESULT_API wk_tensor *wk_amax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* amin: Finds the smallest element over all dimensions, or over dims; NaN if there is one. */
WK_RESULT_API wk_tensor *wk_amin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_reduce_options *options);

/* all: Tests whether all elements are nonzero, over all dimensions or over dims; true if there are none. */
WK_RESULT_API wk_tensor *wk_all_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* any: Tests whether an element is nonzero, over all dimensions or over dims; false if there are none. */
WK_RESULT_API wk_tensor *wk_any_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options);

/* count_nonzero: Counts the elements that are not 0, over all dimensions or over dims. */
WK_RESULT_API wk_tensor *wk_count_nonzero_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                             const wk_reduce_options *options);

/* logsumexp: Computes log(sum of e^x) over all dimensions, or over dims, without overflow. */
WK_RESULT_API wk_tensor *wk_logsumexp_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                         const wk_reduce_options *options);

/* argmax: Finds the index of the largest element, the first of equals; NaN counts as largest. */
WK_RESULT_API wk_tensor *wk_argmax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                      const wk_reduce_options *options);

/* argmin: Finds the index of the smallest element, the first of equals; NaN counts as smallest. */
WK_RESULT_API wk_tensor *wk_argmin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                      const wk_reduce_options *options);

/* var: Computes the variance over all dimensions, or over dims. */
typedef struct wk_var_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double correction; /* default 1; subtracted from the number of elements */
} wk_var_options;
#ifndef __cplusplus
#define wk_var_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, correction)
#endif
WK_RESULT_API wk_tensor *wk_var_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_var_options *options);

/* std: Computes the standard deviation over all dimensions, or over dims. */
WK_RESULT_API wk_tensor *wk_std_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_var_options *options);

/* norm: Computes the p-norm over all dimensions, or over dims. */
typedef struct wk_norm_options {
    size_t size;
    wk_by_name by_name;
    bool keepdim;
    double p; /* default 2; any number, also INFINITY and -INFINITY; 0 counts the elements that are not 0 */
} wk_norm_options;
#ifndef __cplusplus
#define wk_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p)
#endif
WK_RESULT_API wk_tensor *wk_norm_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                    const wk_norm_options *options);

/* dist: Computes the p-norm of the difference of a and b over all elements. */
typedef struct wk_dist_options {
    size_t size;
    wk_by_name by_name;
    double p; /* default 2; as for wk_norm */
} wk_dist_options;
#ifndef __cplusplus
#define wk_dist_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p)
#endif
WK_RESULT_API wk_tensor *wk_dist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_dist_options *options);

/* pairwise_distance: Computes the p-norm of the difference of a and b along the last dimension. */
typedef struct wk_pairwise_distance_options {
    size_t size;
    wk_by_name by_name;
    double p;   /* default 2; as for wk_norm */
    double eps; /* default 1e-06; added to the difference */
    bool keepdim;
    char reserved[7];
} wk_pairwise_distance_options;
#ifndef __cplusplus
#define wk_pairwise_distance_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_pairwise_distance_at(wk_site site, wk_tensor *a, wk_tensor *b,
                                                 const wk_pairwise_distance_options *options);

/* cosine_similarity: Computes the cosine of the angle between vectors along dim. */
typedef struct wk_cosine_similarity_options {
    size_t size;
    wk_by_name by_name;
    double eps; /* default 1e-08; smallest length that counts */
} wk_cosine_similarity_options;
#ifndef __cplusplus
#define wk_cosine_similarity_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_cosine_similarity_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim,
                                                 const wk_cosine_similarity_options *options);

/* nansum: Sums over all dimensions, or over dims, as if NaN were 0. */
WK_RESULT_API wk_tensor *wk_nansum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                      const wk_reduce_options *options);

/* nanmean: Computes the mean of the elements that are not NaN, over all dimensions or over dims. */
WK_RESULT_API wk_tensor *wk_nanmean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                       const wk_reduce_options *options);

/* cdist: Computes the p-norms of the differences of all pairs of rows of a and b. */
typedef struct wk_cdist_options {
    size_t size;
    wk_by_name by_name;
    double p; /* default 2; at least 0; inf for the largest difference */
} wk_cdist_options;
#ifndef __cplusplus
#define wk_cdist_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p)
#endif
WK_RESULT_API wk_tensor *wk_cdist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_cdist_options *options);

/* ---- along one dimension ----------------------------------------------------------------------------------------- */

/* softmax: Normalises e^x to a sum of 1 along dim. */
WK_RESULT_API wk_tensor *wk_softmax_at(wk_site site, wk_tensor *x, int64_t dim);

/* softmin: Normalises e^-x to a sum of 1 along dim. */
WK_RESULT_API wk_tensor *wk_softmin_at(wk_site site, wk_tensor *x, int64_t dim);

/* log_softmax: Computes the logarithm of softmax along dim, accurately where softmax is 0. */
WK_RESULT_API wk_tensor *wk_log_softmax_at(wk_site site, wk_tensor *x, int64_t dim);

/* cumsum: Computes running sums along dim. */
WK_RESULT_API wk_tensor *wk_cumsum_at(wk_site site, wk_tensor *x, int64_t dim);

/* cumprod: Computes running products along dim. */
WK_RESULT_API wk_tensor *wk_cumprod_at(wk_site site, wk_tensor *x, int64_t dim);

/* sort: Sorts along dim; equal values keep their order, NaN counts as largest. */
WK_API wk_code wk_sort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending, wk_tensor **values,
                          wk_tensor **indices);

/* argsort: Computes the indices that sort dim; equal values keep their order, NaN counts as largest. */
WK_RESULT_API wk_tensor *wk_argsort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending);

/* topk: Finds the k largest (or smallest) values along dim, in order; NaN counts as largest. */
WK_API wk_code wk_topk_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool largest, wk_tensor **values,
                          wk_tensor **indices);

/* kthvalue: Finds the k-th smallest value along dim, counted from 1; NaN counts as largest. */
WK_API wk_code wk_kthvalue_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool keepdim, wk_tensor **values,
                              wk_tensor **indices);

/* median: Finds the lower median of all elements, NaN if there is one. */
WK_RESULT_API wk_tensor *wk_median_at(wk_site site, wk_tensor *x);
WK_API wk_code wk_median_dim_at(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values,
                                wk_tensor **indices);

/* cummax: Computes running maxima along dim, and the index of each: the last one of equal values. NaN propagates. */
WK_API wk_code wk_cummax_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **values, wk_tensor **indices);

/* cummin: Computes running minima along dim, and the index of each: the last one of equal values. NaN propagates. */
WK_API wk_code wk_cummin_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **values, wk_tensor **indices);

/* logcumsumexp: Computes logarithms of running sums of e^x along dim, also where e^x overflows. */
WK_RESULT_API wk_tensor *wk_logcumsumexp_at(wk_site site, wk_tensor *x, int64_t dim);

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* unique: Finds the distinct elements, sorted. */
typedef struct wk_unique_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor **return_inverse; /* receives the index in out of each element, shaped like x; default NULL */
    wk_tensor **return_counts;  /* receives the count of each element of out; default NULL */
} wk_unique_options;
#ifndef __cplusplus
#define wk_unique_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_unique_at(wk_site site, wk_tensor *x, const wk_unique_options *options);

/* isin: Tests for each element whether it equals one of test_elements; with .invert, whether it equals none. */
typedef struct wk_isin_options {
    size_t size;
    wk_by_name by_name;
    bool invert; /* test for equality with none; default false */
    char reserved[7];
} wk_isin_options;
#ifndef __cplusplus
#define wk_isin_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_isin_at(wk_site site, wk_tensor *elements, wk_tensor *test_elements,
                                    const wk_isin_options *options);

/* searchsorted: Finds the index in sorted at which each value would be inserted to keep the order. */
typedef struct wk_searchsorted_options {
    size_t size;
    wk_by_name by_name;
    bool out_int32;    /* i32 indices; default false */
    bool right;        /* after equal elements; default false */
    const char *side;  /* "left" or "right"; as .right */
    wk_tensor *sorter; /* indices that sort the sequence, i64; default NULL */
} wk_searchsorted_options;
#ifndef __cplusplus
#define wk_searchsorted_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_searchsorted_at(wk_site site, wk_tensor *sorted, wk_tensor *values,
                                            const wk_searchsorted_options *options);

/* bucketize: Finds the bucket between boundaries, a sorted vector, of each element. */
typedef struct wk_bucketize_options {
    size_t size;
    wk_by_name by_name;
    bool out_int32; /* i32 indices; default false */
    bool right;     /* an element equal to a boundary is in the next bucket; default false */
    char reserved[6];
} wk_bucketize_options;
#ifndef __cplusplus
#define wk_bucketize_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_bucketize_at(wk_site site, wk_tensor *x, wk_tensor *boundaries,
                                         const wk_bucketize_options *options);

/* bincount: Counts how often each integer occurs in x, or sums .weights for it. */
typedef struct wk_bincount_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *weights; /* one for each element of x; default NULL */
    int64_t minlength;  /* smallest number of counts */
} wk_bincount_options;
#ifndef __cplusplus
#define wk_bincount_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_bincount_at(wk_site site, wk_tensor *x, const wk_bincount_options *options);

/* histc: Counts the elements in .bins intervals of equal width from .min to .max. */
typedef struct wk_histc_options {
    size_t size;
    wk_by_name by_name;
    int64_t bins; /* number of intervals; 0 is the default, 100 */
    double min;   /* lower limit */
    double max;   /* upper limit */
} wk_histc_options;
#ifndef __cplusplus
#define wk_histc_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_histc_at(wk_site site, wk_tensor *x, const wk_histc_options *options);

/* ---- normalisation ----------------------------------------------------------------------------------------------- */

/* batch_norm: Normalises each channel, that is each index of dimension 1, over the other dimensions. */
WK_RESULT_API wk_tensor *wk_batch_norm_at(wk_site site, wk_tensor *x, wk_tensor *running_mean, wk_tensor *running_var,
                                          wk_tensor *weight, wk_tensor *bias, bool training, double momentum,
                                          double eps);

/* instance_norm: Normalises each channel of each sample, that is each index of dimensions 0 and 1, over the other
 * dimensions. */
WK_RESULT_API wk_tensor *wk_instance_norm_at(wk_site site, wk_tensor *x, wk_tensor *running_mean,
                                             wk_tensor *running_var, wk_tensor *weight, wk_tensor *bias,
                                             bool use_input_stats, double momentum, double eps);

/* group_norm: Normalises each group of adjacent channels of each sample over the group and all positions. */
WK_RESULT_API wk_tensor *wk_group_norm_at(wk_site site, wk_tensor *x, int64_t groups, wk_tensor *weight,
                                          wk_tensor *bias, double eps);

/* rms_norm: Divides by the root of the mean square over the last dimensions, whose sizes are shape. */
WK_RESULT_API wk_tensor *wk_rms_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight,
                                        double eps);

/* local_response_norm: Divides each element by a power of the squares at its position in size adjacent channels. */
WK_RESULT_API wk_tensor *wk_local_response_norm_at(wk_site site, wk_tensor *x, int64_t size, double alpha, double beta,
                                                   double k);

/* normalize: Divides vectors along a dimension by their norms. */
WK_RESULT_API wk_tensor *wk_normalize_at(wk_site site, wk_tensor *x, double p, int64_t dim, double eps);

/* layer_norm: Normalises over the last dimensions, whose sizes are shape. */
WK_RESULT_API wk_tensor *wk_layer_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight,
                                          wk_tensor *bias, double eps);

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* mse_loss: Computes the mean squared error, or the sum or each element of it. */
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

/* l1_loss: Computes the mean absolute error, or the sum or each element of it. */
WK_RESULT_API wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                       const wk_loss_options *options);

/* smooth_l1_loss: Computes a squared error below .beta and an absolute error above. */
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

/* huber_loss: Computes a squared error below .delta and an absolute error above. */
typedef struct wk_huber_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double delta; /* default 1.0; positive */
} wk_huber_loss_options;
#ifndef __cplusplus
#define wk_huber_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, delta)
#endif
WK_RESULT_API wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                          const wk_huber_loss_options *options);

/* binary_cross_entropy: Computes the cross entropy of probabilities and binary targets. */
typedef struct wk_bce_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight; /* of each element, broadcast; default none */
} wk_bce_options;
#ifndef __cplusplus
#define wk_bce_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_binary_cross_entropy_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                    const wk_bce_options *options);

/* binary_cross_entropy_with_logits: Computes wk_binary_cross_entropy of sigmoid(input) without overflow. */
typedef struct wk_bce_with_logits_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight;     /* of each element, broadcast; default none */
    wk_tensor *pos_weight; /* of the positive term, broadcast; default none */
} wk_bce_with_logits_options;
#ifndef __cplusplus
#define wk_bce_with_logits_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_binary_cross_entropy_with_logits_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                                const wk_bce_with_logits_options *options);

/* kl_div: Computes the Kullback-Leibler divergence of target from input, which holds log-probabilities. */
typedef struct wk_kl_div_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    bool log_target; /* target holds logarithms; default false */
    char reserved[3];
} wk_kl_div_options;
#ifndef __cplusplus
#define wk_kl_div_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_kl_div_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                      const wk_kl_div_options *options);

/* soft_margin_loss: Computes the logistic loss of scores and targets of 1 or -1. */
WK_RESULT_API wk_tensor *wk_soft_margin_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                const wk_loss_options *options);

/* margin_ranking_loss: Penalises pairs of scores unless input1 exceeds input2 by .margin, for target 1, or the
 * opposite, for -1. */
typedef struct wk_margin_ranking_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double margin;
} wk_margin_ranking_loss_options;
#ifndef __cplusplus
#define wk_margin_ranking_loss_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_margin_ranking_loss_at(wk_site site, wk_tensor *input1, wk_tensor *input2,
                                                   wk_tensor *target, const wk_margin_ranking_loss_options *options);

/* poisson_nll_loss: Computes the negative log-likelihood of counts from the logarithms of Poisson rates. */
typedef struct wk_poisson_nll_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    bool no_log_input; /* input holds rates, not their logarithms; default false */
    bool full;         /* add the term that depends on target only; default false */
    double eps;        /* default 1e-08; added to a rate */
} wk_poisson_nll_loss_options;
#ifndef __cplusplus
#define wk_poisson_nll_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_poisson_nll_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                const wk_poisson_nll_loss_options *options);

/* gaussian_nll_loss: Computes the negative log-likelihood of targets from means and variances of normal
 * distributions. */
typedef struct wk_gaussian_nll_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    bool full;  /* add the constant; default false */
    double eps; /* default 1e-06; smallest variance */
} wk_gaussian_nll_loss_options;
#ifndef __cplusplus
#define wk_gaussian_nll_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_gaussian_nll_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, wk_tensor *var,
                                                 const wk_gaussian_nll_loss_options *options);

/* multi_margin_loss: Sums max(0, margin - x[label] + x[c])^p over the classes c other than label, and divides by C. */
typedef struct wk_multi_margin_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double p;          /* default 1; 1 or 2 */
    double margin;     /* default 1.0 */
    wk_tensor *weight; /* (C), of each class; default none */
} wk_multi_margin_loss_options;
#ifndef __cplusplus
#define wk_multi_margin_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, p) wk_do_(wk_o_, margin)
#endif
WK_RESULT_API wk_tensor *wk_multi_margin_loss_at(wk_site site, wk_tensor *x, wk_tensor *labels,
                                                 const wk_multi_margin_loss_options *options);

/* cosine_embedding_loss: Compares directions: the loss is 0 at cosine 1 for target 1, and at cosines up to .margin
 * for target -1. */
typedef struct wk_cosine_embedding_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double margin;
} wk_cosine_embedding_loss_options;
#ifndef __cplusplus
#define wk_cosine_embedding_loss_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_cosine_embedding_loss_at(wk_site site, wk_tensor *a, wk_tensor *b, wk_tensor *target,
                                                     const wk_cosine_embedding_loss_options *options);

/* triplet_margin_loss: Compares distances: that from anchor to positive is to be less than that to negative by
 * .margin. */
typedef struct wk_triplet_margin_loss_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    double margin; /* default 1.0; positive */
    double p;      /* default 2; of the norm */
    double eps;    /* default 1e-06; added to differences */
    bool swap;
    char reserved[7];
} wk_triplet_margin_loss_options;
#ifndef __cplusplus
#define wk_triplet_margin_loss_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, margin) wk_do_(wk_o_, p) wk_do_(wk_o_, eps)
#endif
WK_RESULT_API wk_tensor *wk_triplet_margin_loss_at(wk_site site, wk_tensor *anchor, wk_tensor *positive,
                                                   wk_tensor *negative, const wk_triplet_margin_loss_options *options);

/* cross_entropy: Computes the cross entropy of logits and labels. */
typedef struct wk_cross_entropy_options {
    size_t size;
    wk_by_name by_name;
    wk_reduction reduction;
    wk_tensor *weight;      /* (C), of each class; default none */
    double ignore_index;    /* default -100; label that does not count */
    double label_smoothing; /* share of each label spread over all classes */
} wk_cross_entropy_options;
#ifndef __cplusplus
#define wk_cross_entropy_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, ignore_index)
#endif
WK_RESULT_API wk_tensor *wk_cross_entropy_at(wk_site site, wk_tensor *logits, wk_tensor *labels,
                                             const wk_cross_entropy_options *options);

/* nll_loss: Computes the negative log-likelihood of labels from log-probabilities. */
WK_RESULT_API wk_tensor *wk_nll_loss_at(wk_site site, wk_tensor *logs, wk_tensor *labels,
                                        const wk_cross_entropy_options *options);

/* ctc_loss: Computes the negative log-probability of label sequences under all their alignments (connectionist
 * temporal classification). */
typedef struct wk_ctc_loss_options {
    size_t size;
    wk_by_name by_name;
    int64_t blank; /* class of the blank */
    wk_reduction reduction;
    bool zero_infinity; /* 0 for infinite losses; default false */
    char reserved[3];
} wk_ctc_loss_options;
#ifndef __cplusplus
#define wk_ctc_loss_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_ctc_loss_at(wk_site site, wk_tensor *log_probs, wk_tensor *targets,
                                        wk_tensor *input_lengths, wk_tensor *target_lengths,
                                        const wk_ctc_loss_options *options);

#ifdef __cplusplus
}
#endif
#endif

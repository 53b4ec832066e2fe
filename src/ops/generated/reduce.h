/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/reduce.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#ifndef WICK_OPS_GENERATED_REDUCE_H
#define WICK_OPS_GENERATED_REDUCE_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/reduce.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_sum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_mean(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_prod(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_amax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_amin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_all(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_any(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_count_nonzero(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logsumexp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_argmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_argmin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_var(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_std(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dist(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pairwise_distance(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cosine_similarity(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nansum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nanmean(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cdist(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_softmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_softmin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_log_softmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cumsum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cumprod(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_sort(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_argsort(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_topk(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_kthvalue(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_median(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cummax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cummin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_logcumsumexp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_unique(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_isin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_searchsorted(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_bucketize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_bincount(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_histc(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_batch_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_instance_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_group_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rms_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_local_response_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_normalize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_layer_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_mse_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_l1_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_smooth_l1_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_huber_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_binary_cross_entropy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_binary_cross_entropy_with_logits(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_kl_div(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_soft_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_margin_ranking_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_poisson_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_gaussian_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_multi_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cosine_embedding_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_triplet_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cross_entropy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_ctc_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Entries defined in the files of the ops. */
wk_code wk__median_dim(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values, wk_tensor **indices);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__read_var_options(wk_site site, const char *op, const wk_var_options *given, wk_var_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->correction = wk__option_or(own->correction, 1);
    return true;
}
static inline bool wk__read_norm_options(wk_site site, const char *op, const wk_norm_options *given,
                                         wk_norm_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->p = wk__option_or(own->p, 2);
    return true;
}
static inline bool wk__read_dist_options(wk_site site, const char *op, const wk_dist_options *given,
                                         wk_dist_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->p = wk__option_or(own->p, 2);
    return true;
}
static inline bool wk__read_pairwise_distance_options(wk_site site, const char *op,
                                                      const wk_pairwise_distance_options *given,
                                                      wk_pairwise_distance_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->p = wk__option_or(own->p, 2);
    own->eps = wk__option_or(own->eps, 1e-06);
    return true;
}
static inline bool wk__read_cosine_similarity_options(wk_site site, const char *op,
                                                      const wk_cosine_similarity_options *given,
                                                      wk_cosine_similarity_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->eps = wk__option_or(own->eps, 1e-08);
    return true;
}
static inline bool wk__read_cdist_options(wk_site site, const char *op, const wk_cdist_options *given,
                                          wk_cdist_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->p = wk__option_or(own->p, 2);
    return true;
}
static inline bool wk__read_histc_options(wk_site site, const char *op, const wk_histc_options *given,
                                          wk_histc_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->min = wk__option_or(own->min, 0);
    own->max = wk__option_or(own->max, 0);
    return true;
}
static inline bool wk__read_smooth_l1_loss_options(wk_site site, const char *op, const wk_smooth_l1_loss_options *given,
                                                   wk_smooth_l1_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->beta = wk__option_or(own->beta, 1.0);
    return true;
}
static inline bool wk__read_huber_loss_options(wk_site site, const char *op, const wk_huber_loss_options *given,
                                               wk_huber_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->delta = wk__option_or(own->delta, 1.0);
    return true;
}
static inline bool wk__read_margin_ranking_loss_options(wk_site site, const char *op,
                                                        const wk_margin_ranking_loss_options *given,
                                                        wk_margin_ranking_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->margin = wk__option_or(own->margin, 0);
    return true;
}
static inline bool wk__read_poisson_nll_loss_options(wk_site site, const char *op,
                                                     const wk_poisson_nll_loss_options *given,
                                                     wk_poisson_nll_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->eps = wk__option_or(own->eps, 1e-08);
    return true;
}
static inline bool wk__read_gaussian_nll_loss_options(wk_site site, const char *op,
                                                      const wk_gaussian_nll_loss_options *given,
                                                      wk_gaussian_nll_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->eps = wk__option_or(own->eps, 1e-06);
    return true;
}
static inline bool wk__read_multi_margin_loss_options(wk_site site, const char *op,
                                                      const wk_multi_margin_loss_options *given,
                                                      wk_multi_margin_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->p = wk__option_or(own->p, 1);
    own->margin = wk__option_or(own->margin, 1.0);
    return true;
}
static inline bool wk__read_cosine_embedding_loss_options(wk_site site, const char *op,
                                                          const wk_cosine_embedding_loss_options *given,
                                                          wk_cosine_embedding_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->margin = wk__option_or(own->margin, 0);
    return true;
}
static inline bool wk__read_triplet_margin_loss_options(wk_site site, const char *op,
                                                        const wk_triplet_margin_loss_options *given,
                                                        wk_triplet_margin_loss_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->margin = wk__option_or(own->margin, 1.0);
    own->p = wk__option_or(own->p, 2);
    own->eps = wk__option_or(own->eps, 1e-06);
    return true;
}
static inline bool wk__read_cross_entropy_options(wk_site site, const char *op, const wk_cross_entropy_options *given,
                                                  wk_cross_entropy_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->ignore_index = wk__option_or(own->ignore_index, -100);
    return true;
}

extern const wk_parameter wk__parameters_sum[];
extern const wk_parameter wk__parameters_mean[];
extern const wk_parameter wk__parameters_amax[];
extern const wk_parameter wk__parameters_argmax[];
extern const wk_parameter wk__parameters_var[];
extern const wk_parameter wk__parameters_std[];
extern const wk_parameter wk__parameters_norm[];
extern const wk_parameter wk__parameters_dist[];
extern const wk_parameter wk__parameters_pairwise_distance[];
extern const wk_parameter wk__parameters_cosine_similarity[];
extern const wk_parameter wk__parameters_cdist[];
extern const wk_parameter wk__parameters_softmax[];
extern const wk_parameter wk__parameters_cumsum[];
extern const wk_parameter wk__parameters_sort[];
extern const wk_parameter wk__parameters_topk[];
extern const wk_parameter wk__parameters_kthvalue[];
extern const wk_parameter wk__parameters_unique[];
extern const wk_parameter wk__parameters_isin[];
extern const wk_parameter wk__parameters_searchsorted[];
extern const wk_parameter wk__parameters_bucketize[];
extern const wk_parameter wk__parameters_bincount[];
extern const wk_parameter wk__parameters_histc[];
extern const wk_parameter wk__parameters_batch_norm[];
extern const wk_parameter wk__parameters_instance_norm[];
extern const wk_parameter wk__parameters_group_norm[];
extern const wk_parameter wk__parameters_rms_norm[];
extern const wk_parameter wk__parameters_local_response_norm[];
extern const wk_parameter wk__parameters_normalize[];
extern const wk_parameter wk__parameters_layer_norm[];
extern const wk_parameter wk__parameters_mse_loss[];
extern const wk_parameter wk__parameters_smooth_l1_loss[];
extern const wk_parameter wk__parameters_huber_loss[];
extern const wk_parameter wk__parameters_binary_cross_entropy[];
extern const wk_parameter wk__parameters_binary_cross_entropy_with_logits[];
extern const wk_parameter wk__parameters_kl_div[];
extern const wk_parameter wk__parameters_margin_ranking_loss[];
extern const wk_parameter wk__parameters_poisson_nll_loss[];
extern const wk_parameter wk__parameters_gaussian_nll_loss[];
extern const wk_parameter wk__parameters_multi_margin_loss[];
extern const wk_parameter wk__parameters_triplet_margin_loss[];
extern const wk_parameter wk__parameters_cross_entropy[];
extern const wk_parameter wk__parameters_nll_loss[];
extern const wk_parameter wk__parameters_ctc_loss[];

#define WK__SIGNATURE_sum                                                                                              \
    .name = "sum", .schema = "sum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",  \
    .category = "reduction", .doc = "Sums over all dimensions, or over dims.", .grad_fn_name = "SumBackward0",         \
    .grad_fn_name_dims = "SumBackward1", .parameters = wk__parameters_sum, .parameter_count = 4, .results = 1,         \
    .takes_dtype = true, .invoke = wk__invoke_sum

#define WK__SIGNATURE_mean                                                                                             \
    .name = "mean",                                                                                                    \
    .schema = "mean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",                \
    .category = "reduction", .doc = "Computes the mean over all dimensions, or over dims.",                            \
    .grad_fn_name = "MeanBackward0", .grad_fn_name_dims = "MeanBackward1", .dtypes = WK__FLOATS,                       \
    .parameters = wk__parameters_mean, .parameter_count = 4, .results = 1, .takes_dtype = true,                        \
    .invoke = wk__invoke_mean

#define WK__SIGNATURE_prod                                                                                             \
    .name = "prod",                                                                                                    \
    .schema = "prod(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",                \
    .category = "reduction", .doc = "Multiplies over all dimensions, or over dims.", .grad_fn_name = "ProdBackward0",  \
    .grad_fn_name_dims = "ProdBackward1", .parameters = wk__parameters_mean, .parameter_count = 4, .results = 1,       \
    .takes_dtype = true, .invoke = wk__invoke_prod

#define WK__SIGNATURE_amax                                                                                             \
    .name = "amax", .schema = "amax(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",                      \
    .category = "reduction",                                                                                           \
    .doc = "Finds the largest element over all dimensions, or over dims; NaN if there is one.",                        \
    .grad_fn_name = "AmaxBackward0", .parameters = wk__parameters_amax, .parameter_count = 3, .results = 1,            \
    .invoke = wk__invoke_amax

#define WK__SIGNATURE_amin                                                                                             \
    .name = "amin", .schema = "amin(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",                      \
    .category = "reduction",                                                                                           \
    .doc = "Finds the smallest element over all dimensions, or over dims; NaN if there is one.",                       \
    .grad_fn_name = "AminBackward0", .parameters = wk__parameters_amax, .parameter_count = 3, .results = 1,            \
    .invoke = wk__invoke_amin

#define WK__SIGNATURE_all                                                                                              \
    .name = "all", .schema = "all(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",                        \
    .category = "reduction",                                                                                           \
    .doc = "Tests whether all elements are nonzero, over all dimensions or over dims; true if there are none.",        \
    .parameters = wk__parameters_amax, .parameter_count = 3, .results = 1, .invoke = wk__invoke_all

#define WK__SIGNATURE_any                                                                                              \
    .name = "any", .schema = "any(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",                        \
    .category = "reduction",                                                                                           \
    .doc = "Tests whether an element is nonzero, over all dimensions or over dims; false if there are none.",          \
    .parameters = wk__parameters_amax, .parameter_count = 3, .results = 1, .invoke = wk__invoke_any

#define WK__SIGNATURE_count_nonzero                                                                                    \
    .name = "count_nonzero", .schema = "count_nonzero(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",    \
    .category = "reduction", .doc = "Counts the elements that are not 0, over all dimensions or over dims.",           \
    .parameters = wk__parameters_amax, .parameter_count = 3, .results = 1, .invoke = wk__invoke_count_nonzero

#define WK__SIGNATURE_logsumexp                                                                                        \
    .name = "logsumexp", .schema = "logsumexp(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",            \
    .category = "reduction", .doc = "Computes log(sum of e^x) over all dimensions, or over dims, without overflow.",   \
    .grad_fn_name = "LogsumexpBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_amax,                     \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_logsumexp

#define WK__SIGNATURE_argmax                                                                                           \
    .name = "argmax", .schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",                    \
    .category = "reduction",                                                                                           \
    .doc = "Finds the index of the largest element, the first of equals; NaN counts as largest.",                      \
    .parameters = wk__parameters_argmax, .parameter_count = 3, .results = 1, .invoke = wk__invoke_argmax

#define WK__SIGNATURE_argmin                                                                                           \
    .name = "argmin", .schema = "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",                    \
    .category = "reduction",                                                                                           \
    .doc = "Finds the index of the smallest element, the first of equals; NaN counts as smallest.",                    \
    .parameters = wk__parameters_argmax, .parameter_count = 3, .results = 1, .invoke = wk__invoke_argmin

#define WK__SIGNATURE_var                                                                                              \
    .name = "var", .schema = "var(Tensor self, int[]? dim=None, *, float correction=1, bool keepdim=False) -> Tensor", \
    .category = "reduction", .doc = "Computes the variance over all dimensions, or over dims.",                        \
    .grad_fn_name = "VarBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_var, .parameter_count = 4,      \
    .results = 1, .invoke = wk__invoke_var

#define WK__SIGNATURE_std                                                                                              \
    .name = "std", .schema = "std(Tensor self, int[]? dim=None, *, float correction=1, bool keepdim=False) -> Tensor", \
    .category = "reduction", .doc = "Computes the standard deviation over all dimensions, or over dims.",              \
    .grad_fn_name = "StdBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_std, .parameter_count = 4,      \
    .results = 1, .invoke = wk__invoke_std

#define WK__SIGNATURE_norm                                                                                             \
    .name = "norm", .schema = "norm(Tensor self, float p=2, int[]? dim=None, bool keepdim=False) -> Tensor",           \
    .category = "reduction", .doc = "Computes the p-norm over all dimensions, or over dims.",                          \
    .grad_fn_name = "LinalgVectorNormBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_norm,              \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_norm

#define WK__SIGNATURE_dist                                                                                             \
    .name = "dist", .schema = "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", .category = "reduction",        \
    .doc = "Computes the p-norm of the difference of a and b over all elements.", .grad_fn_name = "DistBackward0",     \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_dist, .parameter_count = 3, .results = 1,                       \
    .invoke = wk__invoke_dist

#define WK__SIGNATURE_pairwise_distance                                                                                \
    .name = "pairwise_distance",                                                                                       \
    .schema = "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",     \
    .category = "reduction", .doc = "Computes the p-norm of the difference of a and b along the last dimension.",      \
    .grad_fn_name = "NormBackward1", .dtypes = WK__FLOATS, .parameters = wk__parameters_pairwise_distance,             \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_pairwise_distance

#define WK__SIGNATURE_cosine_similarity                                                                                \
    .name = "cosine_similarity",                                                                                       \
    .schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",                         \
    .category = "reduction", .doc = "Computes the cosine of the angle between vectors along dim.",                     \
    .grad_fn_name = "SumBackward1", .dtypes = WK__FLOATS, .parameters = wk__parameters_cosine_similarity,              \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_cosine_similarity

#define WK__SIGNATURE_nansum                                                                                           \
    .name = "nansum",                                                                                                  \
    .schema = "nansum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",              \
    .category = "reduction", .doc = "Sums over all dimensions, or over dims, as if NaN were 0.",                       \
    .grad_fn_name = "NansumBackward0", .parameters = wk__parameters_mean, .parameter_count = 4, .results = 1,          \
    .takes_dtype = true, .invoke = wk__invoke_nansum

#define WK__SIGNATURE_nanmean                                                                                          \
    .name = "nanmean",                                                                                                 \
    .schema = "nanmean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",             \
    .category = "reduction",                                                                                           \
    .doc = "Computes the mean of the elements that are not NaN, over all dimensions or over dims.",                    \
    .grad_fn_name = "DivBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_mean, .parameter_count = 4,     \
    .results = 1, .takes_dtype = true, .invoke = wk__invoke_nanmean

#define WK__SIGNATURE_cdist                                                                                            \
    .name = "cdist", .schema = "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",             \
    .category = "reduction", .doc = "Computes the p-norms of the differences of all pairs of rows of a and b.",        \
    .grad_fn_name = "CdistBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_cdist, .parameter_count = 4,  \
    .results = 1, .invoke = wk__invoke_cdist

#define WK__SIGNATURE_softmax                                                                                          \
    .name = "softmax", .schema = "softmax(Tensor input, int dim) -> Tensor", .category = "softmax",                    \
    .doc = "Normalises e^x to a sum of 1 along dim.", .grad_fn_name = "SoftmaxBackward0", .dtypes = WK__FLOATS,        \
    .parameters = wk__parameters_softmax, .parameter_count = 2, .results = 1, .invoke = wk__invoke_softmax

#define WK__SIGNATURE_softmin                                                                                          \
    .name = "softmin", .schema = "softmin(Tensor input, int dim) -> Tensor", .category = "softmax",                    \
    .doc = "Normalises e^-x to a sum of 1 along dim.", .grad_fn_name = "SoftmaxBackward0", .dtypes = WK__FLOATS,       \
    .parameters = wk__parameters_softmax, .parameter_count = 2, .results = 1, .invoke = wk__invoke_softmin

#define WK__SIGNATURE_log_softmax                                                                                      \
    .name = "log_softmax", .schema = "log_softmax(Tensor input, int dim) -> Tensor", .category = "softmax",            \
    .doc = "Computes the logarithm of softmax along dim, accurately where softmax is 0.",                              \
    .grad_fn_name = "LogSoftmaxBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_softmax,                 \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_log_softmax

#define WK__SIGNATURE_cumsum                                                                                           \
    .name = "cumsum", .schema = "cumsum(Tensor self, int dim) -> Tensor", .category = "scan",                          \
    .doc = "Computes running sums along dim.", .grad_fn_name = "CumsumBackward0", .parameters = wk__parameters_cumsum, \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_cumsum

#define WK__SIGNATURE_cumprod                                                                                          \
    .name = "cumprod", .schema = "cumprod(Tensor self, int dim) -> Tensor", .category = "scan",                        \
    .doc = "Computes running products along dim.", .grad_fn_name = "CumprodBackward0",                                 \
    .parameters = wk__parameters_cumsum, .parameter_count = 2, .results = 1, .invoke = wk__invoke_cumprod

#define WK__SIGNATURE_sort                                                                                             \
    .name = "sort",                                                                                                    \
    .schema = "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",               \
    .category = "sort", .doc = "Sorts along dim; equal values keep their order, NaN counts as largest.",               \
    .grad_fn_name = "SortBackward0", .parameters = wk__parameters_sort, .parameter_count = 3, .results = 2,            \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_sort

#define WK__SIGNATURE_argsort                                                                                          \
    .name = "argsort", .schema = "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",                  \
    .category = "sort",                                                                                                \
    .doc = "Computes the indices that sort dim; equal values keep their order, NaN counts as largest.",                \
    .parameters = wk__parameters_sort, .parameter_count = 3, .results = 1, .invoke = wk__invoke_argsort

#define WK__SIGNATURE_topk                                                                                             \
    .name = "topk",                                                                                                    \
    .schema = "topk(Tensor self, int k, int dim=-1, bool largest=True) -> (Tensor values, Tensor indices)",            \
    .category = "sort", .doc = "Finds the k largest (or smallest) values along dim, in order; NaN counts as largest.", \
    .grad_fn_name = "TopkBackward0", .parameters = wk__parameters_topk, .parameter_count = 4, .results = 2,            \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_topk

#define WK__SIGNATURE_kthvalue                                                                                         \
    .name = "kthvalue",                                                                                                \
    .schema = "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",       \
    .category = "sort", .doc = "Finds the k-th smallest value along dim, counted from 1; NaN counts as largest.",      \
    .grad_fn_name = "KthvalueBackward0", .parameters = wk__parameters_kthvalue, .parameter_count = 4, .results = 2,    \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_kthvalue

#define WK__SIGNATURE_median                                                                                           \
    .name = "median",                                                                                                  \
    .schema = "median(Tensor self, int? dim=None, bool keepdim=False) -> (Tensor values, Tensor indices)",             \
    .category = "sort", .doc = "Finds the lower median of all elements, NaN if there is one.",                         \
    .grad_fn_name = "MedianBackward0", .parameters = wk__parameters_argmax, .parameter_count = 3, .results = 2,        \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_median

#define WK__SIGNATURE_cummax                                                                                           \
    .name = "cummax", .schema = "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", .category = "scan", \
    .doc = "Computes running maxima along dim, and the index of each: the last one of equal values. NaN propagates.",  \
    .grad_fn_name = "CummaxBackward0", .parameters = wk__parameters_cumsum, .parameter_count = 2, .results = 2,        \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_cummax

#define WK__SIGNATURE_cummin                                                                                           \
    .name = "cummin", .schema = "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", .category = "scan", \
    .doc = "Computes running minima along dim, and the index of each: the last one of equal values. NaN propagates.",  \
    .grad_fn_name = "CumminBackward0", .parameters = wk__parameters_cumsum, .parameter_count = 2, .results = 2,        \
    .result_names = (const char *const[]){"values", "indices"}, .invoke = wk__invoke_cummin

#define WK__SIGNATURE_logcumsumexp                                                                                     \
    .name = "logcumsumexp", .schema = "logcumsumexp(Tensor self, int dim) -> Tensor", .category = "scan",              \
    .doc = "Computes logarithms of running sums of e^x along dim, also where e^x overflows.",                          \
    .grad_fn_name = "LogcumsumexpBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_cumsum,                \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_logcumsumexp

#define WK__SIGNATURE_unique                                                                                           \
    .name = "unique",                                                                                                  \
    .schema = "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor " \
              "output, Tensor inverse_indices, Tensor counts)",                                                        \
    .category = "sort", .doc = "Finds the distinct elements, sorted.", .parameters = wk__parameters_unique,            \
    .parameter_count = 4, .results = -1, .data_dependent_shape = true, .invoke = wk__invoke_unique

#define WK__SIGNATURE_isin                                                                                             \
    .name = "isin",                                                                                                    \
    .schema = "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", \
    .category = "comparison",                                                                                          \
    .doc = "Tests for each element whether it equals one of test_elements; with .invert, whether it equals none.",     \
    .parameters = wk__parameters_isin, .parameter_count = 4, .results = 1, .invoke = wk__invoke_isin

#define WK__SIGNATURE_searchsorted                                                                                     \
    .name = "searchsorted",                                                                                            \
    .schema = "searchsorted(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "     \
              "side=None, Tensor? sorter=None) -> Tensor",                                                             \
    .category = "sort", .doc = "Finds the index in sorted at which each value would be inserted to keep the order.",   \
    .parameters = wk__parameters_searchsorted, .parameter_count = 6, .results = 1, .invoke = wk__invoke_searchsorted

#define WK__SIGNATURE_bucketize                                                                                        \
    .name = "bucketize",                                                                                               \
    .schema = "bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",        \
    .category = "sort", .doc = "Finds the bucket between boundaries, a sorted vector, of each element.",               \
    .parameters = wk__parameters_bucketize, .parameter_count = 4, .results = 1, .invoke = wk__invoke_bucketize

#define WK__SIGNATURE_bincount                                                                                         \
    .name = "bincount", .schema = "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",            \
    .category = "sort", .doc = "Counts how often each integer occurs in x, or sums .weights for it.",                  \
    .parameters = wk__parameters_bincount, .parameter_count = 3, .results = 1, .data_dependent_shape = true,           \
    .invoke = wk__invoke_bincount

#define WK__SIGNATURE_histc                                                                                            \
    .name = "histc", .schema = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",               \
    .category = "sort", .doc = "Counts the elements in .bins intervals of equal width from .min to .max.",             \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_histc, .parameter_count = 4, .results = 1,                      \
    .data_dependent_shape = true, .invoke = wk__invoke_histc

#define WK__SIGNATURE_batch_norm                                                                                       \
    .name = "batch_norm",                                                                                              \
    .schema = "batch_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, "    \
              "Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",                \
    .category = "normalisation",                                                                                       \
    .doc = "Normalises each channel, that is each index of dimension 1, over the other dimensions.",                   \
    .grad_fn_name = "NativeBatchNormBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_batch_norm,         \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_batch_norm

#define WK__SIGNATURE_instance_norm                                                                                    \
    .name = "instance_norm",                                                                                           \
    .schema = "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, " \
              "Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",          \
    .category = "normalisation",                                                                                       \
    .doc = "Normalises each channel of each sample, that is each index of dimensions 0 and 1, over the other "         \
           "dimensions.",                                                                                              \
    .grad_fn_name = "ViewBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_instance_norm,                 \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_instance_norm

#define WK__SIGNATURE_group_norm                                                                                       \
    .name = "group_norm",                                                                                              \
    .schema =                                                                                                          \
        "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor", \
    .category = "normalisation",                                                                                       \
    .doc = "Normalises each group of adjacent channels of each sample over the group and all positions.",              \
    .grad_fn_name = "NativeGroupNormBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_group_norm,         \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_group_norm

#define WK__SIGNATURE_rms_norm                                                                                         \
    .name = "rms_norm",                                                                                                \
    .schema = "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",        \
    .category = "normalisation",                                                                                       \
    .doc = "Divides by the root of the mean square over the last dimensions, whose sizes are shape.",                  \
    .grad_fn_name = "MulBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_rms_norm, .parameter_count = 4, \
    .results = 1, .invoke = wk__invoke_rms_norm

#define WK__SIGNATURE_local_response_norm                                                                              \
    .name = "local_response_norm",                                                                                     \
    .schema = "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1) -> Tensor", \
    .category = "normalisation",                                                                                       \
    .doc = "Divides each element by a power of the squares at its position in size adjacent channels.",                \
    .grad_fn_name = "DivBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_local_response_norm,            \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_local_response_norm

#define WK__SIGNATURE_normalize                                                                                        \
    .name = "normalize", .schema = "normalize(Tensor input, float p=2, int dim=1, float eps=1e-12) -> Tensor",         \
    .category = "normalisation", .doc = "Divides vectors along a dimension by their norms.",                           \
    .grad_fn_name = "DivBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_normalize,                      \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_normalize

#define WK__SIGNATURE_layer_norm                                                                                       \
    .name = "layer_norm",                                                                                              \
    .schema = "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "        \
              "eps=1e-05) -> Tensor",                                                                                  \
    .category = "normalisation", .doc = "Normalises over the last dimensions, whose sizes are shape.",                 \
    .grad_fn_name = "NativeLayerNormBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_layer_norm,         \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_layer_norm

#define WK__SIGNATURE_mse_loss                                                                                         \
    .name = "mse_loss", .schema = "mse_loss(Tensor input, Tensor target, str reduction=\"mean\") -> Tensor",           \
    .category = "loss", .doc = "Computes the mean squared error, or the sum or each element of it.",                   \
    .grad_fn_name = "MseLossBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_mse_loss,       \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_mse_loss

#define WK__SIGNATURE_l1_loss                                                                                          \
    .name = "l1_loss", .schema = "l1_loss(Tensor input, Tensor target, str reduction=\"mean\") -> Tensor",             \
    .category = "loss", .doc = "Computes the mean absolute error, or the sum or each element of it.",                  \
    .grad_fn_name = "MeanBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_mse_loss,          \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_l1_loss

#define WK__SIGNATURE_smooth_l1_loss                                                                                   \
    .name = "smooth_l1_loss",                                                                                          \
    .schema = "smooth_l1_loss(Tensor input, Tensor target, str reduction=\"mean\", float beta=1.0) -> Tensor",         \
    .category = "loss", .doc = "Computes a squared error below .beta and an absolute error above.",                    \
    .grad_fn_name = "SmoothL1LossBackward0", .arity = 3, .dtypes = WK__FLOATS,                                         \
    .parameters = wk__parameters_smooth_l1_loss, .parameter_count = 4, .results = 1,                                   \
    .invoke = wk__invoke_smooth_l1_loss

#define WK__SIGNATURE_huber_loss                                                                                       \
    .name = "huber_loss",                                                                                              \
    .schema = "huber_loss(Tensor input, Tensor target, str reduction=\"mean\", float delta=1.0) -> Tensor",            \
    .category = "loss", .doc = "Computes a squared error below .delta and an absolute error above.",                   \
    .grad_fn_name = "HuberLossBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_huber_loss,   \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_huber_loss

#define WK__SIGNATURE_binary_cross_entropy                                                                             \
    .name = "binary_cross_entropy",                                                                                    \
    .schema =                                                                                                          \
        "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction=\"mean\") -> Tensor",    \
    .category = "loss", .doc = "Computes the cross entropy of probabilities and binary targets.",                      \
    .grad_fn_name = "BinaryCrossEntropyBackward0", .arity = 3, .dtypes = WK__FLOATS,                                   \
    .parameters = wk__parameters_binary_cross_entropy, .parameter_count = 4, .results = 1,                             \
    .invoke = wk__invoke_binary_cross_entropy

#define WK__SIGNATURE_binary_cross_entropy_with_logits                                                                 \
    .name = "binary_cross_entropy_with_logits",                                                                        \
    .schema = "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Tensor? "            \
              "pos_weight=None, str reduction=\"mean\") -> Tensor",                                                    \
    .category = "loss", .doc = "Computes wk_binary_cross_entropy of sigmoid(input) without overflow.",                 \
    .grad_fn_name = "BinaryCrossEntropyWithLogitsBackward0", .arity = 3, .dtypes = WK__FLOATS,                         \
    .parameters = wk__parameters_binary_cross_entropy_with_logits, .parameter_count = 5, .results = 1,                 \
    .invoke = wk__invoke_binary_cross_entropy_with_logits

#define WK__SIGNATURE_kl_div                                                                                           \
    .name = "kl_div",                                                                                                  \
    .schema = "kl_div(Tensor input, Tensor target, str reduction=\"mean\", bool log_target=False) -> Tensor",          \
    .category = "loss",                                                                                                \
    .doc = "Computes the Kullback-Leibler divergence of target from input, which holds log-probabilities.",            \
    .grad_fn_name = "MeanBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_kl_div,            \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_kl_div

#define WK__SIGNATURE_soft_margin_loss                                                                                 \
    .name = "soft_margin_loss",                                                                                        \
    .schema = "soft_margin_loss(Tensor input, Tensor target, str reduction=\"mean\") -> Tensor", .category = "loss",   \
    .doc = "Computes the logistic loss of scores and targets of 1 or -1.", .grad_fn_name = "SoftMarginLossBackward0",  \
    .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_mse_loss, .parameter_count = 3, .results = 1,       \
    .invoke = wk__invoke_soft_margin_loss

#define WK__SIGNATURE_margin_ranking_loss                                                                              \
    .name = "margin_ranking_loss",                                                                                     \
    .schema = "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str "                  \
              "reduction=\"mean\") -> Tensor",                                                                         \
    .category = "loss",                                                                                                \
    .doc =                                                                                                             \
        "Penalises pairs of scores unless input1 exceeds input2 by .margin, for target 1, or the opposite, for -1.",   \
    .grad_fn_name = "MeanBackward0", .arity = 4, .dtypes = WK__FLOATS,                                                 \
    .parameters = wk__parameters_margin_ranking_loss, .parameter_count = 5, .results = 1,                              \
    .invoke = wk__invoke_margin_ranking_loss

#define WK__SIGNATURE_poisson_nll_loss                                                                                 \
    .name = "poisson_nll_loss",                                                                                        \
    .schema = "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float eps=1e-08, "  \
              "str reduction=\"mean\") -> Tensor",                                                                     \
    .category = "loss", .doc = "Computes the negative log-likelihood of counts from the logarithms of Poisson rates.", \
    .grad_fn_name = "MeanBackward0", .arity = 3, .dtypes = WK__FLOATS, .parameters = wk__parameters_poisson_nll_loss,  \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_poisson_nll_loss

#define WK__SIGNATURE_gaussian_nll_loss                                                                                \
    .name = "gaussian_nll_loss",                                                                                       \
    .schema = "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str "      \
              "reduction=\"mean\") -> Tensor",                                                                         \
    .category = "loss",                                                                                                \
    .doc = "Computes the negative log-likelihood of targets from means and variances of normal distributions.",        \
    .grad_fn_name = "MeanBackward0", .arity = 4, .dtypes = WK__FLOATS, .parameters = wk__parameters_gaussian_nll_loss, \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_gaussian_nll_loss

#define WK__SIGNATURE_multi_margin_loss                                                                                \
    .name = "multi_margin_loss",                                                                                       \
    .schema = "multi_margin_loss(Tensor input, Tensor target, float p=1, float margin=1.0, Tensor? weight=None, str "  \
              "reduction=\"mean\") -> Tensor",                                                                         \
    .category = "loss",                                                                                                \
    .doc = "Sums max(0, margin - x[label] + x[c])^p over the classes c other than label, and divides by C.",           \
    .grad_fn_name = "MultiMarginLossBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_multi_margin_loss,  \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_multi_margin_loss

#define WK__SIGNATURE_cosine_embedding_loss                                                                            \
    .name = "cosine_embedding_loss",                                                                                   \
    .schema = "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str "                \
              "reduction=\"mean\") -> Tensor",                                                                         \
    .category = "loss",                                                                                                \
    .doc = "Compares directions: the loss is 0 at cosine 1 for target 1, and at cosines up to .margin for target -1.", \
    .grad_fn_name = "MeanBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_margin_ranking_loss,           \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_cosine_embedding_loss

#define WK__SIGNATURE_triplet_margin_loss                                                                              \
    .name = "triplet_margin_loss",                                                                                     \
    .schema = "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "     \
              "float eps=1e-06, bool swap=False, str reduction=\"mean\") -> Tensor",                                   \
    .category = "loss",                                                                                                \
    .doc = "Compares distances: that from anchor to positive is to be less than that to negative by .margin.",         \
    .grad_fn_name = "MeanBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_triplet_margin_loss,           \
    .parameter_count = 8, .results = 1, .invoke = wk__invoke_triplet_margin_loss

#define WK__SIGNATURE_cross_entropy                                                                                    \
    .name = "cross_entropy",                                                                                           \
    .schema = "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction=\"mean\", int "           \
              "ignore_index=-100, float label_smoothing=0.0) -> Tensor",                                               \
    .category = "loss", .doc = "Computes the cross entropy of logits and labels.", .grad_fn_name = "NllLossBackward0", \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_cross_entropy, .parameter_count = 6, .results = 1,              \
    .invoke = wk__invoke_cross_entropy

#define WK__SIGNATURE_nll_loss                                                                                         \
    .name = "nll_loss",                                                                                                \
    .schema = "nll_loss(Tensor self, Tensor target, Tensor? weight=None, str reduction=\"mean\", int "                 \
              "ignore_index=-100) -> Tensor",                                                                          \
    .category = "loss", .doc = "Computes the negative log-likelihood of labels from log-probabilities.",               \
    .grad_fn_name = "NllLossBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_nll_loss,                   \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_nll_loss

#define WK__SIGNATURE_ctc_loss                                                                                         \
    .name = "ctc_loss",                                                                                                \
    .schema = "ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "  \
              "str reduction=\"mean\", bool zero_infinity=False) -> Tensor",                                           \
    .category = "loss",                                                                                                \
    .doc = "Computes the negative log-probability of label sequences under all their alignments (connectionist "       \
           "temporal classification).",                                                                                \
    .grad_fn_name = "MeanBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_ctc_loss,                      \
    .parameter_count = 7, .results = 1, .data_dependent_shape = true, .invoke = wk__invoke_ctc_loss

#endif

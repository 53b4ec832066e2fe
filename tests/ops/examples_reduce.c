/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/reduce.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_sum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_sum(x, (1), .keepdim = true), 2, (const double[]){3, 7}, 1e-5);
}

static void example_mean(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_mean(x, (0)), 2, (const double[]){2, 3}, 1e-5);
}

static void example_prod(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_prod(x), 1, (const double[]){24}, 1e-5);
}

static void example_amax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 4, 3);
    expect_values(wk_amax(x, (1)), 2, (const double[]){2, 4}, 1e-5);
}

static void example_amin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 4, 3);
    expect_values(wk_amin(x, (1)), 2, (const double[]){1, 3}, 1e-5);
}

static void example_all(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 0, 3);
    expect_values(wk_all(x, (1)), 2, (const double[]){1, 0}, 1e-5);
}

static void example_any(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 0, 0, 3);
    expect_values(wk_any(x, (1)), 2, (const double[]){0, 1}, 1e-5);
}

static void example_count_nonzero(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 2, 0, 3);
    expect_values(wk_count_nonzero(x), 1, (const double[]){2}, 1e-5);
}

static void example_logsumexp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_logsumexp(x, (0)), 1, (const double[]){1.313262}, 1e-5);
}

static void example_argmax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 4, 3);
    expect_values(wk_argmax(x, 1), 2, (const double[]){1, 0}, 1e-5);
}

static void example_argmin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 4, 0);
    expect_values(wk_argmin(x), 1, (const double[]){3}, 1e-5);
}

static void example_var(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 3);
    expect_values(wk_var(x, .correction = 0), 1, (const double[]){1}, 1e-5);
}

static void example_std(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 3, 2, 6);
    expect_values(wk_std(x, (1)), 2, (const double[]){1.414214, 2.828427}, 1e-5);
}

static void example_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 3, 4, 5, 12);
    expect_values(wk_norm(x, (1)), 2, (const double[]){5, 13}, 1e-5);
}

static void example_dist(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 4, 6);
    expect_values(wk_dist(x, y), 1, (const double[]){5}, 1e-5);
}

static void example_pairwise_distance(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    wk_tensor *y = wk_of(double, (1, 2), 4, 6);
    expect_values(wk_pairwise_distance(x, y, .eps = 0), 1, (const double[]){5}, 1e-5);
}

static void example_cosine_similarity(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 0);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_cosine_similarity(x, y, 0), 1, (const double[]){0.707107}, 1e-5);
}

static void example_nansum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, 3);
    expect_values(wk_nansum(x, (0)), 1, (const double[]){4}, 1e-5);
}

static void example_nanmean(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, NAN, 3);
    expect_values(wk_nanmean(x), 1, (const double[]){2}, 1e-5);
}

static void example_cdist(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 0, 3, 0);
    wk_tensor *y = wk_of(double, (1, 2), 3, 4);
    expect_values(wk_cdist(x, y), 2, (const double[]){5, 4}, 1e-5);
}

static void example_softmax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_softmax(x, 0), 2, (const double[]){0.268941, 0.731059}, 1e-5);
}

static void example_softmin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_softmin(x, 0), 2, (const double[]){0.731059, 0.268941}, 1e-5);
}

static void example_log_softmax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    expect_values(wk_log_softmax(x, 0), 2, (const double[]){-1.313262, -0.313262}, 1e-5);
}

static void example_cumsum(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    expect_values(wk_cumsum(x, 0), 3, (const double[]){1, 3, 6}, 1e-5);
}

static void example_cumprod(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    expect_values(wk_cumprod(x, 0), 3, (const double[]){1, 2, 6}, 1e-5);
}

static void example_sort(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 3, 1, 2);
    wk_tensor *values = NULL;
    assert_int_equal(wk_sort(x, 0, false, &values, NULL), WK_OK);
    expect_values(values, 3, (const double[]){1, 2, 3}, 1e-5);
}

static void example_argsort(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 3, 1, 2);
    expect_values(wk_argsort(x, 0, true), 3, (const double[]){0, 2, 1}, 1e-5);
}

static void example_topk(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 3, 1, 2);
    wk_tensor *values = NULL;
    assert_int_equal(wk_topk(x, 2, 0, true, &values, NULL), WK_OK);
    expect_values(values, 2, (const double[]){3, 2}, 1e-5);
}

static void example_kthvalue(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 3, 1, 2);
    wk_tensor *values = NULL;
    assert_int_equal(wk_kthvalue(x, 2, 0, false, &values, NULL), WK_OK);
    expect_values(values, 1, (const double[]){2}, 1e-5);
}

static void example_median(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 3, 1, 2, 5);
    expect_values(wk_median(x), 1, (const double[]){2}, 1e-5);
}

static void example_cummax(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 3, 2);
    wk_tensor *values = NULL;
    assert_int_equal(wk_cummax(x, 0, &values, NULL), WK_OK);
    expect_values(values, 3, (const double[]){1, 3, 3}, 1e-5);
}

static void example_cummin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 2, 1, 3);
    wk_tensor *values = NULL;
    assert_int_equal(wk_cummin(x, 0, &values, NULL), WK_OK);
    expect_values(values, 3, (const double[]){2, 1, 1}, 1e-5);
}

static void example_logcumsumexp(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 0, 0, 1000);
    expect_values(wk_logcumsumexp(x, 0), 3, (const double[]){0, 0.693147, 1000}, 1e-5);
}

static void example_unique(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 2, 1, 2);
    expect_values(wk_unique(x), 2, (const double[]){1, 2}, 1e-5);
}

static void example_isin(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_tensor *y = wk_of(double, (2), 3, 1);
    expect_values(wk_isin(x, y), 3, (const double[]){1, 0, 1}, 1e-5);
}

static void example_searchsorted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 3, 5);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_searchsorted(x, y), 2, (const double[]){1, 2}, 1e-5);
}

static void example_bucketize(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 0, 2, 9);
    wk_tensor *y = wk_of(double, (3), 1, 2, 3);
    expect_values(wk_bucketize(x, y), 3, (const double[]){0, 1, 3}, 1e-5);
}

static void example_bincount(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *y = wk_of(int64_t, (3), 1, 1, 0);
    expect_values(wk_bincount(y, .minlength = 3), 3, (const double[]){1, 2, 0}, 1e-5);
}

static void example_histc(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 3, 4);
    expect_values(wk_histc(x, .bins = 2, .max = 4), 2, (const double[]){1, 2}, 1e-5);
}

static void example_batch_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 6, 3, 2);
    expect_values(wk_batch_norm(x, NULL, NULL, NULL, NULL, true, 0.1, 0), 4, (const double[]){-1, 1, 1, -1}, 1e-5);
}

static void example_instance_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2, 2), 1, 3, 6, 2);
    expect_values(wk_instance_norm(x, NULL, NULL, NULL, NULL, true, 0.1, 0), 4, (const double[]){-1, 1, 1, -1}, 1e-5);
}

static void example_group_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 3, 6, 2);
    expect_values(wk_group_norm(x, 1, NULL, NULL, 0), 4, (const double[]){-1, 1, 1, -1}, 1e-5);
}

static void example_rms_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, -1, 7, 1);
    expect_values(wk_rms_norm(x, (2), NULL, 0), 4, (const double[]){1, -1, 1.4, 0.2}, 1e-5);
}

static void example_local_response_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2, 1), 1, 2);
    expect_values(wk_local_response_norm(x, 2, 2, 1, 0), 2, (const double[]){1, 0.4}, 1e-5);
}

static void example_normalize(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 3, 4, 0, 2);
    expect_values(wk_normalize(x), 4, (const double[]){0.6, 0.8, 0, 1}, 1e-5);
}

static void example_layer_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 3, 2, 6);
    expect_values(wk_layer_norm(x, (2), NULL, NULL, 0), 4, (const double[]){-1, 1, -1, 1}, 1e-5);
}

static void example_mse_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1, 4);
    expect_values(wk_mse_loss(x, y), 1, (const double[]){2}, 1e-5);
}

static void example_l1_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1, 4);
    expect_values(wk_l1_loss(x, y, .reduction = WK_REDUCE_SUM), 1, (const double[]){2}, 1e-5);
}

static void example_smooth_l1_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1), 1);
    wk_tensor *y = wk_of(double, (1), 1.5);
    expect_values(wk_smooth_l1_loss(x, y, .reduction = WK_REDUCE_NONE), 1, (const double[]){0.125}, 1e-5);
}

static void example_huber_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1, 4);
    expect_values(wk_huber_loss(x, y, .delta = 2), 1, (const double[]){1}, 1e-5);
}

static void example_binary_cross_entropy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0.5, 0.5);
    wk_tensor *y = wk_of(double, (2), 0, 1);
    expect_values(wk_binary_cross_entropy(x, y), 1, (const double[]){0.693147}, 1e-5);
}

static void example_binary_cross_entropy_with_logits(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 0);
    wk_tensor *y = wk_of(double, (2), 0, 1);
    expect_values(wk_binary_cross_entropy_with_logits(x, y), 1, (const double[]){0.693147}, 1e-5);
}

static void example_kl_div(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 0);
    wk_tensor *y = wk_of(double, (2), 1, 2);
    expect_values(wk_kl_div(x, y, .reduction = WK_REDUCE_SUM), 1, (const double[]){1.386294}, 1e-5);
}

static void example_soft_margin_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 0);
    wk_tensor *y = wk_of(double, (2), 1, -1);
    expect_values(wk_soft_margin_loss(x, y), 1, (const double[]){0.693147}, 1e-5);
}

static void example_margin_ranking_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 3, 2);
    wk_tensor *y = wk_of(double, (2), 2, 7);
    expect_values(wk_margin_ranking_loss(x, y, wk_sign(wk_sub(x, y)), .margin = 2), 1, (const double[]){0.5}, 1e-5);
}

static void example_poisson_nll_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 0, 1);
    wk_tensor *y = wk_of(double, (2), 1, 2);
    expect_values(wk_poisson_nll_loss(x, y), 1, (const double[]){0.859141}, 1e-5);
}

static void example_gaussian_nll_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 1, 4);
    expect_values(wk_gaussian_nll_loss(x, y, wk_ones_like(x)), 1, (const double[]){1}, 1e-5);
}

static void example_multi_margin_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 3), 1, 2, 4);
    wk_tensor *y = wk_of(int64_t, (1), 1);
    expect_values(wk_multi_margin_loss(x, y), 1, (const double[]){1}, 1e-5);
}

static void example_cosine_embedding_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 0);
    wk_tensor *y = wk_of(double, (2), 1, 1);
    expect_values(wk_cosine_embedding_loss(x, y, wk_full((), 1)), 1, (const double[]){0.292893}, 1e-5);
}

static void example_triplet_margin_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 0);
    wk_tensor *y = wk_of(double, (2), 0, 0);
    expect_values(wk_triplet_margin_loss(x, y, wk_neg(x), .margin = 2), 1, (const double[]){1}, 1e-5);
}

static void example_cross_entropy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 0, 0, 0);
    wk_tensor *y = wk_of(int64_t, (2), 0, 1);
    expect_values(wk_cross_entropy(x, y), 1, (const double[]){0.693147}, 1e-5);
}

static void example_nll_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), -1, -2, -3, -4);
    wk_tensor *y = wk_of(int64_t, (2), 0, 1);
    expect_values(wk_nll_loss(x, y), 1, (const double[]){2.5}, 1e-5);
}

static void example_ctc_loss(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 0, 0, 0);
    wk_tensor *y = wk_of(int64_t, (1), 1);
    wk_tensor *z = wk_of(int64_t, (), 2);
    wk_tensor *v = wk_of(int64_t, (), 1);
    expect_values(wk_ctc_loss(wk_log_softmax(x, -1), y, z, v), 1, (const double[]){0.287682}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_sum),
                                       cmocka_unit_test(example_mean),
                                       cmocka_unit_test(example_prod),
                                       cmocka_unit_test(example_amax),
                                       cmocka_unit_test(example_amin),
                                       cmocka_unit_test(example_all),
                                       cmocka_unit_test(example_any),
                                       cmocka_unit_test(example_count_nonzero),
                                       cmocka_unit_test(example_logsumexp),
                                       cmocka_unit_test(example_argmax),
                                       cmocka_unit_test(example_argmin),
                                       cmocka_unit_test(example_var),
                                       cmocka_unit_test(example_std),
                                       cmocka_unit_test(example_norm),
                                       cmocka_unit_test(example_dist),
                                       cmocka_unit_test(example_pairwise_distance),
                                       cmocka_unit_test(example_cosine_similarity),
                                       cmocka_unit_test(example_nansum),
                                       cmocka_unit_test(example_nanmean),
                                       cmocka_unit_test(example_cdist),
                                       cmocka_unit_test(example_softmax),
                                       cmocka_unit_test(example_softmin),
                                       cmocka_unit_test(example_log_softmax),
                                       cmocka_unit_test(example_cumsum),
                                       cmocka_unit_test(example_cumprod),
                                       cmocka_unit_test(example_sort),
                                       cmocka_unit_test(example_argsort),
                                       cmocka_unit_test(example_topk),
                                       cmocka_unit_test(example_kthvalue),
                                       cmocka_unit_test(example_median),
                                       cmocka_unit_test(example_cummax),
                                       cmocka_unit_test(example_cummin),
                                       cmocka_unit_test(example_logcumsumexp),
                                       cmocka_unit_test(example_unique),
                                       cmocka_unit_test(example_isin),
                                       cmocka_unit_test(example_searchsorted),
                                       cmocka_unit_test(example_bucketize),
                                       cmocka_unit_test(example_bincount),
                                       cmocka_unit_test(example_histc),
                                       cmocka_unit_test(example_batch_norm),
                                       cmocka_unit_test(example_instance_norm),
                                       cmocka_unit_test(example_group_norm),
                                       cmocka_unit_test(example_rms_norm),
                                       cmocka_unit_test(example_local_response_norm),
                                       cmocka_unit_test(example_normalize),
                                       cmocka_unit_test(example_layer_norm),
                                       cmocka_unit_test(example_mse_loss),
                                       cmocka_unit_test(example_l1_loss),
                                       cmocka_unit_test(example_smooth_l1_loss),
                                       cmocka_unit_test(example_huber_loss),
                                       cmocka_unit_test(example_binary_cross_entropy),
                                       cmocka_unit_test(example_binary_cross_entropy_with_logits),
                                       cmocka_unit_test(example_kl_div),
                                       cmocka_unit_test(example_soft_margin_loss),
                                       cmocka_unit_test(example_margin_ranking_loss),
                                       cmocka_unit_test(example_poisson_nll_loss),
                                       cmocka_unit_test(example_gaussian_nll_loss),
                                       cmocka_unit_test(example_multi_margin_loss),
                                       cmocka_unit_test(example_cosine_embedding_loss),
                                       cmocka_unit_test(example_triplet_margin_loss),
                                       cmocka_unit_test(example_cross_entropy),
                                       cmocka_unit_test(example_nll_loss),
                                       cmocka_unit_test(example_ctc_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

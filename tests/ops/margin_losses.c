/* SPDX-License-Identifier: Apache-2.0 */
/* Tests losses of margins, vectors and distributions where their gradients jump, for large numbers, and their errors.
 * The sweeps compare values and gradients elsewhere with references and PyTorch. */
#include "values.h"
#include <math.h>

static wk_tensor *leaf(wk_tensor *x)
{
    return wk_requires_grad_(wk_detach(x), true);
}

static wk_tensor *slope(wk_tensor *y, wk_tensor *x)
{
    wk_tensor *grad = NULL;
    assert_int_equal(wk_grad(wk_sum(y), (x), &grad, .retain_graph = true), WK_OK);
    return wk_add(grad, 0); /* -0 + 0 is 0 */
}

static void margins(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3), -1, 0, 2)), *y = leaf(wk_of(double, (3), 0, 0, 2)),
              *sign = wk_of(double, (3), 1, -1, 1);
    wk_tensor *rank = wk_margin_ranking_loss(x, y, sign, .reduction = WK_REDUCE_NONE);
    EXPECT(rank, (3), 1, 0, 0);
    EXPECT(slope(rank, x), (3), -1, 0, 0); /* 0 where the loss is 0, even if the margin is met exactly */
    EXPECT(wk_margin_ranking_loss(x, y, wk_of(int64_t, (3), 1, -1, 1), .margin = 0.5), (), 2.5 / 3);
    wk_tensor *far = leaf(wk_of(double, (3), -1e5, 0, 1e5)), *ones = wk_ones_like(far);
    wk_tensor *soft = wk_soft_margin_loss(far, ones, .reduction = WK_REDUCE_NONE);
    EXPECT(soft, (3), 1e5, log(2), 0);
    EXPECT(slope(soft, far), (3), -1, -0.5, 0);
    wk_tensor *scores = leaf(wk_of(double, (1, 3), 0, 1, 2)), *label = wk_of(int64_t, (1), 1);
    EXPECT(slope(wk_multi_margin_loss(scores, label), scores), (1, 3), 0, -1.0 / 3, 1.0 / 3);
    EXPECT(slope(wk_multi_margin_loss(scores, label, .p = 2), scores), (1, 3), 0, -4.0 / 3, 4.0 / 3);
    EXPECT(wk_multi_margin_loss(wk_to_dtype(scores, WK_BF16), wk_to_dtype(label, WK_U8)), (), 0.66796875);
}

static void directions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = leaf(wk_of(double, (4, 2), 3, 4, 3, 4, 3, 4, 0, 0)),
              *b = wk_of(double, (4, 2), 4, 3, 4, 3, -3, 4, 1, 0);
    wk_tensor *target = wk_of(double, (4), 1, -1, -1, 1);
    wk_tensor *loss = wk_cosine_embedding_loss(a, b, target, .margin = 0.5, .reduction = WK_REDUCE_NONE);
    EXPECT(loss, (4), 0.04, 0.46, 0, 1);
    wk_tensor *grad = slope(wk_narrow(loss, 0, 0, 3), a);
    EXPECT(grad, (4, 2), -0.0448, 0.0336, 0.0448, -0.0336, 0, 0, 0, 0);
    EXPECT(wk_cosine_embedding_loss(a, b, wk_zeros((4))), (), 0);
}

static void distances(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = leaf(wk_of(double, (2), 0, 0)), *p = leaf(wk_of(double, (2), 3, 0)),
              *n = leaf(wk_of(double, (2), 0, 4));
    wk_tensor *loss = wk_triplet_margin_loss(a, p, n, .margin = 2, .eps = 0);
    EXPECT(loss, (), 1);
    EXPECT(slope(loss, a), (2), -1, 1);
    EXPECT(slope(loss, p), (2), 1, 0);
    EXPECT(slope(loss, n), (2), 0, -1);
    EXPECT(wk_triplet_margin_loss(a, p, n, .eps = 0), (), 0);
    EXPECT(slope(wk_triplet_margin_loss(a, p, n, .eps = 0), a), (2), 0, 0); /* met exactly */
    wk_tensor *m = leaf(wk_of(double, (2), 1.5, 2)), *both = wk_triplet_margin_loss(a, p, m, .eps = 0, .swap = true);
    EXPECT(both, (), 1.5);
    EXPECT(slope(both, m), (2), 0, -0.8); /* both distances are 2.5, so each has half of the gradient */
    EXPECT(slope(wk_pairwise_distance(a, a, .eps = 0), a), (2), 0, 0);
    EXPECT(slope(wk_pairwise_distance(p, a, .p = 0, .eps = 0, .keepdim = true), p), (2), 0, 0);
}

static void distributions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(wk_of(double, (3), 0, 0, 0)), *t = leaf(wk_of(double, (3), 0, 1, 4));
    wk_tensor *full = wk_poisson_nll_loss(x, t, .full = true, .reduction = WK_REDUCE_NONE);
    EXPECT(full, (3), 1, 1, 1 + 4 * log(4) - 4 + 0.5 * log(8 * M_PI));
    EXPECT(slope(full, t), (3), 0, 0, log(4) + 0.125); /* PyTorch has NaN at 0 */
    wk_tensor *rates = wk_poisson_nll_loss(t, x, .no_log_input = true, .reduction = WK_REDUCE_NONE);
    EXPECT(rates, (3), 0, 1, 4);
    wk_tensor *var = leaf(wk_of(double, (3), 1e-9, 0.25, 2)), *mean = leaf(wk_of(double, (3), 0, 1, 2));
    wk_tensor *gauss = wk_gaussian_nll_loss(mean, x, var, .eps = 0.25, .reduction = WK_REDUCE_NONE);
    EXPECT(gauss, (3), -log(2), -log(2) + 2, 0.5 * log(2) + 1);
    EXPECT(slope(gauss, var), (3), 2, -6, -0.25); /* below eps the slope is that at eps */
    EXPECT(slope(gauss, mean), (3), 0, 4, 1);
    wk_tensor *rows = leaf(wk_of(double, (2), 1, 4)), *ones = wk_ones((2, 3), .dtype = WK_F64);
    EXPECT(wk_gaussian_nll_loss(ones, wk_mul(ones, 3), rows, .reduction = WK_REDUCE_SUM), (), 3 * log(2) + 7.5);
    wk_tensor *of_rows = wk_gaussian_nll_loss(ones, ones, rows, .reduction = WK_REDUCE_SUM);
    EXPECT(slope(of_rows, rows), (2), 1.5, 0.375);
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *y = wk_ones((2)), *label = wk_of(int64_t, (2), 0, 3);
    expect_error(wk_margin_ranking_loss(x, y, x), WK_ERR_SHAPE, "input f32[2,3] and input2 f32[2] must have the same");
    expect_error(wk_margin_ranking_loss(x, x, wk_ones((4))), WK_ERR_SHAPE,
                 "target f32[4] does not broadcast to input f32[2,3]");
    expect_error(wk_gaussian_nll_loss(x, x, wk_ones((4))), WK_ERR_SHAPE, "var f32[4] does not broadcast to input");
    expect_error(wk_gaussian_nll_loss(x, x, x, .eps = 0), WK_ERR_ARGUMENT, ".eps must be greater than 0, got 0");
    expect_error(wk_multi_margin_loss(x, label), WK_ERR_INDEX, "label 3 is out of range for the 3 classes");
    expect_error(wk_multi_margin_loss(x, wk_of(int64_t, (2), 0, -1)), WK_ERR_INDEX, "label -1 is out of range");
    wk_tensor *late = wk_multi_margin_loss(x, wk_sub(wk_of(int64_t, (2), 0, 1), 1));
    assert_int_equal(wk_sync(), WK_ERR_INDEX);
    expect_error(wk_add(late, 1), WK_ERR_INDEX, "multi_margin_loss");
    expect_error(wk_multi_margin_loss(x, label, .p = 3), WK_ERR_ARGUMENT, ".p must be 1 or 2, got 3");
    expect_error(wk_multi_margin_loss(x, label, .weight = y), WK_ERR_SHAPE, "weight f32[2] must have one element for");
    expect_error(wk_multi_margin_loss(x, y), WK_ERR_DTYPE, "labels must be i64 class indices, got f32[2]");
    expect_error(wk_cosine_embedding_loss(x, x, wk_ones((3))), WK_ERR_SHAPE, "target f32[3] must have one element");
    expect_error(wk_triplet_margin_loss(x, x, y), WK_ERR_SHAPE, "must have one shape, (D) or (N, D)");
    expect_error(wk_triplet_margin_loss(x, x, x, .margin = 0), WK_ERR_ARGUMENT,
                 ".margin must be greater than 0, got 0");
    expect_error(wk_triplet_margin_loss(x, x, x, .reduction = WK_REDUCE_BATCHMEAN), WK_ERR_ARGUMENT,
                 "unknown reduction 3");
    expect_error(wk_pairwise_distance(x, wk_ones((2))), WK_ERR_SHAPE, "pairwise_distance");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins),       cmocka_unit_test(directions), cmocka_unit_test(distances),
        cmocka_unit_test(distributions), cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

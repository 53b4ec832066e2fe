/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the grad_fn names of results: PyTorch numbers the overloads of a call in the order of derivatives.yaml. */
#include "values.h"

static void named(wk_tensor *x, const char *node)
{
    if (!x) fail_msg("%s: %s", node, wk_error() ? wk_error() : "NULL");
    const char *have = wk__grad_fn_name(x);
    if (!have || strcmp(have, node) != 0) fail_msg("%s, not %s", have ? have : "(none)", node);
}

static void test_numbers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((3)), *y = LEAF((3)), *one = LEAF(()), *mask = wk_gt(x, 0);
    named(wk_add(x, 2), "AddBackward0");
    named(wk_sub(x, 2), "SubBackward0");
    named(wk_sub(2, x), "RsubBackward1");
    named(wk_mul(2, x), "MulBackward0");
    named(wk_div(x, 2), "DivBackward0");
    named(wk_div(2, x), "MulBackward0");
    named(wk_div(x, y, .rounding_mode = "floor"), "DivBackward2");
    named(wk_div(x, 2, .rounding_mode = "trunc"), "DivBackward2");
    named(wk_round(x), "RoundBackward0");
    named(wk_round(x, .decimals = 1), "RoundBackward1");
    named(wk_pow(x, 2), "PowBackward0");
    named(wk_pow(x, 2.5), "PowBackward0");
    named(wk_pow(x, y), "PowBackward1");
    named(wk_pow(2, x), "PowBackward2");
    named(wk_square(x), "PowBackward0");
    named(wk_remainder(x, 2), "RemainderBackward0");
    named(wk_remainder(x, y), "RemainderBackward1");
    named(wk_remainder(2, x), "RemainderBackward1");
    named(wk_fmod(x, 2), "FmodBackward0");
    named(wk_fmod(x, y), "FmodBackward1");
    named(wk_lerp(x, y, 0.5), "LerpBackward0");
    named(wk_lerp(x, y, one), "LerpBackward1");
    named(wk_masked_fill(x, mask, 2), "MaskedFillBackward0");
    named(wk_masked_fill(x, mask, one), "MaskedFillBackward1");
    named(wk_clamp(x, -1, WK_NONE), "ClampBackward1");
    named(wk_clamp(x, -1, 1), "ClampBackward1");
    named(wk_clamp(x, wk_sub(y, 1), wk_add(y, 1)), "ClampBackward0");
    named(wk_where(mask, x, 0), "WhereBackward0");
    named(wk_scatter(x, 0, wk_arange(2), wk_narrow(y, 0, 0, 2)), "ScatterBackward0");
    named(wk_scatter(x, 0, wk_arange(2), 1.5), "ScatterBackward1");
    wk_tensor *z = wk_mul(x, 1);
    named(wk_pow_(z, 3), "PowBackward0");
    named(wk_remainder_(z, y), "RemainderBackward1");
}

static void test_dimensions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((2, 3)), *values, *one = LEAF((1, 1, 3));
    named(wk_sum(x), "SumBackward0");
    named(wk_sum(x, (0)), "SumBackward1");
    named(wk_mean(x), "MeanBackward0");
    named(wk_mean(x, (0, 1)), "MeanBackward1");
    named(wk_prod(x), "ProdBackward0");
    named(wk_prod(x, (1)), "ProdBackward1");
    named(wk_amax(x, (1)), "AmaxBackward0");
    named(wk_var(x, (1)), "VarBackward0");
    named(wk_dist(x, wk_exp(x)), "DistBackward0");
    named(wk_cosine_similarity(x, x, 1), "SumBackward1");
    named(wk_pairwise_distance(x, wk_exp(x)), "NormBackward1");
    named(wk_median(x), "MedianBackward0");
    assert_int_equal(wk_median_dim(x, 1, false, &values, NULL), WK_OK);
    named(values, "MedianBackward1");
    named(wk_squeeze(one), "SqueezeBackward0");
    named(wk_squeeze(one, 0), "SqueezeBackward1");
    named(wk_squeeze_at(WK_HERE, one, (const int64_t[]){0, 1}, 2), "SqueezeBackward2");
}

static void test_losses(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((2, 3)), *y = wk_sigmoid(LEAF((2, 3))), *labels = wk_of(int64_t, (2), 0, 2);
    named(wk_mse_loss(x, y), "MseLossBackward0");
    named(wk_l1_loss(x, y), "MeanBackward0");
    named(wk_l1_loss(x, y, .reduction = WK_REDUCE_SUM), "SumBackward0");
    named(wk_l1_loss(x, y, .reduction = WK_REDUCE_NONE), "AbsBackward0");
    named(wk_smooth_l1_loss(x, y), "SmoothL1LossBackward0");
    named(wk_huber_loss(x, y), "HuberLossBackward0");
    named(wk_binary_cross_entropy(y, y), "BinaryCrossEntropyBackward0");
    named(wk_binary_cross_entropy_with_logits(x, y), "BinaryCrossEntropyWithLogitsBackward0");
    named(wk_kl_div(x, y), "MeanBackward0");
    named(wk_kl_div(x, y, .reduction = WK_REDUCE_BATCHMEAN), "DivBackward0");
    named(wk_kl_div(x, y, .reduction = WK_REDUCE_NONE), "SubBackward0");
    named(wk_kl_div(x, y, .reduction = WK_REDUCE_NONE, .log_target = true), "MulBackward0");
    named(wk_soft_margin_loss(x, y), "SoftMarginLossBackward0");
    named(wk_multi_margin_loss(x, labels), "MultiMarginLossBackward0");
    named(wk_margin_ranking_loss(x, y, y), "MeanBackward0");
    named(wk_margin_ranking_loss(x, y, y, .reduction = WK_REDUCE_NONE), "ClampMinBackward0");
    named(wk_poisson_nll_loss(x, y, .reduction = WK_REDUCE_NONE), "SubBackward0");
    named(wk_poisson_nll_loss(x, y, .full = true, .reduction = WK_REDUCE_NONE), "AddBackward0");
    named(wk_gaussian_nll_loss(x, y, y, .reduction = WK_REDUCE_NONE), "MulBackward0");
    named(wk_gaussian_nll_loss(x, y, y, .full = true, .reduction = WK_REDUCE_NONE), "AddBackward0");
    named(wk_cosine_embedding_loss(x, y, wk_ones((2)), .reduction = WK_REDUCE_NONE), "AddBackward0");
    named(wk_triplet_margin_loss(x, y, y, .reduction = WK_REDUCE_NONE), "ClampMinBackward0");
    named(wk_cross_entropy(x, labels), "NllLossBackward0");
    named(wk_cross_entropy(x, labels, .label_smoothing = 0.1), "AddBackward0");
    named(wk_cross_entropy(x, y), "DivBackward1");
    named(wk_cross_entropy(x, y, .reduction = WK_REDUCE_SUM), "NegBackward0");
    named(wk_nll_loss(x, labels), "NllLossBackward0");
    wk_tensor *image = LEAF((1, 3, 2, 2)), *points = wk_zeros((1, 2, 2), .dtype = WK_I64);
    named(wk_cross_entropy(image, points, .reduction = WK_REDUCE_NONE), "NllLoss2DBackward0");
    image = wk_reshape(image, (1, 3, 4));
    points = wk_reshape(points, (1, 4));
    named(wk_cross_entropy(image, points), "NllLoss2DBackward0");
    named(wk_cross_entropy(image, points, .reduction = WK_REDUCE_NONE), "ViewBackward0");
}

static void test_products(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *v = LEAF((3)), *m = LEAF((3, 3)), *b = LEAF((2, 3, 3));
    named(wk_matmul(v, v), "DotBackward0");
    named(wk_matmul(m, v), "MvBackward0");
    named(wk_matmul(v, m), "SqueezeBackward4");
    named(wk_matmul(m, m), "MmBackward0");
    named(wk_matmul(b, b), "UnsafeViewBackward0");
    named(wk_linear(v, m, NULL), "SqueezeBackward4");
    named(wk_linear(v, m, v), "AddBackward0");
    named(wk_linear(m, m, NULL), "MmBackward0");
    named(wk_linear(m, m, v), "AddmmBackward0");
    named(wk_linear(b, m, NULL), "UnsafeViewBackward0");
    named(wk_linear(b, m, v), "ViewBackward0");
}

static void test_functions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((3)), *y = LEAF((3));
    named(wk_log1p(wk_exp(x)), "Log1PBackward0");
    named(wk_relu6(x), "HardtanhBackward0");
    named(wk_atan2(x, y), "Atan2Backward0");
    named(wk_copysign(x, y), "CopysignBackward0");
    named(wk_copysign(x, -1), "CopysignBackward1");
    named(wk_copysign(2, wk_copysign(x, y)), "CopysignBackward0");
    named(wk_logit(x, .eps = 0.1), "LogitBackward0");
    named(wk_logsigmoid(x), "LogSigmoidBackward0");
    named(wk_selu(x), "EluBackward0");
    named(wk_celu(x), "CeluBackward0");
    named(wk_tanhshrink(x), "SubBackward0");
    named(wk_prelu(x, LEAF((1))), "PreluKernelBackward0");
    named(wk_rrelu(x), "RreluWithNoiseBackward0");
    named(wk_rrelu(x, .training = true), "RreluWithNoiseBackward0");
    named(wk_repeat_interleave(x, 2, 0), "ViewBackward0");
    named(wk_copy_(wk_mul(x, 1), y), "CopyBackwards");
    named(wk_fill_(wk_mul(x, 1), 3), "FillBackward0");
    named(wk_zero_(wk_mul(x, 1)), "ZeroBackward0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_dimensions), cmocka_unit_test(test_losses),
        cmocka_unit_test(test_products), cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

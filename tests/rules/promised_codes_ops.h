/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of the headers of ops: activation.h, creation.h, matmul.h, pointwise.h, random.h, reduce.h, shape.h. */
#ifndef TESTS_RULES_PROMISED_CODES_OPS_H
#define TESTS_RULES_PROMISED_CODES_OPS_H

#include "promised_codes.h"

/* ---- all ops ----------------------------------------------------------------------------------------------------- */

static void sizes_that_do_not_broadcast(void)
{
    wk_add(wk_ones((2)), wk_ones((3)));
}
static void result_larger_than_the_target(void)
{
    wk_add_(wk_ones((1)), wk_ones((3)));
}
static void bool_in_neg(void)
{
    wk_neg(wk_zeros((2), .dtype = WK_BOOL));
}
static void dtype_that_the_target_cannot_hold(void)
{
    wk_add_(wk_arange(3), wk_rand((3)));
}
static void two_devices(void)
{
    wk_add(wk_ones((4)), on_the_null_device());
}
static void leaf_in_place(void)
{
    wk_add_(a_leaf(), 1);
}
static void shared_elements_in_place(void)
{
    wk_add_(an_expanded(), 1);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static void negative_size(void)
{
    wk_zeros((2, -1));
}
static void nine_dimensions(void)
{
    wk_zeros((1, 1, 1, 1, 1, 1, 1, 1, 1));
}
static void too_many_bytes(void)
{
    wk_zeros((1ll << 31, 1ll << 31));
}
static void integers_that_require_grad(void)
{
    wk_zeros((2), .dtype = WK_I64, .requires_grad = true);
}
static void arange_with_step_0(void)
{
    wk_arange(0, 3, 0);
}
static void arange_away_from_the_end(void)
{
    wk_arange(0, 3, -1);
}
static void arange_of_a_negative_number(void)
{
    wk_arange(-1);
}
static void rand_of_integers(void)
{
    wk_rand((2), .dtype = WK_I64);
}
static void rand_like_integers(void)
{
    wk_rand_like(wk_arange(2));
}
static void randn_of_integers(void)
{
    wk_randn((2), .dtype = WK_I32);
}
static void randn_like_integers(void)
{
    wk_randn_like(wk_arange(2));
}
static void randperm_beyond_its_dtype(void)
{
    (void)wk_randperm(300, .dtype = WK_U8);
}

static void log_of_zero_in_anomaly_mode(void)
{
    wk_set_detect_anomaly(true);
    wk_item(wk_log(wk_zeros((1))));
    wk_set_detect_anomaly(false);
}

static void randint_of_an_empty_range(void)
{
    wk_randint(3, 3, (2));
}
static void to_a_device_that_does_not_exist(void)
{
    wk_to(wk_ones((2)), no_device());
}
static void copy_into_a_leaf(void)
{
    wk_copy_(a_leaf(), wk_ones((4)));
}
static void copy_into_shared_elements(void)
{
    wk_copy_(an_expanded(), wk_ones((4)));
}
static void fill_of_a_leaf(void)
{
    wk_fill_(a_leaf(), 1);
}
static void fill_of_shared_elements(void)
{
    wk_fill_(an_expanded(), 1);
}

/* ---- pointwise and random ---------------------------------------------------------------------------------------- */

static void div_with_an_unknown_mode(void)
{
    wk_div(wk_ones((2)), 2, .rounding_mode = "ceil");
}
static void pow_with_a_number_too_large(void)
{
    wk_pow(wk_ones((2), .dtype = WK_I8), 300);
}
static void hardtanh_with_crossed_limits(void)
{
    wk_hardtanh(wk_ones((2)), .min_val = 1, .max_val = -1);
}
static void clamp_without_limits(void)
{
    wk_clamp(wk_ones((2)), WK_NONE, WK_NONE);
}
static void uniform_from_above(void)
{
    wk_uniform_(wk_ones((2)), 2, 1);
}
static void normal_with_negative_std(void)
{
    wk_normal_(wk_ones((2)), 0, -1);
}
static void bernoulli_of_2(void)
{
    wk_item(wk_sum(wk_bernoulli(wk_full((2), 2.0))));
}
static void dropout_of_more_than_all(void)
{
    wk_dropout(wk_ones((2)), 1.5, true);
}
static void multinomial_of_too_many(void)
{
    wk_multinomial(wk_ones((3)), 4);
}

/* ---- reductions and losses --------------------------------------------------------------------------------------- */

static wk_tensor *no_elements(void)
{
    return wk_zeros((2, 0));
}
static wk_tensor *class_labels(int64_t label)
{
    return wk_of(int64_t, (2), label, label); /* in host memory, so that calls can check them immediately */
}
static wk_tensor *scores(void)
{
    return wk_ones((2, 4));
}
static void dimension_out_of_range(void)
{
    wk_sum(wk_ones((2, 3)), (2));
}
static void dimension_named_twice(void)
{
    wk_sum(wk_ones((2, 3)), (0, 0));
}
static void integers_for_an_op_of_floats(void)
{
    wk_norm(wk_arange(3));
}
static void k_out_of_range(void)
{
    wk_topk(wk_ones((3)), 4, 0, true, NULL, NULL);
}
static void losses_of_two_shapes(void)
{
    wk_mse_loss(wk_ones((2)), wk_ones((3)));
}
static void mean_of_integers(void)
{
    wk_mean(wk_arange(4));
}
static void amax_without_elements(void)
{
    wk_amax(no_elements(), (1));
}
static void amin_without_elements(void)
{
    wk_amin(no_elements(), (1));
}
static void argmax_without_elements(void)
{
    wk_argmax(no_elements(), 1);
}
static void argmin_without_elements(void)
{
    wk_argmin(no_elements(), 1);
}
static void kthvalue_without_elements(void)
{
    wk_kthvalue(no_elements(), 1, 1, false, NULL, NULL);
}
static void median_without_elements(void)
{
    wk_median(no_elements());
}
static void batch_norm_with_statistics_to_train(void)
{
    wk_batch_norm(wk_ones((2, 4)), a_leaf(), NULL, NULL, NULL, true);
}
static void instance_norm_with_statistics_to_train(void)
{
    wk_instance_norm(wk_ones((2, 4, 3)), a_leaf(), NULL, NULL, NULL);
}
static void layer_norm_with_negative_eps(void)
{
    wk_layer_norm(wk_ones((2, 3)), (3), NULL, NULL, -1);
}
static void bce_with_a_weight_to_train(void)
{
    wk_binary_cross_entropy(wk_ones((4)), wk_ones((4)), .weight = a_leaf());
}
static void bce_logits_with_a_weight_to_train(void)
{
    wk_binary_cross_entropy_with_logits(wk_ones((4)), wk_ones((4)), .weight = a_leaf());
}
static void multi_margin_of_an_unknown_class(void)
{
    wk_multi_margin_loss(scores(), class_labels(4));
}
static void multi_margin_with_a_weight_to_train(void)
{
    wk_multi_margin_loss(scores(), class_labels(1), .weight = a_leaf());
}
static void cross_entropy_of_an_unknown_class(void)
{
    wk_cross_entropy(scores(), class_labels(4));
}
static void cross_entropy_of_a_class_computed_late(void)
{
    wk_item(wk_cross_entropy(scores(), wk_add(class_labels(2), 2)));
}
static void cross_entropy_with_a_weight_to_train(void)
{
    wk_cross_entropy(scores(), class_labels(1), .weight = a_leaf());
}

/* ---- shapes and indices ------------------------------------------------------------------------------------------ */

static void squeezed_dimension_out_of_range(void)
{
    wk_squeeze(wk_ones((2)), 1);
}
static void reshape_to_more(void)
{
    wk_reshape(wk_ones((4)), (3));
}
static void select_out_of_range(void)
{
    wk_select(wk_ones((2)), 0, 2);
}
static void index_out_of_range(void)
{
    wk_index_select(wk_ones((2)), 0, class_labels(2));
}
static void index_computed_out_of_range(void)
{
    wk_item(wk_sum(wk_gather(wk_ones((2)), 0, wk_add(class_labels(2), 1))));
}

static void one_hot_of_an_unknown_class(void)
{
    wk_one_hot(class_labels(5), 3);
}
static void zeros_on_no_device(void)
{
    wk_zeros((2), .device = no_device());
}

static void get_out_of_range(void)
{
    wk_keep(wk_get(wk_ones((2)), (2)));
}
static void get_with_two_rests(void)
{
    wk_keep(wk_get(wk_ones((2)), (WK_REST, WK_REST)));
}
static void get_by_a_mask_of_another_size(void)
{
    wk_keep(wk_get(wk_ones((2)), (wk_ones((3), .dtype = WK_BOOL))));
}
static void get_by_floats(void)
{
    wk_keep(wk_get(wk_ones((2)), (wk_zeros((1)))));
}
static void set_to_too_many(void)
{
    wk_set(wk_ones((2)), (WK_ALL), wk_ones((3)));
}
static void set_in_a_leaf(void)
{
    wk_set(wk_ones((2), .requires_grad = true), (0), 1);
}
static void set_out_of_range(void)
{
    wk_set(wk_ones((2)), (2), 1);
}

static void masked_scatter_of_too_few(void)
{
    wk_tensor *x = wk_ones((3));
    wk_keep(wk_masked_scatter(x, wk_gt(x, 0), wk_ones((2))));
    wk_sync();
}

static const promised_code promised_by_ops[] = {
    {"ops.h", WK_ERR_SHAPE, .provoke = sizes_that_do_not_broadcast},
    {"ops.h", WK_ERR_DTYPE, .provoke = bool_in_neg},
    {"ops.h", WK_ERR_DEVICE, .provoke = two_devices},
    {"pointwise.h", WK_ERR_SHAPE, .provoke = sizes_that_do_not_broadcast},
    {"pointwise.h", WK_ERR_SHAPE, .provoke = result_larger_than_the_target},
    {"pointwise.h", WK_ERR_DTYPE, .provoke = bool_in_neg},
    {"pointwise.h", WK_ERR_DTYPE, .provoke = dtype_that_the_target_cannot_hold},
    {"pointwise.h", WK_ERR_DEVICE, .provoke = two_devices},
    {"pointwise.h", WK_ERR_STATE, .provoke = leaf_in_place},
    {"pointwise.h", WK_ERR_STATE, .provoke = shared_elements_in_place}, /* sweep_in_place checks it for each op */
    {"creation.h", WK_ERR_DEVICE, .provoke = zeros_on_no_device},
    {"creation.h", WK_ERR_DTYPE, .provoke = integers_that_require_grad},
    {"wk_one_hot", WK_ERR_INDEX, .provoke = one_hot_of_an_unknown_class},
    {"creation.h", WK_ERR_SHAPE, .provoke = negative_size},
    {"creation.h", WK_ERR_SHAPE, .provoke = nine_dimensions},
    {"creation.h", WK_ERR_SHAPE, .provoke = too_many_bytes},
    {"wk_zeros", WK_ERR_DTYPE, .provoke = integers_that_require_grad},
    {"wk_arange", WK_ERR_ARGUMENT, .provoke = arange_with_step_0},
    {"wk_arange", WK_ERR_ARGUMENT, .provoke = arange_away_from_the_end},
    {"wk_arange", WK_ERR_ARGUMENT, .provoke = arange_of_a_negative_number},
    {"wk_rand", WK_ERR_DTYPE, .provoke = rand_of_integers},
    {"wk_rand_like", WK_ERR_DTYPE, .provoke = rand_like_integers},
    {"wk_randn", WK_ERR_DTYPE, .provoke = randn_of_integers},
    {"wk_randn_like", WK_ERR_DTYPE, .provoke = randn_like_integers},
    {"wk_randint", WK_ERR_ARGUMENT, .provoke = randint_of_an_empty_range},
    {"wk_randperm", WK_ERR_ARGUMENT, .provoke = randperm_beyond_its_dtype},
    {"wk_set_detect_anomaly", WK_ERR_STATE, .provoke = log_of_zero_in_anomaly_mode},
    {"wk_to", WK_ERR_DEVICE, .provoke = to_a_device_that_does_not_exist},
    {"wk_copy_", WK_ERR_STATE, .provoke = copy_into_a_leaf},
    {"wk_copy_", WK_ERR_STATE, .provoke = copy_into_shared_elements},
    {"wk_fill_", WK_ERR_STATE, .provoke = fill_of_a_leaf},
    {"wk_fill_", WK_ERR_STATE, .provoke = fill_of_shared_elements},
    {"wk_div", WK_ERR_ARGUMENT, .provoke = div_with_an_unknown_mode},
    {"wk_pow", WK_ERR_ARGUMENT, .provoke = pow_with_a_number_too_large},
    {"wk_hardtanh", WK_ERR_ARGUMENT, .provoke = hardtanh_with_crossed_limits},
    {"wk_clamp", WK_ERR_ARGUMENT, .provoke = clamp_without_limits},
    {"wk_uniform_", WK_ERR_ARGUMENT, .provoke = uniform_from_above},
    {"wk_normal_", WK_ERR_ARGUMENT, .provoke = normal_with_negative_std},
    {"wk_bernoulli", WK_ERR_ARGUMENT, .provoke = bernoulli_of_2},
    {"wk_dropout", WK_ERR_ARGUMENT, .provoke = dropout_of_more_than_all},
    {"wk_multinomial", WK_ERR_ARGUMENT, .provoke = multinomial_of_too_many},
    {"reduce.h", WK_ERR_INDEX, .provoke = dimension_out_of_range},
    {"reduce.h", WK_ERR_ARGUMENT, .provoke = dimension_named_twice},
    {"reduce.h", WK_ERR_ARGUMENT, .provoke = k_out_of_range},
    {"reduce.h", WK_ERR_DTYPE, .provoke = integers_for_an_op_of_floats},
    {"reduce.h", WK_ERR_SHAPE, .provoke = losses_of_two_shapes},
    {"wk_mean", WK_ERR_DTYPE, .provoke = mean_of_integers},
    {"wk_amax", WK_ERR_SHAPE, .provoke = amax_without_elements},
    {"wk_amin", WK_ERR_SHAPE, .provoke = amin_without_elements},
    {"wk_argmax", WK_ERR_SHAPE, .provoke = argmax_without_elements},
    {"wk_argmin", WK_ERR_SHAPE, .provoke = argmin_without_elements},
    {"wk_kthvalue", WK_ERR_SHAPE, .provoke = kthvalue_without_elements},
    {"wk_median", WK_ERR_SHAPE, .provoke = median_without_elements},
    {"wk_batch_norm", WK_ERR_STATE, .provoke = batch_norm_with_statistics_to_train},
    {"wk_instance_norm", WK_ERR_STATE, .provoke = instance_norm_with_statistics_to_train},
    {"wk_layer_norm", WK_ERR_ARGUMENT, .provoke = layer_norm_with_negative_eps},
    {"wk_binary_cross_entropy", WK_ERR_STATE, .provoke = bce_with_a_weight_to_train},
    {"wk_binary_cross_entropy_with_logits", WK_ERR_STATE, .provoke = bce_logits_with_a_weight_to_train},
    {"wk_multi_margin_loss", WK_ERR_INDEX, .provoke = multi_margin_of_an_unknown_class},
    {"wk_multi_margin_loss", WK_ERR_STATE, .provoke = multi_margin_with_a_weight_to_train},
    {"wk_cross_entropy", WK_ERR_INDEX, .provoke = cross_entropy_of_an_unknown_class},
    {"wk_cross_entropy", WK_ERR_INDEX, .provoke = cross_entropy_of_a_class_computed_late},
    {"wk_cross_entropy", WK_ERR_STATE, .provoke = cross_entropy_with_a_weight_to_train},
    {"shape.h", WK_ERR_INDEX, .provoke = squeezed_dimension_out_of_range},
    {"shape.h", WK_ERR_INDEX, .provoke = select_out_of_range},
    {"shape.h", WK_ERR_INDEX, .provoke = index_out_of_range},
    {"shape.h", WK_ERR_INDEX, .provoke = index_computed_out_of_range},
    {"shape.h", WK_ERR_SHAPE, .provoke = reshape_to_more},
    {"wk_get", WK_ERR_INDEX, .provoke = get_out_of_range},
    {"wk_get", WK_ERR_ARGUMENT, .provoke = get_with_two_rests},
    {"wk_get", WK_ERR_SHAPE, .provoke = get_by_a_mask_of_another_size},
    {"wk_get", WK_ERR_DTYPE, .provoke = get_by_floats},
    {"wk_set", WK_ERR_INDEX, .provoke = set_out_of_range},
    {"wk_set", WK_ERR_SHAPE, .provoke = set_to_too_many},
    {"wk_set", WK_ERR_STATE, .provoke = set_in_a_leaf},
    {"wk_masked_scatter", WK_ERR_INDEX, .provoke = masked_scatter_of_too_few},
};

#endif

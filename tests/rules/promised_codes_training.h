/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of the headers of training: autograd.h, nn.h, optim.h, schedule.h, data.h, progress.h, io.h, plot.h,
 * tensorboard.h, image.h, checkpoint.h, parallel.h, dist.h. */
#ifndef TESTS_RULES_PROMISED_CODES_TRAINING_H
#define TESTS_RULES_PROMISED_CODES_TRAINING_H

#include "promised_codes.h"
#include <math.h>

static const char *no_file(void)
{
    return scratch("no/such/file");
}

/* Creates a file with this text. */
static const char *file_with(const char *text)
{
    const char *path = scratch("promised");
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static void wanted_by_a_computed_tensor(void)
{
    wk_requires_grad_(wk_mul(a_leaf(), 2), false);
}
static void wanted_by_integers(void)
{
    wk_requires_grad_(wk_arange(3), true);
}
static void grad_of_a_computed_tensor(void)
{
    wk_grad_of(wk_mul(a_leaf(), 2));
}
static wk_tensor *a_hook(wk_tensor *grad, void *user)
{
    return user ? grad : NULL;
}
static void hook_without_a_gradient(void)
{
    wk_register_hook(wk_ones((2)), a_hook, NULL);
}
static void doubles(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    out[0] = f ? wk_mul(in[0], 2) : NULL;
}
static void backward_that_is_missing(void)
{
    const wk_function_kind kind = {
        .size = sizeof kind, .name = "double", .inputs = 1, .outputs = 1, .forward = doubles};
    wk_backward(wk_sum(wk_apply(&kind, NULL, (a_leaf()))));
}

static void backward_without_a_graph(void)
{
    wk_backward(wk_ones(()));
}
static void gradient_of_another_shape(void)
{
    wk_set_grad(a_leaf(), wk_ones((3)));
}
static void gradient_in_the_leaf(void)
{
    wk_tensor *leaf = a_leaf();
    wk_set_grad(leaf, wk_detach(leaf));
}
static void grad_of_an_unused_input(void)
{
    wk_tensor *grad, *used = a_leaf(), *unused = a_leaf();
    wk_grad((wk_sum(used)), (unused), &grad);
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static void embedding_without_its_padding(void)
{
    wk_nn_embedding(3, 2, .padding_idx = 3);
}
static void embedding_bag_of_an_unknown_mode(void)
{
    wk_nn_embedding_bag(3, 2, .mode = "min");
}

static void name_past_the_list(void)
{
    wk_tensors_name(wk_list((wk_ones((1)))), 1);
}
static void tensor_past_the_list(void)
{
    wk_tensors_get(wk_list((wk_ones((1)))), 1);
}
static wk_module *a_linear(void)
{
    return wk_nn_linear(2, 3);
}
static void parameter_of_integers(void)
{
    wk_module_add_parameter(a_linear(), "n", wk_arange(2));
}
static void parameter_with_a_dot(void)
{
    wk_module_add_parameter(a_linear(), "a.b", wk_ones((2)));
}
static void parameter_name_taken(void)
{
    wk_module_add_parameter(a_linear(), "bias", wk_ones((2)));
}
static void parameter_not_there(void)
{
    wk_module_parameter(a_linear(), "scale");
}
static void buffer_not_there(void)
{
    wk_module_buffer(a_linear(), "scale");
}
static void child_not_there(void)
{
    wk_module_child(a_linear(), "0");
}
static void parameters_of_a_lazy_layer(void)
{
    wk_parameters(wk_nn_lazy_linear(3));
}
static void buffers_of_a_lazy_layer(void)
{
    wk_buffers(wk_nn_lazy_linear(3));
}
static void layer_of_negative_size(void)
{
    wk_nn_linear(-1, 2);
}
static void quantized_linear_of_part_of_a_block(void)
{
    wk_nn_quantized_linear(33, 2);
}
static void quantized_linear_of_no_format(void)
{
    wk_nn_quantized_linear(32, 2, .format = (wk_block_format)99);
}
static void quantize_a_layer(void)
{
    wk_module_quantize(a_linear());
}
static void batch_norm_of_negative_size(void)
{
    wk_nn_batch_norm1d(-1);
}
static void batch_norm_of_other_channels(void)
{
    (void)wk_forward(wk_nn_batch_norm1d(2), wk_ones((2, 3)));
}
static void activation_that_does_not_exist(void)
{
    wk_nn_activation("none");
}
static void no_function_as_a_layer(void)
{
    wk_nn_function(NULL, NULL);
}
static void lazy_batch_norm_with_negative_eps(void)
{
    wk_nn_lazy_batch_norm1d(.eps = -1);
}
static void instance_norm_of_negative_size(void)
{
    wk_nn_instance_norm1d(-1);
}
static void instance_norm_of_a_vector(void)
{
    (void)wk_forward(wk_nn_instance_norm1d(2), wk_ones((2)));
}
static void lazy_instance_norm_with_negative_eps(void)
{
    wk_nn_lazy_instance_norm1d(.eps = -1);
}
static void heads_that_do_not_divide(void)
{
    wk_nn_multihead_attention(3, 2);
}
static void attention_of_a_linear_layer(void)
{
    wk_tensor *x = wk_ones((2, 2));
    wk_forward_attention(wk_nn_linear(2, 2), x, x, x);
}
static void attention_of_a_vector(void)
{
    wk_tensor *x = wk_ones((2));
    wk_forward_attention(wk_nn_multihead_attention(2, 1), x, x, x);
}
static void attention_with_a_mask_of_integers(void)
{
    wk_tensor *x = wk_ones((2, 2));
    wk_forward_attention(wk_nn_multihead_attention(2, 1), x, x, x, .attn_mask = wk_ones((2, 2), .dtype = WK_I64));
}
static void transformer_with_an_unknown_activation(void)
{
    wk_nn_transformer_encoder_layer(2, 1, .activation = 9);
}
static void positions_of_no_features(void)
{
    assert_null(wk_sinusoidal_positions(2, 0));
}
static void slopes_of_no_heads(void)
{
    assert_null(wk_alibi_slopes(0));
}
static void bias_of_more_rows_than_keys(void)
{
    assert_null(wk_alibi_bias(1, 2, 1));
}
static void bias_of_integers(void)
{
    assert_null(wk_alibi_bias(1, 2, 2, .dtype = WK_I64));
}
static wk_module *small_bert(void)
{
    return wk_nn_bert(.vocab_size = 4, .hidden_size = 2, .num_hidden_layers = 1, .num_attention_heads = 1,
                      .intermediate_size = 2, .max_position_embeddings = 2);
}
static void bert_without_tokens(void)
{
    assert_null(wk_nn_bert(.vocab_size = -1));
}
static void bert_call_of_a_linear_layer(void)
{
    assert_null(wk_forward_bert(wk_nn_linear(2, 2), wk_zeros((1, 2), .dtype = WK_I64)));
}
static void bert_call_of_too_many_tokens(void)
{
    assert_null(wk_forward_bert(small_bert(), wk_zeros((1, 3), .dtype = WK_I64)));
}
static void bert_call_of_an_unknown_token(void)
{
    (void)wk_item(wk_sum(wk_forward_bert(small_bert(), wk_full((1, 2), 4, .dtype = WK_I64))));
}
static void encoder_of_linear_layers(void)
{
    wk_nn_transformer_encoder(wk_nn_linear(2, 2), 1);
}
static void recurrence_without_layers(void)
{
    wk_nn_rnn(2, 3, .num_layers = -1);
}
static void recurrence_of_other_features(void)
{
    (void)wk_forward(wk_nn_rnn(2, 3), wk_ones((4, 1, 3)));
}
static void recurrence_of_a_linear_layer(void)
{
    wk_rnn_forward(wk_nn_linear(2, 2), wk_ones((4, 1, 2)));
}
static void sequences_of_0_steps(void)
{
    wk_pack_padded_sequence(wk_ones((4, 1, 2)), wk_zeros((1), .dtype = WK_I64));
}
static void lengths_of_other_sequences(void)
{
    wk_pack_padded_sequence(wk_ones((4, 1, 2)), wk_ones((2), .dtype = WK_I64));
}
static void lengths_that_are_fractions(void)
{
    wk_pack_padded_sequence(wk_ones((4, 1, 2)), wk_ones((1)));
}
static void padding_to_less_than_the_longest(void)
{
    wk_tensor *lengths = wk_full((1), 3, .dtype = WK_I64);
    wk_pad_packed_sequence(wk_pack_padded_sequence(wk_ones((4, 1, 2)), lengths), .total_length = 2);
}
static void padding_to_more_dimensions_than_a_tensor_has(void)
{
    wk_tensors *packed = wk_tensors_new();
    wk_tensors_add(packed, "data", wk_ones((1, 1, 1, 1, 1, 1, 1, 1)));
    wk_tensors_add(packed, "batch_sizes", wk_ones((1), .dtype = WK_I64));
    wk_pad_packed_sequence(packed);
}
static void padding_with_an_index_out_of_range(void)
{
    wk_tensors *packed = wk_pack_padded_sequence(wk_ones((4, 1, 2)), wk_ones((1), .dtype = WK_I64));
    wk_tensors_add(packed, "unsorted_indices", wk_ones((1), .dtype = WK_I64));
    wk_pad_packed_sequence(packed);
}
static void groups_that_do_not_divide(void)
{
    wk_nn_group_norm(2, 3);
}
static void rms_norm_with_negative_eps(void)
{
    wk_nn_rms_norm((2), .eps = -1);
}
static void rms_norm_of_nothing(void)
{
    wk_nn_rms_norm(());
}
static void response_norm_without_channels(void)
{
    wk_nn_local_response_norm(0);
}
static void init_from_above(void)
{
    wk_init_uniform_(wk_ones((2)), 2, 1);
}
static void init_with_negative_std(void)
{
    wk_init_normal_(wk_ones((2)), 0, -1);
}

/* ---- optimisers -------------------------------------------------------------------------------------------------- */

static wk_optim *an_sgd(void)
{
    return wk_optim_sgd(wk_list((a_leaf())));
}
static wk_optim *an_lbfgs(void)
{
    return wk_optim_lbfgs(wk_list((a_leaf())));
}
static void option_out_of_range(void)
{
    wk_optim_sgd(wk_list((a_leaf())), .lr = -1);
}
static void parameter_that_is_no_leaf(void)
{
    wk_optim_sgd(wk_list((wk_mul(a_leaf(), 2))));
}
static void nothing_to_train(void)
{
    wk_optim_sgd(wk_list((wk_ones((2)))));
}
static void group_for_lbfgs(void)
{
    wk_optim_add_group(an_lbfgs(), wk_list((a_leaf())));
}
static void option_of_another_optimiser(void)
{
    wk_optim_add_group(an_sgd(), wk_list((a_leaf())), .beta1 = 0.5);
}
static void lbfgs_without_a_closure(void)
{
    wk_optim_step(an_lbfgs());
}
static void group_not_there(void)
{
    wk_optim_lr(an_sgd(), 1);
}
static wk_tensors *a_gradient(double value)
{
    wk_tensor *leaf = a_leaf();
    wk_set_grad(leaf, wk_full_like(leaf, value));
    return wk_list((leaf));
}
static void clip_to_a_negative_norm(void)
{
    wk_clip_grad_norm_(a_gradient(1), -1);
}
static void clip_infinite_gradients(void)
{
    wk_clip_grad_norm_(a_gradient((double)INFINITY), 1, .error_if_nonfinite = true);
}
static void clip_to_a_negative_value(void)
{
    wk_clip_grad_value_(a_gradient(1), -1);
}
static void steps_of_no_length(void)
{
    wk_schedule_step_lr(an_sgd(), 0);
}
static double negative(int64_t t, void *user)
{
    (void)user;
    return (double)-t;
}
static void factor_below_0(void)
{
    wk_schedule_step(wk_schedule_lambda_lr(an_sgd(), negative, NULL));
}
static void cycle_without_momentum(void)
{
    wk_schedule_one_cycle(an_sgd(), 0.1, 10);
}
static void cycles_without_momentum(void)
{
    wk_schedule_cyclic_lr(an_sgd(), 0.1, 0.2);
}
static void step_after_the_cycle(void)
{
    wk_schedule *rate = wk_schedule_one_cycle(an_sgd(), 0.1, 2, .no_cycle_momentum = true);
    for (int k = 0; k < 3; k++) wk_schedule_step(rate);
}
static void plateau_without_a_metric(void)
{
    wk_schedule_step(wk_schedule_reduce_lr_on_plateau(an_sgd()));
}
static void metric_for_step_lr(void)
{
    wk_schedule_step_metric(wk_schedule_step_lr(an_sgd(), 1), 0);
}
static void bar_of_negative_length(void)
{
    wk_progress_new("bar", -1);
}
static void bar_of_two_elements(void)
{
    wk_progress_step(wk_progress_new("bar", 1, .disable = true), "x", wk_ones((2)));
}
static void plot_of_negative_width(void)
{
    wk_plot_new(.width = -1);
}
static void line_of_negative_length(void)
{
    wk_plot_line(wk_plot_new(), NULL, NULL, NULL, -1);
}
static void line_of_a_matrix(void)
{
    wk_plot_tensor(wk_plot_new(), NULL, NULL, wk_ones((2, 2)));
}
static void history_with_infinite_steps(void)
{
    wk_plot_history(wk_plot_new(), NULL, wk_history_new(), .step = INFINITY);
}
static void plot_into_no_folder(void)
{
    wk_plot_save(wk_plot_new(), no_file());
}
static void events_in_no_folder(void)
{
    wk_tensorboard_open("");
}
static void events_below_a_file(void)
{
    wk_tensorboard_open(file_with("a file"));
}
static void value_without_a_tag(void)
{
    wk_tensorboard_scalar(wk_tensorboard_open(scratch("board")), "", 0, 1);
}
static void history_with_endless_steps(void)
{
    wk_history *history = wk_history_new();
    wk_history_add(history, wk_ones(()));
    wk_tensorboard_history(wk_tensorboard_open(scratch("board")), "loss", INT64_MAX, history);
}
static void optimiser_into_no_folder(void)
{
    wk_optim_save(an_sgd(), no_file());
}
static void optimiser_from_no_file(void)
{
    wk_optim_load(an_sgd(), no_file());
}
static void optimiser_from_a_text(void)
{
    wk_optim_load(an_sgd(), file_with("not a safetensors file"));
}

static wk_tensor *zeroes(wk_module *self, wk_tensor *x)
{
    wk_optim_zero_grad(*(wk_optim **)wk_module_state(self));
    return x;
}
/* The forward of the first replica clears gradients. */
static void gradients_forgotten_in_forward(void)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "zeroes", .state = sizeof(wk_optim *), .forward1 = zeroes};
    wk_module *net = wk_module_new(&kind);
    wk_module_add_parameter(net, "weight", wk_ones((2)));
    *(wk_optim **)wk_module_state(net) = wk_optim_sgd(wk_parameters(net));
    wk_forward(wk_mirrored(net, ((wk_device[]){wk_cpu(), test_null()}), 2), wk_ones((4, 2)));
}

/* ---- data and files ---------------------------------------------------------------------------------------------- */

static wk_dataset *four_samples(void)
{
    return wk_data_tensors(wk_ones((4, 2)), NULL);
}
static void samples_and_labels_differ(void)
{
    wk_data_tensors(wk_ones((4, 2)), wk_ones((3)));
}
static void mnist_in_no_folder(void)
{
    wk_data_mnist(no_file());
}
static void mnist_that_is_text(void)
{
    for (int train = 0; train < 2; train++) {
        put_below(scratch("."), train ? "/mnist/train-images-idx3-ubyte" : "/mnist/t10k-images-idx3-ubyte", "text");
        put_below(scratch("."), train ? "/mnist/train-labels-idx1-ubyte" : "/mnist/t10k-labels-idx1-ubyte", "text");
    }
    wk_data_mnist(scratch("mnist"));
}
static void slice_past_the_end(void)
{
    wk_data_slice(four_samples(), 2, 5);
}
static void fashion_mnist_in_no_folder(void)
{
    wk_data_fashion_mnist(no_file());
}
static void fashion_mnist_that_is_text(void)
{
    mnist_that_is_text();
    wk_clear_error();
    wk_data_fashion_mnist(scratch("mnist"));
}
static void dataset_without_functions(void)
{
    wk_data_new(&(wk_dataset_kind){.size = sizeof(wk_dataset_kind)}, NULL);
}
static void subset_past_the_end(void)
{
    wk_data_subset(four_samples(), wk_of(int64_t, (1), 4));
}
static void subset_of_a_matrix(void)
{
    wk_data_subset(four_samples(), wk_zeros((1, 1), .dtype = WK_I64));
}
static void subset_of_floats(void)
{
    wk_data_subset(four_samples(), wk_zeros((1)));
}
static void concat_of_nothing(void)
{
    wk_dataset *data = four_samples();
    wk_data_concat(WK_ARRAY(&data, 0));
}

static void stack_of_nothing(void)
{
    wk_dataset *data = NULL;
    wk_data_stack(WK_ARRAY(&data, 0));
}

static void stack_of_other_sizes(void)
{
    wk_dataset *data = four_samples();
    wk_data_stack((data, wk_data_slice(data, 0, 3)));
}
static void split_of_too_many(void)
{
    wk_dataset *parts[2];
    wk_data_random_split(four_samples(), (2, 3), parts);
}
static void split_without_labels(void)
{
    wk_dataset *parts[2];
    wk_data_random_split(four_samples(), (2, 2), parts, .stratify = true);
}
static void sample_past_the_end(void)
{
    wk_sample sample;
    wk_data_get(four_samples(), 4, &sample);
}
static void map_without_a_function(void)
{
    wk_data_map(four_samples(), NULL, NULL);
}
static void map_of_samples_without_a_function(void)
{
    wk_data_map_samples(four_samples(), NULL, NULL);
}
static void loader_of_negative_weights(void)
{
    wk_data_loader(four_samples(), .weights = wk_full((4), -1.0));
}
static void loader_past_the_end(void)
{
    wk_data_loader(four_samples(), .order = wk_of(int64_t, (1), 4));
}
static void loader_of_too_many_weights(void)
{
    wk_data_loader(four_samples(), .weights = wk_ones((5)));
}
static void loader_in_an_order_of_floats(void)
{
    wk_data_loader(four_samples(), .order = wk_ones((4)));
}
static void loader_with_too_many_workers(void)
{
    wk_data_loader(four_samples(), .workers = 1025);
}
static void loader_on_no_device(void)
{
    wk_data_loader(four_samples(), .device = no_device());
}
static void history_of_two_elements(void)
{
    wk_history_add(wk_history_new(), wk_ones((2)));
}
static void save_into_no_folder(void)
{
    wk_save(a_linear(), no_file());
}
static void save_with_half_a_pair(void)
{
    wk_save(a_linear(), scratch("promised"), .metadata = &(wk_file_pair){"key", NULL}, .pairs = 1);
}
static void load_from_no_file(void)
{
    wk_load(a_linear(), no_file());
}
static void load_from_a_text(void)
{
    wk_load(a_linear(), file_with("not a safetensors file"));
}

static void load_without_a_tensor(void)
{
    const char *path = scratch("promised");
    assert_int_equal(wk_save(a_linear(), path), WK_OK);
    wk_load_tensor(path, "scale");
}
static void load_another(wk_module *saved)
{
    const char *path = scratch("net.safetensors");
    assert_int_equal(wk_save(saved, path), WK_OK);
    wk_load(a_linear(), path);
}
static void load_another_dtype(void)
{
    load_another(wk_nn_linear(2, 3, .dtype = WK_F64));
}
static void load_another_shape(void)
{
    load_another(wk_nn_linear(2, 4));
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void mirrored_on_nothing(void)
{
    wk_mirrored(a_linear(), (wk_device *)NULL, 0);
}
static void mirrored_twice(void)
{
    wk_mirrored(a_linear(), ((wk_device[]){wk_cpu(), wk_cpu()}), 2);
}
static void mirrored_where_nothing_is(void)
{
    wk_mirrored(a_linear(), ((wk_device[]){wk_cpu(), no_device()}), 2);
}
static void stats_of_a_linear(void)
{
    wk_mirrored_stats stats = {.size = sizeof stats};
    wk_mirrored_stats_of(a_linear(), &stats);
}
static void scatter_of_a_number(void)
{
    wk_devices_scatter(wk_ones(()), (wk_device[]){wk_cpu()}, 1);
}
static void sum_of_two_shapes(void)
{
    wk_devices_all_reduce(wk_list((wk_ones((2)), wk_ones((3)))));
}
static void sum_of_two_dtypes(void)
{
    wk_devices_all_reduce(wk_list((wk_ones((2)), wk_arange(2))));
}
static void send_to_this_rank(void)
{
    wk_dist_send(wk_ones((2)), 0);
}
static void group_of_rank_1(void)
{
    wk_dist_new_group((0, 1));
}
static void group_of_0_twice(void)
{
    wk_dist_new_group((0, 0));
}

static void child_past_the_end(void)
{
    wk_module_child_by_index(a_linear(), 0);
}
static void module_to_no_device(void)
{
    wk_module_to(a_linear(), no_device());
}
static void count_of_a_lazy_layer(void)
{
    wk_parameter_count(wk_nn_lazy_linear(3));
}
static void summary_of_a_lazy_layer(void)
{
    wk_summary(wk_nn_lazy_linear(3), (2, 3));
}
static void replace_without_a_child(void)
{
    wk_module_replace(a_linear(), "0", a_linear());
}
static void replace_by_the_parent(void)
{
    wk_module *net = wk_nn_sequential(a_linear());
    wk_module_replace(net, "0", net);
}
static void children_past_the_end(void)
{
    wk_module_slice(wk_nn_sequential(a_linear()), 0, 2);
}
static void slice_of_a_layer(void)
{
    wk_module_slice(a_linear(), 0, 0);
}
static void module_to_integers(void)
{
    wk_module_to_dtype(a_linear(), WK_I64);
}
static void sum_into_shared_elements(void)
{
    wk_devices_all_reduce_(wk_list((an_expanded(), wk_ones((4)))));
}

static const promised_code promised_by_training[] = {
    {"wk_requires_grad_", WK_ERR_STATE, .provoke = wanted_by_a_computed_tensor},
    {"wk_requires_grad_", WK_ERR_DTYPE, .provoke = wanted_by_integers},
    {"wk_grad_of", WK_ERR_STATE, .provoke = grad_of_a_computed_tensor},
    {"wk_backward", WK_ERR_STATE, .provoke = backward_without_a_graph},
    {"wk_set_grad", WK_ERR_SHAPE, .provoke = gradient_of_another_shape},
    {"wk_set_grad", WK_ERR_ARGUMENT, .provoke = gradient_in_the_leaf},
    {"wk_grad", WK_ERR_STATE, .provoke = grad_of_an_unused_input},
    {"wk_module_child_by_index", WK_ERR_INDEX, .provoke = child_past_the_end},
    {"wk_module_to", WK_ERR_DEVICE, .provoke = module_to_no_device},
    {"wk_module_to_dtype", WK_ERR_DTYPE, .provoke = module_to_integers},
    {"wk_module_replace", WK_ERR_ARGUMENT, .provoke = replace_without_a_child},
    {"wk_module_replace", WK_ERR_ARGUMENT, .provoke = replace_by_the_parent},
    {"wk_module_slice", WK_ERR_INDEX, .provoke = children_past_the_end},
    {"wk_module_slice", WK_ERR_ARGUMENT, .provoke = slice_of_a_layer},
    {"wk_parameter_count", WK_ERR_STATE, .provoke = count_of_a_lazy_layer},
    {"wk_summary", WK_ERR_STATE, .provoke = summary_of_a_lazy_layer},
    {"wk_devices_all_reduce_", WK_ERR_STATE, .provoke = sum_into_shared_elements},
    {"wk_register_hook", WK_ERR_STATE, .provoke = hook_without_a_gradient},
    {"wk_apply", WK_ERR_STATE, .provoke = backward_that_is_missing},
    {"wk_tensors_name", WK_ERR_INDEX, .provoke = name_past_the_list},
    {"wk_tensors_get", WK_ERR_INDEX, .provoke = tensor_past_the_list},
    {"wk_module_add_parameter", WK_ERR_DTYPE, .provoke = parameter_of_integers},
    {"wk_module_add_parameter", WK_ERR_ARGUMENT, .provoke = parameter_with_a_dot},
    {"wk_module_add_parameter", WK_ERR_ARGUMENT, .provoke = parameter_name_taken},
    {"wk_module_parameter", WK_ERR_ARGUMENT, .provoke = parameter_not_there},
    {"wk_module_buffer", WK_ERR_ARGUMENT, .provoke = buffer_not_there},
    {"wk_module_child", WK_ERR_ARGUMENT, .provoke = child_not_there},
    {"wk_parameters", WK_ERR_STATE, .provoke = parameters_of_a_lazy_layer},
    {"wk_buffers", WK_ERR_STATE, .provoke = buffers_of_a_lazy_layer},
    {"wk_nn_linear", WK_ERR_SHAPE, .provoke = layer_of_negative_size},
    {"wk_nn_quantized_linear", WK_ERR_SHAPE, .provoke = quantized_linear_of_part_of_a_block},
    {"wk_nn_quantized_linear", WK_ERR_ARGUMENT, .provoke = quantized_linear_of_no_format},
    {"wk_module_quantize", WK_ERR_ARGUMENT, .provoke = quantize_a_layer},
    {"wk_nn_batch_norm1d", WK_ERR_ARGUMENT, .provoke = batch_norm_of_negative_size},
    {"wk_nn_batch_norm1d", WK_ERR_SHAPE, .provoke = batch_norm_of_other_channels},
    {"wk_nn_activation", WK_ERR_ARGUMENT, .provoke = activation_that_does_not_exist},
    {"wk_nn_function", WK_ERR_ARGUMENT, .provoke = no_function_as_a_layer},
    {"wk_nn_lazy_batch_norm1d", WK_ERR_ARGUMENT, .provoke = lazy_batch_norm_with_negative_eps},
    {"wk_nn_instance_norm1d", WK_ERR_ARGUMENT, .provoke = instance_norm_of_negative_size},
    {"wk_nn_instance_norm1d", WK_ERR_SHAPE, .provoke = instance_norm_of_a_vector},
    {"wk_nn_lazy_instance_norm1d", WK_ERR_ARGUMENT, .provoke = lazy_instance_norm_with_negative_eps},
    {"wk_nn_group_norm", WK_ERR_ARGUMENT, .provoke = groups_that_do_not_divide},
    {"wk_nn_multihead_attention", WK_ERR_ARGUMENT, .provoke = heads_that_do_not_divide},
    {"wk_forward_attention", WK_ERR_ARGUMENT, .provoke = attention_of_a_linear_layer},
    {"wk_forward_attention", WK_ERR_SHAPE, .provoke = attention_of_a_vector},
    {"wk_forward_attention", WK_ERR_DTYPE, .provoke = attention_with_a_mask_of_integers},
    {"wk_nn_transformer_encoder_layer", WK_ERR_ARGUMENT, .provoke = transformer_with_an_unknown_activation},
    {"wk_sinusoidal_positions", WK_ERR_ARGUMENT, .provoke = positions_of_no_features},
    {"wk_alibi_slopes", WK_ERR_ARGUMENT, .provoke = slopes_of_no_heads},
    {"wk_alibi_bias", WK_ERR_ARGUMENT, .provoke = bias_of_more_rows_than_keys},
    {"wk_alibi_bias", WK_ERR_DTYPE, .provoke = bias_of_integers},
    {"wk_nn_bert", WK_ERR_ARGUMENT, .provoke = bert_without_tokens},
    {"wk_forward_bert", WK_ERR_ARGUMENT, .provoke = bert_call_of_a_linear_layer},
    {"wk_forward_bert", WK_ERR_SHAPE, .provoke = bert_call_of_too_many_tokens},
    {"wk_forward_bert", WK_ERR_INDEX, .provoke = bert_call_of_an_unknown_token},
    {"wk_nn_transformer_encoder", WK_ERR_ARGUMENT, .provoke = encoder_of_linear_layers},
    {"wk_nn_rnn", WK_ERR_ARGUMENT, .provoke = recurrence_without_layers},
    {"wk_nn_rnn", WK_ERR_SHAPE, .provoke = recurrence_of_other_features},
    {"wk_rnn_forward", WK_ERR_ARGUMENT, .provoke = recurrence_of_a_linear_layer},
    {"wk_pack_padded_sequence", WK_ERR_ARGUMENT, .provoke = sequences_of_0_steps},
    {"wk_pack_padded_sequence", WK_ERR_SHAPE, .provoke = lengths_of_other_sequences},
    {"wk_pack_padded_sequence", WK_ERR_DTYPE, .provoke = lengths_that_are_fractions},
    {"wk_pad_packed_sequence", WK_ERR_ARGUMENT, .provoke = padding_to_less_than_the_longest},
    {"wk_pad_packed_sequence", WK_ERR_INDEX, .provoke = padding_with_an_index_out_of_range},
    {"wk_pad_packed_sequence", WK_ERR_SHAPE, .provoke = padding_to_more_dimensions_than_a_tensor_has},
    {"wk_nn_rms_norm", WK_ERR_ARGUMENT, .provoke = rms_norm_with_negative_eps},
    {"wk_nn_rms_norm", WK_ERR_SHAPE, .provoke = rms_norm_of_nothing},
    {"wk_nn_embedding", WK_ERR_ARGUMENT, .provoke = embedding_without_its_padding},
    {"wk_nn_embedding_bag", WK_ERR_ARGUMENT, .provoke = embedding_bag_of_an_unknown_mode},
    {"wk_nn_local_response_norm", WK_ERR_ARGUMENT, .provoke = response_norm_without_channels},
    {"wk_init_uniform_", WK_ERR_ARGUMENT, .provoke = init_from_above},
    {"wk_init_normal_", WK_ERR_ARGUMENT, .provoke = init_with_negative_std},
    {"optim.h", WK_ERR_ARGUMENT, .provoke = option_out_of_range},
    {"optim.h", WK_ERR_ARGUMENT, .provoke = parameter_that_is_no_leaf},
    {"optim.h", WK_ERR_ARGUMENT, .provoke = nothing_to_train},
    {"wk_optim_lbfgs", WK_ERR_ARGUMENT, .provoke = group_for_lbfgs},
    {"wk_optim_add_group", WK_ERR_ARGUMENT, .provoke = option_of_another_optimiser},
    {"wk_optim_step", WK_ERR_STATE, .provoke = lbfgs_without_a_closure},
    {"wk_optim_zero_grad", WK_ERR_STATE, .provoke = gradients_forgotten_in_forward},
    {"wk_optim_lr", WK_ERR_INDEX, .provoke = group_not_there},
    {"wk_clip_grad_norm_", WK_ERR_ARGUMENT, .provoke = clip_to_a_negative_norm},
    {"wk_clip_grad_norm_", WK_ERR_STATE, .provoke = clip_infinite_gradients},
    {"wk_clip_grad_value_", WK_ERR_ARGUMENT, .provoke = clip_to_a_negative_value},
    {"schedule.h", WK_ERR_ARGUMENT, .provoke = steps_of_no_length},
    {"wk_schedule_lambda_lr", WK_ERR_ARGUMENT, .provoke = factor_below_0},
    {"wk_schedule_one_cycle", WK_ERR_ARGUMENT, .provoke = cycle_without_momentum},
    {"wk_schedule_one_cycle", WK_ERR_STATE, .provoke = step_after_the_cycle},
    {"wk_schedule_cyclic_lr", WK_ERR_ARGUMENT, .provoke = cycles_without_momentum},
    {"wk_schedule_step", WK_ERR_STATE, .provoke = plateau_without_a_metric},
    {"wk_schedule_step_metric", WK_ERR_STATE, .provoke = metric_for_step_lr},
    {"wk_progress_new", WK_ERR_ARGUMENT, .provoke = bar_of_negative_length},
    {"wk_progress_step", WK_ERR_SHAPE, .provoke = bar_of_two_elements},
    {"wk_plot_new", WK_ERR_ARGUMENT, .provoke = plot_of_negative_width},
    {"wk_plot_line", WK_ERR_ARGUMENT, .provoke = line_of_negative_length},
    {"wk_plot_tensor", WK_ERR_SHAPE, .provoke = line_of_a_matrix},
    {"wk_plot_history", WK_ERR_ARGUMENT, .provoke = history_with_infinite_steps},
    {"wk_plot_save", WK_ERR_IO, .provoke = plot_into_no_folder},
    {"wk_tensorboard_open", WK_ERR_ARGUMENT, .provoke = events_in_no_folder},
    {"wk_tensorboard_open", WK_ERR_IO, .provoke = events_below_a_file},
    {"wk_tensorboard_scalar", WK_ERR_ARGUMENT, .provoke = value_without_a_tag},
    {"wk_tensorboard_scalar", WK_ERR_IO, .test = "report/tensorboard.c"},
    {"wk_tensorboard_scalar", WK_ERR_STATE, .test = "report/tensorboard.c"},
    {"wk_tensorboard_history", WK_ERR_ARGUMENT, .provoke = history_with_endless_steps},
    {"wk_tensorboard_flush", WK_ERR_IO, .test = "report/tensorboard.c"},
    {"wk_tensorboard_flush", WK_ERR_STATE, .test = "report/tensorboard.c"},
    {"wk_optim_save", WK_ERR_IO, .provoke = optimiser_into_no_folder},
    {"wk_optim_save", WK_ERR_STATE, .test = "optim/state.c"},
    {"wk_optim_load", WK_ERR_IO, .provoke = optimiser_from_no_file},
    {"wk_optim_load", WK_ERR_FORMAT, .provoke = optimiser_from_a_text},
    {"wk_optim_load", WK_ERR_ARGUMENT, .test = "optim/state.c"},
    {"wk_optim_load", WK_ERR_SHAPE, .test = "optim/state.c"},
    {"wk_optim_load", WK_ERR_DTYPE, .test = "optim/state.c"},
    {"wk_checkpoint_new", WK_ERR_STATE, .test = "checkpoint/ranks.c"},
    {"wk_checkpoint_load", WK_ERR_FORMAT, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_UNSUPPORTED, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_IO, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_SHAPE, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_DTYPE, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_ARGUMENT, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_load", WK_ERR_STATE, .test = "checkpoint/refused.c"},
    {"wk_checkpoint_save", WK_ERR_IO, .test = "checkpoint/failing.c"},
    {"wk_checkpoint_save", WK_ERR_STATE, .test = "checkpoint/ranks.c"},
    {"wk_data_tensors", WK_ERR_SHAPE, .provoke = samples_and_labels_differ},
    {"wk_data_mnist", WK_ERR_IO, .provoke = mnist_in_no_folder},
    {"wk_data_mnist", WK_ERR_FORMAT, .provoke = mnist_that_is_text},
    {"wk_data_fashion_mnist", WK_ERR_IO, .provoke = fashion_mnist_in_no_folder},
    {"wk_data_fashion_mnist", WK_ERR_FORMAT, .provoke = fashion_mnist_that_is_text},
    {"wk_data_new", WK_ERR_ARGUMENT, .provoke = dataset_without_functions},
    {"wk_data_slice", WK_ERR_INDEX, .provoke = slice_past_the_end},
    {"wk_data_subset", WK_ERR_INDEX, .provoke = subset_past_the_end},
    {"wk_data_subset", WK_ERR_SHAPE, .provoke = subset_of_a_matrix},
    {"wk_data_subset", WK_ERR_DTYPE, .provoke = subset_of_floats},
    {"wk_data_concat", WK_ERR_ARGUMENT, .provoke = concat_of_nothing},
    {"wk_data_stack", WK_ERR_ARGUMENT, .provoke = stack_of_nothing},
    {"wk_data_stack", WK_ERR_SHAPE, .provoke = stack_of_other_sizes},
    {"wk_data_random_split", WK_ERR_ARGUMENT, .provoke = split_of_too_many},
    {"wk_data_random_split", WK_ERR_ARGUMENT, .provoke = split_without_labels},
    {"wk_data_get", WK_ERR_INDEX, .provoke = sample_past_the_end},
    {"wk_data_map", WK_ERR_ARGUMENT, .provoke = map_without_a_function},
    {"wk_data_loader", WK_ERR_DEVICE, .provoke = loader_on_no_device},
    {"wk_data_map_samples", WK_ERR_ARGUMENT, .provoke = map_of_samples_without_a_function},
    {"wk_data_loader", WK_ERR_ARGUMENT, .provoke = loader_with_too_many_workers},
    {"wk_data_loader", WK_ERR_ARGUMENT, .provoke = loader_of_negative_weights},
    {"wk_data_loader", WK_ERR_INDEX, .provoke = loader_past_the_end},
    {"wk_data_loader", WK_ERR_SHAPE, .provoke = loader_of_too_many_weights},
    {"wk_data_loader", WK_ERR_DTYPE, .provoke = loader_in_an_order_of_floats},
    {"wk_history_add", WK_ERR_SHAPE, .provoke = history_of_two_elements},
    {"wk_save", WK_ERR_IO, .provoke = save_into_no_folder},
    {"wk_save", WK_ERR_ARGUMENT, .provoke = save_with_half_a_pair},
    {"wk_image_read", WK_ERR_IO, .test = "report/image.c"},
    {"wk_image_read", WK_ERR_FORMAT, .test = "report/image.c"},
    {"wk_image_read", WK_ERR_UNSUPPORTED, .test = "report/image.c"},
    {"wk_image_read", WK_ERR_ARGUMENT, .test = "report/image.c"},
    {"wk_image_write", WK_ERR_SHAPE, .test = "report/image.c"},
    {"wk_image_write", WK_ERR_DTYPE, .test = "report/image.c"},
    {"wk_image_write", WK_ERR_ARGUMENT, .test = "report/image.c"},
    {"wk_image_write", WK_ERR_UNSUPPORTED, .test = "report/image.c"},
    {"wk_image_write", WK_ERR_IO, .test = "report/image.c"},
    {"wk_image_grid", WK_ERR_SHAPE, .test = "report/image_grid.c"},
    {"wk_image_grid", WK_ERR_DTYPE, .test = "report/image_grid.c"},
    {"wk_image_grid", WK_ERR_ARGUMENT, .test = "report/image_grid.c"},
    {"wk_load", WK_ERR_IO, .provoke = load_from_no_file},
    {"wk_load_tensor", WK_ERR_ARGUMENT, .provoke = load_without_a_tensor},
    {"wk_load_info", WK_ERR_STATE, .test = "io/load.c"},
    {"wk_load", WK_ERR_FORMAT, .provoke = load_from_a_text},
    {"wk_load", WK_ERR_DTYPE, .provoke = load_another_dtype},
    {"wk_load", WK_ERR_SHAPE, .provoke = load_another_shape},
    {"wk_mirrored", WK_ERR_ARGUMENT, .provoke = mirrored_on_nothing},
    {"wk_mirrored", WK_ERR_ARGUMENT, .provoke = mirrored_twice},
    {"wk_mirrored", WK_ERR_DEVICE, .provoke = mirrored_where_nothing_is},
    {"wk_mirrored_stats_of", WK_ERR_ARGUMENT, .provoke = stats_of_a_linear},
    {"wk_devices_scatter", WK_ERR_SHAPE, .provoke = scatter_of_a_number},
    {"wk_devices_all_reduce", WK_ERR_SHAPE, .provoke = sum_of_two_shapes},
    {"wk_devices_all_reduce", WK_ERR_DTYPE, .provoke = sum_of_two_dtypes},
    {"dist.h", WK_ERR_STATE, .test = "distributed/failing.c"},
    {"dist.h", WK_ERR_TIMEOUT, .test = "distributed/failing.c"},
    {"dist.h", WK_ERR_ARGUMENT, .test = "distributed/single_rank.c"},
    {"wk_dist_init", WK_ERR_ARGUMENT, .test = "distributed/joining.c"},
    {"wk_dist_init", WK_ERR_TIMEOUT, .test = "distributed/accept.c"},
    {"wk_dist_init", WK_ERR_IO, .test = "distributed/accept.c"},
    {"wk_dist_init", WK_ERR_STATE, .test = "distributed/single_rank.c"},
    {"wk_dist_finish", WK_ERR_STATE, .test = "distributed/ddp_failing.c"},
    {"wk_dist_new_group", WK_ERR_ARGUMENT, .provoke = group_of_rank_1},
    {"wk_dist_new_group", WK_ERR_ARGUMENT, .provoke = group_of_0_twice},
    {"wk_dist_reduce_scatter", WK_ERR_SHAPE, .test = "distributed/queue.c"},
    {"wk_dist_all_to_all", WK_ERR_SHAPE, .test = "distributed/queue.c"},
    {"wk_dist_send", WK_ERR_ARGUMENT, .provoke = send_to_this_rank},
    {"wk_ddp", WK_ERR_ARGUMENT, .test = "distributed/same_model.c"},
    {"wk_ddp", WK_ERR_STATE, .test = "distributed/ddp_failing.c"},
    {"wk_ddp", WK_ERR_TIMEOUT, .test = "distributed/ddp_failing.c"},
};

#endif

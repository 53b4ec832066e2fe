/* SPDX-License-Identifier: Apache-2.0 */
/* wick/option_numbers.h: the doubles of each struct of options that a header of this folder declares, and the names
 * of all options; see macros.h. */
/* Written by scripts/generate_ops.py from those structs: edit those. */
#ifndef WICK_OPTION_NUMBERS_H
#define WICK_OPTION_NUMBERS_H

#ifndef __cplusplus

#define wk_alibi_options_numbers_(wk_do_, wk_o_)

#define wk_backward_options_numbers_(wk_do_, wk_o_)

#define wk_call_options_numbers_(wk_do_, wk_o_)

#define wk_checkpoint_options_numbers_(wk_do_, wk_o_)

#define wk_data_parallel_options_numbers_(wk_do_, wk_o_)

#define wk_ddp_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, bucket_cap_mb)

#define wk_decode_options_numbers_(wk_do_, wk_o_)

#define wk_dist_call_options_numbers_(wk_do_, wk_o_)

#define wk_dist_reduce_options_numbers_(wk_do_, wk_o_)

#define wk_forward_attention_options_numbers_(wk_do_, wk_o_)

#define wk_forward_bert_options_numbers_(wk_do_, wk_o_)

#define wk_forward_transformer_options_numbers_(wk_do_, wk_o_)

#define wk_generate_options_numbers_(wk_do_, wk_o_)                                                                    \
    wk_do_(wk_o_, temperature) wk_do_(wk_o_, top_p) wk_do_(wk_o_, min_p) wk_do_(wk_o_, repetition_penalty)             \
        wk_do_(wk_o_, eos_token_id) wk_do_(wk_o_, pad_token_id) wk_do_(wk_o_, length_penalty)

#define wk_grad_options_numbers_(wk_do_, wk_o_)

#define wk_history_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, weight)

#define wk_hook_options_numbers_(wk_do_, wk_o_)

#define wk_image_grid_options_numbers_(wk_do_, wk_o_)                                                                  \
    wk_do_(wk_o_, padding) wk_do_(wk_o_, pad_value) wk_do_(wk_o_, low) wk_do_(wk_o_, high)

#define wk_image_read_options_numbers_(wk_do_, wk_o_)

#define wk_init_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, gain) wk_do_(wk_o_, a)

#define wk_load_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, strict)

#define wk_loader_options_numbers_(wk_do_, wk_o_)

#define wk_map_options_numbers_(wk_do_, wk_o_)

#define wk_mirrored_options_numbers_(wk_do_, wk_o_)

#define wk_mnist_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, train)

#define wk_nn_adaptive_max_pool_options_numbers_(wk_do_, wk_o_)

#define wk_nn_batch_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps) wk_do_(wk_o_, momentum)

#define wk_nn_bert_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, layer_norm_eps)

#define wk_nn_conv_options_numbers_(wk_do_, wk_o_)

#define wk_nn_conv_transpose_options_numbers_(wk_do_, wk_o_)

#define wk_nn_dropout_model_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_nn_embedding_bag_options_numbers_(wk_do_, wk_o_)                                                            \
    wk_do_(wk_o_, padding_idx) wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type)

#define wk_nn_embedding_options_numbers_(wk_do_, wk_o_)                                                                \
    wk_do_(wk_o_, padding_idx) wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type)

#define wk_nn_googlenet_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, dropout_aux)

#define wk_nn_gpt_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, layer_norm_epsilon)

#define wk_nn_group_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_instance_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps) wk_do_(wk_o_, momentum)

#define wk_nn_layer_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_linear_options_numbers_(wk_do_, wk_o_)

#define wk_nn_llama_options_numbers_(wk_do_, wk_o_)                                                                    \
    wk_do_(wk_o_, rms_norm_eps) wk_do_(wk_o_, rope_theta) wk_do_(wk_o_, rope_factor)                                   \
        wk_do_(wk_o_, rope_low_freq_factor) wk_do_(wk_o_, rope_high_freq_factor)

#define wk_nn_local_response_norm_options_numbers_(wk_do_, wk_o_)                                                      \
    wk_do_(wk_o_, alpha) wk_do_(wk_o_, beta) wk_do_(wk_o_, k)

#define wk_nn_lora_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lora_alpha) wk_do_(wk_o_, lora_dropout)

#define wk_nn_max_pool_options_numbers_(wk_do_, wk_o_)

#define wk_nn_mobilenet_v2_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, width) wk_do_(wk_o_, dropout)

#define wk_nn_model_options_numbers_(wk_do_, wk_o_)

#define wk_nn_multihead_attention_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_nn_prelu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, init)

#define wk_nn_pretrained_options_numbers_(wk_do_, wk_o_)

#define wk_nn_quantized_linear_options_numbers_(wk_do_, wk_o_)

#define wk_nn_resnet_options_numbers_(wk_do_, wk_o_)

#define wk_nn_rms_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_rnn_cell_options_numbers_(wk_do_, wk_o_)

#define wk_nn_rnn_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_nn_rrelu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lower) wk_do_(wk_o_, upper)

#define wk_nn_transformer_layer_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, layer_norm_eps)

#define wk_nn_transformer_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, layer_norm_eps)

#define wk_nn_transformer_stack_options_numbers_(wk_do_, wk_o_)

#define wk_nn_upsample_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_do_(wk_o_, scale_factor) wk_do_(wk_o_, scales_d) wk_do_(wk_o_, scales_h) wk_do_(wk_o_, scales_w)

#define wk_nn_vgg_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_nn_vit_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, attention_dropout)

#define wk_pack_padded_sequence_options_numbers_(wk_do_, wk_o_)

#define wk_pad_packed_sequence_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, padding_value)

#define wk_plot_history_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, first) wk_do_(wk_o_, step)

#define wk_plot_options_numbers_(wk_do_, wk_o_)

#define wk_process_logits_options_numbers_(wk_do_, wk_o_)                                                              \
    wk_do_(wk_o_, repetition_penalty) wk_do_(wk_o_, temperature) wk_do_(wk_o_, top_p) wk_do_(wk_o_, min_p)

#define wk_progress_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, interval)

#define wk_rnn_forward_options_numbers_(wk_do_, wk_o_)

#define wk_rnn_forward_packed_options_numbers_(wk_do_, wk_o_)

#define wk_save_options_numbers_(wk_do_, wk_o_)

#define wk_schedule_constant_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, factor)

#define wk_schedule_cosine_annealing_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eta_min)

#define wk_schedule_cosine_annealing_warm_restarts_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eta_min)

#define wk_schedule_cosine_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, min_lr)

#define wk_schedule_cyclic_lr_options_numbers_(wk_do_, wk_o_)                                                          \
    wk_do_(wk_o_, gamma) wk_do_(wk_o_, base_momentum) wk_do_(wk_o_, max_momentum)

#define wk_schedule_linear_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, start_factor) wk_do_(wk_o_, end_factor)

#define wk_schedule_multi_step_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, gamma)

#define wk_schedule_one_cycle_options_numbers_(wk_do_, wk_o_)                                                          \
    wk_do_(wk_o_, pct_start) wk_do_(wk_o_, base_momentum) wk_do_(wk_o_, max_momentum) wk_do_(wk_o_, div_factor)        \
        wk_do_(wk_o_, final_div_factor)

#define wk_schedule_polynomial_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, power)

#define wk_schedule_reduce_lr_on_plateau_options_numbers_(wk_do_, wk_o_)                                               \
    wk_do_(wk_o_, factor) wk_do_(wk_o_, threshold) wk_do_(wk_o_, min_lr) wk_do_(wk_o_, eps) wk_do_(wk_o_, patience)

#define wk_schedule_step_lr_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, gamma)

#define wk_split_options_numbers_(wk_do_, wk_o_)

#define wk_summary_options_numbers_(wk_do_, wk_o_)

#define wk_text_bert_options_numbers_(wk_do_, wk_o_)                                                                   \
    wk_do_(wk_o_, do_lower_case) wk_do_(wk_o_, strip_accents) wk_do_(wk_o_, tokenize_chinese_chars)

#define wk_text_bpe_options_numbers_(wk_do_, wk_o_)

#define wk_text_decode_options_numbers_(wk_do_, wk_o_)

#define wk_text_encode_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, add_special_tokens)

#define wk_text_lines_options_numbers_(wk_do_, wk_o_)

#define wk_text_options_numbers_(wk_do_, wk_o_)

#define wk_text_order_options_numbers_(wk_do_, wk_o_)

#define wk_text_pad_options_numbers_(wk_do_, wk_o_)

#define wk_text_windows_options_numbers_(wk_do_, wk_o_)

#define WK_OPTION_MEMBERS_                                                                                             \
    const void *anneal_strategy, *attention_mask, *attn_mask, *begin, *c0, *c_n, *collate, *collate_user, *devices,    \
        *end, *eos_token_ids, *error, *grad_outputs, *gradient, *group, *h0, *h_n, *ids, *indexing, *key_padding_mask, \
        *length, *lengths, *line_search_fn, *mask, *max_lrs, *memory_key_padding_mask, *memory_mask, *metadata,        \
        *missing, *norm, *offsets, *on_text, *on_token, *order, *pad, *padding_side, *per_sample_weights, *pooled,     \
        *pos_weight, *reserved_tokens, *return_counts, *return_inverse, *rounding_mode, *side, *sorter,                \
        *special_tokens, *src_key_padding_mask, *src_mask, *stop, *stream, *target_modules, *tensors,                  \
        *tgt_key_padding_mask, *tgt_mask, *threshold_mode, *title, *token_type_ids, *unexpected, *unknown, *user,      \
        *weights, *x_label, *y_label;                                                                                  \
    double add_special_tokens, alpha, atol, attention_dropout, base, base_momentum, beta, beta1, beta2, bucket_cap_mb, \
        correction, dampening, delta, div_factor, do_lower_case, dropout, dropout_aux, dropout_p, end_factor,          \
        eos_token_id, eps, eta_min, factor, final_div_factor, first, gain, gamma, high, ignore_index, init,            \
        initial_accumulator_value, interval, label_smoothing, lambd, layer_norm_eps, layer_norm_epsilon,               \
        length_penalty, lora_alpha, lora_dropout, low, lower, lr, lr_decay, margin, max, max_momentum, max_norm,       \
        max_val, min, min_lr, min_p, min_val, momentum, momentum_decay, nan, negative_slope, neginf, norm_type,        \
        pad_token_id, pad_value, padding_idx, padding_value, patience, pct_start, posinf, power, repetition_penalty,   \
        rho, rms_norm_eps, rope_factor, rope_high_freq_factor, rope_low_freq_factor, rope_theta, rtol, scale,          \
        scale_factor, scales_d, scales_h, scales_w, start_factor, step, strict, strip_accents, t0, temperature,        \
        threshold, tokenize_chinese_chars, tolerance_change, tolerance_grad, top_p, train, upper, value, weight,       \
        weight_decay, width;                                                                                           \
    int64_t T_mult, accumulate, activation, add_bias_kv, add_zero_attn, affine, align_corners, allow_unused, amsgrad,  \
        antialias, approximate, attention_bias, aux_logits, balance, batch_first, batch_norm, batch_size,              \
        bidirectional, bins, blank, blocking, buffers, ceil_mode, centered, channels, classes, columns, context,       \
        convert, cooldown, count, create_graph, cumulative, decimals, decoupled_weight_decay, dilation,                \
        dim_feedforward, disable, divisor_override, do_sample, draws, drop_last, dtype, early_stopping, enable_gqa,    \
        eos_count, equal_nan, error_if_nonfinite, exclude_self, fan_out, format, full, groups, head_dim, height,       \
        hidden_size, history_size, image_size, in_channels, include_last_offset, initial, interleaved,                 \
        intermediate_size, invert, is_causal, kdim, keep, keepdim, letters_only, log_target, log_y, logits_to_keep,    \
        max_eval, max_iter, max_lr_count, max_new_tokens, max_position_embeddings, max_size, maximize,                 \
        memory_is_causal, min_frequency, min_tokens_to_keep, minlength, mmap, mode, n_embd, n_head, n_inner, n_layer,  \
        n_positions, nesterov, no_affine, no_average_weights, no_bias, no_broadcast_buffers, no_count_include_pad,     \
        no_cycle_momentum, no_grad, no_log_input, no_replacement, no_running_stats, nonlinearity, norm_first,          \
        normalise, num_attention_heads, num_beams, num_decoder_layers, num_encoder_layers, num_hidden_layers,          \
        num_key_value_heads, num_layers, num_parameters, offset, op, out_int32, output_padding, output_size, padding,  \
        padding_mode, pairs, patch_size, post_accumulate, prefetch_factor, proj_size, punctuation, quantized, rank,    \
        recompute_scale_factor, reduction, replacement, requires_grad, reserved, retain_graph, return_indices, right,  \
        rope_original_positions, running_stats, scale_each, scale_grad_by_freq, seed, shuffle, site,                   \
        skip_special_tokens, split, src_is_causal, step_size_down, step_size_up, steps, stop_count, stratify, stride,  \
        swap, tensor, tgt_is_causal, three_phase, tie_word_embeddings, top_k, total_iters, total_length, training,     \
        type_vocab_size, unsorted, untied, use_rslora, vdim, vocab_size, warmup, width_per_group, workers, world,      \
        zero_infinity, zero_init_residual;                                                                             \
    wk_device device, output;

#endif

#endif

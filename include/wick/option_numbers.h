/* SPDX-License-Identifier: Apache-2.0 */
/* wick/option_numbers.h: the doubles of each struct of options that a header of this folder declares; see macros.h. */
/* Written by scripts/generate_ops.py from those structs: edit those. */
#ifndef WICK_OPTION_NUMBERS_H
#define WICK_OPTION_NUMBERS_H

#ifndef __cplusplus

#define wk_backward_options_numbers_(wk_do_, wk_o_)

#define wk_call_options_numbers_(wk_do_, wk_o_)

#define wk_checkpoint_options_numbers_(wk_do_, wk_o_)

#define wk_data_parallel_options_numbers_(wk_do_, wk_o_)

#define wk_ddp_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, bucket_cap_mb)

#define wk_dist_call_options_numbers_(wk_do_, wk_o_)

#define wk_dist_reduce_options_numbers_(wk_do_, wk_o_)

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

#define wk_nn_conv_options_numbers_(wk_do_, wk_o_)

#define wk_nn_conv_transpose_options_numbers_(wk_do_, wk_o_)

#define wk_nn_dropout_model_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_nn_embedding_bag_options_numbers_(wk_do_, wk_o_)                                                            \
    wk_do_(wk_o_, padding_idx) wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type)

#define wk_nn_embedding_options_numbers_(wk_do_, wk_o_)                                                                \
    wk_do_(wk_o_, padding_idx) wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type)

#define wk_nn_googlenet_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout) wk_do_(wk_o_, dropout_aux)

#define wk_nn_group_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_instance_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps) wk_do_(wk_o_, momentum)

#define wk_nn_layer_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_linear_options_numbers_(wk_do_, wk_o_)

#define wk_nn_local_response_norm_options_numbers_(wk_do_, wk_o_)                                                      \
    wk_do_(wk_o_, alpha) wk_do_(wk_o_, beta) wk_do_(wk_o_, k)

#define wk_nn_max_pool_options_numbers_(wk_do_, wk_o_)

#define wk_nn_mobilenet_v2_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, width) wk_do_(wk_o_, dropout)

#define wk_nn_model_options_numbers_(wk_do_, wk_o_)

#define wk_nn_prelu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, init)

#define wk_nn_resnet_options_numbers_(wk_do_, wk_o_)

#define wk_nn_rms_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps)

#define wk_nn_rrelu_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, lower) wk_do_(wk_o_, upper)

#define wk_nn_upsample_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_do_(wk_o_, scale_factor) wk_do_(wk_o_, scales_d) wk_do_(wk_o_, scales_h) wk_do_(wk_o_, scales_w)

#define wk_nn_vgg_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, dropout)

#define wk_plot_history_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, first) wk_do_(wk_o_, step)

#define wk_plot_options_numbers_(wk_do_, wk_o_)

#define wk_progress_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, interval)

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

#endif

#endif

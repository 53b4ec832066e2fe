/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes that gradients read besides tensors: a struct for each family of ops, and its conversions to and
 * from the attributes of a node. */
/* Written by scripts/generate_ops.py from src/ops/specs: edit those. */
#ifndef WICK_OPS_GENERATED_ATTRIBUTES_H
#define WICK_OPS_GENERATED_ATTRIBUTES_H

#include "autograd/node.h"

typedef struct wk__softshrink_attributes {
    double lambd;
} wk__softshrink_attributes;
static inline wk__attr wk__softshrink_attr(wk__softshrink_attributes a)
{
    return (wk__attr){.f = {a.lambd}};
}
static inline wk__softshrink_attributes wk__softshrink_attributes_of(const wk__attr *attr)
{
    return (wk__softshrink_attributes){.lambd = attr->f[0]};
}

typedef struct wk__threshold_attributes {
    double threshold;
    double value;
} wk__threshold_attributes;
static inline wk__attr wk__threshold_attr(wk__threshold_attributes a)
{
    return (wk__attr){.f = {a.threshold, a.value}};
}
static inline wk__threshold_attributes wk__threshold_attributes_of(const wk__attr *attr)
{
    return (wk__threshold_attributes){.threshold = attr->f[0], .value = attr->f[1]};
}

typedef struct wk__leaky_relu_attributes {
    double negative_slope;
} wk__leaky_relu_attributes;
static inline wk__attr wk__leaky_relu_attr(wk__leaky_relu_attributes a)
{
    return (wk__attr){.f = {a.negative_slope}};
}
static inline wk__leaky_relu_attributes wk__leaky_relu_attributes_of(const wk__attr *attr)
{
    return (wk__leaky_relu_attributes){.negative_slope = attr->f[0]};
}

typedef struct wk__rrelu_attributes {
    double lower;
    double upper;
    int64_t key;
    int64_t counter;
} wk__rrelu_attributes;
static inline wk__attr wk__rrelu_attr(wk__rrelu_attributes a)
{
    return (wk__attr){.i = {a.key, a.counter}, .f = {a.lower, a.upper}};
}
static inline wk__rrelu_attributes wk__rrelu_attributes_of(const wk__attr *attr)
{
    return (wk__rrelu_attributes){.lower = attr->f[0], .upper = attr->f[1], .key = attr->i[0], .counter = attr->i[1]};
}

typedef struct wk__elu_attributes {
    double alpha;
} wk__elu_attributes;
static inline wk__attr wk__elu_attr(wk__elu_attributes a)
{
    return (wk__attr){.f = {a.alpha}};
}
static inline wk__elu_attributes wk__elu_attributes_of(const wk__attr *attr)
{
    return (wk__elu_attributes){.alpha = attr->f[0]};
}

typedef struct wk__celu_attributes {
    double alpha;
} wk__celu_attributes;
static inline wk__attr wk__celu_attr(wk__celu_attributes a)
{
    return (wk__attr){.f = {a.alpha}};
}
static inline wk__celu_attributes wk__celu_attributes_of(const wk__attr *attr)
{
    return (wk__celu_attributes){.alpha = attr->f[0]};
}

typedef struct wk__softplus_attributes {
    double beta;
    double threshold;
} wk__softplus_attributes;
static inline wk__attr wk__softplus_attr(wk__softplus_attributes a)
{
    return (wk__attr){.f = {a.beta, a.threshold}};
}
static inline wk__softplus_attributes wk__softplus_attributes_of(const wk__attr *attr)
{
    return (wk__softplus_attributes){.beta = attr->f[0], .threshold = attr->f[1]};
}

typedef struct wk__hardtanh_attributes {
    double min_val;
    double max_val;
} wk__hardtanh_attributes;
static inline wk__attr wk__hardtanh_attr(wk__hardtanh_attributes a)
{
    return (wk__attr){.f = {a.min_val, a.max_val}};
}
static inline wk__hardtanh_attributes wk__hardtanh_attributes_of(const wk__attr *attr)
{
    return (wk__hardtanh_attributes){.min_val = attr->f[0], .max_val = attr->f[1]};
}

typedef struct wk__glu_attributes {
    int64_t dim;
} wk__glu_attributes;
static inline wk__attr wk__glu_attr(wk__glu_attributes a)
{
    return (wk__attr){.i = {a.dim}};
}
static inline wk__glu_attributes wk__glu_attributes_of(const wk__attr *attr)
{
    return (wk__glu_attributes){.dim = attr->i[0]};
}

typedef struct wk__to_attributes {
    int64_t device_kind;
    int64_t device_index;
} wk__to_attributes;
static inline wk__attr wk__to_attr(wk__to_attributes a)
{
    return (wk__attr){.i = {a.device_kind, a.device_index}};
}
static inline wk__to_attributes wk__to_attributes_of(const wk__attr *attr)
{
    return (wk__to_attributes){.device_kind = attr->i[0], .device_index = attr->i[1]};
}

typedef struct wk__addmm_attributes {
    double beta;
    double alpha;
} wk__addmm_attributes;
static inline wk__attr wk__addmm_attr(wk__addmm_attributes a)
{
    return (wk__attr){.f = {a.beta, a.alpha}};
}
static inline wk__addmm_attributes wk__addmm_attributes_of(const wk__attr *attr)
{
    return (wk__addmm_attributes){.beta = attr->f[0], .alpha = attr->f[1]};
}

typedef struct wk__scaled_dot_product_attention_attributes {
    bool causal;
    int64_t key;
    int64_t counter;
    int64_t threshold;
    double scale;
    double kept;
} wk__scaled_dot_product_attention_attributes;
static inline wk__attr wk__scaled_dot_product_attention_attr(wk__scaled_dot_product_attention_attributes a)
{
    return (wk__attr){.i = {a.causal, a.key, a.counter, a.threshold}, .f = {a.scale, a.kept}};
}
static inline wk__scaled_dot_product_attention_attributes
wk__scaled_dot_product_attention_attributes_of(const wk__attr *attr)
{
    return (wk__scaled_dot_product_attention_attributes){.causal = attr->i[0] != 0,
                                                         .key = attr->i[1],
                                                         .counter = attr->i[2],
                                                         .threshold = attr->i[3],
                                                         .scale = attr->f[0],
                                                         .kept = attr->f[1]};
}

typedef struct wk__quantized_linear_attributes {
    int64_t format;
} wk__quantized_linear_attributes;
static inline wk__attr wk__quantized_linear_attr(wk__quantized_linear_attributes a)
{
    return (wk__attr){.i = {a.format}};
}
static inline wk__quantized_linear_attributes wk__quantized_linear_attributes_of(const wk__attr *attr)
{
    return (wk__quantized_linear_attributes){.format = attr->i[0]};
}

typedef struct wk__round_attributes {
    double scale;
} wk__round_attributes;
static inline wk__attr wk__round_attr(wk__round_attributes a)
{
    return (wk__attr){.f = {a.scale}};
}
static inline wk__round_attributes wk__round_attributes_of(const wk__attr *attr)
{
    return (wk__round_attributes){.scale = attr->f[0]};
}

typedef struct wk__logit_attributes {
    double low;
    double high;
} wk__logit_attributes;
static inline wk__attr wk__logit_attr(wk__logit_attributes a)
{
    return (wk__attr){.f = {a.low, a.high}};
}
static inline wk__logit_attributes wk__logit_attributes_of(const wk__attr *attr)
{
    return (wk__logit_attributes){.low = attr->f[0], .high = attr->f[1]};
}

typedef struct wk__clamp_attributes {
    bool low_is_number;
    bool high_is_number;
    bool no_low;
    bool no_high;
    double low;
    double high;
} wk__clamp_attributes;
static inline wk__attr wk__clamp_attr(wk__clamp_attributes a)
{
    return (wk__attr){.i = {a.low_is_number, a.high_is_number, a.no_low, a.no_high}, .f = {a.low, a.high}};
}
static inline wk__clamp_attributes wk__clamp_attributes_of(const wk__attr *attr)
{
    return (wk__clamp_attributes){.low_is_number = attr->i[0] != 0,
                                  .high_is_number = attr->i[1] != 0,
                                  .no_low = attr->i[2] != 0,
                                  .no_high = attr->i[3] != 0,
                                  .low = attr->f[0],
                                  .high = attr->f[1]};
}

typedef struct wk__lerp_attributes {
    bool is_number;
    double weight;
} wk__lerp_attributes;
static inline wk__attr wk__lerp_attr(wk__lerp_attributes a)
{
    return (wk__attr){.i = {a.is_number}, .f = {a.weight}};
}
static inline wk__lerp_attributes wk__lerp_attributes_of(const wk__attr *attr)
{
    return (wk__lerp_attributes){.is_number = attr->i[0] != 0, .weight = attr->f[0]};
}

typedef struct wk__addcmul_attributes {
    double value;
} wk__addcmul_attributes;
static inline wk__attr wk__addcmul_attr(wk__addcmul_attributes a)
{
    return (wk__attr){.f = {a.value}};
}
static inline wk__addcmul_attributes wk__addcmul_attributes_of(const wk__attr *attr)
{
    return (wk__addcmul_attributes){.value = attr->f[0]};
}

typedef struct wk__dropout_attributes {
    int64_t key;
    int64_t counter;
    int64_t threshold;
    int64_t dims;
    double scale;
} wk__dropout_attributes;
static inline wk__attr wk__dropout_attr(wk__dropout_attributes a)
{
    return (wk__attr){.i = {a.key, a.counter, a.threshold, a.dims}, .f = {a.scale}};
}
static inline wk__dropout_attributes wk__dropout_attributes_of(const wk__attr *attr)
{
    return (wk__dropout_attributes){
        .key = attr->i[0], .counter = attr->i[1], .threshold = attr->i[2], .dims = attr->i[3], .scale = attr->f[0]};
}

typedef struct wk__reduce_attributes {
    int64_t mask;
    bool keepdim;
    double divisor;
    double p;
} wk__reduce_attributes;
static inline wk__attr wk__reduce_attr(wk__reduce_attributes a)
{
    return (wk__attr){.i = {a.mask, a.keepdim}, .f = {a.divisor, a.p}};
}
static inline wk__reduce_attributes wk__reduce_attributes_of(const wk__attr *attr)
{
    return (wk__reduce_attributes){
        .mask = attr->i[0], .keepdim = attr->i[1] != 0, .divisor = attr->f[0], .p = attr->f[1]};
}

typedef struct wk__dist_attributes {
    double p;
} wk__dist_attributes;
static inline wk__attr wk__dist_attr(wk__dist_attributes a)
{
    return (wk__attr){.f = {a.p}};
}
static inline wk__dist_attributes wk__dist_attributes_of(const wk__attr *attr)
{
    return (wk__dist_attributes){.p = attr->f[0]};
}

typedef struct wk__pairwise_distance_attributes {
    bool keepdim;
    double p;
    double eps;
} wk__pairwise_distance_attributes;
static inline wk__attr wk__pairwise_distance_attr(wk__pairwise_distance_attributes a)
{
    return (wk__attr){.i = {a.keepdim}, .f = {a.p, a.eps}};
}
static inline wk__pairwise_distance_attributes wk__pairwise_distance_attributes_of(const wk__attr *attr)
{
    return (wk__pairwise_distance_attributes){.keepdim = attr->i[0] != 0, .p = attr->f[0], .eps = attr->f[1]};
}

typedef struct wk__cosine_similarity_attributes {
    int64_t dim;
    double eps;
} wk__cosine_similarity_attributes;
static inline wk__attr wk__cosine_similarity_attr(wk__cosine_similarity_attributes a)
{
    return (wk__attr){.i = {a.dim}, .f = {a.eps}};
}
static inline wk__cosine_similarity_attributes wk__cosine_similarity_attributes_of(const wk__attr *attr)
{
    return (wk__cosine_similarity_attributes){.dim = attr->i[0], .eps = attr->f[0]};
}

typedef struct wk__cdist_attributes {
    double p;
} wk__cdist_attributes;
static inline wk__attr wk__cdist_attr(wk__cdist_attributes a)
{
    return (wk__attr){.f = {a.p}};
}
static inline wk__cdist_attributes wk__cdist_attributes_of(const wk__attr *attr)
{
    return (wk__cdist_attributes){.p = attr->f[0]};
}

typedef struct wk__softmax_attributes {
    int64_t mask;
} wk__softmax_attributes;
static inline wk__attr wk__softmax_attr(wk__softmax_attributes a)
{
    return (wk__attr){.i = {a.mask}};
}
static inline wk__softmax_attributes wk__softmax_attributes_of(const wk__attr *attr)
{
    return (wk__softmax_attributes){.mask = attr->i[0]};
}

typedef struct wk__cumsum_attributes {
    int64_t axis;
    bool backwards;
} wk__cumsum_attributes;
static inline wk__attr wk__cumsum_attr(wk__cumsum_attributes a)
{
    return (wk__attr){.i = {a.axis, a.backwards}};
}
static inline wk__cumsum_attributes wk__cumsum_attributes_of(const wk__attr *attr)
{
    return (wk__cumsum_attributes){.axis = attr->i[0], .backwards = attr->i[1] != 0};
}

typedef struct wk__sort_attributes {
    int64_t axis;
    bool dropped;
} wk__sort_attributes;
static inline wk__attr wk__sort_attr(wk__sort_attributes a)
{
    return (wk__attr){.i = {a.axis, a.dropped}};
}
static inline wk__sort_attributes wk__sort_attributes_of(const wk__attr *attr)
{
    return (wk__sort_attributes){.axis = attr->i[0], .dropped = attr->i[1] != 0};
}

typedef struct wk__channel_norm_attributes {
    int64_t mask;
    bool training;
    int64_t groups;
} wk__channel_norm_attributes;
static inline wk__attr wk__channel_norm_attr(wk__channel_norm_attributes a)
{
    return (wk__attr){.i = {a.mask, a.training, a.groups}};
}
static inline wk__channel_norm_attributes wk__channel_norm_attributes_of(const wk__attr *attr)
{
    return (wk__channel_norm_attributes){.mask = attr->i[0], .training = attr->i[1] != 0, .groups = attr->i[2]};
}

typedef struct wk__rms_norm_attributes {
    int64_t mask;
    double eps;
} wk__rms_norm_attributes;
static inline wk__attr wk__rms_norm_attr(wk__rms_norm_attributes a)
{
    return (wk__attr){.i = {a.mask}, .f = {a.eps}};
}
static inline wk__rms_norm_attributes wk__rms_norm_attributes_of(const wk__attr *attr)
{
    return (wk__rms_norm_attributes){.mask = attr->i[0], .eps = attr->f[0]};
}

typedef struct wk__local_response_norm_attributes {
    int64_t size;
    double scale;
    double beta;
} wk__local_response_norm_attributes;
static inline wk__attr wk__local_response_norm_attr(wk__local_response_norm_attributes a)
{
    return (wk__attr){.i = {a.size}, .f = {a.scale, a.beta}};
}
static inline wk__local_response_norm_attributes wk__local_response_norm_attributes_of(const wk__attr *attr)
{
    return (wk__local_response_norm_attributes){.size = attr->i[0], .scale = attr->f[0], .beta = attr->f[1]};
}

typedef struct wk__normalize_attributes {
    int64_t dim;
    double p;
    double eps;
} wk__normalize_attributes;
static inline wk__attr wk__normalize_attr(wk__normalize_attributes a)
{
    return (wk__attr){.i = {a.dim}, .f = {a.p, a.eps}};
}
static inline wk__normalize_attributes wk__normalize_attributes_of(const wk__attr *attr)
{
    return (wk__normalize_attributes){.dim = attr->i[0], .p = attr->f[0], .eps = attr->f[1]};
}

typedef struct wk__layer_norm_attributes {
    int64_t mask;
    double eps;
} wk__layer_norm_attributes;
static inline wk__attr wk__layer_norm_attr(wk__layer_norm_attributes a)
{
    return (wk__attr){.i = {a.mask}, .f = {a.eps}};
}
static inline wk__layer_norm_attributes wk__layer_norm_attributes_of(const wk__attr *attr)
{
    return (wk__layer_norm_attributes){.mask = attr->i[0], .eps = attr->f[0]};
}

typedef struct wk__loss_attributes {
    int64_t reduction;
    int64_t mode;
    double divisor;
    double number;
} wk__loss_attributes;
static inline wk__attr wk__loss_attr(wk__loss_attributes a)
{
    return (wk__attr){.i = {a.reduction, a.mode}, .f = {a.divisor, a.number}};
}
static inline wk__loss_attributes wk__loss_attributes_of(const wk__attr *attr)
{
    return (wk__loss_attributes){
        .reduction = attr->i[0], .mode = attr->i[1], .divisor = attr->f[0], .number = attr->f[1]};
}

typedef struct wk__triplet_margin_loss_attributes {
    int64_t reduction;
    bool swap;
    int64_t eps_bits;
    double margin;
    double p;
} wk__triplet_margin_loss_attributes;
static inline wk__attr wk__triplet_margin_loss_attr(wk__triplet_margin_loss_attributes a)
{
    return (wk__attr){.i = {a.reduction, a.swap, a.eps_bits}, .f = {a.margin, a.p}};
}
static inline wk__triplet_margin_loss_attributes wk__triplet_margin_loss_attributes_of(const wk__attr *attr)
{
    return (wk__triplet_margin_loss_attributes){.reduction = attr->i[0],
                                                .swap = attr->i[1] != 0,
                                                .eps_bits = attr->i[2],
                                                .margin = attr->f[0],
                                                .p = attr->f[1]};
}

typedef struct wk__cross_entropy_attributes {
    int64_t reduction;
    int64_t ignored;
    double smoothing;
} wk__cross_entropy_attributes;
static inline wk__attr wk__cross_entropy_attr(wk__cross_entropy_attributes a)
{
    return (wk__attr){.i = {a.reduction, a.ignored}, .f = {a.smoothing}};
}
static inline wk__cross_entropy_attributes wk__cross_entropy_attributes_of(const wk__attr *attr)
{
    return (wk__cross_entropy_attributes){.reduction = attr->i[0], .ignored = attr->i[1], .smoothing = attr->f[0]};
}

typedef struct wk__transpose_attributes {
    int64_t dim0;
    int64_t dim1;
} wk__transpose_attributes;
static inline wk__attr wk__transpose_attr(wk__transpose_attributes a)
{
    return (wk__attr){.i = {a.dim0, a.dim1}};
}
static inline wk__transpose_attributes wk__transpose_attributes_of(const wk__attr *attr)
{
    return (wk__transpose_attributes){.dim0 = attr->i[0], .dim1 = attr->i[1]};
}

typedef struct wk__slice_attributes {
    int64_t dim;
    int64_t start;
    int64_t end;
    int64_t step;
} wk__slice_attributes;
static inline wk__attr wk__slice_attr(wk__slice_attributes a)
{
    return (wk__attr){.i = {a.dim, a.start, a.end, a.step}};
}
static inline wk__slice_attributes wk__slice_attributes_of(const wk__attr *attr)
{
    return (wk__slice_attributes){.dim = attr->i[0], .start = attr->i[1], .end = attr->i[2], .step = attr->i[3]};
}

typedef struct wk__select_attributes {
    int64_t dim;
    int64_t index;
} wk__select_attributes;
static inline wk__attr wk__select_attr(wk__select_attributes a)
{
    return (wk__attr){.i = {a.dim, a.index}};
}
static inline wk__select_attributes wk__select_attributes_of(const wk__attr *attr)
{
    return (wk__select_attributes){.dim = attr->i[0], .index = attr->i[1]};
}

typedef struct wk__diagonal_attributes {
    int64_t offset;
    int64_t row;
    int64_t column;
} wk__diagonal_attributes;
static inline wk__attr wk__diagonal_attr(wk__diagonal_attributes a)
{
    return (wk__attr){.i = {a.offset, a.row, a.column}};
}
static inline wk__diagonal_attributes wk__diagonal_attributes_of(const wk__attr *attr)
{
    return (wk__diagonal_attributes){.offset = attr->i[0], .row = attr->i[1], .column = attr->i[2]};
}

typedef struct wk__unfold_attributes {
    int64_t dim;
    int64_t size;
    int64_t step;
} wk__unfold_attributes;
static inline wk__attr wk__unfold_attr(wk__unfold_attributes a)
{
    return (wk__attr){.i = {a.dim, a.size, a.step}};
}
static inline wk__unfold_attributes wk__unfold_attributes_of(const wk__attr *attr)
{
    return (wk__unfold_attributes){.dim = attr->i[0], .size = attr->i[1], .step = attr->i[2]};
}

typedef struct wk__split_attributes {
    int64_t dim;
    int64_t size;
} wk__split_attributes;
static inline wk__attr wk__split_attr(wk__split_attributes a)
{
    return (wk__attr){.i = {a.dim, a.size}};
}
static inline wk__split_attributes wk__split_attributes_of(const wk__attr *attr)
{
    return (wk__split_attributes){.dim = attr->i[0], .size = attr->i[1]};
}

typedef struct wk__repeat_interleave_attributes {
    int64_t dim;
    int64_t copies;
} wk__repeat_interleave_attributes;
static inline wk__attr wk__repeat_interleave_attr(wk__repeat_interleave_attributes a)
{
    return (wk__attr){.i = {a.dim, a.copies}};
}
static inline wk__repeat_interleave_attributes wk__repeat_interleave_attributes_of(const wk__attr *attr)
{
    return (wk__repeat_interleave_attributes){.dim = attr->i[0], .copies = attr->i[1]};
}

typedef struct wk__flip_attributes {
    int64_t mask;
} wk__flip_attributes;
static inline wk__attr wk__flip_attr(wk__flip_attributes a)
{
    return (wk__attr){.i = {a.mask}};
}
static inline wk__flip_attributes wk__flip_attributes_of(const wk__attr *attr)
{
    return (wk__flip_attributes){.mask = attr->i[0]};
}

typedef struct wk__roll_attributes {
    int64_t shift_count;
    int64_t dim_count;
} wk__roll_attributes;
static inline wk__attr wk__roll_attr(wk__roll_attributes a)
{
    return (wk__attr){.i = {a.shift_count, a.dim_count}};
}
static inline wk__roll_attributes wk__roll_attributes_of(const wk__attr *attr)
{
    return (wk__roll_attributes){.shift_count = attr->i[0], .dim_count = attr->i[1]};
}

typedef struct wk__pad_attributes {
    int64_t mode;
} wk__pad_attributes;
static inline wk__attr wk__pad_attr(wk__pad_attributes a)
{
    return (wk__attr){.i = {a.mode}};
}
static inline wk__pad_attributes wk__pad_attributes_of(const wk__attr *attr)
{
    return (wk__pad_attributes){.mode = attr->i[0]};
}

typedef struct wk__pixel_shuffle_attributes {
    int64_t factor;
} wk__pixel_shuffle_attributes;
static inline wk__attr wk__pixel_shuffle_attr(wk__pixel_shuffle_attributes a)
{
    return (wk__attr){.i = {a.factor}};
}
static inline wk__pixel_shuffle_attributes wk__pixel_shuffle_attributes_of(const wk__attr *attr)
{
    return (wk__pixel_shuffle_attributes){.factor = attr->i[0]};
}

typedef struct wk__channel_shuffle_attributes {
    int64_t groups;
} wk__channel_shuffle_attributes;
static inline wk__attr wk__channel_shuffle_attr(wk__channel_shuffle_attributes a)
{
    return (wk__attr){.i = {a.groups}};
}
static inline wk__channel_shuffle_attributes wk__channel_shuffle_attributes_of(const wk__attr *attr)
{
    return (wk__channel_shuffle_attributes){.groups = attr->i[0]};
}

typedef struct wk__along_attributes {
    int64_t dim;
} wk__along_attributes;
static inline wk__attr wk__along_attr(wk__along_attributes a)
{
    return (wk__attr){.i = {a.dim}};
}
static inline wk__along_attributes wk__along_attributes_of(const wk__attr *attr)
{
    return (wk__along_attributes){.dim = attr->i[0]};
}

typedef struct wk__embedding_attributes {
    int64_t padding;
    bool scaled;
} wk__embedding_attributes;
static inline wk__attr wk__embedding_attr(wk__embedding_attributes a)
{
    return (wk__attr){.i = {a.padding, a.scaled}};
}
static inline wk__embedding_attributes wk__embedding_attributes_of(const wk__attr *attr)
{
    return (wk__embedding_attributes){.padding = attr->i[0], .scaled = attr->i[1] != 0};
}

typedef struct wk__tril_attributes {
    int64_t diagonal;
} wk__tril_attributes;
static inline wk__attr wk__tril_attr(wk__tril_attributes a)
{
    return (wk__attr){.i = {a.diagonal}};
}
static inline wk__tril_attributes wk__tril_attributes_of(const wk__attr *attr)
{
    return (wk__tril_attributes){.diagonal = attr->i[0]};
}

typedef struct wk__scatter_reduce_attributes {
    int64_t dim;
    bool alone;
} wk__scatter_reduce_attributes;
static inline wk__attr wk__scatter_reduce_attr(wk__scatter_reduce_attributes a)
{
    return (wk__attr){.i = {a.dim, a.alone}};
}
static inline wk__scatter_reduce_attributes wk__scatter_reduce_attributes_of(const wk__attr *attr)
{
    return (wk__scatter_reduce_attributes){.dim = attr->i[0], .alone = attr->i[1] != 0};
}

typedef struct wk__interpolate_attributes {
    int64_t mode;
    int64_t align_corners;
    int64_t antialias;
} wk__interpolate_attributes;
static inline wk__attr wk__interpolate_attr(wk__interpolate_attributes a)
{
    return (wk__attr){.i = {a.mode, a.align_corners, a.antialias}};
}
static inline wk__interpolate_attributes wk__interpolate_attributes_of(const wk__attr *attr)
{
    return (wk__interpolate_attributes){.mode = attr->i[0], .align_corners = attr->i[1], .antialias = attr->i[2]};
}

typedef struct wk__affine_grid_attributes {
    int64_t align_corners;
} wk__affine_grid_attributes;
static inline wk__attr wk__affine_grid_attr(wk__affine_grid_attributes a)
{
    return (wk__attr){.i = {a.align_corners}};
}
static inline wk__affine_grid_attributes wk__affine_grid_attributes_of(const wk__attr *attr)
{
    return (wk__affine_grid_attributes){.align_corners = attr->i[0]};
}

typedef struct wk__grid_sample_attributes {
    int64_t mode;
    int64_t padding_mode;
    int64_t align_corners;
} wk__grid_sample_attributes;
static inline wk__attr wk__grid_sample_attr(wk__grid_sample_attributes a)
{
    return (wk__attr){.i = {a.mode, a.padding_mode, a.align_corners}};
}
static inline wk__grid_sample_attributes wk__grid_sample_attributes_of(const wk__attr *attr)
{
    return (wk__grid_sample_attributes){.mode = attr->i[0], .padding_mode = attr->i[1], .align_corners = attr->i[2]};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/shape.h, as wk_op_parameter returns them (wick/call.h). Ops with equal parameters
 * share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_reshape[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "shape", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_view_as[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_flatten[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "start_dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "end_dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}}};

const wk_parameter wk__parameters_unflatten[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "sizes", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_expand[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_squeeze[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true}};

const wk_parameter wk__parameters_unsqueeze[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_transpose[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim0", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "dim1", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_swapaxes[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "axis0", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "axis1", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_t[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_permute[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dims", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_movedim[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "source", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "destination", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_slice[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}},
    {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_INT, .optional = true},
    {.size = sizeof(wk_parameter), .name = "end", .doc = "", .kind = WK_VALUE_INT, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "step",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 1}}};

const wk_parameter wk__parameters_narrow[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "length", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_select[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_diagonal[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "offset",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "dim1",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "dim2",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 1}}};

const wk_parameter wk__parameters_unfold[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dimension", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "step", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_as_strided[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter), .name = "stride", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "storage_offset",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_chunk[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "chunks", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_split[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "split_size", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_split_with_sizes[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "split_sizes", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_unbind[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_cat[] = {
    {.size = sizeof(wk_parameter), .name = "tensors", .doc = "", .kind = WK_VALUE_TENSORS},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_repeat[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "repeats", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_repeat_interleave[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "repeats", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true}};

const wk_parameter wk__parameters_roll[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "shifts", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "dims",
     .doc = "",
     .kind = WK_VALUE_INTS,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INTS, .count = 0, .ints = NULL}}};

const wk_parameter wk__parameters_rot90[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "k",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 1}},
    {.size = sizeof(wk_parameter),
     .name = "dims",
     .doc = "",
     .kind = WK_VALUE_INTS,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INTS, .count = 2, .ints = (const int64_t[]){0, 1}}}};

const wk_parameter wk__parameters_meshgrid[] = {
    {.size = sizeof(wk_parameter), .name = "tensors", .doc = "", .kind = WK_VALUE_TENSORS},
    {.size = sizeof(wk_parameter),
     .name = "indexing",
     .doc = "order of the first two dimensions",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "ij"},
     .choices = (const char *const[]){"ij", "xy", NULL}}};

const wk_parameter wk__parameters_pad[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "pad", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "mode",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "constant"},
     .choices = (const char *const[]){"constant", "reflect", "replicate", "circular", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "value",
     .doc = "of the padding in mode constant",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.0}}};

const wk_parameter wk__parameters_pixel_shuffle[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "upscale_factor", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_pixel_unshuffle[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "downscale_factor", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_channel_shuffle[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "groups", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_index_select[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_take_along_dim[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "indices", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true}};

const wk_parameter wk__parameters_take[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_embedding[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "padding_idx",
     .doc = "row without a gradient, negative from the end; default none",
     .kind = WK_VALUE_INT,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "max_norm",
     .doc = "largest norm of a row; default none",
     .kind = WK_VALUE_FLOAT,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "norm_type",
     .doc = "p of that norm",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 2}},
    {.size = sizeof(wk_parameter),
     .name = "scale_grad_by_freq",
     .doc = "divide the gradient of a row by its count in index; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_scatter_add[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_scatter[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_index_add[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "source", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_masked_select[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mask", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_one_hot[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "num_classes",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}}};

const wk_parameter wk__parameters_tril[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "diagonal",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_diag_embed[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "offset",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "dim1",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -2}},
    {.size = sizeof(wk_parameter),
     .name = "dim2",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}}};

const wk_parameter wk__parameters_index_fill[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "value", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_index_put[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "indices", .doc = "", .kind = WK_VALUE_TENSORS},
    {.size = sizeof(wk_parameter), .name = "values", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "accumulate",
     .doc = "add to x; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_masked_scatter[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mask", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "source", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_scatter_reduce[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "reduce", .doc = "", .kind = WK_VALUE_TEXT},
    {.size = sizeof(wk_parameter),
     .name = "include_self",
     .doc = "leave out the element of x; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 1}}};

const wk_parameter wk__parameters_embedding_bag[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "offsets",
     .doc = "first index of each bag of a vector; default NULL",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "max_norm",
     .doc = "as for wk_embedding",
     .kind = WK_VALUE_FLOAT,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "norm_type",
     .doc = "p of that norm",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 2}},
    {.size = sizeof(wk_parameter),
     .name = "scale_grad_by_freq",
     .doc = "as for wk_embedding",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "mode",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "max", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "per_sample_weights",
     .doc = "factors of the rows in mode sum, shaped as index; default NULL",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "include_last_offset",
     .doc = "the last offset is the end of the last bag; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "padding_idx",
     .doc = "as for wk_embedding",
     .kind = WK_VALUE_INT,
     .optional = true}};

/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/matmul.h, as wk_op_parameter returns them (wick/call.h). Ops with equal parameters
 * share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_matmul[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_mm[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mat2", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_mv[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "vec", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_dot[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "tensor", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_outer[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "vec2", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_addmm[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mat1", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mat2", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "beta",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "alpha",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}};

const wk_parameter wk__parameters_baddbmm[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "batch1", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "batch2", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "beta",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "alpha",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}};

const wk_parameter wk__parameters_linear[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "bias", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true}};

const wk_parameter wk__parameters_einsum[] = {
    {.size = sizeof(wk_parameter), .name = "equation", .doc = "", .kind = WK_VALUE_TEXT},
    {.size = sizeof(wk_parameter), .name = "tensors", .doc = "", .kind = WK_VALUE_TENSORS}};

const wk_parameter wk__parameters_tensordot[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dims_self", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter), .name = "dims_other", .doc = "", .kind = WK_VALUE_INTS}};

const wk_parameter wk__parameters_cross[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true}};

const wk_parameter wk__parameters_rotary[] = {
    {.size = sizeof(wk_parameter), .name = "x", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "positions", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "base",
     .doc = "ratio of the largest to the smallest frequency, nearly",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 10000.0}},
    {.size = sizeof(wk_parameter),
     .name = "interleaved",
     .doc = "pairs of adjacent elements; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_scaled_dot_product_attention[] = {
    {.size = sizeof(wk_parameter), .name = "query", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "key", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "value", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "attn_mask",
     .doc = "bool: true where a key takes part; dtype of query: added to the scaled products",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "dropout_p",
     .doc = "probability that a weight is set to 0, in [0, 1]",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0}},
    {.size = sizeof(wk_parameter),
     .name = "is_causal",
     .doc = "row i of query sees keys 0 to i",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "scale",
     .doc = "default 1 / sqrt(E)",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "enable_gqa",
     .doc = "the heads (dimension -3) of key and value are each used by H / H_key adjacent heads of query",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_dequantize[] = {
    {.size = sizeof(wk_parameter), .name = "blocks", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "format",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "q8_0"},
     .choices =
         (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL}}};

const wk_parameter wk__parameters_quantize[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "format",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "q8_0"},
     .choices =
         (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL}}};

const wk_parameter wk__parameters_quantized_linear[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "blocks", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "bias", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "format",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "q8_0"},
     .choices =
         (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL}}};

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

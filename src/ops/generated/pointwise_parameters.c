/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/pointwise.h, as wk_op_parameter returns them (wick/call.h). Ops with equal
 * parameters share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/pointwise: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_add[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_div[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true},
    {.size = sizeof(wk_parameter),
     .name = "rounding_mode",
     .doc = "default NULL, no rounding",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .keyword_only = true,
     .choices = (const char *const[]){"floor", "trunc", NULL}}};

const wk_parameter wk__parameters_pow[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true},
    {.size = sizeof(wk_parameter), .name = "exponent", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_isclose[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "rtol",
     .doc = "tolerance relative to b",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1e-05}},
    {.size = sizeof(wk_parameter),
     .name = "atol",
     .doc = "absolute tolerance",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1e-08}},
    {.size = sizeof(wk_parameter),
     .name = "equal_nan",
     .doc = "NaN is close to NaN; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_logical_not[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_round[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "decimals",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 0}}};

const wk_parameter wk__parameters_logit[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "eps",
     .doc = "clamps x to [eps, 1 - eps] first; default: no clamping",
     .kind = WK_VALUE_FLOAT,
     .optional = true}};

const wk_parameter wk__parameters_nan_to_num[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "nan",
     .doc = "replaces NaN; default 0",
     .kind = WK_VALUE_FLOAT,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "posinf",
     .doc = "replaces infinity; default the largest value of the dtype",
     .kind = WK_VALUE_FLOAT,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "neginf",
     .doc = "replaces -infinity; default the lowest value of the dtype",
     .kind = WK_VALUE_FLOAT,
     .optional = true}};

const wk_parameter wk__parameters_clamp[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "min",
     .doc = "",
     .kind = WK_VALUE_TENSOR,
     .optional = true,
     .accepts_scalar = true},
    {.size = sizeof(wk_parameter),
     .name = "max",
     .doc = "",
     .kind = WK_VALUE_TENSOR,
     .optional = true,
     .accepts_scalar = true}};

const wk_parameter wk__parameters_where[] = {
    {.size = sizeof(wk_parameter), .name = "condition", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_masked_fill[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "mask", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "value", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_lerp[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "end", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR, .accepts_scalar = true}};

const wk_parameter wk__parameters_addcmul[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "tensor1", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "tensor2", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "value",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}};

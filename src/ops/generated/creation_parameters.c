/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/creation.h, as wk_op_parameter returns them (wick/call.h). Ops with equal parameters
 * share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_zeros[] = {
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "element type; default as stated at the call",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "default: that of WK_DEVICE, else the CPU",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_ones[] = {
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_full[] = {
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter), .name = "fill_value", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_zeros_like[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_full_like[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "fill_value", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_arange[] = {
    {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter), .name = "end", .doc = "", .kind = WK_VALUE_FLOAT, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "step",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_linspace[] = {
    {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter), .name = "end", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter), .name = "steps", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_eye[] = {{.size = sizeof(wk_parameter), .name = "n", .doc = "", .kind = WK_VALUE_INT},
                                           {.size = sizeof(wk_parameter),
                                            .name = "dtype",
                                            .doc = "",
                                            .kind = WK_VALUE_DTYPE,
                                            .optional = true,
                                            .keyword_only = true},
                                           {.size = sizeof(wk_parameter),
                                            .name = "device",
                                            .doc = "",
                                            .kind = WK_VALUE_DEVICE,
                                            .optional = true,
                                            .keyword_only = true}};

const wk_parameter wk__parameters_randint[] = {
    {.size = sizeof(wk_parameter), .name = "low", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "high", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true},
    {.size = sizeof(wk_parameter),
     .name = "device",
     .doc = "",
     .kind = WK_VALUE_DEVICE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_to[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "device", .doc = "", .kind = WK_VALUE_DEVICE}};

const wk_parameter wk__parameters_to_dtype[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dtype", .doc = "", .kind = WK_VALUE_DTYPE}};

const wk_parameter wk__parameters_clone[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_copy_[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .mutated = true},
    {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_fill_[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .mutated = true},
    {.size = sizeof(wk_parameter), .name = "value", .doc = "", .kind = WK_VALUE_FLOAT}};

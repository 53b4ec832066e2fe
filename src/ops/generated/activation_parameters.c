/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/activation.h, as wk_op_parameter returns them (wick/call.h). Ops with equal
 * parameters share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_relu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_softshrink[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "lambd",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.5}}};

const wk_parameter wk__parameters_threshold[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "threshold", .doc = "", .kind = WK_VALUE_FLOAT},
    {.size = sizeof(wk_parameter), .name = "value", .doc = "", .kind = WK_VALUE_FLOAT}};

const wk_parameter wk__parameters_leaky_relu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "negative_slope",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.01}}};

const wk_parameter wk__parameters_prelu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_rrelu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "lower",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.125}},
    {.size = sizeof(wk_parameter),
     .name = "upper",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.3333333333333333}},
    {.size = sizeof(wk_parameter),
     .name = "training",
     .doc = "draw numbers; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_elu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "alpha",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}};

const wk_parameter wk__parameters_gelu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "approximate",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "none"},
     .choices = (const char *const[]){"none", "tanh", NULL}}};

const wk_parameter wk__parameters_softplus[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "beta",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "threshold",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 20}}};

const wk_parameter wk__parameters_hardtanh[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "min_val",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = -1}},
    {.size = sizeof(wk_parameter),
     .name = "max_val",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}};

const wk_parameter wk__parameters_glu[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}}};

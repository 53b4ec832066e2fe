/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/autograd.h, as wk_op_parameter returns them (wick/call.h). Ops with equal parameters
 * share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/autograd: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_backward[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "gradient",
     .doc = "of the shape of self; none: 1, for a tensor of one element",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "retain_graph",
     .doc = "keep the graph for another backward; default that of create_graph",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "create_graph",
     .doc = "record the graph of the gradients",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_detach[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}};

const wk_parameter wk__parameters_grad[] = {
    {.size = sizeof(wk_parameter), .name = "outputs", .doc = "", .kind = WK_VALUE_TENSORS},
    {.size = sizeof(wk_parameter), .name = "inputs", .doc = "", .kind = WK_VALUE_TENSORS},
    {.size = sizeof(wk_parameter),
     .name = "grad_outputs",
     .doc = "one for each output; none: 1, for a tensor of one element",
     .kind = WK_VALUE_TENSORS,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "retain_graph",
     .doc = "keep the graph for another backward; default that of create_graph",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "create_graph",
     .doc = "record the graph of the gradients",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "allow_unused",
     .doc = "none for an input that is not used",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_requires_grad_[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .mutated = true},
    {.size = sizeof(wk_parameter),
     .name = "requires_grad",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 1}}};

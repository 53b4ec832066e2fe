/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/autograd.h: what their descriptors begin with. The compiler refuses a member
 * that the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/rows/autograd: edit those. */
#ifndef WICK_OPS_GENERATED_AUTOGRAD_H
#define WICK_OPS_GENERATED_AUTOGRAD_H

#include "../../base/options.h"
#include "../call.h"
#include <wick/autograd.h>

#define WK__SIGNATURE_backward                                                                                         \
    .name = "backward",                                                                                                \
    .schema = "backward(Tensor self, Tensor? gradient=None, bool retain_graph=False, bool create_graph=False) -> ()",  \
    .group = "autograd", .doc = "adds the gradients of self to those of all leaves that it depends on",                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "gradient",                                                                    \
                                .doc = "shaped like self; none: 1, for a tensor of one element",                       \
                                .kind = WK_VALUE_TENSOR,                                                               \
                                .optional = true},                                                                     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "retain_graph",                                                                \
                                .doc = "for another backward; so does create_graph",                                   \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},                                     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "create_graph",                                                                \
                                .doc = "the gradients can be differentiated again",                                    \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}},                                    \
    .parameter_count = 4, .results = 0

#define WK__SIGNATURE_detach                                                                                           \
    .name = "detach", .schema = "detach(Tensor self) -> Tensor", .group = "autograd",                                  \
    .doc = "the same numbers, in the same storage, without a history",                                                 \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = 1, .view = true

#define WK__SIGNATURE_grad                                                                                             \
    .name = "grad",                                                                                                    \
    .schema = "grad(Tensor[] outputs, Tensor[] inputs, Tensor[]? grad_outputs=None, bool retain_graph=False, bool "    \
              "create_graph=False, bool allow_unused=False) -> Tensor[]",                                              \
    .group = "autograd", .doc = "d outputs / d inputs, one for each input; the gradients of leaves stay as they are",  \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "outputs", .doc = "", .kind = WK_VALUE_TENSORS}, \
                               {.size = sizeof(wk_parameter), .name = "inputs", .doc = "", .kind = WK_VALUE_TENSORS},  \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "grad_outputs",                                                                \
                                .doc = "one for each output; none: 1, for a tensor of one element",                    \
                                .kind = WK_VALUE_TENSORS,                                                              \
                                .optional = true},                                                                     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "retain_graph",                                                                \
                                .doc = "for another backward; so does create_graph",                                   \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},                                     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "create_graph",                                                                \
                                .doc = "the gradients can be differentiated again",                                    \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},                                     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "allow_unused",                                                                \
                                .doc = "none for an input that is not used",                                           \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}},                                    \
    .parameter_count = 6, .results = -1

#define WK__SIGNATURE_grad_of                                                                                          \
    .name = "grad_of", .schema = "grad_of(Tensor self) -> Tensor", .group = "autograd",                                \
    .doc = "the gradient that backward left in a leaf; none where there is none",                                      \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = 1

#define WK__SIGNATURE_requires_grad_                                                                                   \
    .name = "requires_grad_", .schema = "requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)",      \
    .group = "autograd", .doc = "makes a leaf want a gradient, or not",                                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .written = true},       \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "requires_grad",                                                                                  \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_BOOL,                                                                                    \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_BOOL, .i = 1}}},                                                       \
    .parameter_count = 2, .results = 1

#endif

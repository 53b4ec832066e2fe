/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/autograd.h: what their descriptors begin with. The compiler refuses a member
 * that the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/autograd: edit those. */
#ifndef WICK_OPS_GENERATED_AUTOGRAD_H
#define WICK_OPS_GENERATED_AUTOGRAD_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/autograd.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_backward(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_detach(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_requires_grad_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

extern const wk_parameter wk__parameters_backward[];
extern const wk_parameter wk__parameters_detach[];
extern const wk_parameter wk__parameters_grad[];
extern const wk_parameter wk__parameters_requires_grad_[];

#define WK__SIGNATURE_backward                                                                                         \
    .name = "backward",                                                                                                \
    .schema = "backward(Tensor self, Tensor? gradient=None, bool retain_graph=False, bool create_graph=False) -> ()",  \
    .category = "autograd", .doc = "Adds the gradients of self to those of all leaves that it depends on.",            \
    .parameters = wk__parameters_backward, .parameter_count = 4, .results = 0, .invoke = wk__invoke_backward

#define WK__SIGNATURE_detach                                                                                           \
    .name = "detach", .schema = "detach(Tensor self) -> Tensor", .category = "autograd",                               \
    .doc = "Returns self without its graph; both share one storage.", .parameters = wk__parameters_detach,             \
    .parameter_count = 1, .results = 1, .view = true, .invoke = wk__invoke_detach

#define WK__SIGNATURE_grad                                                                                             \
    .name = "grad",                                                                                                    \
    .schema = "grad(Tensor[] outputs, Tensor[] inputs, Tensor[]? grad_outputs=None, bool retain_graph=False, bool "    \
              "create_graph=False, bool allow_unused=False) -> Tensor[]",                                              \
    .category = "autograd",                                                                                            \
    .doc = "Computes d outputs / d inputs, one gradient for each input, without changing those of leaves.",            \
    .parameters = wk__parameters_grad, .parameter_count = 6, .results = -1

#define WK__SIGNATURE_grad_of                                                                                          \
    .name = "grad_of", .schema = "grad_of(Tensor self) -> Tensor", .category = "autograd",                             \
    .doc = "Returns the gradient of a leaf, or none while it has none.", .parameters = wk__parameters_detach,          \
    .parameter_count = 1, .results = 1

#define WK__SIGNATURE_requires_grad_                                                                                   \
    .name = "requires_grad_", .schema = "requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)",      \
    .category = "autograd", .doc = "Sets whether a leaf requires grad.", .parameters = wk__parameters_requires_grad_,  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_requires_grad_

#endif

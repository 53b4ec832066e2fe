/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that the backward pass calls, through their descriptors, because autograd is below the ops in the layering. Each
 * takes and returns tensors of the current scope and returns NULL for NULL. */
#ifndef WICK_AUTOGRAD_DISPATCH_H
#define WICK_AUTOGRAD_DISPATCH_H

#include "node.h"

wk_tensor *wk__dispatch_add(wk_tensor *a, wk_tensor *b);
wk_tensor *wk__dispatch_add_(wk_tensor *a, wk_tensor *b); /* in place */
wk_tensor *wk__dispatch_clone(wk_tensor *x);
wk_tensor *wk__dispatch_copy_(wk_tensor *x, wk_tensor *y);
wk_tensor *wk__dispatch_ones_like(wk_tensor *x);
wk_tensor *wk__dispatch_zeros(const wk__tensor_meta *shape, wk_device device);
wk_tensor *wk__dispatch_as_strided(wk_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);
/* Returns f16 and bf16 as f32, others unchanged: gradients are computed in these dtypes. */
wk_tensor *wk__dispatch_upcast(wk_tensor *x);
/* Returns grad summed over broadcast dimensions to the operand's shape, in the operand's dtype. */
wk_tensor *wk__dispatch_unbroadcast(wk_tensor *grad, const wk__tensor_meta *shape);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The few ops that the walk over the graph itself calls, through their descriptors: autograd stands below the ops. Each
 * takes and gives tensors of the current scope; NULL in gives NULL out. */
#ifndef WICK_AUTOGRAD_THROUGH_H
#define WICK_AUTOGRAD_THROUGH_H

#include "node.h"

wk_tensor *wk__dispatch_add(wk_tensor *a, wk_tensor *b);
wk_tensor *wk__dispatch_add_(wk_tensor *a, wk_tensor *b); /* in place */
wk_tensor *wk__dispatch_clone(wk_tensor *x);
wk_tensor *wk__dispatch_copy_(wk_tensor *x, wk_tensor *y);
wk_tensor *wk__dispatch_ones_like(wk_tensor *x);
wk_tensor *wk__dispatch_zeros(const wk__tensor_meta *shape, wk_device device);
wk_tensor *wk__dispatch_as_strided(wk_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);
/* f16 and bf16 as f32, others as they are: what gradients compute in. */
wk_tensor *wk__dispatch_upcast(wk_tensor *x);
/* Summed over what broadcasting added, so that it has the operand's shape; and in its dtype. */
wk_tensor *wk__dispatch_unbroadcast(wk_tensor *grad, const wk__tensor_meta *shape);

#endif

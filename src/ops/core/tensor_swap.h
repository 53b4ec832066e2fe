/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the contents of tensors whose handles stay: assignment, rebinding and swapping. Modules, optimisers and
 * other owners of tensors use them. All functions run on the calling thread; failures record the thread's error. */
#ifndef WICK_OPS_TENSOR_SWAP_H
#define WICK_OPS_TENSOR_SWAP_H

#include "base/options.h"
#include "tensor/tensor.h"

/* Returns a tensor of the current scope with the present contents of x: dense, with its own storage and without a
 * graph. Copies only if x covers part of its storage or user code has its address. NULL on error. */
wk_tensor *wk__detached_copy(wk_site site, wk_tensor *x);

/* Makes x refer to the storage and geometry of `from`, which wk__detached_copy returned or which is the only user of
 * its storage. The handle and the gradient of x stay. If `from` is on another device or has another dtype, graphs
 * recorded with x become unusable. */
void wk__rebind_storage(wk_tensor *x, wk_tensor *from);
/* Exchanges the bodies of x and y, including their positions in the graph; each handle's owner then owns the other
 * body. A second call undoes the first. */
void wk__swap_bodies(wk_tensor *x, wk_tensor *y);
/* Assigns from[k] to x[k] for all k, or changes nothing. Shapes, dtypes and devices must match; each from[k] is
 * contiguous and the only user of its storage. Counts as one in-place call of the current API call. Returns false on
 * error: only on allocation failure, and only if some x[k] is a view or its address is exposed. */
bool wk__assign_all(wk_tensor *const *x, wk_tensor *const *from, int64_t count);
static inline bool wk__assign_one(wk_tensor *x, wk_tensor *from)
{
    return wk__assign_all(&x, &from, 1);
}

#endif

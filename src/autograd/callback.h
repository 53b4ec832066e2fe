/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that the library passes to user code, and calls of hooks. User code runs in a call scope
 * (tensor/call_scope.h). */
#ifndef WICK_AUTOGRAD_CALLBACK_H
#define WICK_AUTOGRAD_CALLBACK_H

#include "tensor/call_scope.h"

/* Lends x to user code called by the library: same contents and position in the graph, but a separate handle and
 * storage, dense if elements shared memory. User code may modify it without effect on other tensors, and may retain it,
 * but must not free it. It is freed when the guard *token closes. NULL on allocation failure. */
wk_tensor *wk__lend(wk_tensor *x, uint64_t *token);
/* Calls a hook with x and stores its result, which may be NULL, in *out. Returns false on allocation failure. */
bool wk__call_hook(wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user, wk_tensor **out);

#endif

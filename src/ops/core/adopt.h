/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that belong to an object (a module, an optimiser, a list) and not to a scope, and handles whose contents are
 * exchanged behind them. */
#ifndef WICK_NN_OWN_H
#define WICK_NN_OWN_H

#include "base/options.h"
#include "tensor/tensor.h"

/* x, a new tensor of the current scope (or the caller's), becomes the object's that asked: give it back with
 * wk__handle_drop(&x->handle). NULL in gives NULL out. */
wk_tensor *wk__adopt(wk_tensor *x);
/* A tensor of the current scope with the numbers that x has now: dense, in a storage of its own, without a history.
 * Nothing is copied unless x sees a part of its storage, or memory that the program can write. NULL with the error
 * recorded. */
wk_tensor *wk__detached_copy(wk_site site, wk_tensor *x);

/* x holds from now on what `from` holds, a tensor made by wk__detached_copy, or another that has its storage to itself;
 * the handle and the gradient of x stay. A graph that was recorded with x can't be used any more if `from` lives
 * elsewhere. */
void wk__rebind_storage(wk_tensor *x, wk_tensor *from);
/* x and y exchange what they hold, places in the graph included; who owns either handle owns what is in it then. By
 * another exchange all is as it was. */
void wk__swap_bodies(wk_tensor *x, wk_tensor *y);
/* Each x takes over the numbers of its `from`, which has the same shape, dtype and device, a storage to itself and its
 * rows one after the other: all or none, as an in-place call of the program's call that runs. It fails only for want of
 * memory, and only where an x is a view or lies at an address that the program knows. False with the error recorded. */
bool wk__assign_all(wk_tensor *const *x, wk_tensor *const *from, int64_t count);
static inline bool wk__assign_one(wk_tensor *x, wk_tensor *from)
{
    return wk__assign_all(&x, &from, 1);
}

/* The library runs several calls as one of the program's: they report its name (it lives for ever; NULL: their own) and
 * site, leave no trace in the graph if `no_grad`, and what they make dies at the end. */
typedef struct wk__nested_call {
    uint64_t scope;
} wk__nested_call;
bool wk__nested_call_begin(wk__nested_call *c, const char *name, wk_site site, bool no_grad);
/* Ends it; out[] moves into the scope around. */
void wk__nested_call_end(wk__nested_call *c, wk_tensor **out, int count);

#endif

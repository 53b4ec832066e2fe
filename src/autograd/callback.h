/* SPDX-License-Identifier: Apache-2.0 */
/* Calling user code (callback.c). */
#ifndef WICK_AUTOGRAD_CALLBACK_H
#define WICK_AUTOGRAD_CALLBACK_H

#include "tensor/tensor.h"

/* One call of user code, between begin and end; on the caller's stack. */
typedef struct wk__callback {
    uint64_t token, scope;
    wk_site site;
    bool no_scope; /* no enclosing scope: the caller gets a reference to each returned tensor */
    wk__frame before;
} wk__callback;

/* Opens a scope and a fresh frame. `name` is used in messages, "forward of \"block\"", and must live until end. `site`:
 * call site that messages show, and that the scope is opened at. */
void wk__callback_begin(wk__callback *c, const char *name, wk_site site);
/* Moves out[] into the enclosing scope and closes the callback's. */
void wk__callback_end(wk__callback *c, wk_tensor **out, int count);
/* Lends x to user code called by the library: same contents and position in the graph, but a separate handle and
 * storage, dense if elements shared memory. User code may modify it without effect on other tensors, and may retain it,
 * but must not free it. It is freed when the guard *token closes. NULL on allocation failure. */
wk_tensor *wk__lend(wk_tensor *x, uint64_t *token);
/* Calls a hook. The frame has the call site of the forward call whose gradient is passed. */
wk_tensor *wk__call_hook(const char *name, wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user);

#endif

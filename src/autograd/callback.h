/* SPDX-License-Identifier: Apache-2.0 */
/* Calling user code; see callback.c. */
#ifndef WICK_AUTOGRAD_CALLBACK_H
#define WICK_AUTOGRAD_CALLBACK_H

#include "tensor/tensor.h"

typedef struct wk__callback {
    uint64_t token, scope;
    wk_site site;
    bool no_scope; /* no scope is open around: each tensor that comes out counts for the caller */
    wk__frame before;
} wk__callback;

/* `name` is what messages say: "forward of \"block\"". It must live until end. `site`: the call that leads
 * there, where its scope opens. */
void wk__callback_begin(wk__callback *c, const char *name, wk_site site);
/* Moves out[] into the scope around and closes the callback's. */
void wk__callback_end(wk__callback *c, wk_tensor **out, int count);
/* x as user code gets it that the library calls: its numbers and its place in the graph, with a handle and a
 * storage of their own, dense where elements shared memory. The program may write it, which changes nothing else,
 * and retain it; it belongs to the library, so freeing it is an error. NULL when memory is short (recorded). It
 * ends with the guard of that token. */
wk_tensor *wk__lend(wk_tensor *x, uint64_t *token);
/* A hook; the site is that of the call whose gradient it gets. */
wk_tensor *wk__call_hook(const char *name, wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user);

#endif

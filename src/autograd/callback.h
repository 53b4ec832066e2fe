/* Calling user code; see callback.c. */
#ifndef WICK_AUTOGRAD_CALLBACK_H
#define WICK_AUTOGRAD_CALLBACK_H

#include "../tensor/tensor.h"

typedef struct wk__callback {
    uint64_t token, scope;
    wk_site site;
    bool bare; /* no scope is open around: each tensor that comes out counts for the caller */
    wk__frame before;
} wk__callback;

/* `name` is what messages say: "forward of \"block\"". It must live until end. `site`: the call that leads there, where its scope opens. */
void wk__callback_begin(wk__callback *c, const char *name, wk_site site);
/* Moves out[] into the scope around and closes the callback's. */
void wk__callback_end(wk__callback *c, wk_tensor **out, int count);
/* A hook; the site is that of the call whose gradient it gets. */
wk_tensor *wk__call_back(const char *name, wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user);

#endif

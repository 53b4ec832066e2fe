/* SPDX-License-Identifier: Apache-2.0 */
/* A call scope: how the library executes a call through other calls, and how it runs user code. Between begin and end
 *
 *   frame      WK__FRAME_CALL: errors carry the name and site of the outermost API call, and are delivered at its end.
 *              WK__FRAME_CALLBACK: user code; errors carry their own sites and end in "(in NAME)".
 *              WK__FRAME_CRITICAL: errors as in the caller; they are delivered at the end
 *   gradients  follow the grad mode given to begin
 *   ownership  a scope owns the objects created in it and frees them at the end, except for the returned results
 *   longjmp    a guard holds the scope and the previous frame and restores both, even if an outer guard closes it, so
 *              an error handler may leave the calls in between
 *
 * All functions run on the calling thread. */
#ifndef WICK_TENSOR_CALL_SCOPE_H
#define WICK_TENSOR_CALL_SCOPE_H

#include "tensor.h"

typedef enum wk__call_grad {
    WK__GRAD_KEPT, /* grad mode of the caller */
    WK__GRAD_OFF,
    WK__GRAD_ON,
    WK__GRAD_COMPOSITE /* calls create no nodes: the caller attaches one to the results */
} wk__call_grad;

/* A call scope between begin and end, on the stack of its caller. */
typedef struct wk__call_scope {
    uint64_t token; /* of its guard */
    int64_t guard;  /* index of the guard on the stack */
    wk_site site;   /* site that messages show */
    bool bare;      /* no scope was open: results get a reference of the caller */
    bool user_code;
} wk__call_scope;

/* Begins a call scope. frame: one of the three above. `name` must live until the end; NULL: calls report their own
 * names. Returns false on allocation failure; then nothing has begun. */
bool wk__call_begin(wk__call_scope *c, wk__frame_kind frame, const char *name, wk_site site, wk__call_grad grad);
/* Begins a call scope for a function of the user that the library calls in the middle of its work. Errors are reported
 * with `name` and are delivered at the end, so that no error handler leaves the functions in between. Returns false on
 * allocation failure. */
bool wk__callback_begin(wk__call_scope *c, const char *name, wk_site site);
/* Moves the live tensors of out[] to the enclosing scope or, without one, to the caller, and frees everything else. */
void wk__call_end(wk__call_scope *c, wk_tensor *const *out, int count);

#endif

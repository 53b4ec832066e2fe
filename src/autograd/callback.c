/* SPDX-License-Identifier: Apache-2.0 */
/* Calls hooks, and lends tensors to user code (callback.h). */
#include "callback.h"
#include "dispatch.h"

wk_tensor *wk__lend(wk_tensor *x, uint64_t *token)
{
    wk_tensor *lent = wk__body_overlaps(wk__body_of(x)) ? wk__dispatch_clone(x) : wk__snapshot_with_grad_fn(x);
    if (!lent || !(*token = wk__handle_pin(&lent->handle))) return NULL;
    wk__handle_release(&lent->handle, (wk_site){0}); /* the scope's reference, so that no user call frees it */
    return lent;
}

bool wk__call_hook(wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user, wk_tensor **out)
{
    wk__call_scope c;
    *out = NULL;
    if (!wk__call_begin(&c, WK__FRAME_CALLBACK, "a hook", wk__site((wk_site){0}), WK__GRAD_KEPT)) return false;
    *out = call(x, user);
    wk__call_end(&c, out, 1);
    return true;
}

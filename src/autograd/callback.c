/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of user code: each runs in its own scope, which only returned tensors leave, with the user's grad mode, call
 * sites and placement. */
#include "callback.h"
#include "dispatch.h"

void wk__callback_begin(wk__callback *c, const char *name, wk_site site)
{
    wk_context *context = wk__context();
    c->no_scope = context->scope < 0;
    c->site = site;
    wk__guard *guard = wk__guard_push(WK__GUARD_CALLBACK, (wk_site){0});
    c->token = guard ? guard->token : 0;
    if (guard) guard = wk__guard_push(WK__GUARD_SCOPE, site);
    c->scope = guard ? guard->token : 0;
    c->before = wk__frame_begin(context, WK__FRAME_CALLBACK, name, (wk_site){0});
}

void wk__callback_end(wk__callback *c, wk_tensor **out, int count)
{
    wk_context *context = wk__context();
    wk__frame_end(context, c->before);
    for (int k = 0; k < count; k++) {
        if (!wk__is_tensor(out[k])) continue;
        if (c->no_scope && out[k]->handle.scope != c->scope)
            wk__handle_retain(&out[k]->handle, c->site); /* existed before: the caller gets another reference */
        else
            wk__handle_keep(&out[k]->handle, c->site);
    }
    if (c->token) wk__guard_close(c->token);
}

wk_tensor *wk__lend(wk_tensor *x, uint64_t *token)
{
    wk_tensor *lent = wk__body_overlaps(wk__body_of(x)) ? wk__dispatch_clone(x) : wk__snapshot_with_grad_fn(x);
    if (!lent || !(*token = wk__handle_pin(&lent->handle))) return NULL;
    wk__handle_release(&lent->handle, (wk_site){0}); /* the scope's reference, so that no user call frees it */
    return lent;
}

wk_tensor *wk__call_hook(const char *name, wk_tensor *(*call)(wk_tensor *, void *), wk_tensor *x, void *user)
{
    wk__callback c;
    wk__callback_begin(&c, name, wk__site((wk_site){0}));
    wk_tensor *out = call(x, user);
    wk__callback_end(&c, &out, 1);
    return out;
}

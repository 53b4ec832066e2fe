/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends call scopes (call_scope.h). */
#include "call_scope.h"

bool wk__call_begin(wk__call_scope *c, wk__frame_kind frame, const char *name, wk_site site, wk__call_grad grad)
{
    wk_context *context = wk__context();
    const bool user_code = frame == WK__FRAME_CALLBACK;
    if (!user_code) site = wk__site(site);
    *c = (wk__call_scope){.guard = context->guards, .site = site, .bare = context->scope < 0, .user_code = user_code};
    const wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, site);
    if (!guard) return false;
    c->token = guard->token;
    wk__frame_begin(context, frame, name, site); /* the guard restores the previous frame */
    if (grad == WK__GRAD_COMPOSITE) {
        context->frame.composing++;
        if (!context->frame.op_scope) context->frame.op_scope = c->token;
    } else if (grad != WK__GRAD_KEPT) {
        context->frame.grad_off = grad == WK__GRAD_OFF;
    }
    return true;
}

bool wk__callback_begin(wk__call_scope *c, const char *name, wk_site site)
{
    if (!wk__call_begin(c, WK__FRAME_CALLBACK, name, site, WK__GRAD_OFF)) return false;
    wk__frame *frame = &wk__context()->frame;
    frame->nounwind = frame->api_call.handler_blocked = true;
    return true;
}

/* Restores the caller's frame after user code, so that an error of a result counts as the caller's. Errors are
 * delivered once the guard is closed. Does nothing if user code has closed the guard. */
static void leave_user_frame(const wk__call_scope *c)
{
    wk_context *context = wk__context();
    if (c->guard >= context->guards || context->guard[c->guard].token != c->token) return;
    context->frame = context->guard[c->guard].saved_frame;
    context->frame.api_call.handler_blocked = true;
}

void wk__call_end(wk__call_scope *c, wk_tensor *const *out, int count)
{
    if (c->user_code) leave_user_frame(c);
    for (int k = 0; k < count; k++) {
        if (!wk__is_tensor(out[k])) continue;
        if (c->bare && out[k]->handle.scope != c->token)
            wk__handle_retain(&out[k]->handle, c->site); /* existed before: the caller gets another reference */
        else
            wk__handle_keep(&out[k]->handle, c->site);
    }
    wk__guard_close(c->token);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor API: scopes, guards of devices, and who owns an object. */
#include "tensor.h"
#include <wick/device.h>
#include <wick/tensor.h>

static wk_guard open_guard(wk__guard_kind kind, wk_site site)
{
    wk__guard *guard = wk__guard_push(kind, site);
    return (wk_guard){guard ? guard->token : 0};
}

wk_guard wk_scope_open(wk_site site)
{
    return open_guard(WK__GUARD_SCOPE, site);
}

wk_guard wk_device_guard_open(wk_site site, wk_device device)
{
    wk_context *context = wk__context();
    wk__guard *guard = wk__guard_push(WK__GUARD_DEVICE, site);
    if (!guard) return (wk_guard){0};
    guard->device = context->device;
    context->device = device;
    return (wk_guard){guard->token};
}

void wk_guard_close(wk_guard *guard)
{
    if (!guard) return;
    if (guard->token) wk__guard_close(guard->token);
    guard->token = 0;
}

static wk__handle *check_object(void *x, wk_site site, const char *op)
{
    return x && wk__handle_check_any(x, &wk__tensor_kind, site, op, "the object") ? x : NULL;
}

void *wk_keep_at(wk_site site, void *x)
{
    wk__handle *handle = check_object(x, site, "keep");
    if (handle) wk__handle_keep(handle, site);
    return handle;
}

void *wk_retain_at(wk_site site, void *x)
{
    wk__handle *handle = check_object(x, site, "retain");
    if (handle) wk__handle_retain(handle, site);
    return handle;
}

void wk_free_at(wk_site site, void *x)
{
    wk__handle *handle = check_object(x, site, "free");
    if (!handle) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__handle_release(handle, site);
    wk__frame_end(context, before);
}

/* The enclosing scope owns the old value, or the caller if there is none; the new value replaces it there. */
void wk_carry_at(wk_site site, wk_tensor **variable, wk_tensor *x)
{
    if (!variable) wk__error_set(site, WK_ERR_ARGUMENT, "carry: the variable is NULL");
    wk_tensor *old = variable ? *variable : x;
    if (old == x) return;
    if (x && !wk_keep_at(site, x)) return;
    *variable = x; /* set before the old value is freed, because that may run user code, and an error handler may
                    * longjmp */
    if (old) wk_free_at(site, old);
}

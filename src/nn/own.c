/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of objects; see own.h. */
#include "own.h"
#include "../autograd/node.h"
#include "../base/alloc.h"
#include "../engine/ring.h"
#include <string.h>
#include <wick/tensor.h>

wk_tensor *wk__own(wk_tensor *x)
{
    if (!x) return NULL;
    wk__handle_hold(&x->handle);
    wk__handle_release(&x->handle, (wk_site){0});
    return x;
}

/* Does the body see all of a storage that only the library writes, row by row? */
static bool plain(const wk__body *body)
{
    return wk__body_contiguous(body) &&
           wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype) == body->storage->bytes &&
           !body->storage->value->exposed;
}

wk_tensor *wk__detached(wk_site site, wk_tensor *x)
{
    wk_context *context = wk__context();
    bool grad_off = context->frame.grad_off;
    context->frame.grad_off = true;
    wk_tensor *own = plain(wk__body_of(x)) ? wk__tensor_snapshot(context, x) : wk_clone_at(site, x);
    context->frame.grad_off = grad_off;
    if (!own) return NULL;
    wk__body *body = wk__body_of(own);
    wk__node_drop(body->node);
    wk__leaf_drop(body->leaf);
    body->node = NULL;
    body->leaf = NULL;
    body->requires_grad = false;
    body->output = 0;
    return own;
}

/* How many of a handle's owners want the contents kept: all but a scope. */
static int firm_owners(const wk__handle *handle)
{
    return (int)atomic_load_explicit(&((wk__handle *)(uintptr_t)handle)->owners, memory_order_relaxed) -
           (handle->scope != 0);
}

void wk__rehouse(wk_tensor *x, wk_tensor *from)
{
    wk__body *body = wk__body_of(x), *other = wk__body_of(from);
    wk__storage *old = body->storage;
    int firm = firm_owners(&x->handle);
    bool moved = old->device != other->storage->device;
    wk__storage_hold(other->storage);
    wk__storage_firm(other->storage, firm);
    if (old->family.base == body) atomic_store_explicit(&old->family.base, NULL, memory_order_relaxed);
    body->storage = other->storage;
    atomic_store_explicit(&body->storage->family.base, body, memory_order_relaxed);
    body->storage->changes.version = old->changes.version + 1;
    body->storage->assigned = old->assigned + 1;
    body->offset = other->offset;
    body->ndim = other->ndim;
    body->dtype = other->dtype;
    memcpy(body->shape, other->shape, sizeof body->shape);
    memcpy(body->stride, other->stride, sizeof body->stride);
    if (body->leaf) {
        body->leaf->storage = body->storage;
        body->leaf->moves += moved;
        if (moved) body->leaf->moved = wk__site((wk_site){0});
    }
    wk__storage_firm(old, -firm);
    wk__storage_drop(old);
}

void wk__exchange(wk_tensor *x, wk_tensor *y)
{
    const int more = firm_owners(&x->handle) - firm_owners(&y->handle);
    wk__storage_firm(wk__body_of(x)->storage, -more);
    wk__storage_firm(wk__body_of(y)->storage, more);
    void *held = x->handle.body;
    x->handle.body = y->handle.body;
    y->handle.body = held;
}

/* Its numbers are to stay where they are: the program knows their address, or other tensors see them. */
static bool stays(const wk_tensor *x)
{
    return !plain(wk__body_of(x));
}

/* Writes those that stay where they are, all or none. */
static bool write_all(wk_tensor *const *x, wk_tensor *const *from, int64_t count, wk__before *before)
{
    wk_context *context = wk__context();
    int64_t taken = 0;
    bool fine = true;
    wk__whole_begin(context);
    for (int64_t k = 0; k < count && fine; k++) {
        if (!stays(x[k])) continue;
        wk__before_take(&before[taken++], x[k]);
        fine = wk_copy__at((wk_site){0}, x[k], from[k]) != NULL;
    }
    if (fine) wk__whole_end(context);
    for (int64_t k = 0; k < count && fine; k++) fine = !stays(x[k]) || wk__materialize(x[k], (wk_site){0});
    while (taken-- > 0) wk__before_end(&before[taken], fine);
    if (context->whole) wk__whole_end(context);
    return fine;
}

bool wk__replace_all(wk_tensor *const *x, wk_tensor *const *from, int64_t count)
{
    wk__before *before = wk__alloc_zero((size_t)count + 1, sizeof *before);
    if (!before) wk__error_set((wk_site){0}, WK_ERR_MEMORY, "%s: out of host memory", wk__context()->frame.outer.name);
    const bool fine = before && write_all(x, from, count, before);
    for (int64_t k = 0; k < count && fine; k++) {
        wk__storage *storage = wk__body_of(x[k])->storage;
        if (stays(x[k])) continue;
        wk__storage_assign(storage, wk__body_of(from[k])->storage->value);
        wk__storage_changed(storage, wk__context()->frame.outer.name, (wk_site){0});
    }
    wk__free(before);
    return fine;
}

bool wk__inside_begin(wk__inside *c, const char *name, wk_site site, bool no_grad)
{
    wk_context *context = wk__context();
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, site);
    if (!guard) return false;
    *c = (wk__inside){.scope = guard->token};
    wk__frame_begin(context, WK__CALL, name, wk__site(site)); /* the guard puts back the one before */
    context->frame.grad_off = context->frame.grad_off || no_grad;
    return true;
}

void wk__inside_end(wk__inside *c, wk_tensor **out, int count)
{
    for (int k = 0; k < count; k++)
        if (out[k]) wk__handle_keep(&out[k]->handle, (wk_site){0});
    wk__guard_close(c->scope);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the contents of tensors whose handles stay (tensor_swap.h). */
#include "tensor_swap.h"
#include "autograd/node.h"
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/tensor.h>

/* Returns true if the body covers its storage entirely, row-major, and user code does not have its address. */
static bool is_plain_storage(const wk__body *body)
{
    return wk__body_contiguous(body) &&
           wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype) == body->storage->bytes &&
           !body->storage->value->exposed;
}

wk_tensor *wk__detached_copy(wk_site site, wk_tensor *x)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, site, WK__GRAD_OFF)) return NULL;
    wk_tensor *own = is_plain_storage(wk__body_of(x)) ? wk__tensor_snapshot(wk__context(), x) : wk_clone_at(site, x);
    if (own) wk__body_leave_graph(wk__body_of(own));
    wk__call_end(&c, &own, 1);
    return own;
}

/* Returns the number of owners other than a scope. */
static int owners_besides_scope(const wk__handle *handle)
{
    return (int)atomic_load_explicit(&((wk__handle *)(uintptr_t)handle)->refs, memory_order_relaxed) -
           (handle->scope != 0);
}

void wk__rebind_storage(wk_tensor *x, wk_tensor *from)
{
    wk__body *body = wk__body_of(x), *other = wk__body_of(from);
    wk__storage *old = body->storage;
    int firm = owners_besides_scope(&x->handle);
    const bool converted = body->dtype != other->dtype, moved = converted || old->device != other->storage->device;
    wk__storage_hold(other->storage);
    wk__storage_add_persistent(other->storage, firm);
    if (old->alias_set.base == body) atomic_store_explicit(&old->alias_set.base, NULL, memory_order_relaxed);
    body->storage = other->storage;
    atomic_store_explicit(&body->storage->alias_set.base, body, memory_order_relaxed);
    body->storage->version_info.version = old->version_info.version + 1;
    body->storage->assign_count = old->assign_count + 1;
    body->offset = other->offset;
    body->ndim = other->ndim;
    body->dtype = other->dtype;
    memcpy(body->shape, other->shape, sizeof body->shape);
    memcpy(body->stride, other->stride, sizeof body->stride);
    if (body->leaf) {
        body->leaf->storage = body->storage;
        body->leaf->dtype = other->dtype;
        body->leaf->moves += moved;
        if (moved) body->leaf->converted = converted;
        if (moved) body->leaf->moved_at = wk__site((wk_site){0});
    }
    wk__storage_add_persistent(old, -firm);
    wk__storage_drop(old);
}

void wk__swap_bodies(wk_tensor *x, wk_tensor *y)
{
    const int more = owners_besides_scope(&x->handle) - owners_besides_scope(&y->handle);
    wk__storage_add_persistent(wk__body_of(x)->storage, -more);
    wk__storage_add_persistent(wk__body_of(y)->storage, more);
    void *held = x->handle.body;
    x->handle.body = y->handle.body;
    y->handle.body = held;
}

/* Returns true if the contents of x cannot move: user code has the address, or other tensors share the storage. */
static bool is_address_fixed(const wk_tensor *x)
{
    return !is_plain_storage(wk__body_of(x));
}

/* Computes x after an assignment to it. Returns false if the assignment failed; x then keeps its old contents. */
static bool materialize_assigned(const wk_tensor *x)
{
    const wk__value *value = wk__body_of(x)->storage->value;
    return wk__materialize(x, (wk_site){0}) && !value->rolled_back;
}

/* Copies into the tensors whose contents cannot move, all or none. Takes a savepoint of each in before[]. */
static bool copy_into_fixed(wk_tensor *const *x, wk_tensor *const *from, int64_t count, wk__savepoint *before)
{
    wk_context *context = wk__context();
    int64_t taken = 0;
    bool fine = true;
    wk__transaction_begin(context);
    for (int64_t k = 0; k < count && fine; k++) {
        if (!is_address_fixed(x[k])) continue;
        wk__savepoint_take(&before[taken++], x[k]);
        fine = wk_copy__at((wk_site){0}, x[k], from[k]) != NULL;
    }
    if (fine) wk__transaction_end(context);
    for (int64_t k = 0; k < count && fine; k++) fine = !is_address_fixed(x[k]) || materialize_assigned(x[k]);
    while (taken-- > 0) wk__savepoint_end(&before[taken], fine);
    if (context->transaction) wk__transaction_end(context);
    return fine;
}

bool wk__assign_all(wk_tensor *const *x, wk_tensor *const *from, int64_t count)
{
    wk__savepoint *before = wk__alloc_zero((size_t)count + 1, sizeof *before);
    if (!before)
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "%s: out of host memory", wk__context()->frame.api_call.name);
    const bool fine = before && copy_into_fixed(x, from, count, before);
    for (int64_t k = 0; k < count && fine; k++) {
        wk__storage *storage = wk__body_of(x[k])->storage;
        if (is_address_fixed(x[k])) continue;
        wk__storage_assign(storage, wk__body_of(from[k])->storage->value);
        wk__storage_bump_version(storage, wk__context()->frame.api_call.name, (wk_site){0});
    }
    wk__free(before);
    return fine;
}

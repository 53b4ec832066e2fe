/* Calls that happen whole or not at all: what their targets held before is remembered, and comes back when something fails on the
 * way. Values never change, so that is a matter of pointers; only memory whose address the program knows is written again. */
#include "ring.h"

void wk__before_take(wk__before *before, const wk_tensor *target)
{
    wk__storage *storage = wk__body_of(target)->storage;
    wk__storage_hold(storage);
    wk__value_hold(storage->value);
    *before = (wk__before){storage, storage->value, storage->version};
}

/* New values that have not been computed need not be, whether the program knows their address or not. */
static void call_off(wk_context *context, wk__value *newest, const wk__value *oldest)
{
    wk__ring_enter(context);
    for (wk__value *value = newest; value && value != oldest && wk__value_state(value) == WK__PENDING;
         value = value->record->prior)
        value->exposed = false;
    wk__ring_leave(context);
}

/* The new numbers are at the address that the program knows, the old ones were moved: back they go. */
static void write_back(wk__value *now, const wk__value *old)
{
    wk__fail fail = {.tag = -1};
    if (now->bytes)
        now->device->backend->copy(now->device->state, &now->memory, 0, &old->memory, 0, now->bytes, &fail);
}

static void restore(const wk__before *before)
{
    wk__storage *storage = before->storage;
    wk__value *now = storage->value, *old = before->value;
    storage->version = before->version;
    if (now == old) return;
    call_off(wk__context(), now, old);
    if (now->exposed && wk__value_state(now) == WK__STORED && wk__value_state(old) == WK__STORED)
        write_back(now, old);
    else
        wk__storage_assign(storage, old);
}

void wk__before_end(wk__before *before, bool fine)
{
    if (!fine) restore(before);
    wk__value_drop(before->value);
    wk__storage_drop(before->storage);
}

void wk__whole_begin(wk_context *context)
{
    context->whole++;
}

void wk__whole_end(wk_context *context)
{
    if (--context->whole == 0 && wk__ring_full(context)) wk__flush(context);
}

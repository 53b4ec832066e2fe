/* Calls that happen whole or not at all: what their targets held before is remembered, and comes back when something fails on the
 * way. Values never change, so that is a matter of pointers; only memory whose address the program knows is written again. */
#include "../base/alloc.h"
#include "execute.h"
#include "reuse.h"

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
    if (now->bytes) now->device->backend->copy(now->device->state, &now->memory, 0, &old->memory, 0, now->bytes, &fail);
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
    context->wholes = context->wholes < INT32_MAX ? context->wholes + 1 : 1;
    context->whole = context->wholes;
}

void wk__whole_end(wk_context *context)
{
    context->whole = 0;
    if (wk__ring_full(context)) wk__flush(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct pieces {
    struct {
        wk__arena *arena;
        wk__memory memory;
    } * at;
    int64_t count, capacity;
} pieces;

/* What the record stores, if that is not to be written over what it replaces. */
static wk_code take(pieces *p, wk__record **record, int records, const wk__record *r, wk__fail *fail)
{
    for (int o = 0; o < r->nout; o++) {
        const wk__value *out = r->ref[o].value;
        if (!wk__stores(out) || (r->prior && wk__dies_here(record, records, r->prior))) continue;
        if (!wk__grow(&p->at, &p->capacity, p->count + 1, sizeof *p->at))
            return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
        p->at[p->count].arena = out->device->arena;
        wk_code code = wk__arena_take(out->device->arena, out->bytes, &p->at[p->count].memory, fail);
        if (code == WK_ERR_MEMORY) wk__large_describe(out->device, fail);
        if (code != WK_OK) return code;
        p->count++;
    }
    return WK_OK;
}

wk_code wk__whole_reserve(int32_t whole, wk__record **record, int64_t live, const wk__record **culprit, wk__fail *fail)
{
    pieces p = {.count = 0};
    wk_code code = WK_OK;
    for (int64_t k = 0, end; k < live && code == WK_OK; k = end) {
        for (end = k; end < live && record[end]->group == record[k]->group;) end++;
        for (int64_t i = k; i < end && code == WK_OK; i++) {
            if (record[i]->whole != whole) continue;
            *culprit = record[i];
            code = take(&p, record + k, (int)(end - k), record[i], fail);
        }
    }
    for (int64_t k = 0; k < p.count; k++) wk__arena_give(p.at[k].arena, &p.at[k].memory);
    wk__free(p.at);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Storages, values and their memory; see storage.h. */
#include "storage.h"
#include "../base/above.h"
#include "../base/alloc.h"
#include "large.h"
#include <string.h>

wk__value *wk__value_new(wk_context *context, wk__device *device, int64_t bytes, wk_site site)
{
    wk__value *value = wk__slab_take(context->slots, WK__SLAB_VALUE);
    if (!value) {
        wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a new tensor");
        return NULL;
    }
    memset(value, 0, offsetof(wk__value, parked_next));
    value->device = device;
    value->bytes = bytes;
    value->writer = context;
    value->group = -1;
    value->site = context->frame.outer.on ? context->frame.outer.site : site;
    return value;
}

wk__storage *wk__storage_new(wk_context *context, wk__value *value)
{
    wk__storage *storage = wk__slab_take(context->slots, WK__SLAB_STORAGE);
    if (!storage) return NULL;
    memset(storage, 0, sizeof *storage);
    atomic_init(&storage->refs, 1);
    storage->value = value;
    storage->device = value->device;
    storage->bytes = value->bytes;
    return storage;
}

static inline __attribute__((always_inline)) void free_now(wk_context *context, wk__value *value)
{
    wk__state state = value->state;
    if (state == WK__STORED)
        wk__value_give_memory(value);
    else if (state == WK__PARKED) {
        if (!wk__above.parked_free(value)) return;
    } else if (state == WK__FAILED) {
        if (value->memory.block) wk__value_give_memory(value);
        wk__failure_drop(value->failure);
    }
    wk__slab_give(context->slots, WK__SLAB_VALUE, value);
}

/* Values with borrowed memory, unless it is too early. Where the program's releases run within one another as deep as
 * is allowed, the values wait for the loop here that runs the outer of these releases. */
static void free_waiting(wk_context *context)
{
    while (context->waiting && context->holding == 0 && context->frame.releases < WK__DESTROY_DEPTH) {
        wk__value *value = context->waiting;
        context->waiting = value->parked_next;
        context->frame.releases++;
        free_now(context, value);
        context->frame.releases--;
    }
}

void wk__release_later(void)
{
    wk__context()->holding++;
}

void wk__release_now(void)
{
    wk_context *context = wk__context();
    if (--context->holding > 0) return;
    free_waiting(context);
    while (context->waiting_parked) {
        wk__value *value = context->waiting_parked;
        context->waiting_parked = value->release_user;
        wk__value_free(value);
    }
}

bool wk__release_waits(wk__value *parked)
{
    wk_context *context = wk__context();
    if (context->holding == 0) return false;
    parked->release_user = context->waiting_parked;
    context->waiting_parked = parked;
    return true;
}

void wk__value_free(wk__value *value)
{
    wk_context *context = wk__context();
    if (!value->release) {
        free_now(context, value);
        return;
    }
    value->parked_next = context->waiting;
    context->waiting = value;
    free_waiting(context);
}

/* A storage lets go of its value. What only parked records still hold may be worth more than what they would
 * compute. */
static void leave(wk__value *value)
{
    if (atomic_load_explicit(&value->parked_readers, memory_order_relaxed) > 0) wk__above.parked_orphan(value);
    wk__value_drop(value);
}

void wk__storage_drop(wk__storage *storage)
{
    if (!wk__count_down(&storage->refs)) return;
    if (storage->value->state == WK__PENDING) wk__above.pending_orphan(storage->value);
    leave(storage->value);
    if (storage->family.past) wk__above.base_free(storage->family.past);
    wk__slab_give(wk__context()->slots, WK__SLAB_STORAGE, storage);
}

/* One for all families: it is held for so short a time that nobody meets anybody there. */
static atomic_int looking;

void wk__family_enter(void)
{
    wk__lock(&looking);
}
void wk__family_leave(void)
{
    wk__unlock(&looking);
}

void wk__view_gone(wk__family *family)
{
    if (!wk__count_down(&family->views)) return;
    wk__family_enter(); /* the base may be leaving its place in the graph just now */
    struct wk__base *past = family->past;
    family->past = NULL;
    wk__family_leave();
    if (past) wk__above.base_free(past);
}

void wk__family_drop(wk__family *family)
{
    if (!wk__count_down(&family->refs)) return;
    if (family->past) wk__above.base_free(family->past);
    wk__free(family);
}

void wk__storage_assign(wk__storage *storage, wk__value *value)
{
    wk__value_hold(value);
    if (atomic_load_explicit(&storage->firm, memory_order_relaxed) > 0)
        atomic_store_explicit(&value->keep, true, memory_order_relaxed);
    leave(storage->value);
    storage->value = value;
    storage->assigned++;
}

void wk__storage_changed(wk__storage *storage, const char *op, wk_site site)
{
    const wk__outer *outer = &wk__context()->frame.outer;
    const bool named = outer->on && outer->name;
    storage->changes = (wk__changes){.version = storage->changes.version + 1,
                                     .in_place = !named || outer->in_place,
                                     .by = named ? outer->name : op,
                                     .at = outer->on ? outer->site : site};
}

wk_code wk__value_take_memory(wk__value *value, int64_t bytes, wk__fail *fail)
{
    wk_code code = wk__arena_take(value->device->arena, bytes, &value->memory, fail);
    if (code == WK_OK) {
        wk__large_add(value);
    } else if (code == WK_ERR_MEMORY) {
        wk__large_describe(value->device, fail);
    }
    return code;
}

/* Never freed, as it has one reference more than any that is counted. */
wk__failure wk__nothing_failed = {.refs = 1};

void wk__tell_handler_later(wk_context *context)
{
    wk__failure *none = NULL;
    atomic_fetch_add(&wk__nothing_failed.refs, 1);
    if (!atomic_compare_exchange_strong(&context->late, &none, &wk__nothing_failed))
        wk__failure_drop(&wk__nothing_failed); /* that call tells of both */
}

void wk__value_give_memory(wk__value *value)
{
    wk__large_remove(value);
    if (value->shares) {
        wk__value_drop(value->shares);
        value->shares = NULL;
    } else if (value->release) {
        void (*const release)(void *) = value->release;
        value->release = NULL;
        wk_context *context = wk__context();
        const wk__frame before = wk__frame_begin(context, WK__HELD, NULL, (wk_site){0});
        release(value->release_user);
        wk__frame_end(context, before);
    } else if (value->memory.block) {
        wk__arena_give(value->device->arena, &value->memory);
    }
    value->memory.block = NULL;
}

wk__failure *wk__failure_new(wk_code code, wk_site site, const char *text)
{
    wk__failure *failure = wk__alloc_zero(1, sizeof *failure);
    if (!failure) return NULL;
    atomic_store(&failure->refs, 1);
    failure->code = code;
    failure->site = site;
    strncpy(failure->text, text, sizeof failure->text - 1);
    return failure;
}

void wk__failure_drop(wk__failure *failure)
{
    if (failure && atomic_fetch_sub(&failure->refs, 1) == 1) wk__free(failure);
}

static atomic_llong failed_so_far;

int64_t wk__values_failed(void)
{
    return atomic_load(&failed_so_far);
}

/* A failure that could not be allocated is NULL: its readers say that memory was short, which is true. */
void wk__value_fail(wk__value *value, wk__failure *failure)
{
    if (failure) atomic_fetch_add(&failure->refs, 1);
    value->failure = failure;
    wk__value_set_state(value, WK__FAILED);
    atomic_fetch_add(&failed_so_far, 1);
}

void wk__release_nothing(void *user)
{
    (void)user;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes of storages, values and their memory; see storage.h. */
#include "storage.h"
#include "large_values.h"
#include <string.h>

wk__value *wk__value_new(wk_context *context, wk__device *device, int64_t bytes, wk_site site)
{
    wk__value *value = wk__slab_alloc(context->slots, WK__SLAB_VALUE);
    if (!value) {
        wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a new tensor");
        return NULL;
    }
    memset(value, 0, offsetof(wk__value, deferred_next));
    value->device = device;
    value->bytes = bytes;
    value->writer = context;
    value->group = -1;
    value->site = context->frame.api_call.active ? context->frame.api_call.site : site;
    return value;
}

wk__storage *wk__storage_new(wk_context *context, wk__value *value)
{
    wk__storage *storage = wk__slab_alloc(context->slots, WK__SLAB_STORAGE);
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
    wk__value_state state = value->state;
    if (state == WK__STORED)
        wk__value_free_memory(value);
    else if (state == WK__DEFERRED) {
        if (!value->writer->work->free_deferred(value)) return;
    } else if (state == WK__FAILED) {
        if (value->memory.block) wk__value_free_memory(value);
        wk__failure_drop(value->failure);
    }
    wk__slab_free(context->slots, WK__SLAB_VALUE, value);
}

/* Frees queued values with borrowed memory unless suspended. If user-defined releases nest WK__DESTROY_DEPTH deep, the
 * remaining values wait for the loop of an outer release. */
static void free_waiting(wk_context *context)
{
    while (context->release_queue && context->release_suspended == 0 &&
           context->frame.release_depth < WK__DESTROY_DEPTH) {
        wk__value *value = context->release_queue;
        context->release_queue = value->deferred_next;
        context->frame.release_depth++;
        free_now(context, value);
        context->frame.release_depth--;
    }
}

void wk__release_suspend(void)
{
    wk__context()->release_suspended++;
}

void wk__release_resume(void)
{
    wk_context *context = wk__context();
    if (--context->release_suspended > 0) return;
    free_waiting(context);
    while (context->deferred_release_queue) {
        wk__value *value = context->deferred_release_queue;
        context->deferred_release_queue = value->release_user;
        wk__value_free(value);
    }
}

bool wk__release_postpone(wk__value *parked)
{
    wk_context *context = wk__context();
    if (context->release_suspended == 0) return false;
    parked->release_user = context->deferred_release_queue;
    context->deferred_release_queue = parked;
    return true;
}

void wk__value_free(wk__value *value)
{
    wk_context *context = wk__context();
    if (!value->release) {
        free_now(context, value);
        return;
    }
    value->deferred_next = context->release_queue;
    context->release_queue = value;
    context->free_waiting = free_waiting;
    free_waiting(context);
}

/* Drops a storage's reference. If only deferred records still refer to the value, computing them may free more memory
 * than it needs. It is counted for this thread, because the readers of the value were usually deferred by it. */
static void release_value(wk__value *value)
{
    if (atomic_load_explicit(&value->deferred_readers, memory_order_relaxed) > 0)
        wk__count_deferred_orphan(wk__context(), value->bytes);
    wk__value_drop(value);
}

/* The queue of the writer may be all that still needs a pending value. Another thread may be destroying the writer,
 * which has run its records then. */
static void trim_pending(wk__value *value)
{
    wk_context *writer = value->writer;
    const bool foreign = writer != wk__context();
    if (foreign && !wk__context_acquire(writer)) return;
    if (writer->work) writer->work->trim_dead(value);
    if (foreign) wk__context_release(writer);
}

void wk__storage_drop(wk__storage *storage)
{
    if (!wk__refcount_dec(&storage->refs)) return;
    if (storage->value->state == WK__PENDING) trim_pending(storage->value);
    release_value(storage->value);
    if (storage->alias_set.dead_base) wk__dead_base_free(storage->alias_set.dead_base);
    wk__slab_free(wk__context()->slots, WK__SLAB_STORAGE, storage);
}

void wk__storage_assign(wk__storage *storage, wk__value *value)
{
    wk__value_hold(value);
    if (atomic_load_explicit(&storage->persistent_refs, memory_order_relaxed) > 0)
        atomic_store_explicit(&value->persistent, true, memory_order_relaxed);
    release_value(storage->value);
    storage->value = value;
    storage->assign_count++;
}

void wk__storage_bump_version(wk__storage *storage, const char *op, wk_site site)
{
    const wk__api_call *outer = &wk__context()->frame.api_call;
    const bool named = outer->active && outer->name;
    storage->version_info = (wk__version_info){.version = storage->version_info.version + 1,
                                               .in_place = !named || outer->in_place,
                                               .op_name = named ? outer->name : op,
                                               .at = outer->active ? outer->site : site};
}

wk_code wk__value_alloc_memory(wk__value *value, int64_t bytes, wk__fail *fail)
{
    wk_code code = wk__arena_alloc(value->device->arena, bytes, &value->memory, fail);
    if (code == WK_OK) {
        wk__large_values_add(value);
    } else if (code == WK_ERR_MEMORY) {
        wk__describe_oom(value->device, fail);
    }
    return code;
}

void wk__value_free_memory(wk__value *value)
{
    wk__large_values_remove(value);
    if (value->memory_owner) {
        wk__value_drop(value->memory_owner);
        value->memory_owner = NULL;
    } else if (value->release) {
        void (*const release)(void *) = value->release;
        value->release = NULL;
        wk_context *context = wk__context();
        const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
        release(value->release_user);
        wk__frame_end(context, before);
    } else if (value->memory.block) {
        wk__arena_free(value->device->arena, &value->memory);
    }
    value->memory.block = NULL;
}

static atomic_llong failed_so_far;

int64_t wk__failed_value_count(void)
{
    return atomic_load(&failed_so_far);
}

/* `failure` is NULL if it could not be allocated; readers then report an allocation failure, which is true. */
void wk__value_fail(wk__value *value, wk__failure *failure)
{
    if (failure) atomic_fetch_add(&failure->refs, 1);
    value->failure = failure;
    wk__value_set_state(value, WK__FAILED);
    atomic_fetch_add(&failed_so_far, 1);
}

void wk__release_noop(void *user)
{
    (void)user;
}

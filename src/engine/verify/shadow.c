/* SPDX-License-Identifier: Apache-2.0 */
/* Creates shadows: determines which values are observable, what must be computed for them, and when a shadow is read
 * for the last time. */
#include "shadow.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the table; arenas have their own locks */
static wk__arena *shadow_arenas[WK__MAX_OPEN_DEVICES];   /* by wk__device.slot */

/* Returns the arena for shadows on a device, created on first use and never destroyed. NULL on allocation failure. */
static wk__arena *shadow_arena_of(const wk__device *device)
{
    wk__arena **arena = &shadow_arenas[device->slot];
    pthread_mutex_lock(&lock);
    if (!*arena) *arena = wk__arena_new(device->backend, device->state, INT64_MAX);
    pthread_mutex_unlock(&lock);
    return *arena;
}

wk_code wk__shadow_alloc(wk__shadow *shadow, wk__fail *fail)
{
    wk__arena *arena = shadow_arena_of(shadow->value.device);
    if (!arena) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    return wk__arena_alloc(arena, shadow->value.bytes, &shadow->value.memory, fail);
}

void wk__shadow_free_memory(wk__device *device, wk__memory *memory)
{
    if (memory->block) wk__arena_free(shadow_arena_of(device), memory);
    memory->block = NULL;
}

void wk__shadow_free(wk__shadow *shadow)
{
    wk__shadow_free_memory(shadow->value.device, &shadow->value.memory);
}

/* ---- list of shadows --------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const wk__shadow *)a)->of, y = (uintptr_t)((const wk__shadow *)b)->of;
    return (x > y) - (x < y);
}

static int pointers_by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t) * (wk__value *const *)a, y = (uintptr_t) * (wk__value *const *)b;
    return (x > y) - (x < y);
}

wk__shadow *wk__shadow_of(const wk__shadow_map *shadows, const wk__value *value)
{
    const wk__shadow key = {.of = (wk__value *)(uintptr_t)value};
    return value ? bsearch(&key, shadows->shadow, (size_t)shadows->count, sizeof key, by_address) : NULL;
}

/* Returns every value that a record refers to, sorted by address, with duplicates. NULL on allocation failure. */
static wk__value **named(const wk__op_queue *queue, int64_t *count)
{
    int64_t places = 0;
    for (int64_t k = 0; k < queue->count; k++) places += queue->record[k]->nout + queue->record[k]->nin + 1;
    wk__value **value = wk__alloc_zero((size_t)places, sizeof *value);
    *count = 0;
    for (int64_t k = 0; k < queue->count && value; k++) {
        wk__record *r = queue->record[k];
        for (int i = 0; i < r->nout + r->nin; i++)
            if (r->ref[i].value) value[(*count)++] = r->ref[i].value;
        if (r->prior) value[(*count)++] = r->prior;
    }
    if (value) qsort(value, (size_t)*count, sizeof *value, pointers_by_address);
    return value;
}

static bool name_all(wk__shadow_map *shadows)
{
    int64_t count;
    wk__value **value = named(shadows->queue, &count);
    for (int64_t k = 0; k < count && value; k++) shadows->count += k == 0 || value[k] != value[k - 1];
    shadows->shadow = value ? wk__alloc_zero((size_t)shadows->count, sizeof *shadows->shadow) : NULL;
    wk__shadow *next = shadows->shadow;
    for (int64_t k = 0; k < count && next; k++)
        if (k == 0 || value[k] != value[k - 1]) (next++)->of = value[k];
    wk__free(value);
    return shadows->shadow != NULL;
}

static void describe(wk__shadow *t)
{
    wk__value *of = t->of;
    t->first = t->last = -1;
    t->stored = of->state == WK__STORED;
    t->exposed = of->exposed;
    t->borrowed = of->release != NULL;
    t->wanted = of->force_store;
    t->revived = of->requeued;
    t->keep = atomic_load_explicit(&of->persistent, memory_order_relaxed);
    t->value.device = of->device;
    t->value.bytes = of->bytes;
    t->value.reg = -1;
    t->value.group = -1;
    t->value.is_root = true; /* all are stored */
    wk__value_set_state(&t->value, WK__STORED);
}

/* ---- required records -------------------------------------------------------------------------------------------- */

static void count_uses(wk__shadow_map *shadows)
{
    wk__op_queue *queue = shadows->queue;
    for (int64_t k = 0; k < queue->count; k++) {
        wk__record *r = queue->record[k];
        for (int i = 0; i < r->nout + r->nin; i++) {
            if (!r->ref[i].value) continue;
            wk__shadow *t = wk__shadow_of(shadows, r->ref[i].value);
            t->uses++;
            if (i >= r->nout) continue;
            t->writer = r;
            t->first = k;
        }
        if (!r->prior) continue;
        wk__shadow *prior = wk__shadow_of(shadows, r->prior);
        prior->uses++;
        prior->replaced = true;
    }
}

/* Memory whose address the user has is observable even if the value has no owners. */
static bool is_seen(const wk__shadow *t)
{
    return wk__refcount_get(&t->of->refs) > t->uses || (t->writer && t->exposed && !t->replaced);
}

static void need(wk__shadow_map *shadows, const wk__value *value, int64_t reader)
{
    wk__shadow *t = wk__shadow_of(shadows, value);
    if (!t) return;
    t->needed = true;
    if (t->last < reader) t->last = reader;
}

/* From the last record to the first: a record must run if one of its results is needed. The old value of a target is
 * needed if part of it remains. */
static void find_needed(wk__shadow_map *shadows)
{
    wk__op_queue *queue = shadows->queue;
    for (int64_t k = 0; k < shadows->count; k++) {
        shadows->shadow[k].observable = is_seen(&shadows->shadow[k]);
        shadows->shadow[k].needed = shadows->shadow[k].observable && shadows->shadow[k].writer;
    }
    for (int64_t k = queue->count; k-- > 0;) {
        wk__record *r = queue->record[k];
        bool needed = false;
        for (int o = 0; o < r->nout; o++) needed = needed || wk__shadow_of(shadows, r->ref[o].value)->needed;
        if (!needed) continue;
        for (int i = 0; i < r->nin; i++) need(shadows, wk__record_in(r, i)->value, k);
        if (r->partial) need(shadows, r->prior, k);
    }
}

wk__shadow_map *wk__shadow_map_new(wk_context *owner, bool may_defer)
{
    wk__shadow_map *shadows = wk__alloc_zero(1, sizeof *shadows);
    if (!shadows) return NULL;
    shadows->owner = owner;
    shadows->queue = owner->op_queue;
    shadows->may_defer = may_defer;
    if (!name_all(shadows)) {
        wk__free(shadows);
        return NULL;
    }
    for (int64_t k = 0; k < shadows->count; k++) describe(&shadows->shadow[k]);
    count_uses(shadows);
    find_needed(shadows);
    for (int64_t k = 0; k < shadows->count; k++) {
        wk__shadow *t = &shadows->shadow[k];
        t->held = t->observable && t->needed;
        if (t->held) wk__value_hold(t->of);
    }
    return shadows;
}

/* The queue is locked, so the release of borrowed memory is postponed until it is unlocked. */
void wk__shadow_map_free(wk__shadow_map *shadows)
{
    for (int64_t k = 0; k < shadows->count; k++) {
        wk__shadow_free(&shadows->shadow[k]);
        if (shadows->shadow[k].held) wk__value_drop(shadows->shadow[k].of);
    }
    wk__free(shadows->shadow);
    wk__free(shadows);
}

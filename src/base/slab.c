/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs of slots; see slab.h. */
#include "slab.h"
#include "alloc.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Sizes are multiples of a cache line: two threads never share one through neighbouring slots. The owners of the kinds
 * assert that their structs fit. */
static const struct {
    int32_t size, link; /* bytes of a slot; where a free slot keeps the pointer to the next */
    int64_t quarantine; /* free slots that must have gathered before the oldest is used again */
} kinds[WK__SLAB_KINDS] = {
#ifdef WK__NEVER_REUSE_HANDLES
    [WK__SLAB_HANDLE] = {64, 16, INT64_MAX},
#else
    [WK__SLAB_HANDLE] = {64, 16, 4096},
#endif
    [WK__SLAB_BODY] = {256, 0, 0},           [WK__SLAB_STORAGE] = {128, 0, 0},
    [WK__SLAB_VALUE] = {192, 0, 0},          [WK__SLAB_NODE] = {512, 0, 0},
};

pthread_mutex_t wk__slab_lock = PTHREAD_MUTEX_INITIALIZER;
static wk__slab_cache reserve[WK__SLAB_KINDS];

static void *next_of(int kind, const void *slot)
{
    void *next;
    memcpy(&next, (const char *)slot + kinds[kind].link, sizeof next);
    return next;
}

static void set_next(int kind, void *slot, void *next)
{
    memcpy((char *)slot + kinds[kind].link, &next, sizeof next);
}

/* What `from` holds goes to the end of a list. */
static void append(wk__slab_cache *list, int kind, wk__slab_cache *from)
{
    if (from->count == 0) return;
    if (list->count)
        set_next(kind, list->last, from->first);
    else
        list->first = from->first;
    list->last = from->last;
    list->count += from->count;
    from->first = from->last = NULL;
    from->count = 0;
}

/* The first slots of a list, which go out of it: `count`, or all if there are no more. */
static wk__slab_cache split(wk__slab_cache *list, int kind, int64_t count)
{
    wk__slab_cache part = {.first = list->first, .last = list->first, .count = count};
    if (list->count <= count) {
        part.last = list->last;
        part.count = list->count;
        list->first = list->last = NULL;
        list->count = 0;
        return part;
    }
    for (int64_t k = 1; k < count; k++) part.last = next_of(kind, part.last);
    list->first = next_of(kind, part.last);
    list->count -= count;
    set_next(kind, part.last, NULL);
    return part;
}

/* The part of a slab that was never used goes to another list, which has none. */
static void move_fresh(wk__slab_cache *to, wk__slab_cache *from)
{
    to->unused = from->unused;
    to->fresh_end = from->fresh_end;
    from->unused = from->fresh_end = NULL;
}

/* Refills a list that has run out from the reserve, else with a fresh slab. Of the reserve it takes no more than it may
 * keep: what many threads have left would be walked through again and again to share it. */
static bool refill(wk__slab_cache *list, int kind)
{
    pthread_mutex_lock(&wk__slab_lock);
    wk__slab_cache *from = &reserve[kind];
    char *slab = NULL;
    bool found = true;
    if (from->count > kinds[kind].quarantine) {
        wk__slab_cache some = split(from, kind, kinds[kind].quarantine + WK__SLAB_CACHE_MAX / 2);
        append(list, kind, &some);
    } else if (from->unused < from->fresh_end) {
        move_fresh(list, from);
    } else if ((slab = wk__alloc_zero(1, WK__SLAB_BLOCK)) != NULL) {
        list->unused = slab + (-(uintptr_t)slab & 63);
        list->fresh_end = list->unused + WK__SLAB_BYTES / kinds[kind].size * kinds[kind].size;
    } else {
        found = false;
    }
    pthread_mutex_unlock(&wk__slab_lock);
    return found;
}

/* Apart, as wk__slab_spill is. */
static __attribute__((cold, noinline)) void *alloc_after_refill(wk__slab_cache slots[], int kind)
{
    return refill(&slots[kind], kind) ? wk__slab_alloc(slots, kind) : NULL;
}

void *wk__slab_alloc(wk__slab_cache slots[], int kind)
{
    wk__slab_cache *list = &slots[kind];
    void *slot = list->first;
    if (list->count > kinds[kind].quarantine) {
        list->first = next_of(kind, slot);
        __builtin_prefetch(list->first); /* a queue comes round cold */
        list->count--;
        return slot;
    }
    if (list->unused == list->fresh_end) return alloc_after_refill(slots, kind);
    slot = list->unused;
    list->unused += kinds[kind].size;
    return slot;
}

/* To the end of the queue. */
void wk__slab_free_handle(wk__slab_cache slots[], void *slot)
{
    wk__slab_cache *list = &slots[WK__SLAB_HANDLE];
    set_next(WK__SLAB_HANDLE, slot, NULL);
    if (list->count == 0)
        list->first = slot;
    else
        set_next(WK__SLAB_HANDLE, list->last, slot);
    list->last = slot;
    if (++list->count > 2 * WK__SLAB_CACHE_MAX) wk__slab_spill(slots, WK__SLAB_HANDLE);
}

/* Apart: inlined into the call above, which is part of every tensor's end, it makes that twice as long. */
__attribute__((cold, noinline)) void wk__slab_spill(wk__slab_cache slots[], int kind)
{
    wk__slab_cache half = split(&slots[kind], kind, slots[kind].count / 2);
    pthread_mutex_lock(&wk__slab_lock);
    append(&reserve[kind], kind, &half);
    pthread_mutex_unlock(&wk__slab_lock);
}

/* The reserve keeps one part of a slab that was never used as it is; the slots of another are given one by one, which
 * may share some, so the lock is not held meanwhile. */
void wk__slab_drain(wk__slab_cache slots[])
{
    for (int kind = 0; kind < WK__SLAB_KINDS; kind++) {
        wk__slab_cache *list = &slots[kind];
        pthread_mutex_lock(&wk__slab_lock);
        if (reserve[kind].unused == reserve[kind].fresh_end) move_fresh(&reserve[kind], list);
        pthread_mutex_unlock(&wk__slab_lock);
        while (list->unused < list->fresh_end) {
            wk__slab_free(slots, kind, list->unused);
            list->unused += kinds[kind].size;
        }
        pthread_mutex_lock(&wk__slab_lock);
        append(&reserve[kind], kind, list);
        pthread_mutex_unlock(&wk__slab_lock);
        memset(list, 0, sizeof *list);
    }
}

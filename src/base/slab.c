/* SPDX-License-Identifier: Apache-2.0 */
/* Slab allocator; see slab.h. */
#include "slab.h"
#include "alloc.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Sizes are multiples of a cache line, so that threads never share one through adjacent slots. The users of each kind
 * assert that their structs fit. */
static const struct {
    int32_t size, link; /* bytes per slot; offset of the link in a free slot */
    int64_t quarantine; /* minimum length of the free list before its oldest slot is reused */
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

/* Moves all slots of `from` to the end of a list. */
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

/* Removes and returns the first `count` slots of a list, or all if it has fewer. */
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

/* Moves the never-used part of a slab to a list that has none. */
static void move_fresh(wk__slab_cache *to, wk__slab_cache *from)
{
    to->unused = from->unused;
    to->fresh_end = from->fresh_end;
    from->unused = from->fresh_end = NULL;
}

/* Refills an empty list from the reserve, else with a new slab. Takes at most what the list may keep: after many
 * threads have exited, splitting a long reserve repeatedly would traverse it each time. */
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

/* Out of line, like wk__slab_spill(). */
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
        __builtin_prefetch(list->first); /* the oldest slot is not in cache */
        list->count--;
        return slot;
    }
    if (list->unused == list->fresh_end) return alloc_after_refill(slots, kind);
    slot = list->unused;
    list->unused += kinds[kind].size;
    return slot;
}

/* Appends the slot to the FIFO. */
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

/* Out of line: inlined, it would double the code size of wk__slab_free(), which every destroyed tensor executes. */
__attribute__((cold, noinline)) void wk__slab_spill(wk__slab_cache slots[], int kind)
{
    wk__slab_cache half = split(&slots[kind], kind, slots[kind].count / 2);
    pthread_mutex_lock(&wk__slab_lock);
    append(&reserve[kind], kind, &half);
    pthread_mutex_unlock(&wk__slab_lock);
}

/* The reserve stores one never-used part per kind. Further ones are freed slot by slot, which may spill, so the lock is
 * released in between. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of one size, carved from slabs that are never given back. Every context has its own free list per slab kind, so
 * taking and giving a slot touches no lock; lists of a thread that ends go to a shared reserve. */
#ifndef WICK_BASE_SLAB_H
#define WICK_BASE_SLAB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { WK__SLAB_HANDLE, WK__SLAB_BODY, WK__SLAB_STORAGE, WK__SLAB_VALUE, WK__SLAB_NODE, WK__SLAB_KINDS };
enum { WK__SLAB_BYTES = 256 << 10, WK__SLAB_BLOCK = WK__SLAB_BYTES + 64 /* asked for, to align it */ };

/* The free slots of one kind that one context holds. A free slot's word at `link` bytes points to the next free one. */
typedef struct wk__slab_cache {
    void *first, *last;
    int64_t count;
    char *unused, *fresh_end; /* the part of the newest slab that was never used */
} wk__slab_cache;

extern pthread_mutex_t wk__slab_lock; /* of that reserve; held while the process forks: fork.c */

/* A slot, its contents undefined; NULL when memory is short. Slots of WK__SLAB_HANDLE come back in the order in which
 * they were given, and not before 4,096 others were given later (a debug build never reuses them), so that a handle
 * past its scope can be told from a live one; all others come back newest first, while they are warm. A slot that was
 * never used before is zero. */
void *wk__slab_alloc(wk__slab_cache slots[], int kind);
void wk__slab_free_handle(wk__slab_cache slots[], void *slot);
/* Gives half of a list to the reserve: a thread may free what others make. */
enum { WK__SLAB_CACHE_MAX = 8192 };
void wk__slab_spill(wk__slab_cache slots[], int kind);
static inline void wk__slab_free(wk__slab_cache slots[], int kind, void *slot)
{
    wk__slab_cache *list = &slots[kind];
    if (kind == WK__SLAB_HANDLE) {
        wk__slab_free_handle(slots, slot);
        return;
    }
    *(void **)slot = list->first;
    if (!list->first) list->last = slot;
    list->first = slot;
    if (__builtin_expect(++list->count > WK__SLAB_CACHE_MAX, 0)) wk__slab_spill(slots, kind);
}
/* Moves all free slots to the shared reserve (a thread ends). */
void wk__slab_drain(wk__slab_cache slots[]);

#endif

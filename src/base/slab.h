/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size slots, carved from slabs that are never returned to the system. Each context caches free slots per kind,
 * so allocating and freeing need no lock; a thread that exits returns its slots to a shared reserve. */
#ifndef WICK_BASE_SLAB_H
#define WICK_BASE_SLAB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { WK__SLAB_HANDLE, WK__SLAB_BODY, WK__SLAB_STORAGE, WK__SLAB_VALUE, WK__SLAB_NODE, WK__SLAB_KINDS };
enum { WK__SLAB_BYTES = 256 << 10, WK__SLAB_BLOCK = WK__SLAB_BYTES + 64 /* with padding for alignment */ };

/* Free slots of one kind, cached by one context. Each free slot contains the pointer to the next one. */
typedef struct wk__slab_cache {
    void *first, *last;
    int64_t count;
    char *unused, *fresh_end; /* never-used rest of the newest slab */
} wk__slab_cache;

extern pthread_mutex_t wk__slab_lock; /* protects the reserve; locked during fork(), see fork.c */

/* Returns a slot, or NULL on allocation failure. Contents are undefined; never-used slots are zero. Handles are reused
 * FIFO, after at least 4,096 other frees (never in debug builds), so that stale handles are detected. Other kinds are
 * reused LIFO, while they are in cache. */
void *wk__slab_alloc(wk__slab_cache slots[], int kind);
void wk__slab_free_handle(wk__slab_cache slots[], void *slot);
/* Moves half of the cached slots to the reserve, for threads that free what other threads allocate. */
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
/* Moves all cached slots to the reserve when a thread exits. */
void wk__slab_drain(wk__slab_cache slots[]);

#endif

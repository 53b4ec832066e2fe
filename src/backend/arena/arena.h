/* SPDX-License-Identifier: Apache-2.0 */
/* The caching allocator of one device: cuts the backend's memory into pieces, keeps freed ones, gives memory back under
 * pressure. Small pieces come from size classes. Large ones, of more than 2 MB, are cut from ranges where the backend
 * has them (backend.h), best fit and without waste; else each is a block of its own, best fit within 12.5 %. */
#ifndef WICK_BACKEND_ARENA_H
#define WICK_BACKEND_ARENA_H

#include "backend/backend.h"

typedef struct wk__arena wk__arena;

typedef struct wk__arena_stats {
    int64_t live;           /* bytes in pieces that are handed out (rounded up as the arena rounds) */
    int64_t cached;         /* bytes held from the backend and not handed out */
    int64_t peak;           /* greatest live so far */
    int64_t limit;          /* bytes that live + cached may not exceed */
    int64_t allocs, misses; /* pieces asked for; those that needed memory from the backend */
} wk__arena_stats;

/* NULL when memory is short. The arena may be used from several threads; it never calls the backend's functions for
 * blocks and ranges from two at once, but for range_cut. Blocks have to start WK__ALIGN-aligned and to have a handle
 * each. */
wk__arena *wk__arena_new(const wk__backend *backend, void *device, int64_t limit);
/* Gives all memory back, whatever lives there. */
void wk__arena_destroy(wk__arena *arena);

/* A piece of at least `bytes` (0 allowed: a piece of WK__ALIGN bytes) that starts WK__ALIGN-aligned. Short of memory or
 * past the limit: drops its caches and tries once more, then WK_ERR_MEMORY with asked, live, cached, limit in the text.
 */
wk_code wk__arena_alloc(wk__arena *arena, int64_t bytes, wk__memory *piece, wk__fail *fail);
void wk__arena_free(wk__arena *arena, wk__memory *piece);

/* Gives every block and mapping that has no live piece back to the backend. */
void wk__arena_trim(wk__arena *arena);
void wk__arena_stats_of(wk__arena *arena, wk__arena_stats *stats);
void wk__arena_set_limit(wk__arena *arena, int64_t limit);
void wk__arena_reset_peak(wk__arena *arena);
/* Beyond max(256 MB, peak / 4) idle bytes, memory that nobody used for so long is given back; 10,000 at first. A
 * training step frees all it took at its end and takes it again at once, so idle alone is no reason. */
void wk__arena_set_idle_timeout(wk__arena *arena, int64_t milliseconds);

#endif

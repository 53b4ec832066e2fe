/* SPDX-License-Identifier: Apache-2.0 */
/* Caching allocator of one device. It divides memory from the backend, keeps freed allocations, and returns memory
 * under pressure. Small allocations use size classes. Large ones, above 2 MiB, are cut from address ranges if the
 * backend has them (backend.h), by best fit and without waste; otherwise each is a block of its own, by best fit within
 * 12.5 %.
 * Threads: any. Backend functions for blocks and ranges are never called concurrently, except range_carve. */
#ifndef WICK_BACKEND_ARENA_H
#define WICK_BACKEND_ARENA_H

#include "backend/backend.h"

typedef struct wk__arena wk__arena;

typedef struct wk__arena_stats {
    int64_t live;           /* bytes allocated, rounded as the arena rounds */
    int64_t cached;         /* bytes held from the backend but not allocated */
    int64_t peak;           /* maximum of live */
    int64_t limit;          /* bytes; live + cached never exceeds it */
    int64_t allocs, misses; /* allocations; those that required backend memory */
} wk__arena_stats;

/* Creates an arena; NULL on allocation failure. Backend blocks must be WK__ALIGN-aligned, each with a unique handle. */
wk__arena *wk__arena_new(const wk__backend *backend, void *device, int64_t limit);
/* Returns all memory to the backend, even if allocated. */
void wk__arena_destroy(wk__arena *arena);

/* Allocates at least `bytes` (0 counts as 1), WK__ALIGN-aligned. If memory or the limit is exhausted, frees the caches
 * and retries, then fails with WK_ERR_MEMORY and the figures (requested, live, cached, limit). */
wk_code wk__arena_alloc(wk__arena *arena, int64_t bytes, wk__memory *piece, wk__fail *fail);
void wk__arena_free(wk__arena *arena, wk__memory *piece);

/* Returns every block and mapping without a live allocation to the backend. */
void wk__arena_trim(wk__arena *arena);
void wk__arena_stats_of(wk__arena *arena, wk__arena_stats *stats);
void wk__arena_set_limit(wk__arena *arena, int64_t limit);
void wk__arena_reset_peak(wk__arena *arena);
/* Sets how long memory must be idle before it is returned to the backend (default 10,000); only idle bytes above
 * max(256 MiB, peak / 4) are returned. A training step frees all of its memory at the end and allocates it again
 * immediately, so being idle alone is not a reason. */
void wk__arena_set_idle_timeout(wk__arena *arena, int64_t milliseconds);

#endif

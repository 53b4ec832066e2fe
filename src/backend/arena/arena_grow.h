/* SPDX-License-Identifier: Apache-2.0 */
/* Arena internals and calls into the backend.
 *
 * Locks, in order: `grow_lock`, `spinlock`. `spinlock` protects bookkeeping: about 10 ns, microseconds while searching
 * the ranges. `grow_lock` is held across backend calls for blocks and ranges, which may take milliseconds. Functions
 * here require `grow_lock` unless noted. */
#ifndef WICK_BACKEND_ARENA_GROW_H
#define WICK_BACKEND_ARENA_GROW_H

#include <pthread.h>
#include <stdatomic.h>

#include "arena.h"
#include "arena_blocks.h"
#include "arena_range.h"

struct wk__arena {
    _Atomic bool spinlock;
    wk__block_cache cache; /* blocks of small pieces, and of large ones if there are no ranges */
    wk__ranges ranges;     /* large pieces */
    int64_t limit, peak, takes, misses;
    int64_t idle_timeout_ms, next_trim_ms; /* ms */

    pthread_mutex_t grow_lock;
    bool no_ranges; /* the backend or the device does not support ranges */
    const wk__backend *backend;
    void *device;
};

void wk__arena_lock(wk__arena *arena);
void wk__arena_unlock(wk__arena *arena);

/* Return the bytes held from the backend, and those in live allocations. Require `spinlock`, like the next two
 * functions. */
static inline int64_t wk__arena_reserved(const wk__arena *arena)
{
    return arena->cache.held + arena->ranges.held;
}
static inline int64_t wk__arena_live(const wk__arena *arena)
{
    return arena->cache.live + arena->ranges.live;
}
/* Allocates from idle memory; does not require `grow_lock`. */
bool wk__arena_alloc_idle(wk__arena *arena, int64_t size, wk__memory *piece);
/* Like wk__arena_alloc_idle(), but also cuts new small pieces, recycling empty blocks. Requires both locks and reserved
 * bookkeeping memory. */
bool wk__arena_alloc_reserved(wk__arena *arena, int64_t size, wk__memory *piece);

/* Allocates `size` bytes from new backend memory: first with a generous block; then, after returning idle memory, with
 * just enough; finally without rounding. */
wk_code wk__arena_alloc_grow(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail);
/* Returns memory that has been idle for `patience` ms to the backend, until at most `keep` bytes are idle. */
void wk__arena_release_idle(wk__arena *arena, int64_t keep, int64_t patience);
/* Returns all memory, even if allocated, and frees the bookkeeping. */
void wk__arena_release_all(wk__arena *arena);
/* Returns monotonic milliseconds, never 0. */
int64_t wk__arena_now_ms(void);
/* Fails with WK_ERR_MEMORY and the figures. Does not require `grow_lock`. */
wk_code wk__arena_out_of_memory(wk__arena *arena, int64_t bytes, const char *reason, wk__fail *fail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an arena, and what it gets from the backend and gives back to it.
 *
 * Two locks. `spin` guards the books and is held for some ten nanoseconds at a time, for microseconds where memory is
 * looked for that no piece has. `growing` is held over the backend's functions for blocks and ranges, which may take
 * milliseconds; it is taken first. What is declared here wants `growing`, but for the locks. */
#ifndef WICK_BACKEND_ARENA_GROW_H
#define WICK_BACKEND_ARENA_GROW_H

#include <pthread.h>
#include <stdatomic.h>

#include "arena.h"
#include "arena_blocks.h"
#include "arena_range.h"

struct wk__arena {
    _Atomic bool spinlock;
    wk__block_cache cache; /* blocks: of small pieces, and of large ones where there are no ranges */
    wk__ranges ranges;     /* large pieces */
    int64_t limit, peak, takes, misses;
    int64_t idle_timeout_ms, next_trim_ms; /* milliseconds */

    pthread_mutex_t grow_lock;
    bool no_ranges; /* the backend or the device has none */
    const wk__backend *backend;
    void *device;
};

void wk__arena_lock(wk__arena *arena);
void wk__arena_unlock(wk__arena *arena);

/* Bytes from the backend, and of those in pieces that are out. `spin` is held, as for the next two. */
static inline int64_t wk__arena_reserved(const wk__arena *arena)
{
    return arena->cache.held + arena->ranges.held;
}
static inline int64_t wk__arena_live(const wk__arena *arena)
{
    return arena->cache.live + arena->ranges.live;
}
/* A piece from what is held already. */
bool wk__arena_alloc_idle(wk__arena *arena, int64_t size, wk__memory *piece);
/* The same, also from what no piece was cut of yet, or none is left of. `growing` is held, too, and the books have
 * room. */
bool wk__arena_alloc_reserved(wk__arena *arena, int64_t size, wk__memory *piece);

/* A piece of `size` bytes from memory that is taken for it: generously first; then, without the idle memory, just
 * enough; at last without rounding. */
wk_code wk__arena_alloc_grow(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail);
/* Gives idle memory back that was seen idle so many milliseconds ago, until no more than `keep` bytes are idle. */
void wk__arena_release_idle(wk__arena *arena, int64_t keep, int64_t patience);
/* Gives everything back, whatever lives there, and frees the books. */
void wk__arena_release_all(wk__arena *arena);
/* Milliseconds of a clock that never says 0. */
int64_t wk__arena_now_ms(void);
/* WK_ERR_MEMORY, with the figures. Also without `growing`. */
wk_code wk__arena_out_of_memory(wk__arena *arena, int64_t bytes, const char *reason, wk__fail *fail);

#endif

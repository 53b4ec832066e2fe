/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions of the arena. Bookkeeping is in arena_blocks.c and arena_range.c, backend memory in arena_grow.c. */
#include "arena.h"

#include "base/alloc.h"
#include "arena_grow.h"

enum {
    MIN_IDLE_BYTES = 256 << 20,
    IDLE_TIMEOUT_MS = 10000 /* ms: faulting 1 GB in again takes 100 ms, a hundredth of this */
};

/* ---- idle memory ------------------------------------------------------------------------------------------------- */

static int64_t max_idle_bytes(const wk__arena *arena)
{
    return arena->peak / 4 > MIN_IDLE_BYTES ? arena->peak / 4 : MIN_IDLE_BYTES;
}

/* Called when much memory is idle; searches it at most four times per timeout. */
static void trim_idle(wk__arena *arena)
{
    const int64_t now = wk__arena_now_ms();
    pthread_mutex_lock(&arena->grow_lock);
    wk__arena_lock(arena);
    const bool look = now >= arena->next_trim_ms;
    const int64_t keep = max_idle_bytes(arena), patience = arena->idle_timeout_ms;
    if (look) arena->next_trim_ms = now + patience / 4;
    wk__arena_unlock(arena);
    if (look) wk__arena_release_idle(arena, keep, patience);
    pthread_mutex_unlock(&arena->grow_lock);
}

/* ---- allocating and freeing -------------------------------------------------------------------------------------- */

static wk_code alloc_slow_path(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    pthread_mutex_lock(&arena->grow_lock);
    wk__arena_lock(arena);
    bool room = wk__block_cache_reserve(&arena->cache) && (arena->no_ranges || wk__ranges_reserve(&arena->ranges, 0));
    /* another thread may have freed memory or grown the arena */
    bool found = room && wk__arena_alloc_reserved(arena, size, piece);
    wk__arena_unlock(arena);
    wk_code code = WK_OK;
    if (!room) {
        code = wk__arena_out_of_memory(arena, bytes, "out of host memory", fail);
    } else if (!found) {
        code = wk__arena_alloc_grow(arena, bytes, size, piece, fail);
    }
    pthread_mutex_unlock(&arena->grow_lock);
    return code;
}

wk_code wk__arena_alloc(wk__arena *arena, int64_t bytes, wk__memory *piece, wk__fail *fail)
{
    int64_t size = wk__block_cache_round_size(bytes);
    wk__arena_lock(arena);
    arena->takes++;
    bool found = size > 0 && wk__arena_alloc_idle(arena, size, piece);
    wk__arena_unlock(arena);
    if (size < 0) return wk__arena_out_of_memory(arena, bytes, "larger than any device's memory", fail);
    wk_code code = found ? WK_OK : alloc_slow_path(arena, bytes, size, piece, fail);
    if (code == WK_OK && size > WK__LARGE_BYTES && arena->backend->range_carve)
        arena->backend->range_carve(arena->device, piece);
    return code;
}

void wk__arena_free(wk__arena *arena, wk__memory *piece)
{
    wk__arena_lock(arena);
    bool idle = wk__ranges_contain(&arena->ranges, piece) ? wk__ranges_free(&arena->ranges, piece)
                                                          : wk__block_cache_free(&arena->cache, piece);
    bool much = idle && wk__arena_reserved(arena) - wk__arena_live(arena) > max_idle_bytes(arena);
    bool look = much && wk__arena_now_ms() >= arena->next_trim_ms;
    wk__arena_unlock(arena);
    if (look) trim_idle(arena);
}

/* ---- arena ------------------------------------------------------------------------------------------------------- */

wk__arena *wk__arena_new(const wk__backend *backend, void *device, int64_t limit)
{
    wk__arena *arena = wk__alloc_zero(1, sizeof *arena);
    if (!arena) return NULL;
    pthread_mutex_init(&arena->grow_lock, NULL);
    arena->backend = backend;
    arena->device = device;
    arena->limit = limit;
    arena->idle_timeout_ms = IDLE_TIMEOUT_MS;
    arena->no_ranges = !backend->range_reserve;
    if (wk__block_cache_reserve(&arena->cache)) return arena;
    wk__arena_destroy(arena);
    return NULL;
}

void wk__arena_destroy(wk__arena *arena)
{
    if (!arena) return;
    wk__arena_release_all(arena);
    pthread_mutex_destroy(&arena->grow_lock);
    wk__free(arena);
}

void wk__arena_trim(wk__arena *arena)
{
    pthread_mutex_lock(&arena->grow_lock);
    wk__arena_release_idle(arena, 0, 0);
    pthread_mutex_unlock(&arena->grow_lock);
}

void wk__arena_stats_of(wk__arena *arena, wk__arena_stats *stats)
{
    wk__arena_lock(arena);
    *stats = (wk__arena_stats){
        .live = wk__arena_live(arena),
        .cached = wk__arena_reserved(arena) - wk__arena_live(arena),
        .peak = arena->peak,
        .limit = arena->limit,
        .allocs = arena->takes,
        .misses = arena->misses,
    };
    wk__arena_unlock(arena);
}

void wk__arena_set_limit(wk__arena *arena, int64_t limit)
{
    wk__arena_lock(arena);
    arena->limit = limit;
    bool over = wk__arena_reserved(arena) > limit;
    wk__arena_unlock(arena);
    if (over) wk__arena_trim(arena);
}

void wk__arena_reset_peak(wk__arena *arena)
{
    wk__arena_lock(arena);
    arena->peak = wk__arena_live(arena);
    wk__arena_unlock(arena);
}

void wk__arena_set_idle_timeout(wk__arena *arena, int64_t milliseconds)
{
    wk__arena_lock(arena);
    arena->idle_timeout_ms = milliseconds;
    arena->next_trim_ms = 0;
    wk__arena_unlock(arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The caching allocator of one device: what others call. The books are arena_cache.c's and arena_range.c's, the
 * backend's memory is arena_grow.c's. */
#include "arena.h"

#include "../base/alloc.h"
#include "arena_grow.h"

enum {
    IDLE_LEAST = 256 << 20,
    PATIENCE = 10000 /* milliseconds: to fault 1 GB in again takes 100 of them, a hundredth */
};

/* ---- idle memory ------------------------------------------------------------------------------------------------- */

static int64_t idle_allowed(const wk__arena *arena)
{
    return arena->peak / 4 > IDLE_LEAST ? arena->peak / 4 : IDLE_LEAST;
}

/* Called when much is idle. A look at all of it four times in the time of patience is often enough. */
static void drop_unused(wk__arena *arena)
{
    const int64_t now = wk__arena_clock();
    pthread_mutex_lock(&arena->growing);
    wk__arena_lock(arena);
    const bool look = now >= arena->next_look;
    const int64_t keep = idle_allowed(arena), patience = arena->patience;
    if (look) arena->next_look = now + patience / 4;
    wk__arena_unlock(arena);
    if (look) wk__arena_drop(arena, keep, patience);
    pthread_mutex_unlock(&arena->growing);
}

/* ---- taking and giving ------------------------------------------------------------------------------------------- */

static wk_code take_slowly(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    pthread_mutex_lock(&arena->growing);
    wk__arena_lock(arena);
    bool room = wk__cache_reserve(&arena->cache) && (arena->no_ranges || wk__ranges_reserve(&arena->ranges, 0));
    bool found = room && wk__arena_cut_held(arena, size, piece); /* another thread may have given or grown meanwhile */
    wk__arena_unlock(arena);
    wk_code code = WK_OK;
    if (!room) {
        code = wk__arena_out_of_memory(arena, bytes, "host memory is short", fail);
    } else if (!found) {
        code = wk__arena_take_new(arena, bytes, size, piece, fail);
    }
    pthread_mutex_unlock(&arena->growing);
    return code;
}

wk_code wk__arena_take(wk__arena *arena, int64_t bytes, wk__memory *piece, wk__fail *fail)
{
    int64_t size = wk__cache_round(bytes);
    wk__arena_lock(arena);
    arena->takes++;
    bool found = size > 0 && wk__arena_take_held(arena, size, piece);
    wk__arena_unlock(arena);
    if (size < 0) return wk__arena_out_of_memory(arena, bytes, "no device has so much", fail);
    wk_code code = found ? WK_OK : take_slowly(arena, bytes, size, piece, fail);
    if (code == WK_OK && size > WK__LARGE && arena->backend->range_cut) arena->backend->range_cut(arena->device, piece);
    return code;
}

void wk__arena_give(wk__arena *arena, wk__memory *piece)
{
    wk__arena_lock(arena);
    bool idle = wk__ranges_have(&arena->ranges, piece) ? wk__ranges_give(&arena->ranges, piece)
                                                       : wk__cache_give(&arena->cache, piece);
    bool much = idle && wk__arena_held(arena) - wk__arena_live(arena) > idle_allowed(arena);
    bool look = much && wk__arena_clock() >= arena->next_look;
    wk__arena_unlock(arena);
    if (look) drop_unused(arena);
}

/* ---- the rest ------------------------------------------------------------------------------------------------ */

wk__arena *wk__arena_new(const wk__backend *backend, void *device, int64_t limit)
{
    wk__arena *arena = wk__alloc_zero(1, sizeof *arena);
    if (!arena) return NULL;
    pthread_mutex_init(&arena->growing, NULL);
    arena->backend = backend;
    arena->device = device;
    arena->limit = limit;
    arena->patience = PATIENCE;
    arena->no_ranges = !backend->range_take;
    if (wk__cache_reserve(&arena->cache)) return arena;
    wk__arena_free(arena);
    return NULL;
}

void wk__arena_free(wk__arena *arena)
{
    if (!arena) return;
    wk__arena_drop_all(arena);
    pthread_mutex_destroy(&arena->growing);
    wk__free(arena);
}

void wk__arena_trim(wk__arena *arena)
{
    pthread_mutex_lock(&arena->growing);
    wk__arena_drop(arena, 0, 0);
    pthread_mutex_unlock(&arena->growing);
}

void wk__arena_stats_of(wk__arena *arena, wk__arena_stats *stats)
{
    wk__arena_lock(arena);
    *stats = (wk__arena_stats){
        .live = wk__arena_live(arena),
        .cached = wk__arena_held(arena) - wk__arena_live(arena),
        .peak = arena->peak,
        .limit = arena->limit,
        .takes = arena->takes,
        .misses = arena->misses,
    };
    wk__arena_unlock(arena);
}

void wk__arena_set_limit(wk__arena *arena, int64_t limit)
{
    wk__arena_lock(arena);
    arena->limit = limit;
    bool over = wk__arena_held(arena) > limit;
    wk__arena_unlock(arena);
    if (over) wk__arena_trim(arena);
}

void wk__arena_reset_peak(wk__arena *arena)
{
    wk__arena_lock(arena);
    arena->peak = wk__arena_live(arena);
    wk__arena_unlock(arena);
}

void wk__arena_set_patience(wk__arena *arena, int64_t milliseconds)
{
    wk__arena_lock(arena);
    arena->patience = milliseconds;
    arena->next_look = 0;
    wk__arena_unlock(arena);
}

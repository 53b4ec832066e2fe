/* SPDX-License-Identifier: Apache-2.0 */
/* The caching allocator of one device: locks, growth, limit and giving back. The books are arena_cache.c's.
 *
 * Two locks. `spin` guards the books and is held for some ten nanoseconds at a time. `growing` is held over the
 * backend's block functions, which may take milliseconds; it is taken first. */
#include "arena.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "../base/alloc.h"
#include "../base/text.h"
#include "arena_cache.h"

enum {
    BLOCK_LEAST = 2 << 20, /* a huge page */
    BLOCK_MOST = 16 << 20,
    PIECES_IN_BLOCK = 8, /* of the greatest classes: what does not fit at the end of a block is waste */
    IDLE_LEAST = 256 << 20,
    PATIENCE = 10000 /* milliseconds: to fault 1 GB in again takes 100 of them, a hundredth */
};

struct wk__arena {
    _Atomic bool spin;
    wk__cache cache;
    int64_t limit, peak, takes, misses;
    int64_t patience, next_look; /* milliseconds */

    pthread_mutex_t growing;
    const wk__backend *backend;
    void *device;
};

/* ---- locks --------------------------------------------------------------------------------------------------- */

static void lock(wk__arena *arena)
{
    int looks = 0;
    while (atomic_exchange_explicit(&arena->spin, true, memory_order_acquire)) {
        while (atomic_load_explicit(&arena->spin, memory_order_relaxed)) {
            if (++looks % 64 == 0) sched_yield(); /* the holder may have lost its CPU */
        }
    }
}

static void unlock(wk__arena *arena)
{
    atomic_store_explicit(&arena->spin, false, memory_order_release);
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

static int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1; /* never 0 */
}

/* Gives a list of blocks that are out of the books back. `growing` is held. */
static void give_back(wk__arena *arena, wk__block *list)
{
    while (list) {
        wk__block *next = list->next;
        arena->backend->block_give(arena->device, &list->memory);
        wk__free(list);
        list = next;
    }
}

/* `growing` is held. */
static void drop_idle(wk__arena *arena)
{
    lock(arena);
    wk__block *dropped = wk__cache_drop(&arena->cache, 0, clock_now(), INT64_MAX);
    unlock(arena);
    give_back(arena, dropped);
}

static int64_t idle_allowed(const wk__arena *arena)
{
    return arena->peak / 4 > IDLE_LEAST ? arena->peak / 4 : IDLE_LEAST;
}

/* Called when much is idle. A look at all blocks four times in the time of patience is often enough. */
static void drop_unused(wk__arena *arena)
{
    int64_t now = clock_now();
    pthread_mutex_lock(&arena->growing);
    lock(arena);
    wk__block *dropped = NULL;
    if (now >= arena->next_look) {
        arena->next_look = now + arena->patience / 4;
        dropped = wk__cache_drop(&arena->cache, idle_allowed(arena), now, now - arena->patience);
    }
    unlock(arena);
    give_back(arena, dropped);
    pthread_mutex_unlock(&arena->growing);
}

/* ---- words --------------------------------------------------------------------------------------------------- */

static wk_code out_of_memory(wk__arena *arena, int64_t bytes, const char *reason, wk__fail *fail)
{
    char asked[WK__BYTES_TEXT], live[WK__BYTES_TEXT], cached[WK__BYTES_TEXT], limit[WK__BYTES_TEXT];
    wk__arena_stats now;
    wk__arena_stats_of(arena, &now);
    return wk__fail_set(fail, WK_ERR_MEMORY, "asked for %s, live %s, cached %s, limit %s (%s)",
                        wk__bytes_text(asked, bytes), wk__bytes_text(live, now.live),
                        wk__bytes_text(cached, now.cached),
                        now.limit == INT64_MAX ? "none" : wk__bytes_text(limit, now.limit), reason);
}

/* ---- taking -------------------------------------------------------------------------------------------------- */

/* A piece from what is held already. `spin` is held. */
static bool take_held(wk__arena *arena, int64_t size, wk__memory *piece)
{
    if (size > arena->limit - arena->cache.live || !wk__cache_take(&arena->cache, size, piece)) return false;
    if (arena->cache.live > arena->peak) arena->peak = arena->cache.live;
    return true;
}

/* The same, also from what no piece was cut of yet, or none is left of. Both locks are held and the books have room. */
static bool cut_held(wk__arena *arena, int64_t size, wk__memory *piece)
{
    wk__cache *cache = &arena->cache;
    if (take_held(arena, size, piece)) return true;
    if (size > WK__LARGE || size > arena->limit - cache->live)
        return false; /* a limit may have come later than a block */
    if (!wk__cache_cut(cache, size, piece)) {
        wk__cache_recycle(cache);
        if (!wk__cache_cut(cache, size, piece)) return false;
    }
    if (cache->live > arena->peak) arena->peak = cache->live;
    return true;
}

/* What a new block and the piece from it shall measure. */
typedef struct plan {
    int64_t block, piece;
} plan;

/* Takes a block and a piece of it. `growing` is held. */
static wk_code take_block(wk__arena *arena, plan wanted, wk__memory *piece, wk__fail *fail)
{
    wk__block *block = wk__alloc_zero(1, sizeof *block);
    if (!block) return wk__fail_set(fail, WK_ERR_MEMORY, "host memory is short");
    block->bytes = wanted.block;
    block->large = wanted.piece > WK__LARGE;
    lock(arena);
    bool fits = wanted.block <= arena->limit - arena->cache.held; /* only we make it grow */
    unlock(arena);
    wk_code code = fits ? arena->backend->block_take(arena->device, wanted.block, &block->memory, fail)
                        : wk__fail_set(fail, WK_ERR_MEMORY, "past the limit");
    if (code != WK_OK) {
        wk__free(block);
        return code;
    }
    lock(arena); /* once for both, so that nobody else takes what we came for */
    wk__cache_add(&arena->cache, block);
    arena->misses++;
    cut_held(arena, wanted.piece, piece);
    unlock(arena);
    return WK_OK;
}

/* Room for some pieces, so that what does not fit at the end of the block is little; more for a program that has much
 * already; no more than a huge page where the limit is near. */
static int64_t roomy_block(wk__arena *arena, int64_t size)
{
    lock(arena);
    int64_t share = arena->cache.small_held / 8, left = arena->limit - arena->cache.held;
    unlock(arena);
    int64_t bytes = size * PIECES_IN_BLOCK;
    if (bytes < share) bytes = share;
    if (bytes > BLOCK_MOST) bytes = BLOCK_MOST;
    bytes = (bytes + BLOCK_LEAST - 1) / BLOCK_LEAST * BLOCK_LEAST;
    return bytes <= left ? bytes : BLOCK_LEAST;
}

/* A generous block first; then, without our caches, one that is just enough; at last without rounding. */
static wk_code take_new(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    bool large = size > WK__LARGE;
    int64_t exact = large ? (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN : size;
    plan generous = {large ? size : roomy_block(arena, size), size};
    plan enough = {large ? size : BLOCK_LEAST, size};
    plan least = {exact, exact};

    wk_code code = take_block(arena, generous, piece, fail);
    if (code == WK_ERR_MEMORY) {
        drop_idle(arena);
        code = take_block(arena, enough, piece, fail);
    }
    if (code == WK_ERR_MEMORY && exact < enough.block) code = take_block(arena, least, piece, fail);
    if (code != WK_ERR_MEMORY) return code;
    char reason[sizeof fail->text];
    snprintf(reason, sizeof reason, "%s", fail->text);
    return out_of_memory(arena, bytes, reason, fail);
}

static wk_code take_slowly(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    pthread_mutex_lock(&arena->growing);
    lock(arena);
    bool room = wk__cache_reserve(&arena->cache);
    bool found = room && cut_held(arena, size, piece); /* another thread may have given or grown meanwhile */
    unlock(arena);
    wk_code code = WK_OK;
    if (!room) {
        code = out_of_memory(arena, bytes, "host memory is short", fail);
    } else if (!found) {
        code = take_new(arena, bytes, size, piece, fail);
    }
    pthread_mutex_unlock(&arena->growing);
    return code;
}

wk_code wk__arena_take(wk__arena *arena, int64_t bytes, wk__memory *piece, wk__fail *fail)
{
    int64_t size = wk__cache_round(bytes);
    lock(arena);
    arena->takes++;
    bool found = size > 0 && take_held(arena, size, piece);
    unlock(arena);
    if (found) return WK_OK;
    if (size < 0) return out_of_memory(arena, bytes, "no device has so much", fail);
    return take_slowly(arena, bytes, size, piece, fail);
}

void wk__arena_give(wk__arena *arena, wk__memory *piece)
{
    lock(arena);
    bool idle_block = wk__cache_give(&arena->cache, piece);
    bool much = idle_block && arena->cache.held - arena->cache.live > idle_allowed(arena);
    bool look = much && clock_now() >= arena->next_look;
    unlock(arena);
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
    if (wk__cache_reserve(&arena->cache)) return arena;
    wk__arena_free(arena);
    return NULL;
}

void wk__arena_free(wk__arena *arena)
{
    if (!arena) return;
    give_back(arena, wk__cache_end(&arena->cache));
    pthread_mutex_destroy(&arena->growing);
    wk__free(arena);
}

void wk__arena_trim(wk__arena *arena)
{
    pthread_mutex_lock(&arena->growing);
    drop_idle(arena);
    pthread_mutex_unlock(&arena->growing);
}

void wk__arena_stats_of(wk__arena *arena, wk__arena_stats *stats)
{
    lock(arena);
    *stats = (wk__arena_stats){
        .live = arena->cache.live,
        .cached = arena->cache.held - arena->cache.live,
        .peak = arena->peak,
        .limit = arena->limit,
        .takes = arena->takes,
        .misses = arena->misses,
    };
    unlock(arena);
}

void wk__arena_set_limit(wk__arena *arena, int64_t limit)
{
    lock(arena);
    arena->limit = limit;
    bool over = arena->cache.held > limit;
    unlock(arena);
    if (over) wk__arena_trim(arena);
}

void wk__arena_reset_peak(wk__arena *arena)
{
    lock(arena);
    arena->peak = arena->cache.live;
    unlock(arena);
}

void wk__arena_set_patience(wk__arena *arena, int64_t milliseconds)
{
    lock(arena);
    arena->patience = milliseconds;
    arena->next_look = 0;
    unlock(arena);
}

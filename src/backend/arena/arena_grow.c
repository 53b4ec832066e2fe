/* SPDX-License-Identifier: Apache-2.0 */
/* Growth and shrinkage of the arena by backend blocks and ranges; see arena_grow.h for the locks. */
#include "arena_grow.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
    MIN_BLOCK = 2 << 20, /* one huge page */
    MAX_BLOCK = 16 << 20,
    PIECES_IN_BLOCK = 8, /* largest class: bounds the waste at the end of a block */
};
_Static_assert(WK__LARGE_BYTES % WK__RANGE_PAGE == 0, "large pieces are whole units of a range");

/* ---- locks and clock --------------------------------------------------------------------------------------------- */

void wk__arena_lock(wk__arena *arena)
{
    int looks = 0;
    while (atomic_exchange_explicit(&arena->spinlock, true, memory_order_acquire)) {
        while (atomic_load_explicit(&arena->spinlock, memory_order_relaxed)) {
            if (++looks % 64 == 0) sched_yield(); /* the holder may have been preempted */
        }
    }
}

void wk__arena_unlock(wk__arena *arena)
{
    atomic_store_explicit(&arena->spinlock, false, memory_order_release);
}

int64_t wk__arena_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1; /* never 0 */
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Appends the memory used by other processes if it exceeds a sixteenth of the device's. */
static void append_others(const wk__arena *arena, int64_t held, char *to, size_t room)
{
    wk__memory_usage usage = {0};
    char others[WK__FORMAT_BYTES_SIZE], total[WK__FORMAT_BYTES_SIZE];
    if (arena->backend->usage) arena->backend->usage(arena->device, &usage);
    const int64_t by_others = usage.used - usage.context - usage.library - held;
    to[0] = '\0';
    if (by_others > usage.total / 16)
        snprintf(to, room, ", other processes use %s of the device's %s", wk__format_bytes(others, by_others),
                 wk__format_bytes(total, usage.total));
}

wk_code wk__arena_out_of_memory(wk__arena *arena, int64_t bytes, const char *reason, wk__fail *fail)
{
    char asked[WK__FORMAT_BYTES_SIZE], live[WK__FORMAT_BYTES_SIZE], cached[WK__FORMAT_BYTES_SIZE],
        limit[WK__FORMAT_BYTES_SIZE];
    char others[3 * WK__FORMAT_BYTES_SIZE];
    wk__arena_stats now;
    wk__arena_stats_of(arena, &now);
    append_others(arena, now.live + now.cached, others, sizeof others);
    return wk__fail_set(fail, WK_ERR_MEMORY, "requested %s, live %s, cached %s, limit %s%s (%s)",
                        wk__format_bytes(asked, bytes), wk__format_bytes(live, now.live),
                        wk__format_bytes(cached, now.cached),
                        now.limit == INT64_MAX ? "none" : wk__format_bytes(limit, now.limit), others, reason);
}

/* ---- returning memory -------------------------------------------------------------------------------------------- */

/* Frees a list of blocks that are no longer in the bookkeeping. */
static void free_blocks(wk__arena *arena, wk__block *list)
{
    while (list) {
        wk__block *next = list->next;
        arena->backend->block_free(arena->device, &list->memory);
        wk__free(list);
        list = next;
    }
}

static wk_code unmap(wk__arena *arena, const wk__range_span *run)
{
    wk__fail fail;
    return arena->backend->range_unmap(arena->device, &run->range->memory, wk__range_part_offset(run),
                                       wk__range_part_bytes(run), &fail);
}

/* Memory that could not be unmapped becomes idle again. */
static void drop_mappings(wk__arena *arena, int64_t keep, int64_t now, int64_t before)
{
    wk__arena_lock(arena);
    wk__range_span run = {.range = arena->ranges.first};
    while (wk__ranges_claim_idle(&arena->ranges, &run, keep, now, before)) {
        wk__arena_unlock(arena);
        const wk_code code = unmap(arena, &run);
        wk__arena_lock(arena);
        if (code == WK_OK) {
            wk__ranges_note_unmapped(&arena->ranges, &run);
        } else {
            wk__ranges_rollback(&arena->ranges, &run);
        }
    }
    wk__arena_unlock(arena);
}

void wk__arena_release_idle(wk__arena *arena, int64_t keep, int64_t patience)
{
    const int64_t now = wk__arena_now_ms(), before = now - patience;
    wk__arena_lock(arena);
    const int64_t in_ranges = arena->ranges.held - arena->ranges.live;
    wk__block *dropped = wk__block_cache_evict(&arena->cache, keep - in_ranges, now, before);
    const int64_t in_blocks = arena->cache.held - arena->cache.live;
    wk__arena_unlock(arena);
    free_blocks(arena, dropped);
    drop_mappings(arena, keep - in_blocks, now, before);
}

void wk__arena_release_all(wk__arena *arena)
{
    free_blocks(arena, wk__block_cache_destroy(&arena->cache));
    for (wk__range *range = arena->ranges.first; range; range = range->next) {
        const wk__range_span whole = {range, 0, range->units};
        wk__range_span part = {.range = range};
        while (wk__range_part_next(&whole, true, &part)) unmap(arena, &part);
        arena->backend->range_release(arena->device, &range->memory);
    }
    wk__ranges_destroy(&arena->ranges);
}

/* ---- memory already held ----------------------------------------------------------------------------------------- */

static bool within_limit(const wk__arena *arena, int64_t size)
{
    return size <= arena->limit - wk__arena_live(arena);
}

static void note_peak(wk__arena *arena)
{
    if (wk__arena_live(arena) > arena->peak) arena->peak = wk__arena_live(arena);
}

bool wk__arena_alloc_idle(wk__arena *arena, int64_t size, wk__memory *piece)
{
    if (!within_limit(arena, size)) return false;
    const bool found = wk__block_cache_alloc(&arena->cache, size, piece) ||
                       (size > WK__LARGE_BYTES && wk__ranges_alloc(&arena->ranges, size, piece));
    if (found) note_peak(arena);
    return found;
}

bool wk__arena_alloc_reserved(wk__arena *arena, int64_t size, wk__memory *piece)
{
    wk__block_cache *cache = &arena->cache;
    if (wk__arena_alloc_idle(arena, size, piece)) return true;
    if (size > WK__LARGE_BYTES || !within_limit(arena, size))
        return false; /* the limit may have been lowered since the block was added */
    if (!wk__block_cache_carve(cache, size, piece)) {
        wk__block_cache_reset_empty(cache);
        if (!wk__block_cache_carve(cache, size, piece)) return false;
    }
    note_peak(arena);
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Sizes of a new block and of the allocation in it. */
typedef struct alloc_sizes {
    int64_t block, piece;
} alloc_sizes;

/* Allocates a block and cuts an allocation from it. */
static wk_code alloc_from_new_block(wk__arena *arena, alloc_sizes wanted, wk__memory *piece, wk__fail *fail)
{
    wk__block *block = wk__alloc_zero(1, sizeof *block);
    if (!block) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    block->bytes = wanted.block;
    block->large = wanted.piece > WK__LARGE_BYTES;
    wk__arena_lock(arena);
    /* only the holder of grow_lock increases it */
    bool fits = wanted.block <= arena->limit - wk__arena_reserved(arena);
    wk__arena_unlock(arena);
    wk_code code = fits ? arena->backend->block_alloc(arena->device, wanted.block, &block->memory, fail)
                        : wk__fail_set(fail, WK_ERR_MEMORY, "limit exceeded");
    if (code != WK_OK) {
        wk__free(block);
        return code;
    }
    wk__arena_lock(arena); /* one critical section, so that no other thread takes the new memory */
    wk__block_cache_add(&arena->cache, block);
    arena->misses++;
    const bool cut = wk__arena_alloc_reserved(arena, wanted.piece, piece);
    wk__arena_unlock(arena);
    return cut ? WK_OK : wk__fail_set(fail, WK_ERR_MEMORY, "limit exceeded"); /* the limit was lowered concurrently */
}

/* Several pieces per block, so that little is wasted at its end; more for a program that already holds much; one huge
 * page if the limit is near. */
static int64_t generous_block_size(wk__arena *arena, int64_t size)
{
    wk__arena_lock(arena);
    int64_t share = arena->cache.small_held / 8, left = arena->limit - wk__arena_reserved(arena);
    wk__arena_unlock(arena);
    int64_t bytes = size * PIECES_IN_BLOCK;
    if (bytes < share) bytes = share;
    if (bytes > MAX_BLOCK) bytes = MAX_BLOCK;
    bytes = (bytes + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
    return bytes <= left ? bytes : MIN_BLOCK;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Finds and claims a part; run->range is NULL if no range has one of that length. */
static wk_code claim_span(wk__arena *arena, int64_t size, wk__range_span *run, wk__fail *fail)
{
    int64_t missing;
    const char *why = NULL;
    wk__arena_lock(arena);
    if (wk__ranges_find_span(&arena->ranges, size, run, &missing)) {
        if (missing * WK__RANGE_PAGE > arena->limit - wk__arena_reserved(arena) || !within_limit(arena, size)) {
            why = "limit exceeded";
        } else if (!wk__ranges_reserve(&arena->ranges, missing)) {
            why = "out of host memory";
        } else {
            wk__ranges_claim(&arena->ranges, run, missing);
        }
    }
    wk__arena_unlock(arena);
    return why ? wk__fail_set(fail, WK_ERR_MEMORY, "%s", why) : WK_OK;
}

static wk_code add_range(wk__arena *arena, int64_t size, wk__fail *fail)
{
    wk__memory memory;
    wk_code code = arena->backend->range_reserve(arena->device, size, &memory, fail);
    if (code != WK_OK) return code;
    wk__arena_lock(arena);
    const bool added = wk__ranges_add(&arena->ranges, &memory);
    wk__arena_unlock(arena);
    if (added) return WK_OK;
    arena->backend->range_release(arena->device, &memory);
    return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
}

/* Maps all unmapped parts of the run. Parts mapped before a failure stay mapped. */
static wk_code map_span(wk__arena *arena, const wk__range_span *run, wk__fail *fail)
{
    const wk__memory *memory = &run->range->memory;
    wk__range_span part = {run->range, run->first, 0};
    wk_code code = WK_OK;
    /* read without the lock: nothing else changes a claimed run */
    while (code == WK_OK && wk__range_part_next(run, false, &part)) {
        code = arena->backend->range_map(arena->device, memory, wk__range_part_offset(&part),
                                         wk__range_part_bytes(&part), fail);
        if (code != WK_OK) break;
        wk__arena_lock(arena);
        wk__ranges_note_mapped(&arena->ranges, &part);
        wk__arena_unlock(arena);
    }
    return code;
}

/* Allocates from a range, mapping what is missing. */
static wk_code alloc_from_range(wk__arena *arena, int64_t size, wk__memory *piece, wk__fail *fail)
{
    wk__range_span run;
    wk_code code = claim_span(arena, size, &run, fail);
    if (code == WK_OK && !run.range) {
        code = add_range(arena, size, fail);
        if (code == WK_OK) code = claim_span(arena, size, &run, fail);
    }
    if (code != WK_OK) return code;
    code = map_span(arena, &run, fail);
    wk__arena_lock(arena);
    if (code == WK_OK) {
        wk__ranges_commit(&arena->ranges, &run, piece);
        arena->misses++;
        note_peak(arena);
    } else {
        wk__ranges_rollback(&arena->ranges, &run);
    }
    wk__arena_unlock(arena);
    return code;
}

/* ---- allocations from new memory --------------------------------------------------------------------------------- */

/* Large allocations come from ranges if supported, unless their size is not a multiple of the unit. */
static wk_code try_alloc(wk__arena *arena, alloc_sizes wanted, wk__memory *piece, wk__fail *fail)
{
    if (wanted.piece > WK__LARGE_BYTES && wanted.piece % WK__RANGE_PAGE == 0 && !arena->no_ranges) {
        const wk_code code = alloc_from_range(arena, wanted.piece, piece, fail);
        if (code != WK_ERR_UNSUPPORTED) return code;
        arena->no_ranges = true;
    }
    return alloc_from_new_block(arena, wanted, piece, fail);
}

wk_code wk__arena_alloc_grow(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    bool large = size > WK__LARGE_BYTES;
    int64_t exact = large ? (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN : size;
    alloc_sizes generous = {large ? size : generous_block_size(arena, size), size};
    alloc_sizes enough = {large ? size : MIN_BLOCK, size};
    alloc_sizes least = {exact, exact};

    wk_code code = try_alloc(arena, generous, piece, fail);
    if (code == WK_ERR_MEMORY) {
        wk__arena_release_idle(arena, 0, 0);
        code = try_alloc(arena, enough, piece, fail);
    }
    if (code == WK_ERR_MEMORY && exact < enough.block) code = try_alloc(arena, least, piece, fail);
    if (code != WK_ERR_MEMORY) return code;
    char reason[sizeof fail->text];
    snprintf(reason, sizeof reason, "%s", fail->text);
    return wk__arena_out_of_memory(arena, bytes, reason, fail);
}

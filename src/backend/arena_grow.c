/* SPDX-License-Identifier: Apache-2.0 */
/* What the arena gets from the backend and gives back to it: blocks, ranges and their memory; arena_grow.h has the
 * rules of its locks. */
#include "arena_grow.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "../base/alloc.h"
#include "../base/text.h"

enum {
    BLOCK_LEAST = 2 << 20, /* a huge page */
    BLOCK_MOST = 16 << 20,
    PIECES_IN_BLOCK = 8, /* of the greatest classes: what does not fit at the end of a block is waste */
};
_Static_assert(WK__LARGE % WK__RANGE_UNIT == 0, "large pieces are whole units of a range");

/* ---- locks and clock --------------------------------------------------------------------------------------------- */

void wk__arena_lock(wk__arena *arena)
{
    int looks = 0;
    while (atomic_exchange_explicit(&arena->spin, true, memory_order_acquire)) {
        while (atomic_load_explicit(&arena->spin, memory_order_relaxed)) {
            if (++looks % 64 == 0) sched_yield(); /* the holder may have lost its CPU */
        }
    }
}

void wk__arena_unlock(wk__arena *arena)
{
    atomic_store_explicit(&arena->spin, false, memory_order_release);
}

int64_t wk__arena_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1; /* never 0 */
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Who else uses the device's memory is worth a word where it is much: a sixteenth of it. */
static void add_others(const wk__arena *arena, int64_t held, char *to, size_t room)
{
    wk__memory_usage usage = {0};
    char others[WK__BYTES_TEXT], total[WK__BYTES_TEXT];
    if (arena->backend->usage) arena->backend->usage(arena->device, &usage);
    const int64_t by_others = usage.used - usage.context - usage.library - held;
    to[0] = '\0';
    if (by_others > usage.total / 16)
        snprintf(to, room, ", others use %s of the device's %s", wk__bytes_text(others, by_others),
                 wk__bytes_text(total, usage.total));
}

wk_code wk__arena_out_of_memory(wk__arena *arena, int64_t bytes, const char *reason, wk__fail *fail)
{
    char asked[WK__BYTES_TEXT], live[WK__BYTES_TEXT], cached[WK__BYTES_TEXT], limit[WK__BYTES_TEXT];
    char others[3 * WK__BYTES_TEXT];
    wk__arena_stats now;
    wk__arena_stats_of(arena, &now);
    add_others(arena, now.live + now.cached, others, sizeof others);
    return wk__fail_set(fail, WK_ERR_MEMORY, "asked for %s, live %s, cached %s, limit %s%s (%s)",
                        wk__bytes_text(asked, bytes), wk__bytes_text(live, now.live),
                        wk__bytes_text(cached, now.cached),
                        now.limit == INT64_MAX ? "none" : wk__bytes_text(limit, now.limit), others, reason);
}

/* ---- giving back ------------------------------------------------------------------------------------------------- */

/* Gives a list of blocks that are out of the books back. */
static void give_blocks(wk__arena *arena, wk__block *list)
{
    while (list) {
        wk__block *next = list->next;
        arena->backend->block_give(arena->device, &list->memory);
        wk__free(list);
        list = next;
    }
}

static wk_code unmap(wk__arena *arena, const wk__range_part *run)
{
    wk__fail fail;
    return arena->backend->range_unmap(arena->device, &run->range->memory, wk__range_part_offset(run),
                                       wk__range_part_bytes(run), &fail);
}

/* What could not be unmapped stays, as idle as it was. */
static void drop_mappings(wk__arena *arena, int64_t keep, int64_t now, int64_t before)
{
    wk__arena_lock(arena);
    wk__range_part run = {.range = arena->ranges.first};
    while (wk__ranges_drop(&arena->ranges, &run, keep, now, before)) {
        wk__arena_unlock(arena);
        const wk_code code = unmap(arena, &run);
        wk__arena_lock(arena);
        if (code == WK_OK) {
            wk__ranges_emptied(&arena->ranges, &run);
        } else {
            wk__ranges_unclaim(&arena->ranges, &run);
        }
    }
    wk__arena_unlock(arena);
}

void wk__arena_drop(wk__arena *arena, int64_t keep, int64_t patience)
{
    const int64_t now = wk__arena_clock(), before = now - patience;
    wk__arena_lock(arena);
    const int64_t in_ranges = arena->ranges.held - arena->ranges.live;
    wk__block *dropped = wk__cache_drop(&arena->cache, keep - in_ranges, now, before);
    const int64_t in_blocks = arena->cache.held - arena->cache.live;
    wk__arena_unlock(arena);
    give_blocks(arena, dropped);
    drop_mappings(arena, keep - in_blocks, now, before);
}

void wk__arena_drop_all(wk__arena *arena)
{
    give_blocks(arena, wk__cache_end(&arena->cache));
    for (wk__range *range = arena->ranges.first; range; range = range->next) {
        const wk__range_part whole = {range, 0, range->units};
        wk__range_part part = {.range = range};
        while (wk__range_part_next(&whole, true, &part)) unmap(arena, &part);
        arena->backend->range_give(arena->device, &range->memory);
    }
    wk__ranges_end(&arena->ranges);
}

/* ---- what is held already ---------------------------------------------------------------------------------------- */

static bool within_limit(const wk__arena *arena, int64_t size)
{
    return size <= arena->limit - wk__arena_live(arena);
}

static void note_peak(wk__arena *arena)
{
    if (wk__arena_live(arena) > arena->peak) arena->peak = wk__arena_live(arena);
}

bool wk__arena_take_held(wk__arena *arena, int64_t size, wk__memory *piece)
{
    if (!within_limit(arena, size)) return false;
    const bool found = wk__cache_take(&arena->cache, size, piece) ||
                       (size > WK__LARGE && wk__ranges_take(&arena->ranges, size, piece));
    if (found) note_peak(arena);
    return found;
}

bool wk__arena_cut_held(wk__arena *arena, int64_t size, wk__memory *piece)
{
    wk__cache *cache = &arena->cache;
    if (wk__arena_take_held(arena, size, piece)) return true;
    if (size > WK__LARGE || !within_limit(arena, size)) return false; /* a limit may have come later than a block */
    if (!wk__cache_cut(cache, size, piece)) {
        wk__cache_recycle(cache);
        if (!wk__cache_cut(cache, size, piece)) return false;
    }
    note_peak(arena);
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* What a new block and the piece from it shall measure. */
typedef struct plan {
    int64_t block, piece;
} plan;

/* Takes a block and a piece of it. */
static wk_code take_block(wk__arena *arena, plan wanted, wk__memory *piece, wk__fail *fail)
{
    wk__block *block = wk__alloc_zero(1, sizeof *block);
    if (!block) return wk__fail_set(fail, WK_ERR_MEMORY, "host memory is short");
    block->bytes = wanted.block;
    block->large = wanted.piece > WK__LARGE;
    wk__arena_lock(arena);
    bool fits = wanted.block <= arena->limit - wk__arena_held(arena); /* only we make it grow */
    wk__arena_unlock(arena);
    wk_code code = fits ? arena->backend->block_take(arena->device, wanted.block, &block->memory, fail)
                        : wk__fail_set(fail, WK_ERR_MEMORY, "past the limit");
    if (code != WK_OK) {
        wk__free(block);
        return code;
    }
    wk__arena_lock(arena); /* once for both, so that nobody else takes what we came for */
    wk__cache_add(&arena->cache, block);
    arena->misses++;
    const bool cut = wk__arena_cut_held(arena, wanted.piece, piece);
    wk__arena_unlock(arena);
    return cut ? WK_OK : wk__fail_set(fail, WK_ERR_MEMORY, "past the limit"); /* which has been lowered meanwhile */
}

/* Room for some pieces, so that what does not fit at the end of the block is little; more for a program that has much
 * already; no more than a huge page where the limit is near. */
static int64_t roomy_block(wk__arena *arena, int64_t size)
{
    wk__arena_lock(arena);
    int64_t share = arena->cache.small_held / 8, left = arena->limit - wk__arena_held(arena);
    wk__arena_unlock(arena);
    int64_t bytes = size * PIECES_IN_BLOCK;
    if (bytes < share) bytes = share;
    if (bytes > BLOCK_MOST) bytes = BLOCK_MOST;
    bytes = (bytes + BLOCK_LEAST - 1) / BLOCK_LEAST * BLOCK_LEAST;
    return bytes <= left ? bytes : BLOCK_LEAST;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Plans and claims. NULL in run->range: no range has a part that long. */
static wk_code claim(wk__arena *arena, int64_t size, wk__range_part *run, wk__fail *fail)
{
    int64_t missing;
    const char *why = NULL;
    wk__arena_lock(arena);
    if (wk__ranges_plan(&arena->ranges, size, run, &missing)) {
        if (missing * WK__RANGE_UNIT > arena->limit - wk__arena_held(arena) || !within_limit(arena, size)) {
            why = "past the limit";
        } else if (!wk__ranges_reserve(&arena->ranges, missing)) {
            why = "host memory is short";
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
    wk_code code = arena->backend->range_take(arena->device, size, &memory, fail);
    if (code != WK_OK) return code;
    wk__arena_lock(arena);
    const bool added = wk__ranges_add(&arena->ranges, &memory);
    wk__arena_unlock(arena);
    if (added) return WK_OK;
    arena->backend->range_give(arena->device, &memory);
    return wk__fail_set(fail, WK_ERR_MEMORY, "host memory is short");
}

/* Memory for all of the run that has none. What has got some keeps it when the rest fails. */
static wk_code fill(wk__arena *arena, const wk__range_part *run, wk__fail *fail)
{
    const wk__memory *memory = &run->range->memory;
    wk__range_part part = {run->range, run->first, 0};
    wk_code code = WK_OK;
    while (code == WK_OK && wk__range_part_next(run, false, &part)) { /* of a claimed run nobody else changes that */
        code = arena->backend->range_map(arena->device, memory, wk__range_part_offset(&part),
                                         wk__range_part_bytes(&part), fail);
        if (code != WK_OK) break;
        wk__arena_lock(arena);
        wk__ranges_filled(&arena->ranges, &part);
        wk__arena_unlock(arena);
    }
    return code;
}

/* A piece of a range, for which memory is mapped as far as there is none. */
static wk_code take_run(wk__arena *arena, int64_t size, wk__memory *piece, wk__fail *fail)
{
    wk__range_part run;
    wk_code code = claim(arena, size, &run, fail);
    if (code == WK_OK && !run.range) {
        code = add_range(arena, size, fail);
        if (code == WK_OK) code = claim(arena, size, &run, fail);
    }
    if (code != WK_OK) return code;
    code = fill(arena, &run, fail);
    wk__arena_lock(arena);
    if (code == WK_OK) {
        wk__ranges_settle(&arena->ranges, &run, piece);
        arena->misses++;
        note_peak(arena);
    } else {
        wk__ranges_unclaim(&arena->ranges, &run);
    }
    wk__arena_unlock(arena);
    return code;
}

/* ---- pieces from new memory -------------------------------------------------------------------------------------- */

/* Large pieces come from ranges where there are some, but for those that are no whole units. */
static wk_code take_from(wk__arena *arena, plan wanted, wk__memory *piece, wk__fail *fail)
{
    if (wanted.piece > WK__LARGE && wanted.piece % WK__RANGE_UNIT == 0 && !arena->no_ranges) {
        const wk_code code = take_run(arena, wanted.piece, piece, fail);
        if (code != WK_ERR_UNSUPPORTED) return code;
        arena->no_ranges = true;
    }
    return take_block(arena, wanted, piece, fail);
}

wk_code wk__arena_take_new(wk__arena *arena, int64_t bytes, int64_t size, wk__memory *piece, wk__fail *fail)
{
    bool large = size > WK__LARGE;
    int64_t exact = large ? (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN : size;
    plan generous = {large ? size : roomy_block(arena, size), size};
    plan enough = {large ? size : BLOCK_LEAST, size};
    plan least = {exact, exact};

    wk_code code = take_from(arena, generous, piece, fail);
    if (code == WK_ERR_MEMORY) {
        wk__arena_drop(arena, 0, 0);
        code = take_from(arena, enough, piece, fail);
    }
    if (code == WK_ERR_MEMORY && exact < enough.block) code = take_from(arena, least, piece, fail);
    if (code != WK_ERR_MEMORY) return code;
    char reason[sizeof fail->text];
    snprintf(reason, sizeof reason, "%s", fail->text);
    return wk__arena_out_of_memory(arena, bytes, reason, fail);
}

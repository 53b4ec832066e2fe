/* SPDX-License-Identifier: Apache-2.0 */
/* Bookkeeping of the arena's address ranges, from which large allocations are cut: which parts are mapped, and which of
 * those are in use. No locks and no backend calls, as in arena_blocks.h.
 *
 * A range is divided into units of 2 MiB. Adjacent spans of units cover it; a span is taken (by an allocation), idle
 * (mapped and unused) or unmapped. Two idle spans are never adjacent, nor two unmapped ones. Memory is mapped in
 * mappings with other boundaries:
 *
 *     spans      | taken   | idle    | taken | unmapped     | idle     | unmapped ...
 *     mappings   |        1       |    2     |              |    3     |
 *
 * So an allocation may have any size and reuse the memory of others, whatever their sizes: a program with varying sizes
 * maps no new memory once it has mapped the most it needs.
 *
 * The first and last unit of a span store its length, so adjacent spans are found and merged without searching or
 * allocating. Idle spans are also in an array sorted by size, with capacity for the maximum: each begins where a
 * mapping begins, or after a taken span. While memory is being mapped or unmapped, its span counts as taken, without an
 * allocation. */
#ifndef WICK_BACKEND_ARENA_RANGE_H
#define WICK_BACKEND_ARENA_RANGE_H

#include "backend/backend.h"

typedef struct wk__range_page {
    int64_t idle_since;     /* first unit of a mapping, ms: when it was first seen idle; 0: not seen yet */
    int32_t mapped, in_use; /* first unit of a mapping: its units; those in use by allocations */
    int32_t mapping;        /* 0: unmapped; k: its mapping begins k - 1 units before */
    int32_t span;           /* first and last unit of a span: its units */
    int32_t state;          /* first and last unit of a span: UNMAPPED, IDLE or TAKEN */
} wk__range_page;

typedef struct wk__range {
    struct wk__range *next;
    wk__memory memory; /* as returned by the backend */
    int32_t units;
    wk__range_page *unit;
} wk__range;

/* A part of a range. */
typedef struct wk__range_span {
    wk__range *range;
    int32_t first, units;
} wk__range_span;

typedef struct wk__ranges {
    int64_t held, live; /* bytes mapped; of those, in live allocations */
    wk__range *first;
    wk__range_span *idle; /* all idle spans, by size, then by address */
    int64_t nidle, idle_capacity;
    int64_t pieces, mappings;
    int64_t claim_slots; /* entries of `idle` that the current claim may need */
} wk__ranges;

/* Return the size in bytes of the part, and its offset in the range. */
static inline int64_t wk__range_part_bytes(const wk__range_span *run)
{
    return (int64_t)run->units * WK__RANGE_PAGE;
}
static inline int64_t wk__range_part_offset(const wk__range_span *run)
{
    return (int64_t)run->first * WK__RANGE_PAGE;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/* Allocates from the smallest idle span that is large enough; `bytes` is a multiple of WK__RANGE_PAGE. Returns false if
 * there is none, or if bookkeeping memory must be reserved first. */
bool wk__ranges_alloc(wk__ranges *ranges, int64_t bytes, wk__memory *piece);
/* Returns true if the allocation is in a range. */
bool wk__ranges_contain(const wk__ranges *ranges, const wk__memory *piece);
/* Never allocates. Returns true if a mapping has no allocation any more. */
bool wk__ranges_free(wk__ranges *ranges, const wk__memory *piece);

/* ---- growing: find and claim under one lock, map what is missing, then commit ------------------------------------ */

/* Finds the part of `bytes`, idle or unmapped, with the fewest unmapped units, *missing. Returns false if there is
 * none. */
bool wk__ranges_find_span(const wk__ranges *ranges, int64_t bytes, wk__range_span *run, int64_t *missing);
/* Reserves bookkeeping memory for one more allocation with `missing` newly mapped units; returns false on allocation
 * failure. */
bool wk__ranges_reserve(wk__ranges *ranges, int64_t missing);
/* Makes the part unavailable to other threads. One claim at a time. */
void wk__ranges_claim(wk__ranges *ranges, const wk__range_span *run, int64_t missing);
/* Finds the next part of `whole` after *part (initially {range, whole->first, 0}) that is entirely mapped or entirely
 * unmapped. */
bool wk__range_part_next(const wk__range_span *whole, bool mapped, wk__range_span *part);
/* Records that this part of the claim has been mapped. */
void wk__ranges_note_mapped(wk__ranges *ranges, const wk__range_span *part);
/* Turns the claimed part, mapped completely, into an allocation. */
void wk__ranges_commit(wk__ranges *ranges, const wk__range_span *run, wk__memory *piece);
/* Gives up the claim: mapped units become idle. */
void wk__ranges_rollback(wk__ranges *ranges, const wk__range_span *run);

/* ---- adding and removing ranges and memory ----------------------------------------------------------------------- */

/* Adds an unmapped range; returns false on allocation failure. */
bool wk__ranges_add(wk__ranges *ranges, const wk__memory *memory);
/* Claims the next run of complete idle mappings after *run (initially {ranges->first}) that have been idle since
 * `before` or earlier, until at most `keep` bytes are idle. Mappings first seen idle now are stamped with `now`.
 * Returns false at the end. */
bool wk__ranges_claim_idle(wk__ranges *ranges, wk__range_span *run, int64_t keep, int64_t now, int64_t before);
/* Records that the claimed run has been unmapped. */
void wk__ranges_note_unmapped(wk__ranges *ranges, const wk__range_span *run);
/* Frees the bookkeeping, even with live allocations. */
void wk__ranges_destroy(wk__ranges *ranges);

#endif

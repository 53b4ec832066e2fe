/* SPDX-License-Identifier: Apache-2.0 */
/* The books of the arena's ranges, from which large pieces are cut where the backend has ranges: which parts have
 * memory, and which of those are in use. No locks and no backend here, as in arena_blocks.h.
 *
 * A range is counted in units of 2 MB. Spans divide it, side by side, into units that are taken (by pieces), idle (they
 * have memory and nobody uses it) or unmapped; two idle ones never touch, nor two unmapped ones. Memory comes and goes
 * in mappings, whose bounds are others:
 *
 *     spans      | taken   | idle    | taken | unmapped     | idle     | unmapped ...
 *     mappings   |        1       |    2     |              |    3     |
 *
 * So a piece may be of any size and lie where other pieces were, whatever their sizes: a program whose sizes vary takes
 * no memory anew once it has taken the most it needs.
 *
 * The first and the last unit of a span know its length, so neighbours are found, and joined, without a search and
 * without memory. Idle spans stand in an array by size, too. That has room for all there can be: one begins where a
 * mapping does, or behind a span that is taken. While memory comes or goes, the span where it does counts as taken,
 * though it is nobody's piece.
 */
#ifndef WICK_BACKEND_ARENA_RANGE_H
#define WICK_BACKEND_ARENA_RANGE_H

#include "backend/backend.h"

typedef struct wk__range_page {
    int64_t idle_since;     /* of a mapping's first unit, milliseconds: when it was first seen idle; 0: not yet */
    int32_t mapped, in_use; /* of a mapping's first unit: its units, and those of them that pieces have */
    int32_t mapping;        /* 0: no memory; k: its mapping begins k - 1 units before */
    int32_t span;           /* of the first and the last unit of a span: its units, */
    int32_t state;          /* and what they are */
} wk__range_page;

typedef struct wk__range {
    struct wk__range *next;
    wk__memory memory; /* as the backend gave it */
    int32_t units;
    wk__range_page *unit;
} wk__range;

/* A part of a range. */
typedef struct wk__range_span {
    wk__range *range;
    int32_t first, units;
} wk__range_span;

typedef struct wk__ranges {
    int64_t held, live; /* bytes with memory; of those, in pieces that are out */
    wk__range *first;
    wk__range_span *idle; /* all idle spans, by size; of one size by address */
    int64_t nidle, idle_capacity;
    int64_t pieces, mappings;
    int64_t claim_slots; /* places in `idle` that what is claimed now may come to need */
} wk__ranges;

/* Bytes of the part, and where it begins in its range. */
static inline int64_t wk__range_part_bytes(const wk__range_span *run)
{
    return (int64_t)run->units * WK__RANGE_PAGE;
}
static inline int64_t wk__range_part_offset(const wk__range_span *run)
{
    return (int64_t)run->first * WK__RANGE_PAGE;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* A piece of the smallest idle span that is large enough; `bytes` is a multiple of WK__RANGE_PAGE. False: there is
 * none, or room in the books for a piece more has to be reserved first. */
bool wk__ranges_alloc(wk__ranges *ranges, int64_t bytes, wk__memory *piece);
/* Is it a piece of a range? */
bool wk__ranges_contain(const wk__ranges *ranges, const wk__memory *piece);
/* Never needs memory. True when that left a mapping without a piece. */
bool wk__ranges_free(wk__ranges *ranges, const wk__memory *piece);

/* ---- growing: plan and claim under one lock, then map what is missing, then settle ------------------------------- */

/* The part of so many bytes, idle and unmapped, of which the least is unmapped: *missing units. False: there is
 * none. */
bool wk__ranges_find_span(const wk__ranges *ranges, int64_t bytes, wk__range_span *run, int64_t *missing);
/* Room in the books for a piece more with so many units of new memory; false when host memory is short. */
bool wk__ranges_reserve(wk__ranges *ranges, int64_t missing);
/* Nobody else gets what lies there any more. One part is claimed at a time. */
void wk__ranges_claim(wk__ranges *ranges, const wk__range_span *run, int64_t missing);
/* The next part of `whole` behind *part (at first {range, whole->first, 0}) of which all has memory, or none. */
bool wk__range_part_next(const wk__range_span *whole, bool mapped, wk__range_span *part);
/* That part of a claimed one has got memory. */
void wk__ranges_note_mapped(wk__ranges *ranges, const wk__range_span *part);
/* All of the claimed part has memory and becomes a piece. */
void wk__ranges_commit(wk__ranges *ranges, const wk__range_span *run, wk__memory *piece);
/* It does not: what has memory is idle. */
void wk__ranges_rollback(wk__ranges *ranges, const wk__range_span *run);

/* ---- ranges and memory that come and go -------------------------------------------------------------------------- */

/* Enters a range without memory; false when host memory is short. */
bool wk__ranges_add(wk__ranges *ranges, const wk__memory *memory);
/* Claims the next part behind *run (at first {ranges->first}) of whole idle mappings which were first seen so at
 * `before` or earlier, until no more than `keep` bytes are idle. Sees them so at `now` if they were not yet. False:
 * there is none any more. */
bool wk__ranges_claim_idle(wk__ranges *ranges, wk__range_span *run, int64_t keep, int64_t now, int64_t before);
/* The memory of that part is gone. */
void wk__ranges_note_unmapped(wk__ranges *ranges, const wk__range_span *run);
/* Frees the books, whatever lives in the ranges. */
void wk__ranges_destroy(wk__ranges *ranges);

#endif

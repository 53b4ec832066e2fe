/* SPDX-License-Identifier: Apache-2.0 */
/* Spans, mappings and idle memory of the arena's ranges; see the drawing in arena_range.h. */
#include "arena_range.h"

#include <string.h>

#include "base/alloc.h"
#include "base/integers.h"

enum { UNMAPPED, IDLE, TAKEN }; /* states of spans; a new range is zero-initialised */

static const int32_t MAPPING_UNITS = WK__RANGE_MAPPING / WK__RANGE_PAGE;

/* ---- idle spans by size ------------------------------------------------------------------------------------------ */

static uintptr_t address_of(const wk__range_span *run)
{
    return (uintptr_t)run->range->memory.block + (uintptr_t)wk__range_part_offset(run);
}

/* Returns the first idle span that is not less in the order (units, address). */
static int64_t lower_bound(const wk__ranges *ranges, int32_t units, uintptr_t address)
{
    int64_t low = 0, high = ranges->nidle;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const wk__range_span *span = &ranges->idle[middle];
        if (span->units < units || (span->units == units && address_of(span) < address)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert_idle(wk__ranges *ranges, const wk__range_span *span)
{
    const int64_t k = lower_bound(ranges, span->units, address_of(span));
    memmove(&ranges->idle[k + 1], &ranges->idle[k], (size_t)(ranges->nidle - k) * sizeof *span);
    ranges->idle[k] = *span;
    ranges->nidle++;
}

static void remove_idle(wk__ranges *ranges, const wk__range_span *span)
{
    const int64_t k = lower_bound(ranges, span->units, address_of(span));
    ranges->nidle--;
    memmove(&ranges->idle[k], &ranges->idle[k + 1], (size_t)(ranges->nidle - k) * sizeof *span);
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* Returns the span that begins at this unit. */
static wk__range_span span_at(wk__range *range, int32_t first)
{
    return (wk__range_span){range, first, range->unit[first].span};
}

static int32_t end_of(const wk__range_span *run)
{
    return run->first + run->units;
}

static int32_t state_of(const wk__range_span *span)
{
    return span->range->unit[span->first].state;
}

/* Writes a span over these units; replaces whatever spans they belonged to. */
static void make_span(wk__ranges *ranges, const wk__range_span *span, int32_t state)
{
    wk__range_page *first = &span->range->unit[span->first], *last = first + span->units - 1;
    if (span->units == 0) return;
    first->span = last->span = span->units;
    first->state = last->state = state;
    if (state == IDLE) insert_idle(ranges, span);
}

/* Like make_span(), but merges with adjacent spans of the same state. */
static void coalesce(wk__ranges *ranges, wk__range_span span, int32_t state)
{
    wk__range *range = span.range;
    if (span.first > 0 && range->unit[span.first - 1].state == state) {
        const int32_t units = range->unit[span.first - 1].span;
        const wk__range_span before = {range, span.first - units, units};
        if (state == IDLE) remove_idle(ranges, &before);
        span = (wk__range_span){range, before.first, units + span.units};
    }
    if (end_of(&span) < range->units && range->unit[end_of(&span)].state == state) {
        const wk__range_span behind = span_at(range, end_of(&span));
        if (state == IDLE) remove_idle(ranges, &behind);
        span.units += behind.units;
    }
    make_span(ranges, &span, state);
}

/* Makes a taken span of these units, which begin in the span at `first`; remainders at both ends keep their state. */
static void carve(wk__ranges *ranges, const wk__range_span *run, int32_t first)
{
    for (int32_t at = first; at < end_of(run);) {
        const wk__range_span span = span_at(run->range, at);
        const int32_t state = state_of(&span), end = end_of(&span);
        at = end;
        if (state == IDLE) remove_idle(ranges, &span);
        if (span.first < run->first)
            make_span(ranges, &(wk__range_span){run->range, span.first, run->first - span.first}, state);
        if (end > end_of(run)) make_span(ranges, &(wk__range_span){run->range, end_of(run), end - end_of(run)}, state);
    }
    make_span(ranges, run, TAKEN);
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

/* Returns the mapping of a mapped unit. */
static wk__range_span mapping_of(wk__range *range, int32_t unit)
{
    const int32_t first = unit - (range->unit[unit].mapping - 1);
    return (wk__range_span){range, first, range->unit[first].mapped};
}

/* Adjusts the use counts of mappings for an allocation that begins or ends. Returns true if a mapping became idle. */
static bool adjust_mapping_use(const wk__range_span *run, bool begins)
{
    bool idle = false;
    for (int32_t at = run->first; at < end_of(run);) {
        const wk__range_span mapping = mapping_of(run->range, at);
        const int32_t end = (int32_t)wk__min_i64(end_of(&mapping), end_of(run));
        wk__range_page *own = &run->range->unit[mapping.first];
        own->in_use += begins ? end - at : at - end;
        own->idle_since = 0;
        idle = idle || own->in_use == 0;
        at = end;
    }
    return idle;
}

bool wk__range_part_next(const wk__range_span *whole, bool mapped, wk__range_span *part)
{
    const wk__range_page *unit = whole->range->unit;
    part->first = end_of(part);
    part->units = 0;
    while (part->first < end_of(whole) && (unit[part->first].mapping != 0) != mapped) part->first++;
    while (end_of(part) < end_of(whole) && (unit[end_of(part)].mapping != 0) == mapped) part->units++;
    return part->units > 0;
}

void wk__ranges_note_mapped(wk__ranges *ranges, const wk__range_span *part)
{
    wk__range_page *unit = &part->range->unit[part->first];
    for (int32_t k = 0; k < part->units; k++) {
        const int32_t place = k % MAPPING_UNITS;
        unit[k].mapping = place + 1;
        if (place > 0) continue;
        unit[k].mapped = (int32_t)wk__min_i64(part->units - k, MAPPING_UNITS);
        unit[k].in_use = 0;
        unit[k].idle_since = 0;
        ranges->mappings++;
    }
    ranges->held += wk__range_part_bytes(part);
}

void wk__ranges_note_unmapped(wk__ranges *ranges, const wk__range_span *run)
{
    wk__range_page *unit = run->range->unit;
    for (int32_t k = run->first; k < end_of(run); k++) {
        ranges->mappings -= unit[k].mapping == 1;
        unit[k].mapping = 0;
    }
    ranges->held -= wk__range_part_bytes(run);
    coalesce(ranges, *run, UNMAPPED);
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/* Returns the units of an allocation; range is NULL if it is not in one. */
static wk__range_span run_of(const wk__ranges *ranges, const wk__memory *piece)
{
    const uintptr_t at = (uintptr_t)piece->block;
    for (wk__range *range = ranges->first; range; range = range->next) {
        const uintptr_t base = (uintptr_t)range->memory.block;
        if (at >= base && at - base < (uintptr_t)range->memory.bytes)
            return (wk__range_span){range, (int32_t)((at - base) / WK__RANGE_PAGE),
                                    (int32_t)(piece->bytes / WK__RANGE_PAGE)};
    }
    return (wk__range_span){0};
}

bool wk__ranges_contain(const wk__ranges *ranges, const wk__memory *piece)
{
    return run_of(ranges, piece).range != NULL;
}

static void hand_out(wk__ranges *ranges, const wk__range_span *run, wk__memory *piece)
{
    adjust_mapping_use(run, true);
    ranges->pieces++;
    ranges->live += wk__range_part_bytes(run);
    *piece = (wk__memory){.block = (char *)run->range->memory.block + wk__range_part_offset(run),
                          .bytes = wk__range_part_bytes(run)};
}

/* Returns the maximum number of idle spans with one more allocation and one claim. */
static int64_t most_idle(const wk__ranges *ranges)
{
    return ranges->mappings + ranges->pieces + ranges->claim_slots + 2;
}

bool wk__ranges_alloc(wk__ranges *ranges, int64_t bytes, wk__memory *piece)
{
    if (bytes > ranges->held - ranges->live || ranges->idle_capacity < most_idle(ranges)) return false;
    const int32_t units = (int32_t)(bytes / WK__RANGE_PAGE);
    const int64_t k = lower_bound(ranges, units, 0);
    if (k == ranges->nidle) return false;
    const wk__range_span run = {ranges->idle[k].range, ranges->idle[k].first, units};
    carve(ranges, &run, run.first);
    hand_out(ranges, &run, piece);
    return true;
}

bool wk__ranges_free(wk__ranges *ranges, const wk__memory *piece)
{
    const wk__range_span run = run_of(ranges, piece);
    ranges->pieces--;
    ranges->live -= piece->bytes;
    coalesce(ranges, run, IDLE);
    return adjust_mapping_use(&run, false);
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* Counts unmapped units before a position that only advances. */
typedef struct counter {
    int32_t span, missing; /* before that span */
} counter;

static int32_t missing_before(wk__range *range, counter *c, int32_t place)
{
    while (c->span < place) {
        const wk__range_span span = span_at(range, c->span);
        const int32_t here = state_of(&span) == UNMAPPED;
        if (end_of(&span) > place) return c->missing + here * (place - c->span);
        c->missing += here * span.units;
        c->span = end_of(&span);
    }
    return c->missing;
}

/* Returns the end of the run of spans, from this one on, that are not taken. */
static int32_t gap_end(wk__range *range, int32_t first)
{
    while (first < range->units) {
        const wk__range_span span = span_at(range, first);
        if (state_of(&span) == TAKEN) break;
        first = end_of(&span);
    }
    return first;
}

typedef struct best {
    wk__range_span run;
    int32_t missing;
} best;

static void consider(best *b, wk__range_span run, int32_t missing)
{
    if (b->run.range == NULL || missing < b->missing) *b = (best){run, missing};
}

/* Sliding a part along a gap changes its number of unmapped units only where one of its ends crosses a span boundary,
 * so an optimal part begins or ends with a span. */
static void search_range(wk__range *range, int32_t units, best *b)
{
    counter from = {0}, to = {0}, begin = {0}, end = {0};
    int32_t gap = 0, stop = 0; /* current gap */
    for (int32_t at = 0; at < range->units;) {
        const wk__range_span span = span_at(range, at);
        at = end_of(&span);
        if (state_of(&span) == TAKEN) continue;
        if (span.first >= stop) {
            gap = span.first;
            stop = gap_end(range, gap);
        }
        if (stop - span.first >= units) {
            const int32_t missing = missing_before(range, &to, span.first + units);
            consider(b, (wk__range_span){range, span.first, units}, missing - missing_before(range, &from, span.first));
        }
        if (at - gap >= units) {
            const int32_t missing = missing_before(range, &end, at);
            consider(b, (wk__range_span){range, at - units, units},
                     missing - missing_before(range, &begin, at - units));
        }
    }
}

bool wk__ranges_find_span(const wk__ranges *ranges, int64_t bytes, wk__range_span *run, int64_t *missing)
{
    const int64_t units = bytes / WK__RANGE_PAGE;
    best found = {0};
    for (wk__range *range = ranges->first; range; range = range->next)
        if (units <= range->units) search_range(range, (int32_t)units, &found);
    *run = found.run;
    *missing = found.missing;
    return found.run.range != NULL;
}

bool wk__ranges_reserve(wk__ranges *ranges, int64_t missing)
{
    return wk__grow(&ranges->idle, &ranges->idle_capacity, most_idle(ranges) + missing + 1, sizeof *ranges->idle);
}

void wk__ranges_claim(wk__ranges *ranges, const wk__range_span *run, int64_t missing)
{
    int32_t first = 0;
    while (first + run->range->unit[first].span <= run->first) first += run->range->unit[first].span;
    carve(ranges, run, first);
    ranges->claim_slots = missing + 1;
}

void wk__ranges_commit(wk__ranges *ranges, const wk__range_span *run, wk__memory *piece)
{
    ranges->claim_slots = 0;
    hand_out(ranges, run, piece);
}

/* Inside the part the span boundaries are those before the claim, alternately idle and unmapped, so coalesce() merges
 * none of them wrongly. */
void wk__ranges_rollback(wk__ranges *ranges, const wk__range_span *run)
{
    ranges->claim_slots = 0;
    for (int mapped = 0; mapped < 2; mapped++) {
        wk__range_span part = {run->range, run->first, 0};
        while (wk__range_part_next(run, mapped, &part)) coalesce(ranges, part, mapped ? IDLE : UNMAPPED);
    }
}

/* ---- adding and removing ranges and memory ----------------------------------------------------------------------- */

bool wk__ranges_add(wk__ranges *ranges, const wk__memory *memory)
{
    const int64_t units = wk__min_i64(memory->bytes / WK__RANGE_PAGE, INT32_MAX - 1);
    wk__range *range = wk__alloc_zero(1, sizeof *range);
    wk__range_page *unit = range ? wk__alloc_zero((size_t)units, sizeof *unit) : NULL;
    if (!unit) {
        wk__free(range);
        return false;
    }
    *range = (wk__range){.next = ranges->first, .memory = *memory, .units = (int32_t)units, .unit = unit};
    ranges->first = range;
    make_span(ranges, &(wk__range_span){range, 0, range->units}, UNMAPPED);
    return true;
}

/* Finds a run of idle mappings in an idle span, at or after `from`. */
static bool find_idle_mappings(wk__range_span span, int32_t from, int64_t enough, int64_t now, int64_t before,
                               wk__range_span *found)
{
    *found = (wk__range_span){span.range, span.first, 0};
    for (int32_t at = span.first; at < end_of(&span);) {
        const wk__range_span mapping = mapping_of(span.range, at);
        wk__range_page *own = &span.range->unit[mapping.first];
        at = end_of(&mapping);
        if (mapping.first < span.first || at > end_of(&span)) continue; /* partly in use */
        if (own->idle_since == 0) own->idle_since = now;
        if (mapping.first < from || own->idle_since > before || wk__range_part_bytes(found) >= enough) continue;
        if (found->units > 0 && end_of(found) < mapping.first) break; /* left for the next call */
        if (found->units == 0) found->first = mapping.first;
        found->units += mapping.units;
    }
    return found->units > 0;
}

bool wk__ranges_claim_idle(wk__ranges *ranges, wk__range_span *run, int64_t keep, int64_t now, int64_t before)
{
    const int64_t enough = ranges->held - ranges->live - keep;
    int32_t from = end_of(run);
    for (wk__range *range = run->range; range; range = range->next, from = 0) {
        for (int32_t at = 0; at < range->units;) {
            const wk__range_span span = span_at(range, at);
            at = end_of(&span);
            if (state_of(&span) != IDLE || at <= from || !find_idle_mappings(span, from, enough, now, before, run))
                continue;
            carve(ranges, run, span.first);
            return true;
        }
    }
    return false;
}

void wk__ranges_destroy(wk__ranges *ranges)
{
    for (wk__range *range = ranges->first, *next; range; range = next) {
        next = range->next;
        wk__free(range->unit);
        wk__free(range);
    }
    wk__free(ranges->idle);
    *ranges = (wk__ranges){0};
}

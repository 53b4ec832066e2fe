/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated backend with ranges, for tests of the arena. It checks every call: mapped and unmapped
 * ranges must match, and pieces must not overlap. Its addresses are never dereferenced. */
#ifndef WICK_TESTS_ARENA_DEVICE_H
#define WICK_TESTS_ARENA_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/arena/arena.h"
#include "base/alloc.h"

enum { MB = 1 << 20, UNIT = WK__RANGE_PAGE, MAPPING = WK__RANGE_MAPPING / UNIT, UNITS = 512, RANGES = 8 };

/* ---- the device -------------------------------------------------------------------------------------------------- */

typedef struct unit {
    int64_t mapping; /* number of the mapping; 0: none */
    int owner;       /* number of the piece that uses the unit; 0: none */
} unit;

/* State of the device; freed by the test. */
typedef struct device {
    int64_t room;    /* bytes of memory */
    int range_units; /* units per range */
    int64_t held;    /* bytes in blocks and mappings */
    int64_t blocks, takes, gives, maps, unmaps, cuts;
    int64_t mapped, unmapped; /* bytes, over all calls */
    int64_t calls, fail_at;   /* the fail_at-th call of range_reserve, range_map or range_unmap fails */
    bool fails_on;            /* all later calls fail as well */
    wk_code failure;
    int64_t mappings;
    uintptr_t next_block;
    wk__memory last_cut;
    int ranges;
    bool in_use[RANGES];
    unit unit[RANGES][UNITS];
} device;

static inline device *device_new(int64_t room, int range_units)
{
    device *d = calloc(1, sizeof *d);
    d->room = room;
    d->range_units = range_units;
    d->failure = WK_ERR_MEMORY;
    return d;
}

static inline char *base_of(int range)
{
    return (char *)((uintptr_t)(range + 1) << 40);
}

/* Returns the units of a part of a range, after checking that they exist. */
static inline unit *units_at(device *d, const void *at, int64_t bytes)
{
    const int range = (int)((uintptr_t)at >> 40) - 1;
    const int64_t offset = (int64_t)((uintptr_t)at & (((uintptr_t)1 << 40) - 1));
    assert_true(range >= 0 && range < RANGES && d->in_use[range]);
    assert_true(bytes > 0 && bytes % UNIT == 0 && offset % UNIT == 0);
    assert_true((offset + bytes) / UNIT <= d->range_units);
    return &d->unit[range][offset / UNIT];
}

static inline bool fails(device *d)
{
    d->calls++;
    return d->fail_at > 0 && (d->calls == d->fail_at || (d->fails_on && d->calls > d->fail_at));
}

static inline wk_code block_alloc(void *user, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    device *d = user;
    if (d->held + bytes > d->room) return wk__fail_set(fail, WK_ERR_MEMORY, "device is full");
    d->blocks++;
    d->next_block += 4096;
    *block = (wk__memory){.block = (void *)d->next_block, .bytes = bytes};
    d->held += bytes;
    return WK_OK;
}

static inline void block_free(void *user, wk__memory *block)
{
    device *d = user;
    d->held -= block->bytes;
}

static inline wk_code range_reserve(void *user, int64_t bytes, wk__memory *range, wk__fail *fail)
{
    device *d = user;
    if (fails(d)) return wk__fail_set(fail, d->failure, "no addresses");
    if (bytes > (int64_t)d->range_units * UNIT || d->ranges == RANGES)
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "no more");
    d->takes++;
    *range = (wk__memory){.block = base_of(d->ranges), .bytes = (int64_t)d->range_units * UNIT};
    d->in_use[d->ranges++] = true;
    return WK_OK;
}

static inline void range_release(void *user, wk__memory *range)
{
    device *d = user;
    const unit *u = units_at(d, range->block, range->bytes);
    for (int k = 0; k < d->range_units; k++) assert_int_equal(u[k].mapping, 0);
    d->gives++;
    d->in_use[((uintptr_t)range->block >> 40) - 1] = false;
}

static inline wk_code range_map(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail)
{
    device *d = user;
    unit *u = units_at(d, (char *)range->block + offset, bytes);
    if (fails(d)) return wk__fail_set(fail, d->failure, "no map");
    if (d->held + bytes > d->room) return wk__fail_set(fail, WK_ERR_MEMORY, "device is full");
    for (int64_t k = 0; k < bytes / UNIT; k++) {
        assert_int_equal(u[k].mapping, 0);
        assert_int_equal(u[k].owner, 0);
        if (k % MAPPING == 0) d->mappings++;
        u[k].mapping = d->mappings;
    }
    d->maps++;
    d->mapped += bytes;
    d->held += bytes;
    return WK_OK;
}

static inline wk_code range_unmap(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail)
{
    device *d = user;
    const int64_t first = offset / UNIT, end = first + bytes / UNIT;
    unit *u = units_at(d, (char *)range->block + offset, bytes) - first;
    if (fails(d)) return wk__fail_set(fail, d->failure, "no unmap");
    assert_true(first == 0 || u[first - 1].mapping != u[first].mapping); /* only complete mappings */
    assert_true(end == d->range_units || u[end].mapping != u[end - 1].mapping);
    for (int64_t k = first; k < end; k++) {
        assert_true(u[k].mapping != 0);
        u[k].mapping = 0;
    }
    d->unmaps++;
    d->unmapped += bytes;
    d->held -= bytes;
    return WK_OK;
}

static inline void range_cut(void *user, const wk__memory *piece)
{
    device *d = user;
    __atomic_add_fetch(&d->cuts, 1, __ATOMIC_RELAXED);
    d->last_cut = *piece;
}

static const wk__backend backend = {
    .block_alloc = block_alloc,
    .block_free = block_free,
    .range_reserve = range_reserve,
    .range_release = range_release,
    .range_map = range_map,
    .range_unmap = range_unmap,
    .range_carve = range_cut,
};

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static inline bool in_range(const wk__memory *piece)
{
    return (uintptr_t)piece->block >> 40 != 0;
}

/* Claims the piece for owner; checks that all of it is mapped and none of it is in use. */
static inline void own(device *d, const wk__memory *piece, int owner)
{
    if (!in_range(piece)) return;
    unit *u = units_at(d, piece->block, piece->bytes);
    for (int64_t k = 0; k < piece->bytes / UNIT; k++) {
        assert_true(u[k].mapping != 0);
        assert_int_equal(u[k].owner, 0);
        u[k].owner = owner;
    }
    assert_ptr_equal(d->last_cut.block, piece->block);
    assert_int_equal(d->last_cut.bytes, piece->bytes);
}

/* Releases the piece; checks that all of it is still mapped and belongs to owner. */
static inline void disown(device *d, const wk__memory *piece, int owner)
{
    if (!in_range(piece)) return;
    unit *u = units_at(d, piece->block, piece->bytes);
    for (int64_t k = 0; k < piece->bytes / UNIT; k++) {
        assert_true(u[k].mapping != 0);
        assert_int_equal(u[k].owner, owner);
        u[k].owner = 0;
    }
}

static inline wk__memory take(wk__arena *arena, int64_t units)
{
    wk__fail fail = {0};
    wk__memory piece;
    const wk_code code = wk__arena_alloc(arena, units * UNIT, &piece, &fail);
    if (code != WK_OK) fail_msg("%s", fail.text);
    assert_int_equal(piece.bytes, units * UNIT);
    assert_int_equal(piece.offset, 0);
    return piece;
}

static inline wk__arena_stats stats_of(wk__arena *arena)
{
    wk__arena_stats stats;
    wk__arena_stats_of(arena, &stats);
    return stats;
}

static inline int64_t unit_of(const wk__memory *piece)
{
    return (int64_t)((uintptr_t)piece->block & (((uintptr_t)1 << 40) - 1)) / UNIT;
}

/* ---- random operations ------------------------------------------------------------------------------------------- */

enum { SLOTS = 40 };

typedef struct play {
    device *d;
    wk__arena *arena;
    unsigned seed;
    wk__memory piece[SLOTS];
    bool taken[SLOTS];
    int64_t live; /* bytes in large pieces */
    int refused;
} play;

static inline void alloc_slot(play *p, int slot)
{
    wk__fail fail = {0};
    const bool small = rand_r(&p->seed) % 8 == 0;
    const int64_t most = small ? 2 * MB : rand_r(&p->seed) % 3 ? 20 * MB : 120 * MB;
    const int64_t bytes = (small ? 0 : 2 * MB + 1) + rand_r(&p->seed) % most;
    const wk_code code = wk__arena_alloc(p->arena, bytes, &p->piece[slot], &fail);
    p->taken[slot] = code == WK_OK;
    if (code != WK_OK) {
        p->refused++;
        return;
    }
    assert_true(p->piece[slot].bytes >= bytes);
    own(p->d, &p->piece[slot], slot + 1);
    p->live += p->piece[slot].bytes;
}

static inline void free_slot(play *p, int slot)
{
    disown(p->d, &p->piece[slot], slot + 1);
    p->live -= p->piece[slot].bytes;
    p->taken[slot] = false;
    wk__arena_free(p->arena, &p->piece[slot]);
}

static inline void check_figures(const play *p)
{
    const wk__arena_stats now = stats_of(p->arena);
    assert_int_equal(now.live, p->live);
    assert_int_equal(now.live + now.cached, p->d->held);
    assert_true(now.peak >= now.live && now.live + now.cached <= now.limit);
}

static inline void play_on(play *p, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        const int slot = rand_r(&p->seed) % SLOTS;
        if (p->taken[slot]) {
            free_slot(p, slot);
        } else {
            alloc_slot(p, slot);
        }
        if (rand_r(&p->seed) % 300 == 0) wk__arena_trim(p->arena);
        check_figures(p);
    }
}

/* Frees everything and checks that no memory remains. */
static inline void play_out(play *p)
{
    p->d->fail_at = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (p->taken[slot]) free_slot(p, slot);
    }
    assert_int_equal(stats_of(p->arena).live, 0);
    wk__arena_trim(p->arena);
    assert_int_equal(p->d->held, 0);
    assert_int_equal(stats_of(p->arena).cached, 0);
    wk__arena_destroy(p->arena);
    assert_int_equal(p->d->gives, p->d->takes);
    free(p->d);
}

#endif

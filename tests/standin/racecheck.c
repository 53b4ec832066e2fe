/* SPDX-License-Identifier: Apache-2.0 */
/* Detects races in device memory during a launch: two threads access a word, one of them writes, and nothing orders the
 * accesses. Blocks are never ordered; threads of a block are ordered by its barriers, threads of a warp by __syncwarp,
 * but not by shuffles.
 *
 * Accesses are recorded per 4 bytes in a table of fixed size. A new word may replace the record of another, and an
 * access to other bytes of a word replaces its record. So some races are missed, but every reported race is one. */
#include "fibres_state.h"

#include <string.h>

enum { PLACES = 1 << 15, MANY = 0xffff };

typedef struct use {
    uint64_t time, warp_time;
    uint16_t thread; /* + 1; 0: none, MANY: several of the block */
    uint16_t warp;   /* MANY: several */
    uint8_t bytes;   /* bit set of bytes in the word */
} use;

typedef struct note {
    uintptr_t word;
    use write, read, other; /* other: read by an earlier block than `read` */
} note;

static note notes[PLACES];

static bool in_this_launch(const use *u)
{
    return u->thread != 0 && u->time > fibres.launch_began;
}

static bool in_this_block(const use *u)
{
    return u->thread != 0 && u->time >= fibres.block_began;
}

/* Returns true if nothing orders this access before the thread's present one. */
static bool is_unordered(const use *u, unsigned warp)
{
    if (!in_this_block(u)) return in_this_launch(u);
    return u->time == fibres.time && (u->warp != warp || u->warp_time == fibres.warp_time[warp]);
}

static bool races(const use *u, const use *now)
{
    if ((u->bytes & now->bytes) == 0 || !is_unordered(u, now->warp)) return false;
    return !in_this_block(u) || u->thread != now->thread;
}

static void fail(const char *does, const char *did, const void *at, const use *u)
{
    const bool here = in_this_block(u);
    fibres_fail("%s %p, which %s%s %s, and nothing orders the two", does, at, here ? "" : "a thread of ",
                !here               ? "another block"
                : u->thread == MANY ? "other threads of its block"
                                    : "another of its block",
                did);
}

/* Records a read. Unordered readers are merged into one record. */
static void note_read(note *n, const use *now)
{
    use *read = &n->read;
    if (in_this_launch(read) && !in_this_block(read)) n->other = *read;
    if (in_this_block(read) && read->bytes == now->bytes && is_unordered(read, now->warp)) {
        const uint16_t thread = read->thread == now->thread ? now->thread : MANY,
                       warp = read->warp == now->warp ? now->warp : MANY;
        *read = *now;
        read->thread = thread;
        read->warp = warp;
    } else {
        *read = *now;
    }
}

static void check_word(uintptr_t word, const use *now, bool writes, const void *at)
{
    note *n = &notes[word % PLACES];
    if (n->word != word) *n = (note){.word = word};
    if (races(&n->write, now)) fail(writes ? "writes" : "reads", "writes", at, &n->write);
    if (!writes) {
        note_read(n, now);
        return;
    }
    if (races(&n->read, now)) fail("writes", "reads", at, &n->read);
    if (in_this_launch(&n->other) && races(&n->other, now)) fail("writes", "reads", at, &n->other);
    n->write = *now;
}

void fibres_racecheck(const char *p, int bytes, bool writes)
{
    const unsigned warp = (unsigned)fibres.current / 32;
    use now = {.time = fibres.time,
               .warp_time = fibres.warp_time[warp],
               .thread = (uint16_t)(fibres.current + 1),
               .warp = (uint16_t)warp};
    const char *const end = p + bytes;
    for (const char *at = p, *next; at < end; at = next) {
        const unsigned first = (uintptr_t)at % 4;
        next = at + (4 - first) < end ? at + (4 - first) : end;
        const unsigned last = first + (unsigned)(next - at);
        now.bytes = (uint8_t)((1u << last) - (1u << first));
        check_word((uintptr_t)at / 4, &now, writes, at);
    }
}

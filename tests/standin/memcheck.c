/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each load and store of a kernel: that it is in device memory and aligned, and that no other thread has
 * accessed the same shared memory without a barrier in between. racecheck.c checks races in device memory. */
#include "fibres_state.h"

#include <stdlib.h>
#include <string.h>

/* State of 4 bytes of shared memory. It is reset if it dates from before the current block. */
typedef struct shadow {
    uint64_t write_time, write_warp_time, block;
    uint64_t read_time, read_warp_time;
    uint16_t writer, reader; /* thread + 1; 0: none, MANY: several */
    uint16_t read_warp;      /* of all readers; MANY: of several warps */
    uint8_t written;         /* bit set of bytes written since the block began */
} shadow;

enum { MANY = 0xffff };

/* Kinds of access, as in shim.h. Volatile accesses may be concurrent. */
enum { READS, WRITES, CHANGES, VOLATILE = 4 };

static shadow *shadows;
static size_t count;
static int last; /* index of the memory range accessed last */
static unsigned accesses;

bool fibres_memcheck_begin(size_t bytes)
{
    size_t wanted = bytes / 4 + 4;
    last = 0;
    if (wanted <= count) return true;
    free(shadows);
    shadows = calloc(wanted, sizeof *shadows);
    count = shadows != NULL ? wanted : 0;
    return shadows != NULL;
}

static const char *does(int kind)
{
    return kind == READS ? "reads" : kind == WRITES ? "writes" : "changes";
}

/* Returns true if another thread has written the word and nothing orders that write before this access: neither a
 * barrier nor, within a warp, __syncwarp. */
static bool races_with_writer(const shadow *s, unsigned me, unsigned warp)
{
    if (s->writer == 0 || s->writer == me || s->write_time != fibres.time) return false;
    return (s->writer - 1u) / 32 != warp || s->write_warp_time == fibres.warp_time[warp];
}

static bool races_with_reader(const shadow *s, unsigned me, unsigned warp)
{
    if (s->reader == 0 || s->reader == me || s->read_time != fibres.time) return false;
    return s->read_warp != warp || s->read_warp_time == fibres.warp_time[warp];
}

/* Records a read. Earlier reads remain recorded unless they are ordered before this one. */
static void note_read(shadow *s, unsigned me, unsigned warp)
{
    const bool before = s->reader == 0 || s->read_time != fibres.time ||
                        (s->read_warp == warp && s->read_warp_time != fibres.warp_time[warp]);
    s->read_warp = before || s->read_warp == warp ? (uint16_t)warp : MANY;
    s->reader = before || s->reader == me ? (uint16_t)me : MANY;
    s->read_time = fibres.time;
    s->read_warp_time = fibres.warp_time[warp];
}

static void check_word(shadow *s, size_t place, unsigned bits, int kind)
{
    const unsigned warp = (unsigned)fibres.current / 32, me = (unsigned)fibres.current + 1;
    if (s->block != fibres.block_began) *s = (shadow){.block = fibres.block_began};
    if (kind != WRITES && (s->written & bits) != bits)
        fibres_fail("%s unwritten shared memory at %zu", does(kind), place);
    if (kind != CHANGES && races_with_writer(s, me, warp))
        fibres_fail("%s shared memory at %zu that thread %d wrote with no barrier between", does(kind), place,
                    s->writer - 1);
    if (kind == WRITES && races_with_reader(s, me, warp))
        fibres_fail("writes shared memory at %zu that %s read with no barrier between", place,
                    s->reader == MANY ? "several threads" : "another thread");
    if (kind == READS) {
        note_read(s, me, warp);
    } else {
        s->writer = kind == CHANGES ? 0 : (uint16_t)me;
        s->write_time = fibres.time;
        s->write_warp_time = fibres.warp_time[warp];
        s->written |= (uint8_t)bits;
    }
}

static void check_shared(size_t place, size_t bytes, int kind)
{
    const size_t first = place / 4, end = (place + bytes - 1) / 4;
    for (size_t k = first; k <= end; k++) {
        const unsigned from = k == first ? place % 4 : 0, to = k == end ? (place + bytes - 1) % 4 : 3;
        check_word(&shadows[k], place, (2u << to) - (1u << from), kind);
    }
}

/* Returns true if the access lies in one range of device memory. Sets *before to that range, else to the last range
 * that starts below p, or NULL. */
static bool in_memory(const char *p, int bytes, const fibres_range **before)
{
    const fibres_range *range = fibres.launch->memory;
    int low = 0, high = fibres.launch->ranges;
    while (low < high) { /* binary search for the first range that ends after p */
        int middle = (low + high) / 2;
        if (range[middle].end > p)
            high = middle;
        else
            low = middle + 1;
    }
    *before = low > 0 ? &range[low - 1] : NULL;
    if (low == fibres.launch->ranges || p < range[low].start) return false;
    *before = &range[low];
    last = low;
    return p + bytes <= range[low].end;
}

static void check_global(const char *p, int bytes, int kind, bool alone)
{
    const fibres_range *near;
    if (in_memory(p, bytes, &near)) {
        if (alone) fibres_racecheck(p, bytes, kind == WRITES);
        return;
    }
    /* values exchanged by lanes */
    if (kind == READS && p >= (const char *)fibres.fibre && p < (const char *)(fibres.fibre + FIBRES_THREADS)) return;
    if (near != NULL && p - near->end < (1 << 20))
        fibres_fail("%s %d bytes at %p, %lld bytes past the start of %lld of the device's", does(kind), bytes,
                    (const void *)p, (long long)(p - near->start), (long long)(near->end - near->start));
    fibres_fail("%s %d bytes at %p, which is not device memory", does(kind), bytes, (const void *)p);
}

/* Checks the time limit now and then; a kernel that never ends usually polls memory. */
static void check_time(void)
{
    if ((++accesses & 0xffff) == 0 && fibres_now() > fibres.deadline) fibres_fail("does not end");
}

void fibres_memcheck(const void *at, int bytes, int kind, int multiple)
{
    const char *p = at, *stack = fibres.fibre[fibres.current].stack;
    const shim_state *shim = fibres.shim;
    const bool alone = kind == READS || kind == WRITES;
    kind &= ~VOLATILE;
    check_time();
    if (((uintptr_t)p & (uintptr_t)(multiple - 1)) != 0)
        fibres_fail("%s %d bytes at %p: not aligned", does(kind), bytes, at);
    if (last < fibres.launch->ranges) {
        const fibres_range *range = &fibres.launch->memory[last];
        if (p >= range->start && p + bytes <= range->end) {
            if (alone) fibres_racecheck(p, bytes, kind == WRITES);
            return;
        }
    }
    if (p >= stack && p + bytes <= stack + FIBRES_STACK) return;
    const size_t fixed = (size_t)(shim->shared_end - shim->shared);
    if (p >= shim->shared && p + bytes <= shim->shared_end)
        check_shared((size_t)(p - shim->shared), (size_t)bytes, kind);
    else if (p >= fibres_dynamic && p + bytes <= fibres_dynamic + fibres.launch->shared)
        check_shared((size_t)(p - fibres_dynamic) + (fixed + 3) / 4 * 4, (size_t)bytes, kind);
    else if (kind != READS || p < fibres.image || p + bytes > fibres.image_end)
        check_global(p, bytes, kind, alone);
}

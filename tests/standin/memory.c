/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, which is host memory at otherwise unused addresses, and page-locked memory. Addresses are never
 * reused, so that every use after free is detected. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, FRESH = 0xcd, GONE = 0xdd, ALIGN = 256, CONTEXT = 100 << 20 };

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static char *space, *space_next, *space_end;

/* Maps by system calls, because sanitizers would track each address. */
static char *map(char *at, size_t bytes, int flags)
{
    const long got =
        syscall(SYS_mmap, at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return got == -1 ? NULL : (char *)got;
}

char *va_reserve(size_t bytes, size_t multiple)
{
    for (int bits = 42; space == NULL && bits > 34; bits -= 2) {
        space = space_next = map(NULL, (size_t)1 << bits, 0);
        if (space != NULL) space_end = space + ((size_t)1 << bits);
    }
    if (space == NULL || bytes > (size_t)(space_end - space)) return NULL;
    const size_t past = (uintptr_t)space_next % multiple;
    char *start = space_next + (past != 0 ? multiple - past : 0);
    bytes = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
    if (start > space_end || bytes > (size_t)(space_end - start)) return NULL;
    space_next = start + bytes;
    return start;
}

void va_unmap(char *start, size_t bytes)
{
    if (map(start, bytes, MAP_FIXED) == NULL) abort();
}

bool memory_is_device(const void *at, size_t bytes)
{
    const char *p = at;
    return p < space_end && p + bytes > space;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static allocation *pieces;
static int count, room;
static fibres_range *ranges;
static int range_count;
static const context *ranges_of; /* NULL: the ranges must be rebuilt */
static unsigned ranges_peers;
static int64_t used[DEVICES];

__attribute__((visibility("default"))) int64_t standin_memory_used(int device)
{
    const int64_t others = (int64_t)standin_number("STANDIN_OTHERS", device, 64 + device) << 20;
    const int64_t all = others + (contexts[device].retained > 0 ? CONTEXT : 0) + used[device];
    return all < DEVICE_BYTES ? all : DEVICE_BYTES;
}

bool memory_account(int device, int64_t bytes)
{
    if (bytes > 0 && bytes > DEVICE_BYTES - standin_memory_used(device)) return false;
    used[device] += bytes;
    return true;
}

void ranges_invalidate(void)
{
    ranges_of = NULL;
}

allocation *piece_add(const allocation *p)
{
    if (count == room) {
        const int more = room ? 2 * room : 64;
        allocation *larger = realloc(pieces, (size_t)more * sizeof *pieces);
        if (larger != NULL) pieces = larger;
        fibres_range *longer = larger != NULL ? realloc(ranges, (size_t)more * sizeof *ranges) : NULL;
        if (longer == NULL) return NULL;
        ranges = longer;
        room = more;
    }
    int at = count++;
    for (; at > 0 && pieces[at - 1].start > p->start; at--) pieces[at] = pieces[at - 1];
    pieces[at] = *p;
    ranges_invalidate();
    return &pieces[at];
}

void piece_remove(allocation *p)
{
    memmove(p, p + 1, (size_t)(pieces + count - (p + 1)) * sizeof *p);
    count--;
    ranges_invalidate();
}

/* Returns the index of the last allocation that begins at or below this address; -1 if there is none. */
static int find(address at)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if ((uintptr_t)pieces[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

allocation *piece_at(address at)
{
    const int k = find(at);
    return k >= 0 && (uintptr_t)pieces[k].start == at ? &pieces[k] : NULL;
}

static bool may_use(const context *c, const allocation *p)
{
    if (c == NULL) return p->allowed != 0;
    return (p->allowed >> c->device & 1) || (!p->mapped && (c->peers >> p->device & 1));
}

bool memory_is_valid(const context *c, address at, size_t bytes)
{
    for (int k = find(at); bytes > 0; k++) { /* mappings may be contiguous */
        if (k < 0 || k >= count || !may_use(c, &pieces[k])) return false;
        const uintptr_t start = (uintptr_t)pieces[k].start, end = start + pieces[k].bytes;
        if (at < start || at >= end) return false;
        const size_t here = end - at < bytes ? end - at : bytes;
        at += here;
        bytes -= here;
    }
    return true;
}

const fibres_range *memory_ranges(const context *c, int *n)
{
    if (ranges_of != c || ranges_peers != c->peers) {
        range_count = 0;
        for (int k = 0; k < count; k++) {
            const char *start = pieces[k].start, *end = start + pieces[k].bytes;
            if (!may_use(c, &pieces[k])) continue;
            if (range_count > 0 && ranges[range_count - 1].end == start)
                ranges[range_count - 1].end = end;
            else
                ranges[range_count++] = (fibres_range){start, end};
        }
        ranges_of = c;
        ranges_peers = c->peers;
    }
    *n = range_count;
    return ranges;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/* Allocates at a multiple of 256 that is rarely a larger power of two. */
static result take(const context *c, size_t bytes, address *out)
{
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > (size_t)DEVICE_BYTES) return OUT_OF_MEMORY;
    const int64_t counted = (int64_t)((bytes + ALIGN - 1) / ALIGN * ALIGN);
    if (!memory_account(c->device, counted)) return OUT_OF_MEMORY;
    const size_t in_page = random_u32_below(PAGE / ALIGN) * (size_t)ALIGN;
    char *page = va_reserve(in_page + bytes, PAGE), *start = page + in_page;
    const allocation p = {.start = start, .bytes = bytes, .device = c->device, .allowed = 1u << c->device};
    if (page == NULL || mprotect(page, (in_page + bytes + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE) != 0 ||
        piece_add(&p) == NULL) {
        memory_account(c->device, -counted);
        return OUT_OF_MEMORY;
    }
    memset(start, FRESH, bytes);
    *out = (uintptr_t)start;
    return SUCCESS;
}

static void give(allocation *p)
{
    const size_t in_page = (uintptr_t)p->start % PAGE;
    memory_account(p->device, -(int64_t)((p->bytes + ALIGN - 1) / ALIGN * ALIGN));
    memset(p->start, GONE, p->bytes);
    va_unmap(p->start - in_page, (in_page + p->bytes + PAGE - 1) / PAGE * PAGE);
    piece_remove(p);
}

CALL cuMemAlloc_v2(address *out, size_t bytes)
{
    result code = call_begin(NEEDS_CONTEXT);
    return call_end(code == SUCCESS ? take(context_current(), bytes, out) : code);
}

/* Runs all pending work first, because CUDA synchronises the device here. */
CALL cuMemFree_v2(address at)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS || at == 0) return call_end(code);
    allocation *p = piece_at(at);
    if (p == NULL || p->mapped) return call_end(INVALID_VALUE);
    context *owner = &contexts[p->device];
    if (owner->retained > 0) streams_run(owner);
    code = context_current()->error;
    if (code == SUCCESS) give(piece_at(at));
    return call_end(code);
}

CALL cuMemGetInfo_v2(size_t *available, size_t *total)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    *available = (size_t)(DEVICE_BYTES - standin_memory_used(context_current()->device));
    *total = (size_t)DEVICE_BYTES;
    return call_end(SUCCESS);
}

/* ---- page-locked memory ------------------------------------------------------------------------------------------ */

typedef struct locked {
    struct locked *next;
    context *context;
    void *memory;
    size_t bytes;
} locked;
static locked *all_locked;

static void free_locked(locked **link)
{
    locked *gone = *link;
    *link = gone->next;
    memset(gone->memory, GONE, gone->bytes);
    free(gone->memory);
    free(gone);
}

CALL cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && (bytes == 0 || flags > 7)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    locked *l = calloc(1, sizeof *l);
    if (l == NULL || posix_memalign(&l->memory, ALIGN, bytes) != 0) {
        free(l);
        return call_end(OUT_OF_MEMORY);
    }
    memset(l->memory, FRESH, bytes);
    l->bytes = bytes;
    l->context = context_current();
    l->next = all_locked;
    all_locked = l;
    *out = l->memory;
    return call_end(SUCCESS);
}

CALL cuMemFreeHost(void *memory)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    locked **link = &all_locked;
    while (*link != NULL && (*link)->memory != memory) link = &(*link)->next;
    if (*link == NULL) return call_end(INVALID_VALUE);
    for (int d = 0; d < DEVICES; d++)
        if (contexts[d].retained > 0) streams_run(&contexts[d]);
    free_locked(link);
    return call_end(context_current()->error);
}

void memory_end(context *c)
{
    for (int k = count - 1; k >= 0; k--)
        if (pieces[k].device == c->device && !pieces[k].mapped) give(&pieces[k]);
    for (locked **link = &all_locked; *link != NULL;) {
        if ((*link)->context == c)
            free_locked(link);
        else
            link = &(*link)->next;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: reserved addresses, physical memory, and mappings between them. Physical memory is an unnamed file,
 * so it can be mapped at several addresses. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GRANULE = 2 << 20, FRESH = 0xcd, PINNED = 1, ON_DEVICE = 1, READ_WRITE = 3 };

typedef struct location {
    int type, id;
} location;

/* CUmemAllocationProp and CUmemAccessDesc. */
typedef struct properties {
    int type, handle_types;
    location location;
    void *meta;
    unsigned char flags[8];
} properties;
typedef struct access_of {
    location location;
    int flags;
} access_of;

typedef struct reserved {
    struct reserved *next;
    address start;
    size_t bytes;
} reserved;
static reserved *reservations;

typedef struct physical {
    struct physical *next;
    int device, file, mappings;
    size_t bytes;
    bool released; /* freed after its last mapping */
} physical;
static physical *physicals;

/* The physical memory of an allocation; a separate table, because few allocations are mappings. */
typedef struct mapping {
    struct mapping *next;
    address start;
    physical *of;
} mapping;
static mapping *mappings;

static bool is_whole(uint64_t bytes)
{
    return bytes % GRANULE == 0;
}

static bool good_properties(const properties *p)
{
    return p->type == PINNED && p->location.type == ON_DEVICE && p->location.id >= 0 && p->location.id < DEVICES;
}

CALL cuMemGetAllocationGranularity(size_t *bytes, const properties *p, int option)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && (!good_properties(p) || option < 0 || option > 1)) code = INVALID_VALUE;
    if (code == SUCCESS) *bytes = (size_t)standin_number("STANDIN_GRANULE", 0, GRANULE >> 20) << 20;
    return call_end(code);
}

CALL cuMemAddressReserve(address *out, size_t bytes, size_t multiple, address at, unsigned long long flags)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && (bytes == 0 || !is_whole(bytes) || !is_whole(multiple) || flags != 0)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    (void)at; /* a hint */
    char *start = va_reserve(bytes, multiple > GRANULE ? multiple : GRANULE);
    reserved *r = start != NULL ? calloc(1, sizeof *r) : NULL;
    if (r == NULL) return call_end(OUT_OF_MEMORY);
    *r = (reserved){.next = reservations, .start = (uintptr_t)start, .bytes = bytes};
    reservations = r;
    *out = r->start;
    return call_end(SUCCESS);
}

static bool is_mapped(address start, size_t bytes)
{
    for (const mapping *m = mappings; m != NULL; m = m->next)
        if (m->start >= start && m->start < start + bytes) return true;
    return false;
}

CALL cuMemAddressFree(address at, size_t bytes)
{
    result code = call_begin(NEEDS_INIT);
    if (code != SUCCESS) return call_end(code);
    reserved **link = &reservations;
    while (*link != NULL && ((*link)->start != at || (*link)->bytes != bytes)) link = &(*link)->next;
    if (*link == NULL || is_mapped(at, bytes)) return call_end(INVALID_VALUE);
    reserved *gone = *link;
    *link = gone->next;
    free(gone);
    return call_end(SUCCESS);
}

/* Fills new memory with a pattern, so that programs do not rely on zeros. */
static bool fill(const physical *p)
{
    if (ftruncate(p->file, (off_t)p->bytes) != 0) return false;
    char *at = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->file, 0);
    if (at == MAP_FAILED) return false;
    memset(at, FRESH, p->bytes);
    munmap(at, p->bytes);
    return true;
}

CALL cuMemCreate(physical **out, size_t bytes, const properties *p, unsigned long long flags)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && (bytes == 0 || !is_whole(bytes) || !good_properties(p) || flags != 0)) code = INVALID_VALUE;
    if (code == SUCCESS && !memory_account(p->location.id, (int64_t)bytes)) code = OUT_OF_MEMORY;
    if (code != SUCCESS) return call_end(code);
    physical *made = calloc(1, sizeof *made);
    const int file = made != NULL ? (int)syscall(SYS_memfd_create, "stand-in", 0) : -1;
    if (made != NULL) *made = (physical){.next = physicals, .device = p->location.id, .file = file, .bytes = bytes};
    if (file < 0 || !fill(made)) {
        if (file >= 0) close(file);
        free(made);
        memory_account(p->location.id, -(int64_t)bytes);
        return call_end(OUT_OF_MEMORY);
    }
    physicals = made;
    *out = made;
    return call_end(SUCCESS);
}

static physical **find_physical(const physical *p)
{
    physical **link = &physicals;
    while (*link != NULL && *link != p) link = &(*link)->next;
    return link;
}

static void free_unless_used(physical *p)
{
    if (!p->released || p->mappings > 0) return;
    *find_physical(p) = p->next;
    memory_account(p->device, -(int64_t)p->bytes);
    close(p->file);
    free(p);
}

CALL cuMemRelease(physical *p)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS && (*find_physical(p) == NULL || p->released)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    p->released = true;
    free_unless_used(p);
    return call_end(SUCCESS);
}

static bool is_reserved(address start, size_t bytes)
{
    for (const reserved *r = reservations; r != NULL; r = r->next)
        if (start >= r->start && start + bytes <= r->start + r->bytes) return true;
    return false;
}

/* No device may access a new mapping. */
CALL cuMemMap(address at, size_t bytes, size_t offset, physical *p, unsigned long long flags)
{
    result code = call_begin(NEEDS_INIT);
    if (code != SUCCESS) return call_end(code);
    if (*find_physical(p) == NULL || bytes == 0 || !is_whole(at) || !is_whole(bytes) || flags != 0 || offset != 0 ||
        bytes > p->bytes || !is_reserved(at, bytes) || is_mapped(at, bytes))
        return call_end(INVALID_VALUE);
    char *start = (char *)(uintptr_t)at;
    mapping *m = calloc(1, sizeof *m);
    if (m == NULL || syscall(SYS_mmap, start, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, p->file, 0) == -1 ||
        piece_add(&(allocation){.start = start, .bytes = bytes, .device = p->device, .mapped = true}) == NULL) {
        free(m);
        return call_end(OUT_OF_MEMORY);
    }
    *m = (mapping){.next = mappings, .start = at, .of = p};
    mappings = m;
    p->mappings++;
    return call_end(SUCCESS);
}

/* Calls visit for each mapping in a range, if contiguous mappings cover it exactly. */
static bool each_mapping(address at, size_t bytes, void (*visit)(allocation *p, unsigned devices), unsigned devices)
{
    for (address next = at; next < at + bytes;) {
        const allocation *p = piece_at(next);
        if (p == NULL || !p->mapped || next + p->bytes > at + bytes) return false;
        next += p->bytes;
    }
    for (address next = at; next < at + bytes;) {
        allocation *p = piece_at(next);
        next += p->bytes;
        visit(p, devices);
    }
    return true;
}

static void protect(allocation *p)
{
    mprotect(p->start, p->bytes, p->allowed != 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
    ranges_invalidate();
}

static void allow(allocation *p, unsigned devices)
{
    p->allowed |= devices;
    protect(p);
}

static void forbid(allocation *p, unsigned devices)
{
    p->allowed &= ~devices;
    protect(p);
}

static result check_access(address at, const access_of *of)
{
    const int device = of->location.id;
    if (of->location.type != ON_DEVICE || device < 0 || device >= DEVICES) return INVALID_VALUE;
    const allocation *p = piece_at(at);
    return p != NULL && p->device != device && !device_has_peer_access(device, p->device) ? INVALID_DEVICE : SUCCESS;
}

/* Access of devices that are not listed does not change. */
CALL cuMemSetAccess(address at, size_t bytes, const access_of *of, size_t count)
{
    result code = call_begin(NEEDS_INIT);
    for (size_t k = 0; k < count && code == SUCCESS; k++) code = check_access(at, &of[k]);
    if (code == SUCCESS && bytes == 0) code = INVALID_VALUE;
    for (size_t k = 0; k < count && code == SUCCESS; k++)
        if (!each_mapping(at, bytes, of[k].flags == READ_WRITE ? allow : forbid, 1u << of[k].location.id))
            code = INVALID_VALUE;
    return call_end(code);
}

static void unmap(allocation *p, unsigned unused)
{
    (void)unused;
    mapping **link = &mappings;
    while ((*link)->start != (uintptr_t)p->start) link = &(*link)->next;
    mapping *gone = *link;
    *link = gone->next;
    va_unmap(p->start, p->bytes);
    piece_remove(p);
    gone->of->mappings--;
    free_unless_used(gone->of);
    free(gone);
}

/* Does not wait, because CUDA requires programs to. Work that still uses the range fails. */
CALL cuMemUnmap(address at, size_t bytes)
{
    result code = call_begin(NEEDS_INIT);
    if (code != SUCCESS) return call_end(code);
    return call_end(bytes > 0 && each_mapping(at, bytes, unmap, 0) ? SUCCESS : INVALID_VALUE);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table by address, open addressing with linear probing; see shadow_deferred.h. Locked, because any thread may
 * destroy a deferred value. */
#include "shadow_deferred.h"
#include "base/alloc.h"

typedef struct entry {
    const wk__value *of; /* key; NULL: free */
    wk__device *device;
    wk__memory memory;
    bool failed, kept_old, may_fail, holes;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *table;
static int64_t room; /* number of slots, a power of 2; at most half are used */
atomic_llong wk__deferred_shadow_count;

static int64_t home_of(const wk__value *value)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)value * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)(mixed >> 20) & (room - 1);
}

/* Returns the value's slot, or the free slot for it. */
static entry *place_of(const wk__value *value)
{
    int64_t k = home_of(value);
    while (table[k].of && table[k].of != value) k = (k + 1) & (room - 1);
    return &table[k];
}

static bool grow(void)
{
    enum { FIRST = 256 };
    entry *before = table;
    const int64_t had = room;
    entry *larger = wk__alloc_zero((size_t)(had ? had * 2 : FIRST), sizeof *table);
    if (!larger) return false;
    table = larger;
    room = had ? had * 2 : FIRST;
    for (int64_t k = 0; k < had; k++)
        if (before[k].of) *place_of(before[k].of) = before[k];
    wk__free(before);
    return true;
}

/* Moves later entries of the same probe sequence up, so that they are still found. */
static void take_out(entry *e)
{
    int64_t hole = e - table;
    for (int64_t k = (hole + 1) & (room - 1); table[k].of; k = (k + 1) & (room - 1)) {
        const int64_t home = home_of(table[k].of);
        if (((k - home) & (room - 1)) < ((k - hole) & (room - 1))) continue;
        table[hole] = table[k];
        hole = k;
    }
    table[hole].of = NULL;
    atomic_fetch_sub_explicit(&wk__deferred_shadow_count, 1, memory_order_relaxed);
}

void wk__deferred_shadow_add(wk__shadow *shadow)
{
    pthread_mutex_lock(&lock);
    if ((atomic_load(&wk__deferred_shadow_count) + 1) * 2 <= room || grow()) {
        entry *e = place_of(shadow->of);
        if (e->of) wk__shadow_free_memory(e->device, &e->memory);
        atomic_fetch_add_explicit(&wk__deferred_shadow_count, e->of == NULL, memory_order_relaxed);
        *e = (entry){.of = shadow->of,
                     .device = shadow->value.device,
                     .memory = shadow->value.memory,
                     .failed = shadow->failed,
                     .kept_old = shadow->rolled_back,
                     .may_fail = shadow->may_fail,
                     .holes = shadow->partly_written};
        shadow->value.memory.block = NULL;
    }
    pthread_mutex_unlock(&lock);
}

bool wk__deferred_shadow_take(wk__shadow *shadow)
{
    if (atomic_load_explicit(&wk__deferred_shadow_count, memory_order_relaxed) == 0) return false;
    pthread_mutex_lock(&lock);
    entry *e = place_of(shadow->of);
    const bool found = e->of != NULL;
    if (found) {
        shadow->value.memory = e->memory;
        shadow->failed = e->failed;
        shadow->rolled_back = e->kept_old;
        shadow->may_fail = e->may_fail;
        shadow->partly_written = e->holes;
        take_out(e);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void wk__deferred_shadow_drop_slow(const wk__value *value)
{
    pthread_mutex_lock(&lock);
    entry *e = room ? place_of(value) : NULL;
    if (e && e->of) {
        wk__shadow_free_memory(e->device, &e->memory);
        take_out(e);
    }
    pthread_mutex_unlock(&lock);
}

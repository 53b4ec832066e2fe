/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the library's slab allocator in the program that includes this: slots (handles, bodies, storages, values,
 * nodes) are allocated one by one instead of 256 KB at a time. So the allocation of each slot can fail, a slot that is
 * never freed is a leak, and AddressSanitizer detects use after free. */
#ifndef TESTS_SLOT_BY_SLOT_H
#define TESTS_SLOT_BY_SLOT_H

#include "support/alloc_faults.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/slab.h"

enum {
    QUEUE = 1 << 14 /* freed handles that wait before the oldest is reused, so that stale handles can be detected */
};

static const int slot_bytes[WK__SLAB_KINDS] = {64, 256, 128, 192, 512};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t wk__slab_lock = PTHREAD_MUTEX_INITIALIZER; /* unused here */
static void *queue[QUEUE];                                 /* freed handles */
static int64_t given, taken;

void *wk__slab_alloc(wk__slab_cache slots[], int kind)
{
    void *slot = kind == WK__SLAB_HANDLE ? NULL : slots[kind].first;
    if (slot) {
        slots[kind].first = *(void **)slot;
        slots[kind].count--;
        return slot;
    }
    pthread_mutex_lock(&lock);
    if (kind == WK__SLAB_HANDLE && given - taken > QUEUE / 2) slot = queue[taken++ % QUEUE];
    pthread_mutex_unlock(&lock);
    if (slot) { /* reused only if a new allocation would succeed */
        void *probe = wk__alloc(1);
        if (!probe) wk__slab_free_handle(slots, slot);
        wk__free(probe);
        return probe ? slot : NULL;
    }
    return wk__alloc_zero(1, (size_t)slot_bytes[kind]);
}

void wk__slab_free_handle(wk__slab_cache slots[], void *slot)
{
    (void)slots;
    pthread_mutex_lock(&lock);
    queue[given++ % QUEUE] = slot;
    pthread_mutex_unlock(&lock);
}

void wk__slab_spill(wk__slab_cache slots[], int kind)
{
    (void)slots, (void)kind; /* the list may have any length */
}

void wk__slab_drain(wk__slab_cache slots[])
{
    for (int kind = 0; kind < WK__SLAB_KINDS; kind++) {
        for (void *slot = slots[kind].first, *next; slot; slot = next) {
            next = *(void **)slot;
            wk__free(slot);
        }
        memset(&slots[kind], 0, sizeof slots[kind]);
    }
}

static void drain(void)
{
    wk__slab_drain(wk__context()->slots);
}

/* Fills the queue of handles to its maximum length, so that it does not grow later. */
static int fill_queue(void **state)
{
    (void)state;
    while (given - taken <= QUEUE * 3 / 4) {
        void *slot = wk__alloc_zero(1, (size_t)slot_bytes[WK__SLAB_HANDLE]);
        wk__slab_free_handle(NULL, slot);
    }
    alloc_faults_before_run = drain;
    return 0;
}

#endif

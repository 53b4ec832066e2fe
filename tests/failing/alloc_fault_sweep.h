/* SPDX-License-Identifier: Apache-2.0 */
/* A slab in place of the library's, for the one program that includes this: slots (handles, bodies, storages, values,
 * nodes) are taken one by one, where the library asks for 256 KB at a time. So each slot can fail to be had, one that
 * is kept for ever is a leak, and one that is used after it was given back is found by AddressSanitizer. */
#ifndef TESTS_SLOT_BY_SLOT_H
#define TESTS_SLOT_BY_SLOT_H

#include "support/alloc_faults.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/slab.h"

enum { QUEUE = 1 << 14 /* given back before the oldest serves again: a stale handle can be told */ };

static const int slot_bytes[WK__SLAB_KINDS] = {64, 256, 128, 192, 512};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t wk__slab_lock = PTHREAD_MUTEX_INITIALIZER; /* nothing is locked with it here */
static void *queue[QUEUE];                                 /* those that were given back */
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
    if (slot) { /* old, but to be had only when a new one was */
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
    (void)slots, (void)kind; /* a list may be as long as it likes */
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

/* As many handles as wait at any time: after this their number does not grow. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that are in use: a backend's device, opened once, with its arena. */
#ifndef WICK_BACKEND_DEVICE_H
#define WICK_BACKEND_DEVICE_H

#include "backend/arena/arena.h"
#include "backend.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct wk__device {
    wk_device id;
    const wk__backend *backend;
    void *state; /* the backend's */
    wk__arena *arena;
    atomic_llong uploads, downloads, syncs; /* bytes to and from the host; waits of the host */
    atomic_llong limit;                     /* the arena's, for a look at each call */
    pthread_mutex_t report_lock;            /* held from a wait until all that the device reported then is marked
                                    (engine/device_sync.c) */
} wk__device;

/* What calls say of kind -1. */
#define WK__INVALID_DEVICE "the device is not valid; the call that made it has recorded why"

/* The opened device, or NULL with *fail filled: what is there, and why the rest is not. gpu:i must have been
 * resolved. */
wk__device *wk__device_get(wk_device id, wk__fail *fail);
/* gpu:i -> what it stands for; {0} when there is none. Other kinds come back as they are. */
wk_device wk__device_resolve(wk_device id);
/* How many of a kind; WK_GPU counts physical cards once. */
int wk__device_count_of(int kind);
/* In bytes; 0: the memory that the backend says it has, as at first. */
void wk__device_set_limit(wk__device *device, int64_t bytes);
/* Calls visit for every open device. */
void wk__device_for_each(void (*visit)(wk__device *device, void *user), void *user);

#endif

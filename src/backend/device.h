/* SPDX-License-Identifier: Apache-2.0 */
/* Open devices: a device of a backend, opened once per process and never closed, with its arena. Thread-safe. */
#ifndef WICK_BACKEND_DEVICE_H
#define WICK_BACKEND_DEVICE_H

#include "backend/arena/arena.h"
#include "backend.h"
#include <pthread.h>
#include <stdatomic.h>

enum { WK__MAX_OPEN_DEVICES = 64 };

typedef struct wk__device {
    wk_device id;
    int slot; /* index of this open device, below WK__MAX_OPEN_DEVICES, in tables with an entry per device */
    const wk__backend *backend;
    void *state; /* the backend's state */
    wk__arena *arena;
    atomic_llong uploads, downloads, syncs; /* statistics: bytes from and to the host, waits of the host */
    atomic_llong limit;                     /* copy of the arena's limit, readable without its lock */
    /* held from a wait until all failures it reported have been attributed (engine/device_sync.c) */
    pthread_mutex_t report_lock;
} wk__device;

/* Error text for a device of kind -1. */
#define WK__INVALID_DEVICE "invalid device; see the error of the call that returned it"

/* Returns the device, opening it on first use; NULL with *fail set if unavailable. gpu:i must be resolved before. */
wk__device *wk__device_get(wk_device id, wk__fail *fail);
/* Converts gpu:i to the device it denotes, {0} if none; returns other kinds unchanged. */
wk_device wk__device_resolve(wk_device id);
/* Returns the number of devices of a kind; WK_GPU counts each physical card once. */
int wk__device_count_of(int kind);
/* Sets the memory limit in bytes; 0 restores the default, the memory that the backend reports. */
void wk__device_set_limit(wk__device *device, int64_t bytes);
/* Calls visit for every open device. */
void wk__device_for_each(void (*visit)(wk__device *device, void *user), void *user);

#endif

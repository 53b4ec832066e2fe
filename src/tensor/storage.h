/* SPDX-License-Identifier: Apache-2.0 */
/* Storages and values: the data of tensors.
 *
 *        handle a ----> body ---\                       value 3 (stored, memory)
 *                                >--> storage  ------->    ^
 *        handle b ----> body ---/     (a variable)         | operand
 *        (a view of a)                                  record in a queue ---> value 4 (pending)
 *
 * A storage is a variable; in-place ops change its value. A value is immutable: an in-place op creates a new value,
 * which the storage refers to as soon as the op is recorded. Records refer to values, so program order is preserved in
 * any execution order, without hazard checks. If the old value dies with the op that replaces it, the new value reuses
 * its memory: the operation really happens in place.
 *
 * Ownership: all types are reference-counted.
 * Threads: counts and states are atomic; a pending or deferred value belongs to the context that recorded it. */
#ifndef WICK_TENSOR_STORAGE_H
#define WICK_TENSOR_STORAGE_H

#include "backend/device.h"
#include "base/failure.h"
#include "base/refcount.h"
#include "base/handle.h"
#include "alias_set.h"

struct wk__record;

typedef enum wk__value_state {
    WK__PENDING,  /* to be computed by a record in the queue of `writer` */
    WK__DEFERRED, /* not needed so far: its record is kept with it */
    WK__STORED,   /* in memory */
    WK__FAILED    /* could not be computed; `failure` is the reason */
} wk__value_state;

typedef struct wk__value {
    atomic_int refs;    /* storages, records and deferred records that refer to it */
    atomic_uchar state; /* wk__value_state; written under the writer's lock (wk__value_set_state), read at any time */
    atomic_bool persistent; /* must be stored: a retained handle, a parent or a graph node needs it; never reset */
    /* Up to `group`: accessed by the writer only, while pending or deferred. */
    uint8_t defer_depth; /* length of the chain of records that computing a deferred value would run */
    bool requeued;       /* was deferred and then read: the next flush stores it */
    bool exposed;        /* its address was returned to user code */
    bool force_store;    /* the next flush stores it regardless of its owners */
    bool mapped;         /* memory of a mapped file, which no user code changes; `release` unmaps it */
    bool rolled_back;    /* the in-place call that computes it failed: it has the old contents */
    /* during a flush: read by a live record; needed by an owner; read outside its group; may be deferred */
    bool live, is_root, escapes, deferrable;
    /* during a flush: read by a record that will be deferred; a bad index may prevent it */
    bool read_by_deferred, may_fault;
    bool in_place;               /* op_name is the name of an op, without the "_" */
    int16_t reg;                 /* during a flush: register in its group */
    int32_t ring_refs;           /* references from the writer's queue, part of refs (pending values only) */
    int32_t group;               /* during a flush: index of its group; -1: none */
    int32_t reads;               /* during a flush: of ring_refs, operands of records that have joined its group */
    atomic_int deferred_readers; /* deferred records that refer to this value */
    wk__device *device;
    int64_t bytes;
    wk_context *writer; /* PENDING, DEFERRED */
    union {
        struct wk__record *record; /* PENDING: in the queue; DEFERRED: an owned copy */
        wk__failure *failure;      /* FAILED */
    };
    wk__memory memory; /* STORED */
    /* after a failed in-place op: owner of the memory, the previous value of the target */
    struct wk__value *memory_owner;
    void (*release)(void *user); /* borrowed or mapped host memory: called when the last reference is dropped */
    void *release_user;
    wk_site site;                /* call that created it, for memory statistics and lost devices */
    const char *op_name;         /* name of that call; NULL: unknown */
    _Atomic int64_t large_index; /* index in the list of large values plus 1; 0: not listed. See large_values.h */
    struct wk__value *deferred_next, *deferred_prev; /* the writer's list of deferred values; otherwise undefined */
} wk__value;
_Static_assert(sizeof(wk__value) <= 192, "fits its slab slot");

/* In-place modifications of a storage. */
typedef struct wk__version_info {
    uint32_t version; /* their number; the last one: */
    bool in_place;    /* op_name is the name of an op, without the "_" */
    const char *op_name;
    wk_site at;
} wk__version_info;

typedef struct wk__storage {
    atomic_int refs; /* bodies and saved bodies */
    /* retained handles, parents and graph nodes that need the data: the value must be stored */
    atomic_int persistent_refs;
    wk__value *value;
    wk__device *device;
    int64_t bytes;
    wk__version_info version_info;
    wk__alias_set alias_set; /* of the tensor it was created for */
    uint32_t assign_count;   /* number of assigned values; unlike the version, never decreases */
    uint32_t counted_by;     /* number of the last summary of a network that counted its bytes; nn/summary.c */
} wk__storage;
_Static_assert(sizeof(wk__storage) <= 128, "fits its slab slot");

/* Creates a pending value of `bytes` on a device, with refs 0 and no record. NULL on allocation failure, recorded. */
wk__value *wk__value_new(wk_context *context, wk__device *device, int64_t bytes, wk_site site);
/* Creates a storage for `value`, with refs 1; takes over a reference of the caller. NULL on allocation failure, not
 * recorded. */
wk__storage *wk__storage_new(wk_context *context, wk__value *value);

/* Postpones the release of unused borrowed memory, and the destruction of deferred values of other threads, until the
 * matching resume. The release function is user code and may call the library, so no internal state may be
 * inconsistent; destroying such a value takes its queue's lock, whose holder may be waiting for one of this thread's.
 * Nests; per thread. */
void wk__release_suspend(void);
void wk__release_resume(void);
/* For the engine: postpones freeing a deferred value of another queue. Returns false if nothing is suspended and the
 * caller must free it. */
bool wk__release_postpone(wk__value *parked);

/* Returns true if user code may change the memory at any time. */
static inline bool wk__value_is_borrowed(const wk__value *value)
{
    return value->release && !value->mapped;
}

static inline void wk__value_hold(wk__value *value)
{
    wk__refcount_inc(&value->refs);
}
void wk__value_free(wk__value *value); /* called when refs reaches 0 */
static inline void wk__value_drop(wk__value *value)
{
    if (wk__refcount_dec(&value->refs)) wk__value_free(value);
}

static inline void wk__value_set_state(wk__value *value, wk__value_state state)
{
    atomic_store_explicit(&value->state, (unsigned char)state, memory_order_release);
}

static inline void wk__storage_hold(wk__storage *storage)
{
    wk__refcount_inc(&storage->refs);
}
void wk__storage_drop(wk__storage *storage);
/* Counts an orphan, a value that only deferred records own: once, and again for each 64 KiB of its size, so that large
 * ones are stored sooner. The next flush of the context looks for such values (engine/deferred.c). */
static inline void wk__count_deferred_orphan(wk_context *context, int64_t bytes)
{
    atomic_fetch_add_explicit(&context->deferred_orphans, 1 + (bytes >> 16), memory_order_relaxed);
}
/* Adds or removes owners that need the data to be stored. */
static inline void wk__storage_add_persistent(wk__storage *storage, int change)
{
    atomic_fetch_add_explicit(&storage->persistent_refs, change, memory_order_relaxed);
    if (change > 0) atomic_store_explicit(&storage->value->persistent, true, memory_order_relaxed);
}
/* Increments the version for an in-place call of this op, or of the API call that is active. */
void wk__storage_bump_version(wk__storage *storage, const char *op, wk_site site);
/* Replaces the storage's value; takes a reference to the new one and drops the old. */
void wk__storage_assign(wk__storage *storage, wk__value *value);

/* Allocates memory for a value from its device's arena. A WK_ERR_MEMORY failure lists the largest tensors. */
wk_code wk__value_alloc_memory(wk__value *value, int64_t bytes, wk__fail *fail);
/* Frees the memory of a stored value that is overwritten or destroyed. */
void wk__value_free_memory(wk__value *value);
/* Marks a value as failed and takes a reference to the cause. */
void wk__value_fail(wk__value *value, wk__failure *failure);
/* Returns how many values have failed in this process: callers search for failed values only if it has increased. */
int64_t wk__failed_value_count(void);
void wk__release_noop(void *user); /* for memory borrowed forever */

#endif

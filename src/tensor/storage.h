/* SPDX-License-Identifier: Apache-2.0 */
/* Storages and values: what a tensor's numbers live in.
 *
 *        handle a ----> body ---\                       value 3 (stored, memory)
 *                                >--> storage  ------->    ^
 *        handle b ----> body ---/     (a variable)         | operand
 *        (a view of a)                                  record in a ring ----> value 4 (pending)
 *
 * A storage is a variable: in-place ops change what it holds. A value is what it holds at one moment and never changes:
 * an in-place op makes a new value and the storage takes it up at the call. So records need no hazard checks: they name
 * values, and program order is kept whatever runs when. When the old value dies with the op that replaces it, the new
 * one is written into its memory, which is what "in place" means in the end.
 * */
#ifndef WICK_TENSOR_STORAGE_H
#define WICK_TENSOR_STORAGE_H

#include "backend/device.h"
#include "base/refcount.h"
#include "base/handle.h"

struct wk__record;

typedef enum wk__value_state {
    WK__PENDING,  /* a record in `writer`'s ring will compute it */
    WK__DEFERRED, /* nobody has needed it yet: its record is kept beside it */
    WK__STORED,   /* in memory */
    WK__FAILED    /* it could not be computed; `failure` says why */
} wk__value_state;

/* The first cause of a failure, shared by all that depend on it. */
typedef struct wk__failure {
    atomic_int refs;
    wk_code code;
    wk_site site;
    atomic_llong reported_to; /* the stream of the context that it was told to last, plus 1: nobody is told twice
                                 unasked */
    char text[560];           /* op and what is wrong */
} wk__failure;

typedef struct wk__value {
    atomic_int refs;    /* storages that hold it, records that name it, parked records */
    atomic_uchar state; /* wk__value_state; written under the writer's lock (wk__value_set_state), read at any time */
    atomic_bool persistent; /* somebody wants it stored: a retain, a parent, a graph node; sticky */
    /* Up to `group` the writer's, while pending or parked. */
    uint8_t defer_depth;                     /* records in the chain that a parked value would compute */
    bool requeued;                           /* it was parked and read again: the next flush stores it */
    bool exposed;                            /* its address was given to the user */
    bool force_store;                        /* the next flush stores it whatever owns it */
    bool rolled_back;                        /* the in-place call that gives it failed: it has the numbers of
                                                    before */
    bool live, is_root, escapes, deferrable; /* scratch of a flush: read by a live record; wanted by an owner; read
                                                outside its group; may be parked */
    bool read_by_deferred, may_fault;        /* scratch of a flush: read by a record that will be parked; a bad
                                                        index may keep it from being computed */
    bool in_place;                           /* `by` is the name of an op, and lacks the _ */
    int16_t reg;                             /* scratch of a flush: register in its group */
    int32_t ring_refs;                       /* of refs: those of the writer's ring (pending values only) */
    int32_t group;                           /* scratch of a flush: number of its group, -1 none */
    atomic_int deferred_readers;             /* parked records that hold this value */
    wk__device *device;
    int64_t bytes;
    wk_context *writer; /* PENDING, PARKED */
    union {
        struct wk__record *record; /* PENDING: in the ring; PARKED: a copy of its own */
        wk__failure *failure;      /* FAILED */
    };
    wk__memory memory;              /* STORED */
    struct wk__value *memory_owner; /* an in-place op failed: the memory is this one's, the value the target had
                                          before */
    void (*release)(void *user);    /* borrowed host memory: called when the last user has let go */
    void *release_user;
    wk_site site;                /* the call that made it: for memory statistics, and should its device be lost; */
    const char *op_name;         /* what that is called, NULL: not known */
    _Atomic int64_t large_index; /* its place in the list of the large ones plus 1, 0 none; see large_values.h */
    struct wk__value *deferred_next, *parked_prev; /* the writer's list of parked values; else not set */
} wk__value;
_Static_assert(sizeof(wk__value) <= 192, "fits its slab slot");

/* A tensor and its views: the gradients of what is written in place through one of them flow through the base; see
 * autograd/view_grad.h. A detached tensor shares the storage, but begins a family of its own.
 *
 * A base may die in one thread while another has a view of it. So who looks at the base through a view does so between
 * wk__alias_lock and wk__alias_unlock, and so is the base taken away. */
typedef struct wk__alias_set {
    _Atomic(struct wk__body *) base; /* while it lives */
    struct wk__dead_base *dead_base; /* its place in the graph, once it is gone and while views live */
    uint32_t graph_version;          /* rises when an in-place call changes the graph behind the views */
    atomic_int views;
    atomic_int refs; /* of a detached tensor's: bodies, saved ones among them */
} wk__alias_set;

/* In-place calls that changed a storage. */
typedef struct wk__version_info {
    uint32_t version; /* how many there were; the last one: */
    bool in_place;    /* its name is that of an op, and lacks the _ */
    const char *op_name;
    wk_site at;
} wk__version_info;

typedef struct wk__storage {
    atomic_int refs;            /* bodies and saved bodies */
    atomic_int persistent_refs; /* of them or through them: retained handles, parents, graph nodes: the value must be
                                   stored */
    wk__value *value;
    wk__device *device;
    int64_t bytes;
    wk__version_info version_info;
    wk__alias_set alias_set; /* of the tensor that it was made for */
    uint32_t assign_count;   /* how many values it has held: unlike the version, it never goes back */
} wk__storage;
_Static_assert(sizeof(wk__storage) <= 128, "fits its slab slot");

/* A pending value of `bytes` on a device; refs 0, no record yet. NULL when memory is short (recorded). */
wk__value *wk__value_new(wk_context *context, wk__device *device, int64_t bytes, wk_site site);
/* A storage that holds `value`, refs 1; a reference of the caller's becomes the storage's. NULL when memory is short:
 * the caller records it. */
wk__storage *wk__storage_new(wk_context *context, wk__value *value);

/* Between these two, borrowed memory that nobody needs any more is not released yet: the program's function may call
 * the library, which must not be in the midst of something. Nor is what another thread has parked freed: that takes its
 * ring's lock, and who holds that may be waiting for one of this thread's. They nest; per thread. */
void wk__release_suspend(void);
void wk__release_resume(void);
/* The engine's: a parked value of another ring is freed by wk__release_resume. False: nothing is held, free it at
 * once. */
bool wk__release_postpone(wk__value *parked);

static inline void wk__value_hold(wk__value *value)
{
    wk__refcount_inc(&value->refs);
}
void wk__value_free(wk__value *value); /* refs has reached 0 */
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
void wk__alias_set_drop(wk__alias_set *family); /* a detached tensor's */
/* Held for moments, in which no code of the program runs. */
void wk__alias_lock(void);
void wk__alias_unlock(void);
/* One view fewer. The last one takes the base's place in the graph along, for which nobody can ask any more: that graph
 * may hold the storage (exp keeps its result), and would hold it for ever. */
void wk__alias_set_drop_view(wk__alias_set *family);
/* Somebody who needs the numbers to stay comes or goes. */
static inline void wk__storage_add_persistent(wk__storage *storage, int change)
{
    atomic_fetch_add_explicit(&storage->persistent_refs, change, memory_order_relaxed);
    if (change > 0) atomic_store_explicit(&storage->value->persistent, true, memory_order_relaxed);
}
/* An in-place call counts: of this op, or of the call of the program that is being carried out. */
void wk__storage_bump_version(wk__storage *storage, const char *op, wk_site site);
/* In place: the storage holds `value` from now on (takes a reference, gives the old one back). */
void wk__storage_assign(wk__storage *storage, wk__value *value);

/* Memory for a value: from its device's arena; WK_ERR_MEMORY names the largest tensors. */
wk_code wk__value_alloc_memory(wk__value *value, int64_t bytes, wk__fail *fail);
/* Gives memory back (a stored value that is overwritten or freed). */
void wk__value_free_memory(wk__value *value);
/* Marks it failed with a cause (takes a reference). */
void wk__value_fail(wk__value *value, wk__failure *failure);
/* How many have failed in this process so far: as long as that does not rise, nobody has to look for such
 * values again. */
int64_t wk__failed_value_count(void);
void wk__release_noop(void *user); /* of memory that is borrowed for ever */
wk__failure *wk__failure_new(wk_code code, wk_site site, const char *text);
void wk__failure_drop(wk__failure *failure);
/* Stands in a context's `late` for an error of which only the program's handler has not heard yet. */
extern wk__failure wk__failure_none;
void wk__schedule_error_delivery(wk_context *context); /* see base/upcalls.h */

#endif

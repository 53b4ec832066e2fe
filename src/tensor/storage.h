/* Storages and values: what a tensor's numbers live in.
 *
 *        handle a ----> body ---\                       value 3 (stored, memory)
 *                                >--> storage  ------->    ^
 *        handle b ----> body ---/     (a variable)         | operand
 *        (a view of a)                                  record in a ring ----> value 4 (pending)
 *
 * A storage is a variable: in-place ops change what it holds. A value is what it holds at one moment and never changes: an
 * in-place op makes a new value and the storage takes it up at the call. So records need no hazard checks: they name
 * values, and program order is kept whatever runs when. When the old value dies with the op that replaces it, the new one
 * is written into its memory, which is what "in place" means in the end.
 */
#ifndef WICK_TENSOR_STORAGE_H
#define WICK_TENSOR_STORAGE_H

#include "../backend/device.h"
#include "../base/handle.h"

struct wk__record;

typedef enum wk__state {
    WK__PENDING, /* a record in `writer`'s ring will compute it */
    WK__PARKED,  /* nobody has needed it yet: its record is kept beside it */
    WK__STORED,  /* in memory */
    WK__FAILED   /* it could not be computed; `failure` says why */
} wk__state;

/* The first cause of a failure, shared by all that depend on it. */
typedef struct wk__failure {
    atomic_int refs;
    wk_code code;
    wk_site site;
    char text[360]; /* op and what is wrong */
} wk__failure;

typedef struct wk__value {
    atomic_int refs;     /* storages that hold it, records that name it, parked records */
    uint8_t state;       /* wk__state; read and written under the writer's lock while pending or parked */
    uint8_t depth;       /* records in the chain that a parked value would compute */
    bool revived;        /* it was parked and read again: the next flush stores it */
    bool needed, escapes, wanted; /* scratch of a flush: live; read outside its group; to be stored whatever owns it */
    int16_t reg;         /* scratch of a flush: register in its group */
    int32_t ring_refs;   /* of refs: those of the writer's ring (pending values only) */
    int32_t group;       /* scratch of a flush: number of its group */
    int32_t parked_readers; /* parked records that hold this value's memory */
    wk__device *device;
    int64_t bytes;
    wk__memory memory;   /* STORED */
    wk_context *writer;  /* PENDING, PARKED */
    union {
        struct wk__record *record; /* PENDING: in the ring; PARKED: a copy of its own */
        wk__failure *failure;      /* FAILED */
    };
    void (*release)(void *user); /* borrowed host memory: called when the last user has let go */
    void *release_user;
    struct wk__value *parked_next, *parked_prev; /* the writer's list of parked values */
    wk_site site;        /* the call that made it, for memory statistics */
} wk__value;
_Static_assert(sizeof(wk__value) <= 192, "fits its slab slot");

typedef struct wk__storage {
    atomic_int refs; /* bodies and saved bodies */
    atomic_int firm; /* of them or through them: retained handles, parents, graph nodes: the value must be stored */
    wk__value *value;
    wk__device *device;
    int64_t bytes;
    uint32_t version; /* rises at each in-place call */
    bool shared;      /* used by more than one thread: a write flushes every ring first */
    bool pointer_out; /* its memory's address was given to the user */
    wk_context *user; /* the last context that used it */
    void *history;    /* autograd's: base of in-place views; see autograd/history.h */
} wk__storage;
_Static_assert(sizeof(wk__storage) <= 128, "fits its slab slot");

/* A pending value of `bytes` on a device; refs 0, no record yet. NULL when memory is short (recorded). */
wk__value *wk__value_new(wk_context *context, wk__device *device, int64_t bytes, wk_site site);
/* A storage that holds `value` (takes a reference to it), refs 1. */
wk__storage *wk__storage_new(wk_context *context, wk__value *value);

static inline void wk__value_hold(wk__value *value)
{
    atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
}
void wk__value_free(wk__value *value); /* refs has reached 0 */
static inline void wk__value_drop(wk__value *value)
{
    if (atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) == 1) wk__value_free(value);
}

static inline void wk__storage_hold(wk__storage *storage)
{
    atomic_fetch_add_explicit(&storage->refs, 1, memory_order_relaxed);
}
void wk__storage_drop(wk__storage *storage);

/* Memory for a value: from its device's arena; WK_ERR_MEMORY names the largest tensors. */
wk_code wk__value_take_memory(wk__value *value, int64_t bytes, wk__fail *fail);
/* Gives memory back (a stored value that is overwritten or freed). */
void wk__value_give_memory(wk__value *value);
/* Marks it failed with a cause (takes a reference). */
void wk__value_fail(wk__value *value, wk__failure *failure);
wk__failure *wk__failure_new(wk_code code, wk_site site, const char *text);
void wk__failure_drop(wk__failure *failure);

/* Frees a parked record and what it holds; the engine's. */
extern void (*wk__record_free_parked)(wk__value *value);

#endif

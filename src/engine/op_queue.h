/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of one thread: what it has recorded and not yet run, in program order.
 *
 *     op call --> check, infer --> record --> ring           flush: liveness.c  which records are live, which
 *                                                                             values are parked
 *                                                                    fusion.c  which records share a kernel
 *                                                                    prologue.c  which a product runs on the way
 *                                                                    interleave.c  in what order devices get theirs
 *                                                                    lower.c   a group of records -> a group program
 *                                                                    execute.c each group runs: memory for
 *                                                                    its outputs (output_memory.c),
 *                                                                              what a failure takes with it (failure.c)
 *
 * A record names values (see storage.h), so it has no hazards with what comes after it.
 */
#ifndef WICK_ENGINE_RING_H
#define WICK_ENGINE_RING_H

#include "backend/contraction.h"
#include "ir/emit.h"
#include "ir/op.h"
#include "tensor/tensor.h"

/* How a record sees one operand. */
enum {
    WK__REF_IMM = 1,       /* no value: an immediate, given to the expression as a register */
    WK__REF_IMM_INDEX = 2, /* an immediate, given as its index (PHILOX's key, LOADX's bound) */
    WK__REF_OWN_CLASS =
        8, /* given to the expression in its own class, not the one the op computes in (indices, conditions) */
    WK__REF_INDIRECT = 4, /* read at places that are computed: must be in memory, given as the operand's index */
};
typedef struct wk__ref {
    wk__value *value; /* NULL for immediates */
    union {
        int64_t offset; /* in elements */
        wk__imm imm;
    };
    uint8_t dtype, flags;
} wk__ref;

/* One call, as work of a family (../backend/work.h). A program is elementwise, op->expression over the space; or it
 * reduces input 0 over the dimensions in reduce_mask, or, of an op with an expression, what that gives of the inputs,
 * in the class of the result. */
typedef struct wk__record {
    const wk__op *op;
    const char *name; /* of the program's call, but for the _ of one in place */
    wk_site site;
    wk__device *device;
    wk__value *prior;     /* in place: what the storage held before; a new value may take over its memory */
    int64_t bound;        /* as dim and mode: along one dimension */
    int32_t group;        /* scratch of a flush */
    int32_t transaction;  /* number of the call that happens whole or not at all, 0 none */
    uint16_t reduce_mask; /* of the space: a bit per dimension that is reduced; 0: elementwise, or no program */
    uint8_t family;       /* wk__work_id */
    uint8_t ndim, nout, nin;
    uint8_t compute; /* dtype whose class the expression works in */
    int8_t dim, mode;
    bool partial;           /* writes a part of prior; the rest of the new value is prior's */
    bool rolls_back;        /* an in-place call: a device that has faulted leaves the target alone */
    bool in_place;          /* the name has a _ */
    bool has_indirect_read; /* reads at places that are computed, by a LOADX: nobody knows them before it runs */
    bool live;              /* scratch of a flush */
    wk__ref ref[];          /* outputs, then inputs; then int64_t shape[ndim] and stride[ndim] for each ref; then, if
                         the family sums, a wk__contraction */
} wk__record;

static inline int64_t *wk__record_shape(wk__record *r)
{
    return (int64_t *)&r->ref[r->nout + r->nin];
}
static inline int64_t *wk__record_stride(wk__record *r, int k)
{
    return (int64_t *)&r->ref[r->nout + r->nin] + (size_t)r->ndim * (size_t)(1 + k);
}
static inline wk__contraction *wk__record_sum(wk__record *r)
{
    return (wk__contraction *)wk__record_stride(r, r->nout + r->nin);
}
static inline const wk__work_family *wk__record_family(const wk__record *r)
{
    return &wk__work_families[r->family];
}
static inline bool wk__record_reduces(const wk__record *r)
{
    return r->reduce_mask != 0;
}
static inline size_t wk__record_bytes(int family, int ndim, int refs)
{
    return sizeof(wk__record) + (size_t)refs * sizeof(wk__ref) + sizeof(int64_t) * (size_t)ndim * (size_t)(1 + refs) +
           (wk__work_families[family].is_contraction ? sizeof(wk__contraction) : 0);
}
/* Inputs follow outputs. */
static inline wk__ref *wk__record_in(wk__record *r, int k)
{
    return &r->ref[r->nout + k];
}

/* Ref k, an input, is read at computed places. */
static inline void wk__record_mark_indirect(wk__record *r, int k)
{
    r->ref[k].flags = WK__REF_INDIRECT;
    r->has_indirect_read = true;
}

enum {
    WK__DEFER_DEPTH_MAX = 16,
    WK__OP_QUEUE_FLUSH_AT = 4096,
    WK__OP_QUEUE_MAX = 65536,
    WK__OP_QUEUE_CHUNK = 256 << 10
};

typedef struct wk__op_queue {
    wk__record **record; /* in program order */
    wk__record **sorted; /* room for a flush: the live ones by group, */
    int32_t *start;      /* and where each group starts */
    int64_t count, capacity, sorted_capacity, start_capacity;
    char **chunk; /* the records' memory */
    int64_t chunks, chunk_capacity, chunk_now;
    size_t used;           /* bytes of the current chunk */
    int64_t pending_bytes; /* of outputs that are recorded and not computed */
    wk__value *deferred;   /* list of parked values, */
    int64_t parked_count;  /* and its length */
    atomic_llong orphans;  /* values that only parked records hold, since the list was last looked through; large ones
                    count more */
    struct wk__shadow_map *shadows;                     /* of the flush that runs, when it is checked; check_mode.h */
    const struct wk__engine_config *config;             /* those of the process, but while a flush from a file
                                                                    is run */
    int64_t flushes, groups, prologues, stores, copies; /* counted for tests and `wick doctor` */
} wk__op_queue;

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Makes a tensor's value ready to be named by a record of this context: another thread's pending work is run first, a
 * parked value's record goes back into the ring. False with the error recorded if the value has failed. */
bool wk__prepare_operand_slow(wk_context *context, const wk_tensor *tensor, wk_site site);
static inline bool wk__prepare_operand(wk_context *context, const wk_tensor *tensor, wk_site site)
{
    const wk__body *body = tensor->handle.body;
    const wk__value *value = body->storage->value;
    const wk__value_state state = value->state;
    const bool fine = state == WK__STORED || (state == WK__PENDING && value->writer == context);
    return __builtin_expect(fine, 1) || wk__prepare_operand_slow(context, tensor, site);
}

/* Room for a record of this context; NULL when memory is short (recorded). The ring is locked until wk__record_commit:
 * fill everything in between, and fail in nothing. All operands have been touched. */
wk__record *wk__record_begin(wk_context *context, wk__work_id family, const wk__op *op, wk__device *device,
                             wk_site site, int ndim, const int64_t *shape, int nout, int nin);
/* Operand k of nout + nin sees `body` with these strides over the space. */
static inline void wk__record_ref(wk__record *r, int k, const wk__body *body, const int64_t *stride)
{
    r->ref[k] = (wk__ref){.value = body->storage->value, .offset = body->offset, .dtype = body->dtype};
    int64_t *to = wk__record_stride(r, k);
    for (int d = 0, ndim = r->ndim; d < ndim; d++) to[d] = stride[d];
}
/* Operand k is walked along dimension d from its end on. */
static inline void wk__record_reverse_dim(wk__record *r, int k, int d)
{
    int64_t size = wk__record_shape(r)[d], *stride = &wk__record_stride(r, k)[d];
    if (size == 0) return;
    r->ref[k].offset += (size - 1) * *stride;
    *stride = -*stride;
}
static inline void wk__record_imm(wk__record *r, int k, wk_dtype dtype, wk__imm imm, uint8_t flags)
{
    r->ref[k] = (wk__ref){.value = NULL, .imm = imm, .dtype = (uint8_t)dtype, .flags = flags};
}
void wk__record_commit(wk_context *context, wk__record *r);
/* Appends a copy of a record to the (locked) ring as it is; NULL when memory is short. */
wk__record *wk__record_append(wk_context *context, const wk__record *r);

/* ---- whole or not at all (transaction.c) ------------------------------------------------------------------------- */

/* What a target holds before a call that may fail in the midst of it: taken before, and in the end it comes back unless
 * all went well. As long as it is held nothing is written over it. */
typedef struct wk__savepoint {
    wk__storage *storage;
    wk__value *value;
    wk__version_info changes;
} wk__savepoint;
void wk__savepoint_take(wk__savepoint *before, const wk_tensor *target);
void wk__savepoint_end(wk__savepoint *before, bool fine);
/* Between these a ring that is full grows instead of being run, so that targets can be written over once all
 * is known to be well. */
void wk__transaction_begin(wk_context *context);
void wk__transaction_end(wk_context *context);
/* Is it time to run the ring? */
bool wk__op_queue_should_flush(const wk_context *context);

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Runs all that the context has recorded: this thread's, or one that is being visited. Failures are told to the
 * recording thread at its next call and mark the values. */
void wk__flush(wk_context *context);
void wk__flush_all(void);
/* The ring's lock, for longer than a record takes; this thread may free values meanwhile. wk__op_queue_is_locked_here:
 * by this thread. */
void wk__op_queue_lock(wk_context *context);
void wk__op_queue_unlock(wk_context *context);
bool wk__op_queue_is_locked_here(const wk_context *context);
/* Runs all that was recorded, the lock being held. `park`: what nobody has asked for yet may wait. flush.c */
void wk__op_queue_run(wk_context *owner, bool park);
/* Has a value of this context (visited, if another thread's) computed that was pending or parked when the
 * caller looked. */
void wk__value_compute(wk_context *owner, wk__value *value);
/* The tensor's value is in memory on return (enqueued on its device), or false with its failure recorded. */
bool wk__materialize(const wk_tensor *tensor, wk_site site);
/* A failure that the context is to be told of at its next call: its own thread's, or a visited one's. Once is enough.
 * NULL: there was no memory to say more. */
void wk__post_failure(wk_context *context, wk__failure *failure);
void wk__discard_posted_failure(wk_context *context);
/* Tells this thread of a late failure of its work, if there is one (context->late). */
void wk__report_posted_failure(wk_context *context);
/* A failure for want of memory that nobody has been told of. It is not to be dropped. */
wk__failure *wk__failure_oom(void);
/* Records a value's failure as this thread's error. */
void wk__report_failure(wk__failure *failure);

/* ---- what base and tensor call (base/upcalls.h) ------------------------------------------------------------------ */

void wk__op_queue_drain(wk_context *context);
void wk__op_queue_free(wk_context *context);
void wk__op_queue_trim_dead(wk__value *value);
void wk__deferred_note_orphan(wk__value *value); /* deferred.c */
bool wk__deferred_free(wk__value *value);        /* deferred.c */

/* ---- modes: config.c --------------------------------------------------------------------------------------------- */

typedef struct wk__engine_config {
    bool sync;        /* WICK_EAGER: flush after every call */
    bool nofuse;      /* WICK_NOFUSE: every group is one op */
    bool check;       /* WICK_CHECK: every flush is computed twice and compared; check_mode.h */
    bool write_files; /* a difference is told and not written into a file */
    int64_t budget;   /* bytes of pending outputs that force a flush */
} wk__engine_config;
/* Those of the process. */
const wk__engine_config *wk__engine_config_get(void);
/* For tests, while no other thread uses the library: changes the modes of this process from now on. */
void wk__engine_config_set(bool sync, bool nofuse);
void wk__engine_config_set_check(bool on);

/* ---- the parts of a flush ---------------------------------------------------------------------------------------- */

/* Does anybody besides the records of its writer's ring hold this pending value: a storage, a parked record,
 * another ring? */
static inline bool wk__held_outside(const wk__value *value)
{
    return wk__refcount_get(&value->refs) > value->ring_refs;
}
/* Does this flush put a value into memory? Known after grouping. */
static inline bool wk__will_be_stored(const wk__value *value)
{
    return value->is_root || value->escapes;
}
void wk__plan_liveness(wk__op_queue *ring, bool park); /* liveness.c */
int32_t wk__plan_fusion(wk__op_queue *ring);      /* fusion.c: gives each live record its group; returns how many */
void wk__plan_deferred_reads(wk__op_queue *ring); /* liveness.c: marks what records that will be parked read */
void wk__defer_or_release(wk__op_queue *ring, wk__record *r);   /* deferred.c: a record is done with */
void wk__defer_dead_records(wk__op_queue *ring);                /* deferred.c: those that never ran */
bool wk__deferred_requeue(wk_context *owner, wk__value *value); /* deferred.c: a parked value's chain goes back into the
                                                                   ring */
void wk__deferred_store_orphans(wk_context *owner);             /* deferred.c: stores what is smaller than what it
                                                                        pins */
/* deferred.c: puts everything back into the ring, to be stored. False: other threads are just freeing some of it. */
bool wk__deferred_requeue_all(wk_context *owner);
void wk__execute(wk_context *owner, wk__op_queue *ring, int32_t groups); /* execute.c */
/* execute.c: the live records, of which there are *live, by group, each group in program order. */
wk__record **wk__sort_by_group(wk__op_queue *ring, int32_t groups, int64_t *live);
void wk__release_record(wk__record *r); /* execute.c: its references go */

/* One group of records being built into a program: see lower.c. */
typedef struct wk__lowering {
    wk__program group;
    wk__record **record; /* of this group, in program order; a product first */
    int records;
    struct wk__lowering *prologue;        /* computes a factor of that product on the way; NULL: all its factors are in
                                      memory */
    int16_t load_reg[WK__MAX_OPERANDS];   /* register that holds the loaded operand, -1 */
    wk__value *value[WK__MAX_OPERANDS];   /* whose memory the operand is */
    wk__record *writer[WK__MAX_OPERANDS]; /* stored operands: by which record */
    wk__memory old[WK__MAX_OPERANDS];     /* of those in place: where the target's old numbers are */
    bool indirect; /* something is read at computed places: nothing is written in place, a bad index leaves
                     targets alone */
} wk__lowering;
/* Builds the program of one group. Operands have no memory yet. The number of records that fit: all of them, unless the
 * program is full. */
int wk__lower_group(wk__lowering *b);

#endif

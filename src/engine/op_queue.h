/* SPDX-License-Identifier: Apache-2.0 */
/* Op queue: records ops of one context in program order until a flush runs them.
 *
 *     op call --> check, infer --> record --> queue
 *
 *     flush:  liveness.c       which records run, and which values are deferred instead
 *             fusion.c         which records share a kernel
 *             prologue.c       which records a contraction computes as its prologue
 *             interleave.c     in which order several devices receive their groups
 *             lower.c          translates a group of records to a program
 *             output_memory.c  memory for a group's outputs
 *             execute.c        runs the groups in order
 *             failure.c        failed records and their dependents
 *
 * Records refer to values, which never change (tensor/storage.h), so there are no hazards between them.
 *
 * Ownership: a queue owns its records; a record owns a reference to each of its values.
 * Threads: only the thread of the context appends; any thread may flush. Both hold wk_context.queue_lock. */
#ifndef WICK_ENGINE_OP_QUEUE_H
#define WICK_ENGINE_OP_QUEUE_H

#include "backend/contraction.h"
#include "ir/emit.h"
#include "ir/op.h"
#include "tensor/tensor.h"

/* Flags of an operand reference. */
enum {
    WK__REF_IMM = 1,       /* no value: an immediate, passed to the expression as a register */
    WK__REF_IMM_INDEX = 2, /* an immediate, passed as its index (key of PHILOX, bound of LOADX) */
    /* passed to the expression in its own class instead of the compute class (indices, conditions) */
    WK__REF_OWN_CLASS = 8,
    /* read at computed indices: must be in memory; passed as the operand's index */
    WK__REF_INDIRECT = 4,
};
typedef struct wk__ref {
    wk__value *value; /* NULL for immediates */
    union {
        int64_t offset; /* in elements */
        wk__imm imm;
    };
    uint8_t dtype, flags;
} wk__ref;

/* One recorded op: work of a family (backend/work.h). A program is elementwise: it evaluates op->expression over the
 * shape; or it reduces input 0 over the dimensions in reduce_mask. If an op that reduces has an expression, it reduces
 * the result of the expression over the inputs, in the class of the output. */
typedef struct wk__record {
    const wk__op *op;
    const char *name; /* name of the user's call, without the "_" of an in-place call */
    wk_site site;
    wk__device *device;
    wk__value *prior;    /* in place: value of the storage before the call; the new value may take over its memory */
    int64_t bound;       /* like dim and mode: for families along one dimension */
    int32_t group;       /* index of its group, set by the flush; -1: none */
    int32_t transaction; /* index of the transaction that it belongs to; 0: none */
    /* one bit per dimension of the space: 1 if it is reduced; 0: elementwise, or not a program */
    uint16_t reduce_mask;
    uint8_t family; /* wk__work_id */
    uint8_t ndim, nout, nin;
    uint8_t compute; /* the expression computes in the class of this dtype */
    int8_t dim, mode;
    bool partial;           /* writes only a part of `prior`; the other elements of the new value are those of prior */
    bool rolls_back;        /* in-place call: if it fails, the target keeps its contents */
    bool in_place;          /* the name of the call ends in "_" */
    bool has_indirect_read; /* reads at indices that are computed on the device, by LOADX */
    bool live;              /* it must run; set by the flush */
    bool extends;           /* writes a further part of a pending value, whose memory it takes over */
    /* outputs, then inputs; followed by int64_t shape[ndim], stride[ndim] per ref and, for a contraction, a
     * wk__contraction */
    wk__ref ref[];
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
/* Returns the number of elements of ref k along dimension d: 1 if an output is reduced, or if an operand does
 * not have the dimension. */
static inline int64_t wk__record_extent(wk__record *r, int k, int d)
{
    const bool absent = wk__record_family(r)->is_sparse_space && wk__record_stride(r, k)[d] == 0;
    return absent || (k < r->nout && r->reduce_mask >> d & 1) ? 1 : wk__record_shape(r)[d];
}
/* Returns input k. */
static inline wk__ref *wk__record_in(wk__record *r, int k)
{
    return &r->ref[r->nout + k];
}

/* Marks ref k, an input, as read at computed indices. */
static inline void wk__record_mark_indirect(wk__record *r, int k)
{
    r->ref[k].flags = WK__REF_INDIRECT;
    r->has_indirect_read = true;
}

enum {
    WK__DEFER_DEPTH_MAX = 16,       /* records in the longest chain of deferred values */
    WK__OP_QUEUE_FLUSH_AT = 4096,   /* records after which a queue is flushed */
    WK__OP_QUEUE_MAX = 65536,       /* the same in a transaction, whose records should run together */
    WK__OP_QUEUE_CHUNK = 256 << 10, /* bytes of a chunk of records */
    WK__SHORT_ROW = 32768           /* maximum columns of a row that a kernel reads again: it must stay in cache */
};

typedef struct wk__anomaly_watch wk__anomaly_watch;

typedef struct wk__op_queue {
    wk__record **record; /* in program order; points into the chunks */
    wk__record **sorted; /* during a flush: live records, sorted by group */
    int32_t *start;      /* index in `sorted` at which each group begins */
    int64_t count, capacity, sorted_capacity, start_capacity;
    char **chunk; /* memory of the records */
    int64_t chunks, chunk_capacity, chunk_now;
    size_t used;                                        /* bytes used in the current chunk */
    int64_t pending_bytes;                              /* bytes of outputs that are recorded but not computed */
    wk__value *deferred;                                /* list of deferred values; owns no reference */
    int64_t deferred_count;                             /* length of that list */
    struct wk__shadow_map *shadows;                     /* set while a checked flush runs; see verify/check_mode.h */
    wk__anomaly_watch *watched;                         /* records to be checked, oldest first; see anomaly.h */
    const struct wk__engine_config *config;             /* that of the process, except while a flush is replayed */
    int64_t flushes, groups, prologues, stores, copies; /* statistics for tests and `wick doctor` */
} wk__op_queue;

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Prepares a tensor's value as an operand of a record of this context: flushes a pending value of another thread, and
 * returns a deferred value's record to the queue. Returns false if the value has failed, and reports the failure. */
bool wk__prepare_operand_slow(wk_context *context, const wk_tensor *tensor, wk_site site);
static inline bool wk__prepare_operand(wk_context *context, const wk_tensor *tensor, wk_site site)
{
    const wk__body *body = tensor->handle.body;
    const wk__value *value = body->storage->value;
    const wk__value_state state = value->state;
    const bool fine = state == WK__STORED || (state == WK__PENDING && value->writer == context);
    return __builtin_expect(fine, 1) || wk__prepare_operand_slow(context, tensor, site);
}

/* Appends a record to this context's queue; returns NULL on allocation failure, recorded. Locks the queue until
 * wk__record_commit(): the caller must fill in everything in between, without failing. Operands must have been prepared
 * with wk__prepare_operand(). */
wk__record *wk__record_begin(wk_context *context, wk__work_id family, const wk__op *op, wk__device *device,
                             wk_site site, int ndim, const int64_t *shape, int nout, int nin);
/* Sets operand k of nout + nin to `body`, with these strides over the space. */
static inline void wk__record_ref(wk__record *r, int k, const wk__body *body, const int64_t *stride)
{
    r->ref[k] = (wk__ref){.value = body->storage->value, .offset = body->offset, .dtype = body->dtype};
    int64_t *to = wk__record_stride(r, k);
    for (int d = 0, ndim = r->ndim; d < ndim; d++) to[d] = stride[d];
}
/* Reverses the direction in which operand k is read along dimension d. */
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
/* Appends an unchanged copy of a record to the locked queue; returns NULL on allocation failure, not recorded. */
wk__record *wk__record_append(wk_context *context, const wk__record *r);

/* ---- transactions (transaction.c) -------------------------------------------------------------------------------- */

/* State of a call's target before the call. wk__savepoint_end() restores it unless `fine`. A savepoint owns references
 * to the storage and the old value, so the old contents are not overwritten while it exists. */
typedef struct wk__savepoint {
    wk__storage *storage;
    wk__value *value;
    wk__version_info changes;
} wk__savepoint;
void wk__savepoint_take(wk__savepoint *before, const wk_tensor *target);
void wk__savepoint_end(wk__savepoint *before, bool fine);
/* Begins and ends a transaction: a call that updates all of its targets or none, such as an optimiser step. Inside one,
 * a full queue grows instead of being flushed, so that targets are overwritten only after all has been recorded. */
void wk__transaction_begin(wk_context *context);
void wk__transaction_end(wk_context *context);
/* Returns true if the queue is full enough to flush it. */
bool wk__op_queue_should_flush(const wk_context *context);

/* ---- flushing ---------------------------------------------------------------------------------------------------- */

/* Runs all records of a context, which may be that of another thread that has been acquired. Failures mark the values
 * and are reported to the recording thread at its next call. */
void wk__flush(wk_context *context);
void wk__flush_all(void);
/* Lock the queue for longer than a record takes, and unlock it. In between, this thread may drop values: the release of
 * borrowed memory and the destruction of deferred values of other queues are postponed. wk__op_queue_is_locked_here()
 * returns true if the calling thread has locked it with wk__op_queue_lock(). */
void wk__op_queue_lock(wk_context *context);
void wk__op_queue_unlock(wk_context *context);
bool wk__op_queue_is_locked_here(const wk_context *context);
/* Runs all records; the queue is locked. `may_defer`: unneeded values may be deferred. (flush.c) */
void wk__op_queue_run(wk_context *owner, bool may_defer);
/* Computes a value of this context (acquired, if it belongs to another thread) that was pending or deferred when the
 * caller read its state. */
void wk__value_compute(wk_context *owner, wk__value *value);
/* Computes a pending or deferred value of any thread. It is stored or has failed on return. */
void wk__value_ensure(wk__value *value);
/* Computes the tensor's value if necessary. Returns true if it is stored (possibly only submitted to its device), or
 * false after reporting its failure. */
bool wk__materialize(const wk_tensor *tensor, wk_site site);

/* ---- configuration: config.c ------------------------------------------------------------------------------------- */

typedef struct wk__engine_config {
    bool sync;      /* WICK_EAGER: flush after every call */
    bool nofuse;    /* WICK_NOFUSE: each group is one op */
    bool check;     /* WICK_CHECK: each flush is computed twice and compared; verify/check_mode.h */
    bool skip_file; /* on a difference, writes no flush file */
    int64_t budget; /* flush when the pending outputs exceed this many bytes */
} wk__engine_config;
/* Returns the configuration of the process. */
const wk__engine_config *wk__engine_config_get(void);
/* For tests, while no other thread uses the library: changes the configuration of the process. */
void wk__engine_config_set(bool sync, bool nofuse);
void wk__engine_config_set_check(bool on);

/* ---- stages of a flush ------------------------------------------------------------------------------------------- */

/* Returns true if a pending value has owners besides the records of its writer's queue: a storage, a deferred record or
 * a record of another queue. */
static inline bool wk__held_outside(const wk__value *value)
{
    return wk__refcount_get(&value->refs) > value->ring_refs;
}
/* Returns true if this flush stores the value in memory. Valid after fusion. */
static inline bool wk__will_be_stored(const wk__value *value)
{
    return value->is_root || value->escapes;
}
void wk__plan_liveness(wk__op_queue *queue, bool may_defer); /* liveness.c */
/* fusion.c: assigns a group to each live record; returns the number of groups */
int32_t wk__plan_fusion(wk__op_queue *queue);
/* fusion.c: returns the *live live records, sorted by group and in program order within each group. */
wk__record **wk__sort_by_group(wk__op_queue *queue, int32_t groups, int64_t *live);
void wk__plan_deferred_reads(wk__op_queue *queue); /* liveness.c: marks values that deferred records will read */
/* deferred.c: defers or releases a record that has run */
void wk__defer_or_release(wk__op_queue *queue, wk__record *r);
void wk__defer_dead_records(wk__op_queue *queue); /* deferred.c: the same for records that are not live */
/* deferred.c: returns the record of a deferred value, and those that it needs, to the queue. Returns false on
 * allocation failure. */
bool wk__deferred_requeue(wk_context *owner, wk__value *value);
/* deferred.c: frees the record of a deferred value whose last reference was dropped (wk__work_hooks). Returns false if
 * it is postponed; the value must not be freed then. */
bool wk__deferred_free(wk__value *value);
/* deferred.c: returns the records of deferred values that are smaller than their orphans to the queue, to be stored. */
void wk__deferred_store_orphans(wk_context *owner);
/* deferred.c: returns all deferred records to the queue, to be stored. Returns false if other threads are still
 * destroying some of the values; the caller must unlock the queue and try again. */
bool wk__deferred_requeue_all(wk_context *owner);
void wk__execute(wk_context *owner, wk__op_queue *queue, int32_t groups); /* execute.c */
void wk__release_record(wk__record *r); /* execute.c: drops the references of a record */

/* A group of records and the program that it is translated to; see lower.c. */
typedef struct wk__lowering {
    wk__program group;
    wk__record **record; /* of this group, in program order; a contraction comes first */
    int records;
    /* computes a factor of that contraction in the same kernel; NULL: all factors are in memory */
    struct wk__lowering *prologue;
    int16_t load_reg[WK__MAX_OPERANDS];   /* register with the loaded operand; -1: not loaded */
    wk__value *value[WK__MAX_OPERANDS];   /* value whose memory the operand is */
    wk__record *writer[WK__MAX_OPERANDS]; /* stored operands: the record that computes it */
    wk__memory old[WK__MAX_OPERANDS];     /* in-place operands: memory with the target's old contents */
    /* some operand is read at computed indices: nothing is written in place, so a bad index leaves targets unchanged */
    bool indirect;
} wk__lowering;
/* Builds the program of one group; its operands have no memory yet. Returns the number of records that fit: fewer than
 * all if the program is full. */
int wk__lower_group(wk__lowering *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred values. An elementwise result that only an open scope owns is often destroyed unread, so a flush does not
 * store it (liveness.c). It becomes deferred instead: a copy of its record waits outside the queue. If the value is
 * read, the record returns to the queue, and the next flush computes and stores the value. If the value is destroyed
 * first, that work is saved. The operands of a waiting record are values, which never change, so the result does not
 * depend on when it is computed.
 *
 * Orphans: stored values that only deferred records own. A deferred value that keeps orphans larger than itself costs
 * memory, so a later flush stores it, which frees them.
 *
 * Ownership: a deferred value owns its record; the record owns a reference to each operand. The queue's list of
 * deferred values owns no reference.
 * Threads: the lock of the writer's queue protects the list and the records. All functions require it, except
 * wk__deferred_free(), which any thread may call. */
#include "base/alloc.h"
#include "engine/verify/shadow_deferred.h"
#include <string.h>

static void list_add(wk__op_queue *queue, wk__value *value)
{
    value->deferred_prev = NULL;
    value->deferred_next = queue->deferred;
    if (queue->deferred) queue->deferred->deferred_prev = value;
    queue->deferred = value;
    queue->deferred_count++;
}

static void list_remove(wk__op_queue *queue, wk__value *value)
{
    if (value->deferred_next) value->deferred_next->deferred_prev = value->deferred_prev;
    if (value->deferred_prev)
        value->deferred_prev->deferred_next = value->deferred_next;
    else
        queue->deferred = value->deferred_next;
    queue->deferred_count--;
}

/* Adds `change` to the number of deferred records that refer to each operand of r. */
static void change_readers(wk__record *r, int change)
{
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value)
            atomic_fetch_add_explicit(&wk__record_in(r, i)->value->deferred_readers, change, memory_order_relaxed);
}

/* Frees the record of a deferred value that will not be computed. Dropping an operand may do the same with the
 * operand's record: chains of deferred values have at most WK__DEFER_DEPTH_MAX records, which limits this recursion. */
static void free_deferred_record(wk__record *r)
{
    wk__deferred_shadow_drop(r->ref[0].value);
    change_readers(r, -1);
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) wk__value_drop(wk__record_in(r, i)->value);
    if (r->prior) wk__value_drop(r->prior);
    wk__free(r);
}

/* If the operands of a deferred record are larger than its output, counts them as one orphan: their tensors may have
 * been dropped before the record was deferred. Whether they have other owners is determined by the next scan of the
 * list. */
static void count_if_larger(wk__record *r, const wk__value *out)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) bytes += wk__record_in(r, i)->value->bytes;
    if (bytes > out->bytes) wk__count_deferred_orphan(out->writer, bytes);
}

/* The writer's queue exists: a thread that ends keeps it until its list is empty. */
bool wk__deferred_free(wk__value *value)
{
    wk_context *owner = value->writer;
    bool locked = wk__op_queue_is_locked_here(owner);
    if (!locked && wk__release_postpone(value)) return false;
    if (!locked) wk__op_queue_lock(owner);
    list_remove(owner->op_queue, value);
    if (!locked) wk__op_queue_unlock(owner);
    free_deferred_record(value->record);
    return true;
}

/* Returns true if the deferred record of an in-place call must keep its reference to `prior`, the value that its target
 * had before. The record does not read it; the target gets it back if the call fails. A value that is never stored
 * cannot be given back: a reference would only make its record appear used, and would chain all values that the target
 * ever had. */
static bool keeps_prior(const wk__value *prior)
{
    return prior->state == WK__STORED || (prior->state == WK__PENDING && wk__will_be_stored(prior));
}

/* Defers the output of a record: the output owns a copy of the record, which takes over the references to the operands;
 * the queue's reference to the output is dropped. Returns false on allocation failure; nothing has changed then. */
static bool defer(wk__op_queue *queue, wk__record *r)
{
    size_t bytes = wk__record_bytes(r->family, r->ndim, r->nout + r->nin);
    wk__record *copy = wk__alloc(bytes);
    if (!copy) return false;
    memcpy(copy, r, bytes);
    wk__value *out = r->ref[0].value;
    out->record = copy;
    wk__value_set_state(out, WK__DEFERRED);
    list_add(queue, out);
    change_readers(copy, +1);
    count_if_larger(copy, out);
    for (int i = 0; i < r->nin; i++) {
        wk__value *in = wk__record_in(r, i)->value;
        if (in && in->state == WK__PENDING) in->ring_refs--; /* the queue has lost this reference */
    }
    if (r->prior) {
        if (r->prior->state == WK__PENDING) r->prior->ring_refs--;
        if (!keeps_prior(r->prior)) {
            copy->prior = NULL;
            wk__value_drop(r->prior);
        }
    }
    out->ring_refs--;
    wk__value_drop(out);
    return true;
}

/* Returns true if the output was not stored and still has owners outside the queue. */
static bool needs_deferral(const wk__value *out)
{
    return out->state == WK__PENDING && wk__held_outside(out);
}

/* Defers a record whose output has owners outside the queue but was not stored (never computed, or only in a register);
 * drops the references of any other record. Called from the last record of a group (or of the queue) to the first: a
 * deferred record is an owner outside the queue of its operands, so those not stored are deferred after it. Outputs of
 * records with several outputs are never deferred, because liveness.c stores them. */
void wk__defer_or_release(wk__op_queue *queue, wk__record *r)
{
    if (r->nout == 1 && needs_deferral(r->ref[0].value) && defer(queue, r)) return;
    for (int o = 0; o < r->nout; o++)
        if (needs_deferral(r->ref[o].value)) /* out of memory for the copy of the record */
            wk__value_fail(r->ref[o].value, wk__failure_oom());
    wk__release_record(r);
}

void wk__defer_dead_records(wk__op_queue *queue)
{
    for (int64_t k = queue->count; k-- > 0;)
        if (!queue->record[k]->live) wk__defer_or_release(queue, queue->record[k]);
}

/* Returns one deferred record to the queue and frees the copy. Returns false on allocation failure; nothing has changed
 * then. */
static bool requeue(wk_context *owner, wk__value *value)
{
    wk__record *copy = value->record;
    wk__record *r = wk__record_append(owner, copy);
    if (!r) return false;
    list_remove(owner->op_queue, value);
    change_readers(copy, -1);
    if (!owner->op_queue->config->check) wk__deferred_shadow_drop(value); /* otherwise the next flush compares it */
    value->requeued = true;
    value->record = r;
    wk__value_set_state(value, WK__PENDING);
    value->ring_refs = 1;
    wk__value_hold(value);
    for (int i = 0; i < r->nin; i++) {
        wk__value *in = wk__record_in(r, i)->value;
        if (in && in->state == WK__PENDING) in->ring_refs++;
    }
    if (r->prior && r->prior->state == WK__PENDING) r->prior->ring_refs++;
    wk__free(copy);
    return true;
}

/* Returns the records of deferred operands before the record itself, so that the queue stays in order: depth first,
 * with a stack for the longest chain. */
bool wk__deferred_requeue(wk_context *owner, wk__value *value)
{
    wk__value *stack[WK__DEFER_DEPTH_MAX + 1];
    int depth = 0;
    stack[depth++] = value;
    while (depth > 0) {
        wk__value *top = stack[depth - 1], *next = NULL;
        if (top->state != WK__DEFERRED) {
            depth--;
            continue;
        }
        for (int i = 0; i < top->record->nin && !next; i++) {
            wk__value *in = wk__record_in(top->record, i)->value;
            if (in && in->state == WK__DEFERRED) next = in;
        }
        if (next)
            stack[depth++] = next;
        else if (!requeue(owner, top))
            return false;
    }
    return true;
}

/* Acquires a reference to a value of the list. Returns false if another thread has dropped the last one and is about to
 * destroy the value. */
static bool hold_if_alive(wk__value *value)
{
    int refs = wk__refcount_get(&value->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&value->refs, &refs, refs + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Returns the total size of the operands that are orphans. */
static int64_t orphan_bytes(wk__value *value)
{
    int64_t bytes = 0;
    for (int i = 0; i < value->record->nin; i++) {
        const wk__value *in = wk__record_in(value->record, i)->value;
        if (in && in->state == WK__STORED && wk__refcount_get(&in->refs) == wk__refcount_get(&in->deferred_readers))
            bytes += in->bytes;
    }
    return bytes;
}

/* Scanning the list takes time proportional to its length, so it is done only after a number of orphans proportional to
 * that length: the total time stays linear in the number of calls. */
void wk__deferred_store_orphans(wk_context *owner)
{
    if (atomic_load_explicit(&owner->deferred_orphans, memory_order_relaxed) <= owner->op_queue->deferred_count / 16)
        return;
    atomic_store_explicit(&owner->deferred_orphans, 0, memory_order_relaxed);
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (orphan_bytes(value) <= value->bytes || !hold_if_alive(value)) continue;
        value->force_store = true;
        bool requeued = wk__deferred_requeue(owner, value);
        wk__value_drop(value);
        if (!requeued) return;
        next = owner->op_queue->deferred; /* `next` may have left the list with this value, so start over */
    }
}

bool wk__deferred_requeue_all(wk_context *owner)
{
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (!hold_if_alive(value)) continue;
        value->force_store = true;
        /* out of memory: the value fails, because the thread that would compute it ends */
        if (!wk__deferred_requeue(owner, value)) {
            list_remove(owner->op_queue, value);
            free_deferred_record(value->record);
            wk__value_fail(value, NULL);
        }
        wk__value_drop(value);
        next = owner->op_queue->deferred; /* as in wk__deferred_store_orphans() */
    }
    return owner->op_queue->deferred == NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred values: a value that only an open scope owns need not be computed. Its record is moved out of the queue and
 * owned by the value; the record still owns references to its operands, which never change. Reading the value later
 * returns the record to the queue.
 *
 * Threads: the list of deferred values is protected by the queue's lock. The last reference may be dropped in any
 * thread. */
#include "base/alloc.h"
#include "engine/verify/shadow_deferred.h"
#include <string.h>

static void list_add(wk__op_queue *ring, wk__value *value)
{
    value->parked_prev = NULL;
    value->deferred_next = ring->deferred;
    if (ring->deferred) ring->deferred->parked_prev = value;
    ring->deferred = value;
    ring->parked_count++;
}

static void list_remove(wk__op_queue *ring, wk__value *value)
{
    if (value->deferred_next) value->deferred_next->parked_prev = value->parked_prev;
    if (value->parked_prev)
        value->parked_prev->deferred_next = value->deferred_next;
    else
        ring->deferred = value->deferred_next;
    ring->parked_count--;
}

static void count_reader(wk__record *r, int change)
{
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value)
            atomic_fetch_add_explicit(&wk__record_in(r, i)->value->deferred_readers, change, memory_order_relaxed);
}

/* Chains are at most WK__DEFER_DEPTH_MAX deep, which limits the recursion through wk__value_drop(). */
static void forget_record(wk__record *r)
{
    wk__deferred_shadow_drop(r->ref[0].value);
    count_reader(r, -1);
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) wk__value_drop(wk__record_in(r, i)->value);
    if (r->prior) wk__value_drop(r->prior);
    wk__free(r);
}

/* If the operands of a deferred record are larger than its output, counts them as an orphan: their tensors may have
 * been dropped before the record was deferred. Whether they have other owners is determined by the next scan. */
static void count_if_larger(wk__record *r, const wk__value *out)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) bytes += wk__record_in(r, i)->value->bytes;
    if (bytes > out->bytes) wk__count_deferred_orphan(out->writer, bytes);
}

/* Destroys a deferred value after the last reference was dropped, in any thread. The writer's queue exists as long as
 * its list is not empty. */
bool wk__deferred_free(wk__value *value)
{
    wk_context *owner = value->writer;
    bool held = wk__op_queue_is_locked_here(owner);
    if (!held && wk__release_postpone(value)) return false;
    if (!held) wk__op_queue_lock(owner);
    list_remove(owner->op_queue, value);
    if (!held) wk__op_queue_unlock(owner);
    forget_record(value->record);
    return true;
}

/* Returns true if a deferred record must own the value that its in-place op replaces: not to read it, but to restore it
 * if the op fails. For a state that is never stored this would only make its record appear used, and link all states of
 * a target to an endless chain. */
static bool keeps_prior(const wk__value *prior)
{
    return prior->state == WK__STORED || (prior->state == WK__PENDING && wk__will_be_stored(prior));
}

/* Defers the output of a record: keeps a copy of the record, which takes over the references to operands, and drops the
 * queue's reference to the output. */
static bool park(wk__op_queue *ring, wk__record *r)
{
    size_t bytes = wk__record_bytes(r->family, r->ndim, r->nout + r->nin);
    wk__record *copy = wk__alloc(bytes);
    if (!copy) return false;
    memcpy(copy, r, bytes);
    wk__value *out = r->ref[0].value;
    out->record = copy;
    wk__value_set_state(out, WK__DEFERRED);
    list_add(ring, out);
    count_reader(copy, +1);
    count_if_larger(copy, out);
    for (int i = 0; i < r->nin; i++) {
        wk__value *in = wk__record_in(r, i)->value;
        if (in && in->state == WK__PENDING) in->ring_refs--; /* references of deferred records do not count */
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

static bool seen_outside(const wk__value *out)
{
    return out->state == WK__PENDING && wk__held_outside(out);
}

/* Called for each record that has run, from the last record of a group (or of the queue) to the first. If the output
 * was not stored (never computed, or only in a register) and has owners outside the queue, the record is deferred;
 * otherwise its references are dropped. The order matters: deferring a record makes its pending operands visible, so
 * they are deferred as well. Only records with one output are deferred; liveness.c stores the others. */
void wk__defer_or_release(wk__op_queue *ring, wk__record *r)
{
    if (r->nout == 1 && seen_outside(r->ref[0].value) && park(ring, r)) return;
    for (int o = 0; o < r->nout; o++)
        if (seen_outside(r->ref[o].value)) /* out of memory for the record; not reported yet */
            wk__value_fail(r->ref[o].value, wk__failure_oom());
    wk__release_record(r);
}

void wk__defer_dead_records(wk__op_queue *ring)
{
    for (int64_t k = ring->count; k-- > 0;)
        if (!ring->record[k]->live) wk__defer_or_release(ring, ring->record[k]);
}

/* Returns one deferred record to the queue. */
static bool requeue(wk_context *owner, wk__value *value)
{
    wk__record *parked = value->record;
    wk__record *r = wk__record_append(owner, parked);
    if (!r) return false;
    list_remove(owner->op_queue, value);
    count_reader(parked, -1);
    if (!owner->op_queue->config->check) wk__deferred_shadow_drop(value);
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
    wk__free(parked);
    return true;
}

/* Returns the operands' records before the record itself: depth first, with an explicit stack. */
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

/* The list does not own its values: another thread may be dropping the last reference. */
static bool hold_if_alive(wk__value *value)
{
    int refs = wk__refcount_get(&value->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&value->refs, &refs, refs + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Returns the bytes of the operands that only deferred records own. */
static int64_t pinned_bytes(wk__value *value)
{
    int64_t bytes = 0;
    for (int i = 0; i < value->record->nin; i++) {
        const wk__value *in = wk__record_in(value->record, i)->value;
        if (in && in->state == WK__STORED && wk__refcount_get(&in->refs) == wk__refcount_get(&in->deferred_readers))
            bytes += in->bytes;
    }
    return bytes;
}

/* Scanning the list takes time proportional to its length, so it waits for a proportional number of orphans: the total
 * cost stays linear in the number of calls. */
void wk__deferred_store_orphans(wk_context *owner)
{
    if (atomic_load_explicit(&owner->deferred_orphans, memory_order_relaxed) <= owner->op_queue->parked_count / 16)
        return;
    atomic_store_explicit(&owner->deferred_orphans, 0, memory_order_relaxed);
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (pinned_bytes(value) <= value->bytes || !hold_if_alive(value)) continue;
        value->force_store = true;
        bool revived = wk__deferred_requeue(owner, value);
        wk__value_drop(value);
        if (!revived) return;
        /* the chain was removed from the list, so start over; each iteration removes at least one value */
        next = owner->op_queue->deferred;
    }
}

bool wk__deferred_requeue_all(wk_context *owner)
{
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (!hold_if_alive(value)) continue;
        value->force_store = true;
        /* on allocation failure the value fails, so that it no longer belongs to this thread */
        if (!wk__deferred_requeue(owner, value)) {
            list_remove(owner->op_queue, value);
            forget_record(value->record);
            wk__value_fail(value, NULL);
        }
        wk__value_drop(value);
        next = owner->op_queue->deferred; /* as above */
    }
    return owner->op_queue->deferred == NULL;
}

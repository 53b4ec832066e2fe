/* SPDX-License-Identifier: Apache-2.0 */
/* Parking: a value that only an open scope owns need not be stored. Its record is kept beside it, holding the operands'
 * values, which never change; reading it later puts the record back into the ring. */
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

/* Chains are at most PARK_DEPTH deep, so the recursion through wk__value_drop is too. */
static void forget_record(wk__record *r)
{
    wk__deferred_shadow_drop(r->ref[0].value);
    count_reader(r, -1);
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) wk__value_drop(wk__record_in(r, i)->value);
    if (r->prior) wk__value_drop(r->prior);
    wk__free(r);
}

static void count_orphan(wk__op_queue *ring, int64_t bytes)
{
    atomic_fetch_add_explicit(&ring->orphans, 1 + (bytes >> 16), memory_order_relaxed);
}

/* Operands that lost their tensors before this was parked are orphans from the start. Who else holds them is not known
 * yet, so what could pin more than it is itself counts as one, to be looked at later. */
static void count_if_larger(wk__op_queue *ring, wk__record *r, const wk__value *out)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) bytes += wk__record_in(r, i)->value->bytes;
    if (bytes > out->bytes) count_orphan(ring, bytes);
}

/* The last owner of a parked value has let go, in any thread. The writer's ring is there as long as the list
 * is not empty. */
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

/* As a rule those who parked what reads it are in the thread that lets go of it. */
void wk__deferred_note_orphan(wk__value *value)
{
    wk__op_queue *ring = wk__context()->op_queue;
    if (ring) count_orphan(ring, value->bytes);
}

/* What an in-place op replaced is not read again, but stays if the op fails: so a parked record holds it as long as
 * there is something to keep. A state of the target that is never stored would only make what computed it look wanted,
 * and hang the states of a target one behind the other without end. */
static bool keeps_prior(const wk__value *prior)
{
    return prior->state == WK__STORED || (prior->state == WK__PENDING && wk__will_be_stored(prior));
}

/* Keeps a copy of the record; its references to operands stay, the ring's reference to the output goes. */
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
    count_if_larger(ring, copy, out);
    for (int i = 0; i < r->nin; i++) {
        wk__value *in = wk__record_in(r, i)->value;
        if (in && in->state == WK__PENDING) in->ring_refs--; /* a parked record's reference is not the ring's */
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

/* A record is done with. Its output, if it was not stored (never computed, or only in a register) and somebody besides
 * the ring can still read it, is parked; otherwise what the record holds goes. Called from the last record of a group
 * (or of the ring) to the first: parking one makes its pending operands visible, so those are parked too. Only records
 * with one output are: liveness parks nothing on the others that is not stored (liveness.c). */
void wk__defer_or_release(wk__op_queue *ring, wk__record *r)
{
    if (r->nout == 1 && seen_outside(r->ref[0].value) && park(ring, r)) return;
    for (int o = 0; o < r->nout; o++)
        if (seen_outside(r->ref[o].value)) /* there is no memory to remember how it is computed; nobody was told yet */
            wk__value_fail(r->ref[o].value, wk__failure_oom());
    wk__release_record(r);
}

void wk__defer_dead_records(wk__op_queue *ring)
{
    for (int64_t k = ring->count; k-- > 0;)
        if (!ring->record[k]->live) wk__defer_or_release(ring, ring->record[k]);
}

/* Copies one parked record into the ring again. */
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

/* Operands before results: the chain is walked with a stack of its own, depth first. */
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

/* The list does not hold its values: the last owner of one may be letting go of it right now, in another thread. */
static bool hold_if_alive(wk__value *value)
{
    int refs = wk__refcount_get(&value->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&value->refs, &refs, refs + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* What a parked value holds that nobody else wants, in bytes. */
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

/* Looking through the list costs its length, so that many orphans must have gathered: the work stays linear
 * in the calls. */
void wk__deferred_store_orphans(wk_context *owner)
{
    if (atomic_load_explicit(&owner->op_queue->orphans, memory_order_relaxed) <= owner->op_queue->parked_count / 16)
        return;
    atomic_store_explicit(&owner->op_queue->orphans, 0, memory_order_relaxed);
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (pinned_bytes(value) <= value->bytes || !hold_if_alive(value)) continue;
        value->force_store = true;
        bool revived = wk__deferred_requeue(owner, value);
        wk__value_drop(value);
        if (!revived) return;
        next = owner->op_queue->deferred; /* the chain has left the list: start over; each round takes one out at
                                             least */
    }
}

bool wk__deferred_requeue_all(wk_context *owner)
{
    wk__value *next;
    for (wk__value *value = owner->op_queue->deferred; value; value = next) {
        next = value->deferred_next;
        if (!hold_if_alive(value)) continue;
        value->force_store = true;
        if (!wk__deferred_requeue(
                owner, value)) { /* no memory to put it back: it fails, so that it is no longer this thread's */
            list_remove(owner->op_queue, value);
            forget_record(value->record);
            wk__value_fail(value, NULL);
        }
        wk__value_drop(value);
        next = owner->op_queue->deferred; /* as above */
    }
    return owner->op_queue->deferred == NULL;
}

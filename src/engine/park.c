/* SPDX-License-Identifier: Apache-2.0 */
/* Parking: a value that only an open scope owns need not be stored. Its record is kept beside it, holding the operands'
 * values, which never change; reading it later puts the record back into the ring. */
#include "../base/alloc.h"
#include "kept.h"
#include <string.h>

static void list_add(wk__ring *ring, wk__value *value)
{
    value->parked_prev = NULL;
    value->parked_next = ring->parked;
    if (ring->parked) ring->parked->parked_prev = value;
    ring->parked = value;
    ring->parked_count++;
}

static void list_remove(wk__ring *ring, wk__value *value)
{
    if (value->parked_next) value->parked_next->parked_prev = value->parked_prev;
    if (value->parked_prev)
        value->parked_prev->parked_next = value->parked_next;
    else
        ring->parked = value->parked_next;
    ring->parked_count--;
}

static void count_reader(wk__record *r, int change)
{
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value)
            atomic_fetch_add_explicit(&wk__record_in(r, i)->value->parked_readers, change, memory_order_relaxed);
}

/* Chains are at most PARK_DEPTH deep, so the recursion through wk__value_drop is too. */
static void forget_record(wk__record *r)
{
    wk__kept_forget(r->ref[0].value);
    count_reader(r, -1);
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) wk__value_drop(wk__record_in(r, i)->value);
    if (r->prior) wk__value_drop(r->prior);
    wk__free(r);
}

static void count_orphan(wk__ring *ring, int64_t bytes)
{
    atomic_fetch_add_explicit(&ring->orphans, 1 + (bytes >> 16), memory_order_relaxed);
}

/* Operands that lost their tensors before this was parked are orphans from the start. Who else holds them is not known
 * yet, so what could pin more than it is itself counts as one, to be looked at later. */
static void count_if_larger(wk__ring *ring, wk__record *r, const wk__value *out)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value) bytes += wk__record_in(r, i)->value->bytes;
    if (bytes > out->bytes) count_orphan(ring, bytes);
}

/* The last owner of a parked value has let go, in any thread. The writer's ring is there as long as the list
 * is not empty. */
bool wk__park_free(wk__value *value)
{
    wk_context *owner = value->writer;
    bool held = wk__ring_held(owner);
    if (!held && wk__release_waits(value)) return false;
    if (!held) wk__ring_enter(owner);
    list_remove(owner->ring, value);
    if (!held) wk__ring_leave(owner);
    forget_record(value->record);
    return true;
}

/* As a rule those who parked what reads it are in the thread that lets go of it. */
void wk__park_orphan(wk__value *value)
{
    wk__ring *ring = wk__context()->ring;
    if (ring) count_orphan(ring, value->bytes);
}

/* What an in-place op replaced is not read again, but stays if the op fails: so a parked record holds it as long as
 * there is something to keep. A state of the target that is never stored would only make what computed it look wanted,
 * and hang the states of a target one behind the other without end. */
static bool keeps_prior(const wk__value *prior)
{
    return prior->state == WK__STORED || (prior->state == WK__PENDING && wk__stores(prior));
}

/* Keeps a copy of the record; its references to operands stay, the ring's reference to the output goes. */
static bool park(wk__ring *ring, wk__record *r)
{
    size_t bytes = wk__record_bytes(r->family, r->ndim, r->nout + r->nin);
    wk__record *copy = wk__alloc(bytes);
    if (!copy) return false;
    memcpy(copy, r, bytes);
    wk__value *out = r->ref[0].value;
    out->record = copy;
    wk__value_set_state(out, WK__PARKED);
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
 * with one output are: liveness parks nothing on the others that is not stored (plan.c). */
void wk__park_or_release(wk__ring *ring, wk__record *r)
{
    if (r->nout == 1 && seen_outside(r->ref[0].value) && park(ring, r)) return;
    for (int o = 0; o < r->nout; o++)
        if (seen_outside(r->ref[o].value)) /* there is no memory to remember how it is computed; nobody was told yet */
            wk__value_fail(r->ref[o].value, wk__no_memory());
    wk__release_record(r);
}

void wk__park_rest(wk__ring *ring)
{
    for (int64_t k = ring->count; k-- > 0;)
        if (!ring->record[k]->live) wk__park_or_release(ring, ring->record[k]);
}

/* Copies one parked record into the ring again. */
static bool put_back(wk_context *owner, wk__value *value)
{
    wk__record *parked = value->record;
    wk__record *r = wk__record_append(owner, parked);
    if (!r) return false;
    list_remove(owner->ring, value);
    count_reader(parked, -1);
    if (!owner->ring->modes->check) wk__kept_forget(value);
    value->revived = true;
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
bool wk__park_revive(wk_context *owner, wk__value *value)
{
    wk__value *stack[WK__PARK_DEPTH + 1];
    int depth = 0;
    stack[depth++] = value;
    while (depth > 0) {
        wk__value *top = stack[depth - 1], *next = NULL;
        if (top->state != WK__PARKED) {
            depth--;
            continue;
        }
        for (int i = 0; i < top->record->nin && !next; i++) {
            wk__value *in = wk__record_in(top->record, i)->value;
            if (in && in->state == WK__PARKED) next = in;
        }
        if (next)
            stack[depth++] = next;
        else if (!put_back(owner, top))
            return false;
    }
    return true;
}

/* The list does not hold its values: the last owner of one may be letting go of it right now, in another thread. */
static bool hold_if_alive(wk__value *value)
{
    int refs = wk__count_get(&value->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&value->refs, &refs, refs + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* What a parked value holds that nobody else wants, in bytes. */
static int64_t pinned(wk__value *value)
{
    int64_t bytes = 0;
    for (int i = 0; i < value->record->nin; i++) {
        const wk__value *in = wk__record_in(value->record, i)->value;
        if (in && in->state == WK__STORED && wk__count_get(&in->refs) == wk__count_get(&in->parked_readers))
            bytes += in->bytes;
    }
    return bytes;
}

/* Looking through the list costs its length, so that many orphans must have gathered: the work stays linear
 * in the calls. */
void wk__park_orphans(wk_context *owner)
{
    if (atomic_load_explicit(&owner->ring->orphans, memory_order_relaxed) <= owner->ring->parked_count / 16) return;
    atomic_store_explicit(&owner->ring->orphans, 0, memory_order_relaxed);
    wk__value *next;
    for (wk__value *value = owner->ring->parked; value; value = next) {
        next = value->parked_next;
        if (pinned(value) <= value->bytes || !hold_if_alive(value)) continue;
        value->wanted = true;
        bool revived = wk__park_revive(owner, value);
        wk__value_drop(value);
        if (!revived) return;
        next = owner->ring->parked; /* the chain has left the list: start over; each round takes one out at least */
    }
}

bool wk__park_end(wk_context *owner)
{
    wk__value *next;
    for (wk__value *value = owner->ring->parked; value; value = next) {
        next = value->parked_next;
        if (!hold_if_alive(value)) continue;
        value->wanted = true;
        if (!wk__park_revive(owner,
                             value)) { /* no memory to put it back: it fails, so that it is no longer this thread's */
            list_remove(owner->ring, value);
            forget_record(value->record);
            wk__value_fail(value, NULL);
        }
        wk__value_drop(value);
        next = owner->ring->parked; /* as above */
    }
    return owner->ring->parked == NULL;
}

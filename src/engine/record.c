/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: appending to the ring of a context. */
#include "../base/alloc.h"
#include "kept.h"
#include <sched.h>
#include <string.h>

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

void wk__ring_enter(wk_context *context)
{
    wk__lock(&context->lock);
    atomic_store_explicit(&context->holder, wk__thread(), memory_order_relaxed);
    wk__release_later();
}

void wk__ring_leave(wk_context *context)
{
    atomic_store_explicit(&context->holder, NULL, memory_order_relaxed);
    wk__unlock(&context->lock);
    wk__release_now();
}

bool wk__ring_held(const wk_context *context)
{
    return atomic_load_explicit(&((wk_context *)(uintptr_t)context)->holder, memory_order_relaxed) == wk__thread();
}

/* A thread ends: its work is run, what is parked is stored if anyone can still read it. A run parks what has not been
 * stored and is held by others meanwhile, by those who watch a device (faults.c): then all of it begins again. */
static void settle(wk_context *context)
{
    wk__ring_enter(context);
    do {
        while (!wk__park_end(context)) {
            wk__ring_leave(context);
            sched_yield();
            wk__ring_enter(context);
        }
        wk__ring_run(context, false);
    } while (context->ring->parked);
    wk__ring_leave(context);
}

void wk__ring_settle(wk_context *context)
{
    wk__release_later();
    if (context->ring) settle(context);
    wk__release_now(); /* also what has waited for code that a longjmp left */
}

void wk__ring_end(wk_context *context)
{
    wk__late_forget(context);
    wk__ring *ring = context->ring;
    if (!ring) return;
    for (int64_t k = 0; k < ring->chunks; k++) wk__free(ring->chunk[k]);
    wk__free(ring->chunk);
    wk__free(ring->record);
    wk__free(ring->sorted);
    wk__free(ring->start);
    wk__free(ring);
    context->ring = NULL;
}

/* What the newest record computes, nobody will read. */
static bool newest_is_dead(const wk__ring *ring)
{
    if (ring->count == 0) return false;
    const wk__record *r = ring->record[ring->count - 1];
    return r->nout == 1 && !r->ref[0].value->exposed && !wk__held_outside(r->ref[0].value);
}

static void forget_newest(wk__ring *ring)
{
    wk__record *r = ring->record[--ring->count];
    if ((char *)r < ring->chunk[ring->chunk_now] || (char *)r >= ring->chunk[ring->chunk_now] + WK__RING_CHUNK)
        ring->chunk_now--;
    ring->used = (size_t)((char *)r - ring->chunk[ring->chunk_now]);
    ring->pending_bytes -= r->ref[0].value->bytes;
    if (r->ref[0].value->revived) wk__kept_forget(r->ref[0].value);
    wk__release_record(r);
}

/* A closing scope drops its handles newest first: what nobody read leaves the ring again from its end, unplanned, and
 * the memory that a loop touches stays small. */
static void drop_newest(wk_context *context, const wk__value *value)
{
    bool alone = WK__ALONE; /* nobody else can run the ring */
    if (!alone) wk__ring_enter(context);
    wk__ring *ring = context->ring;
    if (ring && value->state == WK__PENDING && ring->count > 0 && ring->record[ring->count - 1] == value->record &&
        wk__count_get(&value->refs) == value->ring_refs + 1 && value->record->nout == 1 && !value->exposed) {
        forget_newest(ring);
        while (newest_is_dead(ring)) forget_newest(ring);
    }
    if (!alone) wk__ring_leave(context);
}

void wk__ring_orphan(wk__value *value)
{
    wk_context *context = value->writer;
    if (wk__ring_held(context)) return;
    if (context == wk__context()) {
        drop_newest(context, value);
    } else if (wk__context_visit(context)) { /* what wk_call gave, as a rule */
        drop_newest(context, value);
        wk__context_leave(context);
    }
}

/* With the lock held: other threads may be looking whether there is something to run. */
static bool make_ring(wk_context *context)
{
    context->ring = wk__alloc_zero(1, sizeof *context->ring);
    if (context->ring) context->ring->modes = wk__modes_now();
    return context->ring != NULL;
}

/* What a flush needs grows here, where failing is easy to tell. Each record may be a group of its own, and groups are
 * counted from the second place on. */
static bool grow(wk__ring *ring)
{
    const int64_t most = ring->capacity == 0 ? 8 : 2 * ring->capacity;
    return wk__grow(&ring->sorted, &ring->sorted_capacity, most, sizeof *ring->sorted) &&
           wk__grow(&ring->start, &ring->start_capacity, most + 1, sizeof *ring->start) &&
           wk__grow(&ring->record, &ring->capacity, most, sizeof *ring->record);
}

/* The place of the next record: in the chunks, as records never move while they are in the ring. */
static wk__record *room(wk__ring *ring, int family, int ndim, int refs)
{
    const size_t bytes = (wk__record_bytes(family, ndim, refs) + 15) & ~(size_t)15;
    if (bytes > WK__RING_CHUNK || (ring->count == ring->capacity && !grow(ring))) return NULL;
    if (ring->chunks == 0 || ring->used + bytes > WK__RING_CHUNK) {
        int64_t next = ring->chunks == 0 ? 0 : ring->chunk_now + 1;
        if (next == ring->chunks) {
            if (!wk__grow(&ring->chunk, &ring->chunk_capacity, next + 1, sizeof *ring->chunk)) return NULL;
            if (!(ring->chunk[next] = wk__alloc(WK__RING_CHUNK))) return NULL;
            ring->chunks++;
        }
        ring->chunk_now = next;
        ring->used = 0;
    }
    void *place = ring->chunk[ring->chunk_now] + ring->used;
    ring->used += bytes;
    return ring->record[ring->count++] = place;
}

wk__record *wk__record_append(wk_context *context, const wk__record *r)
{
    wk__record *copy = room(context->ring, r->family, r->ndim, r->nout + r->nin);
    return copy ? memcpy(copy, r, wk__record_bytes(r->family, r->ndim, r->nout + r->nin)) : NULL;
}

wk__record *wk__record_begin(wk_context *context, wk__work_id family, const wk__op *op, wk__device *device,
                             wk_site site, int ndim, const int64_t *shape, int nout, int nin)
{
    wk__lock(&context->lock);
    const bool begun = context->ring || make_ring(context);
    wk__record *r = begun ? room(context->ring, (int)family, ndim, nout + nin) : NULL;
    if (!r) {
        wk__unlock(&context->lock);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory to record the call", op->name);
        return NULL;
    }
    const wk__outer *outer = &context->frame.outer;
    *r = (wk__record){.op = op,
                      .name = wk__name(context, op->name),
                      .site = outer->on ? outer->site : site,
                      .device = device,
                      .group = -1,
                      .whole = context->whole,
                      .family = (uint8_t)family,
                      .ndim = (uint8_t)ndim,
                      .nout = (uint8_t)nout,
                      .nin = (uint8_t)nin,
                      .in_place = outer->in_place};
    int64_t *to = wk__record_shape(r);
    for (int d = 0; d < ndim; d++) to[d] = shape[d];
    return r;
}

static void hold(wk_context *context, wk__value *value)
{
    wk__count_up(&value->refs);
    if (value->writer == context && value->state == WK__PENDING) value->ring_refs++;
}

bool wk__ring_full(const wk_context *context)
{
    const wk__ring *ring = context->ring;
    if (!ring) return false;
    if (context->whole) return ring->count >= WK__RING_LAST;
    return ring->count >= WK__RING_FIRST || ring->pending_bytes > ring->modes->budget || ring->modes->sync;
}

void wk__record_commit(wk_context *context, wk__record *r)
{
    wk__ring *ring = context->ring;
    for (int k = 0; k < r->nout; k++) {
        wk__value *out = r->ref[k].value;
        out->record = r;
        out->by = r->name;
        out->in_place = r->in_place;
        hold(context, out);
        ring->pending_bytes += out->bytes;
    }
    /* What the program may write at any moment is read (and written) before the call returns, that of the program where
     * one happens whole: later it would be too late. */
    bool borrowed = false;
    for (wk__ref *ref = r->ref + r->nout, *end = ref + r->nin; ref < end; ref++) {
        wk__value *in = ref->value;
        if (!in) continue;
        hold(context, in);
        borrowed = borrowed || in->release;
    }
    if (r->prior) {
        hold(context, r->prior);
        borrowed = borrowed || r->prior->release;
    }
    bool full = wk__ring_full(context) || (borrowed && !context->whole);
    context->whole_lent = context->whole_lent || (borrowed && context->whole);
    wk__unlock(&context->lock);
    if (full) wk__flush(context);
}

bool wk__touch_slowly(wk_context *context, const wk_tensor *tensor, wk_site site)
{
    wk__value *value = wk__body_of(tensor)->storage->value;
    wk__state state = value->state;
    if (state == WK__PARKED && value->writer == context) {
        wk__lock(&context->lock);
        bool revived = wk__park_revive(context, value);
        wk__unlock(&context->lock);
        if (!revived) wk__error_set(site, WK_ERR_MEMORY, "out of host memory to compute a value again");
        return revived;
    }
    if (state != WK__FAILED) { /* another thread's: have it in memory */
        if (!wk__materialize(tensor, site)) return false;
        if (value->state != WK__FAILED) return true;
    }
    wk__tell_failure(value->failure);
    return false;
}

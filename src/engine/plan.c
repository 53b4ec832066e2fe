/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness: which records have to run. Two linear passes over the ring.
 *
 * A value is visible when something besides the ring holds it (a storage, a parked record). Visible values are wanted,
 * unless they may be parked: then they are computed only if a live record reads them, and stored only if that record is
 * in another group. What is neither visible nor read by a live record is never computed.
 */
#include "places.h"
#include "ring.h"

/* May a parked record read this operand later? Borrowed memory, and memory whose address is known outside, may change;
 * what is pending must be parked itself or be stored by this flush anyway. */
static bool stays_put(const wk__value *value)
{
    wk__state state = value->state;
    if (value->exposed) return false;
    if (state == WK__STORED) return value->release == NULL;
    return state == WK__PENDING && (value->depth > 0 || wk__held_outside(value));
}

/* Depth of the chain that reading the value later would compute, 0 when it must not be parked. */
static int chain_depth(wk__record *r)
{
    const wk__value *out = r->ref[0].value;
    if (!wk__record_family(r)->program || wk__record_reduces(r) || r->partial || out->revived || out->wanted ||
        out->exposed || atomic_load_explicit(&((wk__value *)(uintptr_t)out)->keep, memory_order_relaxed))
        return 0;
    int depth = 0;
    for (int k = 0; k < r->nin; k++) {
        const wk__value *in = wk__record_in(r, k)->value;
        if (!in) continue;
        if (!stays_put(in)) return 0;
        if (in->state == WK__PENDING && in->depth > depth) depth = in->depth;
    }
    return depth < WK__PARK_DEPTH ? depth + 1 : 0;
}

/* Notes are made on values that this ring computes, and on no others: those may be operands in other rings too. */
static bool noted(const wk__value *value)
{
    return value && value->state == WK__PENDING;
}

/* Does it, or what it reads, look places up, so that a bad index may keep it from being computed? */
static bool is_doubtful(const wk__record *r)
{
    bool doubtful = wk__places_may_fault(r);
    for (int k = r->nout; k < r->nout + r->nin && !doubtful; k++) {
        const wk__value *in = r->ref[k].value;
        doubtful = in && (in->state == WK__FAILED || (noted(in) && in->doubtful));
    }
    return doubtful;
}

void wk__plan_live(wk__ring *ring, bool park)
{
    park = park && !ring->modes->sync && !ring->modes->nofuse;
    for (int64_t k = 0; k < ring->count; k++) {
        wk__record *r = ring->record[k];
        const bool doubtful = is_doubtful(r);
        for (int o = 0; o < r->nout; o++) {
            wk__value *out = r->ref[o].value;
            out->doubtful = doubtful;
            out->depth = (uint8_t)(park && !(r->guarded && doubtful) ? chain_depth(r) : 0); /* see below */
            out->parkable = out->depth > 0;
            out->rooted =
                (wk__held_outside(out) && !out->parkable) || out->exposed; /* the program may look at the memory */
            out->needed = out->rooted;
            out->escapes = out->promised = false;
            out->group = -1;
            out->reg = -1;
        }
    }
    for (int64_t k = ring->count; k-- > 0;) {
        wk__record *r = ring->record[k];
        r->live = false;
        r->group = -1;
        for (int o = 0; o < r->nout; o++) r->live = r->live || r->ref[o].value->needed;
        if (!r->live) continue;
        for (int i = 0; i < r->nin; i++)
            if (noted(wk__record_in(r, i)->value)) wk__record_in(r, i)->value->needed = true;
        if (!noted(r->prior)) continue;
        if (r->partial) r->prior->needed = true;
        /* the target has that value again if a bad index comes between */
        if (r->guarded && r->ref[0].value->doubtful) {
            r->prior->needed = r->prior->rooted = true;
            r->prior->parkable = false;
        }
    }
}

/* A record whose result stays in a register and can still be read is parked when its group is done, and so is what it
 * reads of the group's registers, and so on: none of their operands may lose its memory to an output. Known once groups
 * say what is stored. */
void wk__plan_promises(wk__ring *ring)
{
    for (int64_t k = ring->count; k-- > 0;) {
        wk__record *r = ring->record[k];
        const wk__value *out = r->ref[0].value;
        if (!r->live || wk__stores(out) || (!out->promised && !wk__held_outside(out))) continue;
        for (int i = 0; i < r->nin; i++)
            if (noted(wk__record_in(r, i)->value)) wk__record_in(r, i)->value->promised = true;
    }
}

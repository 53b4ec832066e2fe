/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues: a group that computes a factor of a contraction and nothing else goes into the contraction's group, ahead
 * of it, where it is computed on the way (wk__kernel.prologue). Whether a backend takes what has been built is known
 * only then; what it does not take runs as a group of its own (execute.c).
 *
 *     before     group 0: y = to_f32(w) * scale        group 1: z = x @ y, relu(z)
 *     after      group 1: y = to_f32(w) * scale | z = x @ y | relu(z)           y needs no memory
 */
#include "ring.h"
#include <string.h>

static _Atomic int64_t least = -1;

void wk__prologues_from(int64_t bytes)
{
    atomic_store_explicit(&least, bytes, memory_order_relaxed);
}

/* ---- the factor -------------------------------------------------------------------------------------------------- */

/* Does the ring hold it for its maker and one reader, and store it for that alone? */
static bool is_read_once(const wk__value *value)
{
    return value->state == WK__PENDING && value->ring_refs == 2 && !value->rooted;
}

static int64_t least_bytes(const wk__backend *backend)
{
    const int64_t told = atomic_load_explicit(&least, memory_order_relaxed);
    return told >= 0 ? told : backend->prologue_bytes;
}

static wk__value *factor_of(wk__record *r, int factor)
{
    wk__value *value = wk__record_in(r, factor)->value;
    const bool large = value && value->bytes >= least_bytes(r->device->backend);
    return large && is_read_once(value) ? value : NULL;
}

/* ---- what computes it -------------------------------------------------------------------------------------------- */

typedef struct ahead {
    wk__record *record[WK__MAX_INS];
    int records;
} ahead;

/* A program that may run at any time until the product has, any number of times over any part of its space. */
static bool may_run_ahead(const wk__record *r, const wk__value *factor)
{
    const wk__value *out = r->ref[0].value;
    return wk__record_family(r)->program && !wk__record_reduces(r) && !r->indirect && !r->prior &&
           (out == factor || !wk__stores(out));
}

static bool holds(const ahead *a, const wk__record *r)
{
    for (int k = 0; k < a->records; k++)
        if (a->record[k] == r) return true;
    return false;
}

/* All records of the group that the factor is computed from; false if one of them may not be ahead. */
static bool find_makers(ahead *a, const wk__value *factor)
{
    a->record[0] = factor->record;
    a->records = 1;
    for (int k = 0; k < a->records; k++) {
        wk__record *r = a->record[k];
        if (!may_run_ahead(r, factor)) return false;
        for (int i = 0; i < r->nin; i++) {
            const wk__value *in = wk__record_in(r, i)->value;
            if (!in || in->state != WK__PENDING || in->group != factor->group || holds(a, in->record)) continue;
            if (a->records == WK__MAX_INS) return false;
            a->record[a->records++] = in->record;
        }
    }
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Fills in how many records each group has. False: a call is among them that happens whole or not at all, whose groups
 * stay where they are (whole.c). */
static bool count_records(wk__ring *ring, int32_t groups)
{
    memset(ring->start, 0, sizeof *ring->start * (size_t)groups);
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        if (!r->live) continue;
        if (r->whole) return false;
        ring->start[r->group]++;
    }
    return true;
}

/* True: the group that computes the factor does nothing else, and is ahead of the product now. */
static bool move_ahead(wk__ring *ring, wk__record *product, wk__value *factor)
{
    ahead a;
    if (!find_makers(&a, factor) || a.records != ring->start[factor->group]) return false;
    ring->start[factor->group] = 0;
    ring->start[product->group] += a.records;
    for (int k = 0; k < a.records; k++) {
        a.record[k]->group = product->group;
        a.record[k]->ref[0].value->group = product->group;
    }
    factor->escapes = false;
    return true;
}

/* The larger of two, if it can be. One there is. */
static void find_prologue(wk__ring *ring, wk__record *product, wk__value *const factor[])
{
    const bool second = factor[1] && (!factor[0] || factor[1]->bytes > factor[0]->bytes);
    if (move_ahead(ring, product, factor[second])) return;
    if (factor[!second]) move_ahead(ring, product, factor[!second]);
}

void wk__plan_prologues(wk__ring *ring, int32_t groups)
{
    bool counted = false;
    for (int64_t k = 0; k < ring->count; k++) {
        wk__record *r = ring->record[k];
        if (!r->live || !wk__record_family(r)->prologue || !r->device->backend->takes_prologue) continue;
        wk__value *const factor[WK__FACTORS] = {factor_of(r, 0), factor_of(r, 1)};
        if (!factor[0] && !factor[1]) continue;
        if (!counted && !count_records(ring, groups)) return;
        counted = true;
        find_prologue(ring, r, factor);
    }
}

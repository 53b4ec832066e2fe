/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of prologues; see prologue.h. */
#include "prologue.h"

static _Atomic int64_t least = -1;

void wk__set_prologue_min_bytes(int64_t bytes)
{
    atomic_store_explicit(&least, bytes, memory_order_relaxed);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Returns true if only the queue owns the value, for the record that computes it and one reader. */
static bool is_read_once(const wk__value *value)
{
    return value->state == WK__PENDING && value->ring_refs == 2 && !value->is_root;
}

static int64_t least_bytes(const wk__backend *backend)
{
    const int64_t told = atomic_load_explicit(&least, memory_order_relaxed);
    return told >= 0 ? told : backend->min_prologue_bytes;
}

static wk__value *factor_of(wk__record *r, int factor)
{
    wk__value *value = wk__record_in(r, factor)->value;
    const bool large = value && value->bytes >= least_bytes(r->device->backend);
    return large && is_read_once(value) ? value : NULL;
}

/* ---- producers --------------------------------------------------------------------------------------------------- */

/* Records that compute a factor. A group has fewer records than operands (fusion_rules.c). */
typedef struct producers {
    wk__record *record[WK__MAX_OPERANDS];
    int uses[WK__MAX_OPERANDS]; /* how often other producers read the result */
    int count;
} producers;

/* Returns true for a program that may run at any time before the contraction finishes, repeatedly, over any part of its
 * space. */
static bool may_run_ahead(const wk__record *r, const wk__value *factor)
{
    const wk__value *out = r->ref[0].value;
    return wk__record_family(r)->is_program && !wk__record_reduces(r) && !r->has_indirect_read && !r->prior &&
           (out == factor || !wk__will_be_stored(out));
}

static void use(producers *m, wk__record *r)
{
    int k = 0;
    while (k < m->count && m->record[k] != r) k++;
    if (k == m->count) {
        m->record[m->count] = r;
        m->uses[m->count++] = 0;
    }
    m->uses[k]++;
}

/* Finds all records of the group that the factor depends on; returns false if one of them may not be in a prologue. */
static bool find_makers(producers *m, const wk__value *factor)
{
    m->count = 0;
    use(m, factor->record);
    for (int k = 0; k < m->count; k++) {
        wk__record *r = m->record[k];
        if (!may_run_ahead(r, factor)) return false;
        for (int i = 0; i < r->nin; i++) {
            const wk__value *in = wk__record_in(r, i)->value;
            if (in && in->state == WK__PENDING && in->group == factor->group) use(m, in->record);
        }
    }
    return true;
}

/* Returns true if the results are only read by producers and the contraction, which `uses` counts for the factor. */
static bool are_private(const producers *m)
{
    for (int k = 0; k < m->count; k++)
        if (m->record[k]->ref[0].value->ring_refs != 1 + m->uses[k]) return false;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* If there is a transaction, its groups and all others keep their positions (transaction.c). */
static bool has_transaction(const wk__op_queue *queue)
{
    for (int64_t k = 0; k < queue->count; k++)
        if (queue->record[k]->transaction) return true;
    return false;
}

/* Moves the producers of the factor into the contraction's group and returns true. Other records of their old group
 * stay there. */
static bool move_ahead(wk__record *product, wk__value *factor)
{
    producers m;
    if (!find_makers(&m, factor) || !are_private(&m)) return false;
    for (int k = 0; k < m.count; k++) {
        m.record[k]->group = product->group;
        m.record[k]->ref[0].value->group = product->group;
    }
    factor->escapes = false;
    return true;
}

/* Fuses the larger factor if possible, otherwise the other one. At least one is not NULL. */
static void find_prologue(wk__record *product, wk__value *const factor[])
{
    const bool second = factor[1] && (!factor[0] || factor[1]->bytes > factor[0]->bytes);
    if (move_ahead(product, factor[second])) return;
    if (factor[!second]) move_ahead(product, factor[!second]);
}

void wk__plan_prologues(wk__op_queue *queue)
{
    bool looked = false;
    if (queue->config->nofuse) return;
    for (int64_t k = 0; k < queue->count; k++) {
        wk__record *r = queue->record[k];
        if (!r->live || !wk__record_family(r)->can_have_prologue || !r->device->backend->can_fuse_prologue) continue;
        wk__value *const factor[WK__FACTORS] = {factor_of(r, 0), factor_of(r, 1)};
        if (!factor[0] && !factor[1]) continue;
        if (!looked && has_transaction(queue)) return;
        looked = true;
        find_prologue(r, factor);
    }
}

int wk__prologue_length(wk__record *const record[], int records)
{
    for (int k = 0; k < records; k++)
        if (wk__record_family(record[k])->can_have_prologue) return k;
    return 0;
}

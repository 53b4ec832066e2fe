/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of prologues: moves records that compute a factor of a contraction into its group; see prologue.h. Runs
 * during a flush, which holds the lock of the queue. */
#include "prologue.h"

static _Atomic int64_t min_bytes_for_tests = -1; /* -1: the backend's minimum applies */

void wk__set_prologue_min_bytes(int64_t bytes)
{
    atomic_store_explicit(&min_bytes_for_tests, bytes, memory_order_relaxed);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Returns true if nothing outside the queue needs the value, and in the queue only the record that computes it and one
 * read refer to it. */
static bool is_read_once(const wk__value *value)
{
    return value->state == WK__PENDING && value->ring_refs == 2 && !value->is_root;
}

static int64_t min_factor_bytes(const wk__backend *backend)
{
    const int64_t bytes = atomic_load_explicit(&min_bytes_for_tests, memory_order_relaxed);
    return bytes >= 0 ? bytes : backend->min_prologue_bytes;
}

/* Returns factor 0 or 1 of a contraction if a prologue for it would pay; otherwise NULL. */
static wk__value *factor_to_fuse(wk__record *contraction, int factor)
{
    wk__value *value = wk__record_in(contraction, factor)->value;
    const bool large = value && value->bytes >= min_factor_bytes(contraction->device->backend);
    return large && is_read_once(value) ? value : NULL;
}

/* ---- producers --------------------------------------------------------------------------------------------------- */

/* Records that compute a factor: the one whose result it is, and all that this one depends on in its group. They fit,
 * because a group has fewer records than operands (fusion_rules.c). */
typedef struct producers {
    wk__record *record[WK__MAX_OPERANDS];
    int uses[WK__MAX_OPERANDS]; /* reads of the record's result by other producers, or by the contraction */
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

/* Counts a read of r's result, and adds r to the producers if it is not among them. */
static void add_use(producers *p, wk__record *r)
{
    int k = 0;
    while (k < p->count && p->record[k] != r) k++;
    if (k == p->count) {
        p->record[p->count] = r;
        p->uses[p->count++] = 0;
    }
    p->uses[k]++;
}

/* Finds the producers of the factor; returns false if one of them may not be in a prologue. */
static bool find_producers(producers *p, const wk__value *factor)
{
    p->count = 0;
    add_use(p, factor->record); /* by the contraction */
    for (int k = 0; k < p->count; k++) {
        wk__record *r = p->record[k];
        if (!may_run_ahead(r, factor)) return false;
        for (int i = 0; i < r->nin; i++) {
            const wk__value *in = wk__record_in(r, i)->value;
            if (in && in->state == WK__PENDING && in->group == factor->group) add_use(p, in->record);
        }
    }
    return true;
}

/* Returns true if only the producers and the contraction read the producers' results: apart from these reads, only the
 * record that computes a result refers to it. */
static bool are_private(const producers *p)
{
    for (int k = 0; k < p->count; k++)
        if (p->record[k]->ref[0].value->ring_refs != 1 + p->uses[k]) return false;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Returns true if a record belongs to a transaction: then all groups keep their records (transaction.c). */
static bool has_transaction(const wk__op_queue *queue)
{
    for (int64_t k = 0; k < queue->count; k++)
        if (queue->record[k]->transaction) return true;
    return false;
}

/* Moves the producers of the factor into the contraction's group, where they precede it, as they do in program order;
 * other records of their old group stay there. Returns false, and moves none, if they may not be a prologue. */
static bool fuse_factor(wk__record *contraction, wk__value *factor)
{
    producers p;
    if (!find_producers(&p, factor) || !are_private(&p)) return false;
    for (int k = 0; k < p.count; k++) {
        p.record[k]->group = contraction->group;
        p.record[k]->ref[0].value->group = contraction->group;
    }
    factor->escapes = false;
    return true;
}

/* Fuses the larger factor if possible, otherwise the other one. At least one is not NULL. */
static void fuse_one_factor(wk__record *contraction, wk__value *const factor[WK__FACTORS])
{
    const int larger = factor[1] && (!factor[0] || factor[1]->bytes > factor[0]->bytes);
    if (fuse_factor(contraction, factor[larger])) return;
    if (factor[!larger]) fuse_factor(contraction, factor[!larger]);
}

void wk__plan_prologues(wk__op_queue *queue)
{
    bool transactions_checked = false;
    if (queue->config->nofuse) return;
    for (int64_t k = 0; k < queue->count; k++) {
        wk__record *r = queue->record[k];
        if (!r->live || !wk__record_family(r)->can_have_prologue || !r->device->backend->can_fuse_prologue) continue;
        wk__value *const factor[WK__FACTORS] = {factor_to_fuse(r, 0), factor_to_fuse(r, 1)};
        if (!factor[0] && !factor[1]) continue;
        if (!transactions_checked && has_transaction(queue)) return;
        transactions_checked = true;
        fuse_one_factor(r, factor);
    }
}

int wk__prologue_length(wk__record *const record[], int records)
{
    for (int k = 0; k < records; k++)
        if (wk__record_family(record[k])->can_have_prologue) return k;
    return 0;
}

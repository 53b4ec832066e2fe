/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness: determines which records must run, in two linear passes over the queue.
 *
 * A value is visible if it has owners outside the queue (a storage, a deferred record). Visible values are roots,
 * unless they may be deferred: then they are computed only if a live record reads them, and stored only if that record
 * is in another group. Values that are neither visible nor read by a live record are never computed. */
#include "overlap.h"
#include "engine/op_queue.h"

/* Returns true if a deferred record may read this operand later. Borrowed memory, and memory whose address the user
 * has, may change; a pending operand must be deferred itself or be stored by this flush anyway. */
static bool is_stable_operand(const wk__value *value)
{
    wk__value_state state = value->state;
    if (value->exposed) return false;
    if (state == WK__STORED) return !wk__value_is_borrowed(value);
    return state == WK__PENDING && (value->defer_depth > 0 || wk__held_outside(value));
}

/* Returns the length of the chain of records that reading the value later would compute; 0 if it must not be
 * deferred. */
static int chain_depth(wk__record *r)
{
    const wk__value *out = r->ref[0].value;
    if (!wk__record_family(r)->is_program || wk__record_reduces(r) || r->partial || out->requeued || out->force_store ||
        out->exposed || atomic_load_explicit(&((wk__value *)(uintptr_t)out)->persistent, memory_order_relaxed))
        return 0;
    int depth = 0;
    for (int k = 0; k < r->nin; k++) {
        const wk__value *in = wk__record_in(r, k)->value;
        if (!in) continue;
        if (!is_stable_operand(in)) return 0;
        if (in->state == WK__PENDING && in->defer_depth > depth) depth = in->defer_depth;
    }
    return depth < WK__DEFER_DEPTH_MAX ? depth + 1 : 0;
}

/* Only values pending in this queue may be modified: stored ones may also be operands in other queues. */
static bool is_pending_here(const wk__value *value)
{
    return value && value->state == WK__PENDING;
}

/* Returns true if a bad index in this record or one that it depends on may keep it from being computed. */
static bool is_doubtful(const wk__record *r)
{
    bool doubtful = wk__record_may_fault(r);
    for (int k = r->nout; k < r->nout + r->nin && !doubtful; k++) {
        const wk__value *in = r->ref[k].value;
        doubtful = in && (in->state == WK__FAILED || (is_pending_here(in) && in->may_fault));
    }
    return doubtful;
}

void wk__plan_liveness(wk__op_queue *queue, bool may_defer)
{
    may_defer = may_defer && !queue->config->sync && !queue->config->nofuse;
    for (int64_t k = 0; k < queue->count; k++) {
        wk__record *r = queue->record[k];
        const bool doubtful = is_doubtful(r);
        for (int o = 0; o < r->nout; o++) {
            wk__value *out = r->ref[o].value;
            out->may_fault = doubtful;
            /* see the comment on rollback below */
            out->defer_depth = (uint8_t)(may_defer && !(r->rolls_back && doubtful) ? chain_depth(r) : 0);
            out->deferrable = out->defer_depth > 0;
            out->is_root =
                (wk__held_outside(out) && !out->deferrable) || out->exposed; /* the user can read its memory */
            out->live = out->is_root;
            out->escapes = out->read_by_deferred = false;
            out->group = -1;
            out->reg = -1;
            out->reads = 0;
        }
    }
    for (int64_t k = queue->count; k-- > 0;) {
        wk__record *r = queue->record[k];
        r->live = false;
        r->group = -1;
        for (int o = 0; o < r->nout; o++) r->live = r->live || r->ref[o].value->live;
        if (!r->live) continue;
        for (int i = 0; i < r->nin; i++)
            if (is_pending_here(wk__record_in(r, i)->value)) wk__record_in(r, i)->value->live = true;
        if (!is_pending_here(r->prior)) continue;
        if (r->partial) r->prior->live = true;
        /* a bad index restores the target to this value, so it must be stored */
        if (r->rolls_back && r->ref[0].value->may_fault) {
            r->prior->live = r->prior->is_root = true;
            r->prior->deferrable = false;
        }
    }
}

/* Marks values that will be read by deferred records. A record whose result stays in a register but is still owned is
 * deferred after its group, and so are the records of the group that compute its operands in registers, recursively.
 * The memory of their operands must not be reused for outputs. Runs after fusion, when it is known which values are
 * stored. */
void wk__plan_deferred_reads(wk__op_queue *queue)
{
    for (int64_t k = queue->count; k-- > 0;) {
        wk__record *r = queue->record[k];
        const wk__value *out = r->ref[0].value;
        if (!r->live || wk__will_be_stored(out) || (!out->read_by_deferred && !wk__held_outside(out))) continue;
        for (int i = 0; i < r->nin; i++)
            if (is_pending_here(wk__record_in(r, i)->value)) wk__record_in(r, i)->value->read_by_deferred = true;
    }
}

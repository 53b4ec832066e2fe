/* SPDX-License-Identifier: Apache-2.0 */
/* Failed records: marks their outputs as failed, or restores the old contents of in-place targets. */
#include "base/alloc.h"
#include "engine/verify/check_mode.h"
#include "execute.h"
#include "device_fault.h"
#include "engine/plan/overlap.h"

/* Restores the target of a failed in-place op: the new value shares the memory of the old one, or already has it. */
static bool roll_back_output(wk__record *r, wk__value *out)
{
    if (!r->rolls_back || !r->prior || r->prior->state != WK__STORED) return false;
    out->rolled_back = true;
    if (out->exposed && out->memory.block && r->prior->memory.block) { /* relocated: copy the old contents back */
        wk__fail fail = {.tag = -1};
        wk__device *device = out->device;
        if (device->backend->copy(device->state, &out->memory, 0, &r->prior->memory, 0, out->bytes, &fail) != WK_OK)
            return false;
        wk__value_set_state(out, WK__STORED);
        return true;
    }
    if (!r->prior->memory.block && out->memory.block) {
        wk__value_set_state(out, WK__STORED);
        return true;
    }
    if (out->memory.block) wk__value_free_memory(out);
    wk__value_hold(r->prior);
    out->memory_owner = r->prior;
    out->memory = r->prior->memory;
    wk__value_set_state(out, WK__STORED);
    return true;
}

/* Linear search per operand, but only in flushes in which something has failed. */
static bool is_stale(const wk__execution *run, const wk__value *value, wk__failure **failure)
{
    *failure = NULL;
    for (int64_t k = 0; k < run->stales; k++) {
        if (run->stale[k].value != value) continue;
        *failure = run->stale[k].failure;
        return true;
    }
    return run->stale_list_full;
}

static void note_stale(wk__execution *run, wk__value *value, wk__failure *failure)
{
    wk__failure *known;
    if (is_stale(run, value, &known)) return;
    run->stale_total++;
    if (!wk__grow(&run->stale, &run->stale_capacity, run->stales + 1, sizeof *run->stale)) {
        run->stale_list_full = true;
        return;
    }
    run->stale[run->stales++] = (wk__stale){value, failure};
    wk__value_hold(value);
    if (failure) atomic_fetch_add(&failure->refs, 1);
}

/* Marks outputs computed from stale values as stale, e.g. clipped gradients after a failed backward. */
static void propagate_stale(wk__execution *run, wk__record *r)
{
    wk__failure *why;
    bool stale = r->partial && r->prior && is_stale(run, r->prior, &why);
    for (int i = 0; i < r->nin && !stale; i++) {
        const wk__value *in = wk__record_in(r, i)->value;
        stale = in && is_stale(run, in, &why);
    }
    for (int o = 0; o < r->nout && stale; o++) note_stale(run, r->ref[o].value, why);
}

void wk__stale_free(wk__execution *run)
{
    for (int64_t k = 0; k < run->stales; k++) {
        wk__value_drop(run->stale[k].value);
        wk__failure_drop(run->stale[k].failure);
    }
    wk__free(run->stale);
}

bool wk__blocks_transaction(const wk__execution *run, const wk__value *value, wk__failure **failure)
{
    if (value->state != WK__FAILED) return is_stale(run, value, failure);
    *failure = value->failure;
    return true;
}

/* `heard`: the failure has been or will be reported to the thread. A wk__failure records this, but it may be NULL on
 * allocation failure. */
static void fail_outputs(wk__execution *run, wk__record *r, wk__failure *failure, bool heard)
{
    if (r->transaction && r->transaction != run->txn_aborted) wk__transaction_abort(run, r->transaction, failure);
    for (int o = 0; o < r->nout; o++) {
        wk__value *out = r->ref[o].value;
        if (out->state != WK__PENDING) continue;
        if (run->queue->shadows) wk__check_tolerate(run->queue->shadows, out, r->transaction ? NULL : failure);
        if (roll_back_output(r, out)) {
            note_stale(run, out, failure);
            continue;
        }
        if (out->memory.block) wk__value_free_memory(out);
        wk__value_fail(out, failure);
    }
    if (failure || !heard) wk__post_failure(run->owner, failure);
}

wk__failure *wk__failure_of_record(const wk__record *r, const wk__fail *fail)
{
    const wk__call_label called = wk__call_label_of(r);
    return wk__failure_from(&called, r->site, r->device, fail, true);
}

void wk__fail_group(wk__execution *run, wk__record **record, int records, const wk__fail *fail)
{
    const wk__record *culprit = run->failed_record ? run->failed_record : record[0];
    run->failed_record = NULL;
    for (int k = 0; k < records && fail->code == WK_ERR_INDEX; k++)
        if (record[k]->has_indirect_read) culprit = record[k];
    wk__failure *failure = wk__failure_of_record(culprit, fail);
    for (int k = 0; k < records; k++) fail_outputs(run, record[k], failure, false);
    wk__failure_drop(failure);
}

int wk__drop_failed(wk__execution *run, wk__record **record, int records)
{
    const int32_t refused = run->txn_aborted;
    int left = 0;
    for (int k = 0; k < records; k++) {
        wk__record *r = record[k];
        const wk__value *bad = NULL;
        wk__failure *why = NULL;
        bool kept = false; /* operand of a transaction, which must be aborted */
        for (int i = 0; i < r->nin && !bad && !kept; i++) {
            const wk__value *in = wk__record_in(r, i)->value;
            if (in && in->state == WK__FAILED) bad = in;
            kept = in && !bad && r->transaction && is_stale(run, in, &why);
        }
        if (!bad && r->partial && r->prior && r->prior->state == WK__FAILED) bad = r->prior;
        if (r->transaction && r->transaction == run->txn_aborted) /* NULL: out of memory, so it was not reported */
            fail_outputs(run, r, run->abort_cause, run->abort_cause != NULL);
        else if (kept)
            fail_outputs(run, r, why, why != NULL);
        else if (bad)
            fail_outputs(run, r, bad->failure, bad->writer == run->owner);
        else
            record[left++] = r;
        if (run->stale_total > 0 && !bad && !r->transaction) propagate_stale(run, r);
    }
    /* a transaction was aborted by a record after others that were kept: drop those as well */
    return run->txn_aborted == refused ? left : wk__drop_failed(run, record, left);
}

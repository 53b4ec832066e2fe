/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: calls that update all of their targets or none, such as an optimiser step. Savepoints keep the old
 * values at the call; undo entries keep them during a flush. Values never change, so a rollback swaps pointers, and
 * copies only into memory whose address the user has. */
#include "anomaly.h"
#include "base/alloc.h"
#include "device_fault.h"
#include "engine/verify/check_mode.h"
#include "execute.h"
#include "engine/plan/overlap.h"
#include "engine/plan/reuse.h"
#include <string.h>

void wk__savepoint_take(wk__savepoint *before, const wk_tensor *target)
{
    wk__storage *storage = wk__body_of(target)->storage;
    wk__storage_hold(storage);
    wk__value_hold(storage->value);
    *before = (wk__savepoint){storage, storage->value, storage->version_info};
}

/* New values that are still pending need not be computed, even if the user has their address. */
static void cancel_exposed(wk_context *context, wk__value *newest, const wk__value *oldest)
{
    wk__op_queue_lock(context);
    for (wk__value *value = newest; value && value != oldest && value->state == WK__PENDING;
         value = value->record->prior)
        value->exposed = false;
    wk__op_queue_unlock(context);
}

/* Copies the old contents, which were relocated, back to the address that the user has. If the
 * copy fails the tensor has failed, too: it holds neither. */
static void write_back(wk__value *now, const wk__value *old)
{
    wk__device *device = now->device;
    wk__fail fail = {.tag = -1};
    if (!now->bytes ||
        device->backend->copy(device->state, &now->memory, 0, &old->memory, 0, now->bytes, &fail) == WK_OK)
        return;
    const char *name = now->op_name ? now->op_name : wk_device_str(device->id);
    char text[sizeof fail.text + 120];
    snprintf(text, sizeof text,
             "%s%s: the call failed, and its target could not be restored: %s; make the target again", name,
             wk__in_place_suffix(name, now->in_place), fail.text);
    wk__failure *failure = wk__failure_new(fail.code, now->site, text);
    wk__fail_stored_value(now, failure);
    wk__report_failure(failure);
    wk__failure_drop(failure);
}

static void restore(const wk__savepoint *before)
{
    wk__storage *storage = before->storage;
    wk__value *now = storage->value, *old = before->value;
    storage->version_info = before->changes;
    if (now == old) return;
    cancel_exposed(wk__context(), now, old);
    if (now->exposed && now->state == WK__STORED && old->state == WK__STORED)
        write_back(now, old);
    else
        wk__storage_assign(storage, old);
}

void wk__savepoint_end(wk__savepoint *before, bool fine)
{
    if (!fine) restore(before);
    wk__value_drop(before->value);
    wk__storage_drop(before->storage);
}

void wk__transaction_begin(wk_context *context)
{
    context->transaction_count = context->transaction_count < INT32_MAX ? context->transaction_count + 1 : 1;
    context->transaction = context->transaction_count;
}

void wk__transaction_end(wk_context *context)
{
    const bool lent = context->transaction_borrows;
    context->transaction = 0;
    context->transaction_borrows = false;
    if (lent || wk__op_queue_should_flush(context)) wk__flush(context);
    wk__anomaly_check(context);
}

/* ---- order of groups --------------------------------------------------------------------------------------------- */

/* Groups run in the order in which they were opened, and records after a transaction join none of the groups opened
 * before its end (fusion.c). So the groups of a transaction come in this order:
 *
 *     mixed   opened before the transaction: e.g. a gradient and the update with it. Between them are others, which
 *             compute inputs of gradients. Any of these may fail, so they write out of place and keep the old
 *             contents until all are done
 *     last    one of the mixed groups, moved after the others; it writes in place, because no later group can fail
 *     pure    opened by the transaction: only its records, usually elementwise, in place
 *
 * If a test shuffles the groups (shuffle.c), pure groups before the end of the mixed ones write out of place as
 * well. */

/* Returns the end of the group that begins at k. */
static int64_t group_end(wk__record *const *record, int64_t live, int64_t k)
{
    const int32_t group = record[k]->group;
    while (k < live && record[k]->group == group) k++;
    return k;
}

/* Returns how many of the records belong to the transaction. */
static int64_t share_of(int32_t txn, wk__record *const *record, int64_t records)
{
    int64_t count = 0;
    for (int64_t k = 0; k < records; k++) count += record[k]->transaction == txn;
    return count;
}

static int32_t transaction_of(wk__record *const *record, int64_t live)
{
    for (int64_t k = 0, end = group_end(record, live, 0); k < end; k++)
        if (record[k]->transaction) return record[k]->transaction;
    return 0;
}

/* Returns the end of the mixed groups and of others between them and the pure ones; 0 if there are no mixed groups. */
static int64_t mixed_end(int32_t txn, wk__record *const *record, int64_t live)
{
    int64_t last = 0, pure = 0; /* end of the last mixed group; first pure group after it */
    for (int64_t k = 0, end; k < live; k = end) {
        end = group_end(record, live, k);
        const int64_t share = share_of(txn, record + k, end - k);
        if (share > 0 && share < end - k) {
            last = end;
            pure = 0;
        } else if (share > 0 && pure == 0) {
            pure = k;
        }
    }
    return last && pure ? pure : last;
}

static bool waits_for(const wk__record *r, int32_t group)
{
    for (int k = 0; k <= r->nin; k++) {
        const wk__value *value = k < r->nin ? r->ref[r->nout + k].value : r->prior;
        if (value && value->state == WK__PENDING && value->group == group) return true;
    }
    return false;
}

/* Returns the bytes of old contents that the group could overwrite if it ran last. */
static int64_t bytes_in_place(int32_t txn, wk__record *const *record, int64_t records)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < records; k++) {
        if (record[k]->device->id.kind != WK_CPU || wk__record_may_fault(record[k]))
            return 0; /* it may fail now or later */
        if (record[k]->transaction == txn && wk__rollback_value(record[k])) bytes += record[k]->ref[0].value->bytes;
    }
    return bytes;
}

/* Returns the start of the mixed group with the most bytes to write in place on which no later mixed group depends; -1
 * if there is none. If the 800 KB of weights of a 784-256-10 network are written out of place, a step takes 11 to 15 %
 * longer (one thread of an Intel Xeon with 2 MB of cache per core). */
static int64_t choose_in_place_group(int32_t txn, wk__record *const *record, int64_t mixed)
{
    int64_t most = 0, last = -1;
    for (int64_t k = 0, end; k < mixed; k = end) {
        end = group_end(record, mixed, k);
        const int64_t bytes = bytes_in_place(txn, record + k, end - k);
        bool awaited = false;
        for (int64_t i = end; i < mixed && bytes > most && !awaited; i++)
            awaited = waits_for(record[i], record[k]->group);
        if (bytes <= most || awaited) continue;
        most = bytes;
        last = k;
    }
    return last;
}

/* Moves that group after the other mixed ones. */
static void place_last(wk__execution *run, int32_t txn, wk__record **record, int64_t mixed)
{
    const int64_t last = choose_in_place_group(txn, record, mixed);
    run->txn_in_place_group = last >= 0 ? record[last]->group : -1;
    if (last < 0) return;
    const int64_t end = group_end(record, mixed, last), records = end - last;
    memcpy(run->scratch, record + last, sizeof *record * (size_t)records);
    memmove(record + last, record + end, sizeof *record * (size_t)(mixed - end));
    memcpy(record + mixed - records, run->scratch, sizeof *record * (size_t)records);
}

/* Returns true if the group keeps the old contents of its targets. */
static bool writes_out_of_place(const wk__execution *run, wk__record *const *record)
{
    return record < run->txn_mixed_end && record[0]->group != run->txn_in_place_group;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct reservation {
    struct {
        wk__arena *arena;
        wk__memory memory;
    } * at;
    int64_t count, capacity;
} reservation;

/* Allocates memory for the stored outputs of a record, except those that may overwrite the value they replace.
 * `beside`: none may. */
static wk_code take(reservation *p, wk__record **record, int records, const wk__record *r, bool beside, wk__fail *fail)
{
    for (int o = 0; o < r->nout; o++) {
        const wk__value *out = r->ref[o].value;
        if (!wk__will_be_stored(out) || (!beside && r->prior && wk__dies_here(record, records, r->prior))) continue;
        if (!wk__grow(&p->at, &p->capacity, p->count + 1, sizeof *p->at))
            return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
        p->at[p->count].arena = out->device->arena;
        wk_code code = wk__arena_alloc(out->device->arena, out->bytes, &p->at[p->count].memory, fail);
        if (code == WK_ERR_MEMORY) wk__describe_oom(out->device, fail);
        if (code != WK_OK) return code;
        p->count++;
    }
    return WK_OK;
}

static wk_code take_group(reservation *p, int32_t txn, wk__record **record, int records, bool beside,
                          const wk__record **culprit, wk__fail *fail)
{
    wk_code code = WK_OK;
    for (int i = 0; i < records && code == WK_OK; i++) {
        if (record[i]->transaction != txn) continue;
        *culprit = record[i];
        code = take(p, record, records, record[i], beside, fail);
    }
    return code;
}

/* Allocates and frees all memory that the transaction will store, so that it's in the arena's free lists. */
static wk_code reserve(const wk__execution *run, wk__record **record, int64_t live, const wk__record **culprit,
                       wk__fail *fail)
{
    reservation p = {.count = 0};
    wk_code code = WK_OK;
    for (int64_t k = 0, end; k < live && code == WK_OK; k = end) {
        end = group_end(record, live, k);
        code =
            take_group(&p, run->txn, record + k, (int)(end - k), writes_out_of_place(run, record + k), culprit, fail);
    }
    for (int64_t k = 0; k < p.count; k++) wk__arena_free(p.at[k].arena, &p.at[k].memory);
    wk__free(p.at);
    return code;
}

/* ---- begin and abort --------------------------------------------------------------------------------------------- */

/* Keeps references to the old values that these records replace. The old values are stored by now: the records that
 * compute them ran before. */
static bool save_undo(wk__execution *run, wk__record *const *record, int64_t records)
{
    for (int64_t k = 0; k < records; k++) {
        if (record[k]->transaction != run->txn) continue;
        wk__value *out = record[k]->ref[0].value, *old = wk__rollback_value(record[k]);
        if (!old || !wk__will_be_stored(out)) continue;
        if (!wk__grow(&run->undo, &run->undo_capacity, run->undos + 1, sizeof *run->undo)) return false;
        run->undo[run->undos++] = (wk__undo){out, old};
        wk__value_hold(out);
        wk__value_hold(old);
    }
    return true;
}

void wk__transaction_free_undo(wk__execution *run)
{
    for (int64_t k = 0; k < run->undos; k++) {
        wk__value_drop(run->undo[k].out);
        wk__value_drop(run->undo[k].old);
    }
    wk__free(run->undo);
    run->undo = NULL;
    run->undos = run->undo_capacity = 0;
}

static void refuse(wk__execution *run, const wk__record *culprit, const wk__fail *fail)
{
    wk__failure *failure = wk__failure_of_record(culprit, fail);
    wk__transaction_abort(run, run->txn, failure);
    wk__failure_drop(failure);
}

static void begin(wk__execution *run, int32_t txn, wk__record **record, int64_t live)
{
    wk__fail fail = {.tag = -1};
    const wk__record *culprit = record[0];
    const int64_t mixed = mixed_end(txn, record, live);
    wk__transaction_free_undo(run);
    run->txn = txn;
    place_last(run, txn, record, mixed);
    run->txn_mixed_end = record + mixed;
    if (reserve(run, record, live, &culprit, &fail) != WK_OK) refuse(run, culprit, &fail);
}

/* In-place writes cannot be undone, so no later record of the transaction may have failed operands. Checked before each
 * group; scans all remaining records before the first one, and afterwards only if values have failed since: a
 * transaction of a thousand groups is scanned once. The group's records with failed operands fail first, because a
 * later part may read their outputs: one kernel may update a parameter and scale the gradient of another. */
static void look_ahead(wk__execution *run, wk__record *const *record, int64_t records, int64_t live)
{
    if (run->txn_checked == run->txn && run->failed_at_check == wk__failed_value_count() + run->stale_total) return;
    memcpy(run->scratch, record, sizeof *record * (size_t)records);
    wk__drop_failed(run, run->scratch, (int)records);
    run->txn_checked = run->txn;
    run->failed_at_check = wk__failed_value_count() + run->stale_total;
    for (int64_t k = 0; k < live && run->txn_aborted != run->txn; k++) {
        if (record[k]->transaction != run->txn) continue;
        wk__failure *why;
        for (int i = record[k]->nout; i < record[k]->nout + record[k]->nin; i++) {
            const wk__value *in = record[k]->ref[i].value;
            if (!in || !wk__blocks_transaction(run, in, &why)) continue;
            wk__transaction_abort(run, run->txn, why);
            break;
        }
    }
}

bool wk__transaction_prepare_group(wk__execution *run, wk__record **record, int64_t live)
{
    const int32_t txn = transaction_of(record, live), first = record[0]->group;
    if (txn == 0 || txn == run->txn_aborted) return false;
    if (txn != run->txn) begin(run, txn, record, live);
    if (record[0]->group != first) return true;
    const int64_t records = group_end(record, live, 0);
    if (first == run->txn_in_place_group || share_of(txn, record, records) == records)
        look_ahead(run, record, records, live);
    if (txn == run->txn_aborted || !writes_out_of_place(run, record)) return false;
    wk__fail fail = {.tag = -1};
    if (!save_undo(run, record, records)) {
        wk__fail_set(&fail, WK_ERR_MEMORY, "out of host memory");
        refuse(run, record[0], &fail);
    }
    return false;
}

static void roll_back(const wk__undo *u)
{
    if (u->out->state != WK__STORED) return;
    u->out->rolled_back = true;
    if (u->out->exposed) {
        write_back(u->out, u->old);
        return;
    }
    wk__value_free_memory(u->out);
    wk__value_hold(u->old);
    u->out->memory_owner = u->old;
    u->out->memory = u->old->memory;
}

void wk__transaction_abort(wk__execution *run, int32_t txn, wk__failure *failure)
{
    if (failure) atomic_fetch_add(&failure->refs, 1);
    wk__failure_drop(run->abort_cause);
    run->abort_cause = failure;
    run->txn_aborted = txn;
    if (run->txn != txn) return;
    for (int64_t k = 0; k < run->undos; k++) {
        if (run->queue->shadows) wk__check_tolerate(run->queue->shadows, run->undo[k].out, NULL);
        roll_back(&run->undo[k]);
    }
    wk__transaction_free_undo(run);
}

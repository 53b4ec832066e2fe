/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that happen whole or not at all: what their targets held before is remembered, and comes back when
 * something fails on the way. Values never change, so that is a matter of pointers; only memory whose address the
 * program knows is written again. */
#include "base/alloc.h"
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

/* New values that have not been computed need not be, whether the program knows their address or not. */
static void cancel_exposed(wk_context *context, wk__value *newest, const wk__value *oldest)
{
    wk__op_queue_lock(context);
    for (wk__value *value = newest; value && value != oldest && value->state == WK__PENDING;
         value = value->record->prior)
        value->exposed = false;
    wk__op_queue_unlock(context);
}

/* The new numbers are at the address that the program knows, the old ones were moved: back they go. */
static void write_back(wk__value *now, const wk__value *old)
{
    wk__fail fail = {.tag = -1};
    if (now->bytes) now->device->backend->copy(now->device->state, &now->memory, 0, &old->memory, 0, now->bytes, &fail);
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
}

/* ---- the order of a flush ---------------------------------------------------------------------------------------- */

/* Groups run in the order in which they were opened, and what follows a call that happens whole joins none of those
 * that were there (fusion.c). So the groups of such a call come in this order:
 *
 *     mixed   opened before the call: a gradient and the update by it, say. Between them are others, which give what
 *             gradients are computed of. Any of these may fail, so they write beside the old numbers, which are there
 *             until all of it is done
 *     last    one of these, which is moved behind the others and writes in place, as nothing comes after it that could
 *             fail
 *     pure    opened by the call: its own records only, elementwise as a rule, in place
 *
 * Where a test has groups run in another order (shuffle.c), those that come before the end of the mixed ones keep the
 * old numbers, too. */

/* The end of the group that begins at k. */
static int64_t group_end(wk__record *const *record, int64_t live, int64_t k)
{
    const int32_t group = record[k]->group;
    while (k < live && record[k]->group == group) k++;
    return k;
}

/* Of how many of them does the call consist? */
static int64_t share_of(int32_t whole, wk__record *const *record, int64_t records)
{
    int64_t count = 0;
    for (int64_t k = 0; k < records; k++) count += record[k]->transaction == whole;
    return count;
}

static int32_t whole_of(wk__record *const *record, int64_t live)
{
    for (int64_t k = 0, end = group_end(record, live, 0); k < end; k++)
        if (record[k]->transaction) return record[k]->transaction;
    return 0;
}

/* Where the mixed groups, and what comes between them and the pure ones, end; 0: there is no mixed one. */
static int64_t mixed_end(int32_t whole, wk__record *const *record, int64_t live)
{
    int64_t last = 0, pure = 0; /* the end of the last mixed one, the first pure one behind it */
    for (int64_t k = 0, end; k < live; k = end) {
        end = group_end(record, live, k);
        const int64_t share = share_of(whole, record + k, end - k);
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

/* Bytes of old numbers that the group could write its own over, if nothing came after it. */
static int64_t bytes_in_place(int32_t whole, wk__record *const *record, int64_t records)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < records; k++) {
        if (record[k]->device->id.kind != WK_CPU || wk__record_may_fault(record[k]))
            return 0; /* it may fail on its way, or later */
        if (record[k]->transaction == whole && wk__rollback_value(record[k])) bytes += record[k]->ref[0].value->bytes;
    }
    return bytes;
}

/* Where the mixed group begins that has most to write in place, and that none behind it waits for; -1: there is none.
 * Where the 800 KB of weights of a network 784-256-10 are written beside the old ones, a step takes 11 to 15 % longer
 * (one thread of an Intel Xeon with 2 MB of cache a core). */
static int64_t choose_in_place_group(int32_t whole, wk__record *const *record, int64_t mixed)
{
    int64_t most = 0, last = -1;
    for (int64_t k = 0, end; k < mixed; k = end) {
        end = group_end(record, mixed, k);
        const int64_t bytes = bytes_in_place(whole, record + k, end - k);
        bool awaited = false;
        for (int64_t i = end; i < mixed && bytes > most && !awaited; i++)
            awaited = waits_for(record[i], record[k]->group);
        if (bytes <= most || awaited) continue;
        most = bytes;
        last = k;
    }
    return last;
}

/* Moves it behind the others. */
static void place_last(wk__execution *run, int32_t whole, wk__record **record, int64_t mixed)
{
    const int64_t last = choose_in_place_group(whole, record, mixed);
    run->txn_in_place_group = last >= 0 ? record[last]->group : -1;
    if (last < 0) return;
    const int64_t end = group_end(record, mixed, last), records = end - last;
    memcpy(run->scratch, record + last, sizeof *record * (size_t)records);
    memmove(record + last, record + end, sizeof *record * (size_t)(mixed - end));
    memcpy(record + mixed - records, run->scratch, sizeof *record * (size_t)records);
}

/* Does the group write beside the old numbers? */
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

/* What the record stores, but for what it may write over what it replaces; `beside`: it may not. */
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

static wk_code take_group(reservation *p, int32_t whole, wk__record **record, int records, bool beside,
                          const wk__record **culprit, wk__fail *fail)
{
    wk_code code = WK_OK;
    for (int i = 0; i < records && code == WK_OK; i++) {
        if (record[i]->transaction != whole) continue;
        *culprit = record[i];
        code = take(p, record, records, record[i], beside, fail);
    }
    return code;
}

/* All that the call stores is taken once and given back, so that the arena has it at hand. */
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

/* ---- beginning and ending ---------------------------------------------------------------------------------------- */

/* Old numbers that these records replace stay, as long as somebody holds them. By now they are there: what made them
 * ran before. */
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

static void begin(wk__execution *run, int32_t whole, wk__record **record, int64_t live)
{
    wk__fail fail = {.tag = -1};
    const wk__record *culprit = record[0];
    const int64_t mixed = mixed_end(whole, record, live);
    wk__transaction_free_undo(run);
    run->txn = whole;
    place_last(run, whole, record, mixed);
    run->txn_mixed_end = record + mixed;
    if (reserve(run, record, live, &culprit, &fail) != WK_OK) refuse(run, culprit, &fail);
}

/* Of what is written in place nothing may turn out to have failed when a part is written. Asked before each part,
 * answered by a walk over all that is left before the first one, and after that only where some value has failed since:
 * a call of a thousand parts is walked once. Before that, the group's own records that read something failed fail: one
 * of them may give what a later part reads, as a kernel may update one parameter and scale the gradient of another. */
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
    const int32_t whole = whole_of(record, live), first = record[0]->group;
    if (whole == 0 || whole == run->txn_aborted) return false;
    if (whole != run->txn) begin(run, whole, record, live);
    if (record[0]->group != first) return true;
    const int64_t records = group_end(record, live, 0);
    if (first == run->txn_in_place_group || share_of(whole, record, records) == records)
        look_ahead(run, record, records, live);
    if (whole == run->txn_aborted || !writes_out_of_place(run, record)) return false;
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

void wk__transaction_abort(wk__execution *run, int32_t whole, wk__failure *failure)
{
    if (failure) atomic_fetch_add(&failure->refs, 1);
    wk__failure_drop(run->abort_cause);
    run->abort_cause = failure;
    run->txn_aborted = whole;
    if (run->txn != whole) return;
    for (int64_t k = 0; k < run->undos; k++) {
        if (run->ring->shadows) wk__check_tolerate(run->ring->shadows, run->undo[k].out, NULL);
        roll_back(&run->undo[k]);
    }
    wk__transaction_free_undo(run);
}

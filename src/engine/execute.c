/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the groups of a flush in order: allocates outputs, submits work, and handles the result. */
#include "execute.h"
#include "base/alloc.h"
#include "base/log.h"
#include "device_fault.h"
#include "device_sync.h"
#include "engine/verify/plan_check.h"
#include "engine/plan/prologue.h"
#include "sync_mode.h"
#include <string.h>

/* ---- submitting work --------------------------------------------------------------------------------------------- */

static void operand_from(wk__record *r, int k, wk__operand *operand)
{
    const wk__ref *ref = &r->ref[k];
    memset(operand, 0, sizeof *operand);
    operand->memory = &ref->value->memory;
    operand->offset = ref->offset;
    operand->dtype = ref->dtype;
    memcpy(operand->stride, wk__record_stride(r, k), sizeof(int64_t) * r->ndim);
}

static void kernel_from(wk__record *r, wk__work_args *kernel)
{
    *kernel = (wk__work_args){.ndim = r->ndim, .dim = r->dim, .mode = r->mode, .bound = r->bound, .tag = -1};
    memcpy(kernel->shape, wk__record_shape(r), sizeof(int64_t) * r->ndim);
    for (int k = 0; k < r->nout + r->nin; k++) operand_from(r, k, &kernel->operand[k]);
    for (int k = 0; k < r->nout; k++) kernel->operand[k].stored = true;
    kernel->operand[0].partial = r->partial;
    if (wk__record_family(r)->is_contraction) kernel->contraction = wk__record_sum(r);
}

static void prologue_from(wk__lowering *ahead, const wk__record *r, wk__work_args *kernel)
{
    for (int o = 0; o < ahead->group.noperands; o++) ahead->group.operand[o].memory = &ahead->value[o]->memory;
    for (int k = 0; k < WK__FACTORS; k++)
        if (r->ref[1 + k].value == wk__prologue_factor(ahead)) kernel->prologue[k] = &ahead->group;
}

wk__work wk__work_from_lowering(wk__lowering *b, wk__work_args *kernel)
{
    wk__record *r = b->record[0];
    const bool program = wk__record_family(r)->is_program;
    if (!program) {
        kernel_from(r, kernel);
        kernel->elide_result = b->records > 1 && !wk__will_be_stored(r->ref[0].value);
        if (b->prologue) prologue_from(b->prologue, r, kernel);
    }
    return (wk__work){
        .family = r->family, .program = program || b->records > 1 ? &b->group : NULL, .args = program ? NULL : kernel};
}

static wk_code alloc_outputs(wk__execution *run, wk__lowering *b, const wk__work *work, wk__work_args *kernel,
                             wk__fail *fail)
{
    wk__record *r = b->record[0];
    const wk__work_family *family = wk__work_family_of(work);
    wk_code code = WK_OK;
    if (family->can_have_epilogue) {
        code = wk__alloc_contraction_output(b, r->ref[0].value, fail);
        run->queue->stores += wk__will_be_stored(r->ref[0].value);
    } else if (!family->is_program) {
        code = wk__alloc_kernel_outputs(run, r, kernel, fail);
    }
    return code == WK_OK && work->program ? wk__alloc_program_outputs(run, b, fail) : code;
}

/* Submits work whose operands have memory. */
static wk_code submit(wk__execution *run, wk__lowering *b, wk__work *work, wk__work_args *kernel, wk__fail *fail)
{
    wk__device *device = b->record[0]->device;
    const wk__work_family *family = wk__work_family_of(work);
    const bool may_fault = family->can_fault || (work->program && b->indirect);
    if (!work->args) wk__program_coalesce(&b->group);
    run->queue->groups++;
    if (b->prologue) wk__inflight_add(device, run->owner, b->prologue->record, b->prologue->records, false, NULL);
    const int64_t tag = wk__inflight_add(device, run->owner, b->record, b->records, may_fault, work->program);
    if (work->program) b->group.tag = tag;
    if (work->args) kernel->tag = tag;
    wk_code code = wk__origin_of(b->record[0], run->owner, &work->origin, fail);
    if (code != WK_OK) return code;
    if (wk__log_enabled(WK__LOG_KERNEL)) wk__log_kernel(b->record[0], work);
    code = device->backend->submit(device->state, work, fail);
    wk__origin_release(work->origin);
    return code;
}

static wk_code run_work(wk__execution *run, wk__lowering *b, wk__fail *fail)
{
    wk__work_args kernel;
    wk__work work = wk__work_from_lowering(b, &kernel);
    wk_code code = alloc_outputs(run, b, &work, &kernel, fail);
#ifdef WICK_CHECK_PLANS /* debug builds only; release builds don't contain the plan checker */
    if (code == WK_OK && wk__plan_check_is_due()) code = wk__plan_check(b, &work, fail);
#endif
    return code == WK_OK ? submit(run, b, &work, &kernel, fail) : code;
}

/* Copies dense bytes between devices, through host memory if the backend has no direct path. */
static wk_code run_transfer(wk__execution *run, wk__record *r, wk__fail *fail)
{
    wk__value *out = r->ref[0].value, *in = r->ref[1].value;
    wk__device *to = out->device, *from = in->device;
    int64_t skip = r->ref[1].offset * (int64_t)wk_dtype_size(r->ref[1].dtype);
    run->queue->stores++;
    wk_code code = wk__value_alloc_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    if (in->memory.host) {
        atomic_fetch_add(&to->uploads, out->bytes);
        return to->backend->upload(to->state, &out->memory, 0, in->memory.host + skip, out->bytes, fail);
    }
    if (out->memory.host) {
        atomic_fetch_add(&from->downloads, out->bytes);
        wk__warn_or_error_on_sync(from, r->site, out->bytes);
        return wk__value_download(in, skip, out->bytes, out->memory.host, r, r->site, fail);
    }
    if (to->backend == from->backend && to->backend->transfer) {
        code = to->backend->transfer(to->state, &out->memory, from->state, &in->memory, skip, out->bytes, fail);
        if (code != WK_OK && fail->poisoned) wk__value_lost(in, fail);
        return code;
    }
    void *staging = wk__alloc((size_t)out->bytes);
    if (!staging)
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a copy of %lld bytes", (long long)out->bytes);
    wk__warn_or_error_on_sync(from, r->site, out->bytes);
    code = wk__value_download(in, skip, out->bytes, staging, r, r->site, fail);
    if (code == WK_OK) code = to->backend->upload(to->state, &out->memory, 0, staging, out->bytes, fail);
    wk__free(staging);
    return code;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void finish(wk__execution *run, wk__record **record, int records, wk_code code, const wk__fail *fail)
{
    wk__inflight_submitted(record[0]->device, run->owner, record, code == WK_OK ? records : 0);
    if (code != WK_OK) wk__fail_group(run, record, records, fail);
}

/* Marks values that a later part of a split group reads from an earlier part: they must be stored. */
static void mark_crossing(wk__record **record, int records, int32_t group)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++) {
            wk__value *in = wk__record_in(record[k], i)->value;
            if (in && in->state == WK__PENDING && in->group == group) in->escapes = true;
        }
}

static void run_programs(wk__execution *run, wk__lowering *ahead, wk__record **record, int records);

/* After a bad index: runs the records again, each in a separate group, so that only those that depend on it fail, and
 * not all that shared the kernel. A group with indirect reads has not overwritten its inputs (output_memory.c), nor
 * memory whose address the user has (fusion_rules.c). */
static void rerun_one_by_one(wk__execution *run, wk__lowering *ahead, wk__record **record, int records)
{
    wk__inflight_submitted(record[0]->device, run->owner, NULL, 0);
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block) wk__value_free_memory(out);
            out->reg = -1;
            out->escapes = true;
        }
    for (int k = 0; k < records; k++)
        if (wk__drop_failed(run, record + k, 1)) run_programs(run, k == 0 ? ahead : NULL, record + k, 1);
}

/* `ahead`: the prologue of the first record, a contraction; or NULL. */
static void run_programs(wk__execution *run, wk__lowering *ahead, wk__record **record, int records)
{
    wk__lowering *b = &run->building;
    for (; records > 0; ahead = NULL) {
        b->prologue = ahead;
        b->record = record;
        b->records = records;
        int fit = wk__lower_group(b);
        while (fit < b->records &&
               b->records > 1) { /* split; rare, so rebuilding is cheaper than predicting the exact size */
            for (int k = 0; k < records; k++) record[k]->ref[0].value->reg = -1;
            mark_crossing(record + fit, records - fit, record[0]->group);
            b->records = fit > 0 ? fit : 1;
            fit = wk__lower_group(b);
        }
        wk__fail fail = {.tag = -1};
        wk_code code;
        if (fit < b->records)
            code = wk__fail_set(&fail, WK_ERR_INTERNAL, "%s: its expression exceeds the maximum program length",
                                record[0]->op->name);
        else
            code = run_work(run, b, &fail);
        fail.code = code;
        const int tried = b->records;
        if (code == WK_ERR_INDEX && tried > 1)
            rerun_one_by_one(run, ahead, record, tried);
        else
            finish(run, record, tried, code, &fail);
        record += tried;
        records -= tried;
        if (records) records = wk__drop_failed(run, record, records);
    }
}

/* Builds the prologue and returns true if the backend can fuse it into the contraction. */
static bool takes_prologue(wk__execution *run, wk__lowering *ahead, wk__record *product)
{
    if (wk__lower_group(ahead) < ahead->records) return false;
    wk__work_args kernel;
    wk__lowering *b = &run->building;
    b->prologue = ahead;
    b->record = &product;
    b->records = 1;
    const wk__work work = wk__work_from_lowering(b, &kernel);
    return product->device->backend->can_fuse_prologue(product->device->state, &work);
}

static void run_with_prologue(wk__execution *run, wk__record **record, int ahead, int records)
{
    run->ahead.record = record;
    run->ahead.records = ahead;
    run->ahead.prologue = NULL;
    wk__value *factor = wk__prologue_factor(&run->ahead);
    factor->escapes = true; /* so that the program stores it */
    if (takes_prologue(run, &run->ahead, record[ahead])) {
        factor->escapes = false;
        run->queue->prologues++;
        run_programs(run, &run->ahead, record + ahead, records - ahead);
        return;
    }
    run_programs(run, NULL, record, ahead);
    records = wk__drop_failed(run, record + ahead, records - ahead);
    run_programs(run, NULL, record + ahead, records);
}

/* Runs a contraction that follows the `ahead` records of its prologue. If it has failed, the prologue is not run. */
static void run_after_prologue(wk__execution *run, wk__record **record, int ahead, int records)
{
    const wk__record *product = record[ahead];
    const int left = wk__drop_failed(run, record, ahead), rest = wk__drop_failed(run, record + ahead, records - ahead);
    if (rest == 0) return;
    if (left == ahead && record[ahead] == product) {
        if (wk__log_enabled(WK__LOG_PLACEMENT)) wk__log_placement(record, ahead + rest);
        run_with_prologue(run, record, ahead, ahead + rest);
    } else {
        if (wk__log_enabled(WK__LOG_PLACEMENT)) wk__log_placement(record + ahead, rest);
        run_programs(run, NULL, record + ahead, rest);
    }
}

static void run_alone(wk__execution *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    run->building.prologue = NULL;
    run->building.record = &r;
    run->building.records = 1;
    fail.code = run_work(run, &run->building, &fail);
    finish(run, &r, 1, fail.code, &fail);
}

/* Faults of the source device must be known before the copy, because the target device doesn't track them. */
static void run_transfer_record(wk__execution *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    wk__device_sync_if_inflight(r->ref[1].value->device, r);
    if (wk__drop_failed(run, &r, 1) == 0) return;
    fail.code = run_transfer(run, r, &fail);
    if (fail.code != WK_OK && wk__drop_failed(run, &r, 1) == 0) return;
    finish(run, &r, 1, fail.code, &fail);
}

static void run_group(wk__execution *run, wk__record **record, int records)
{
    const int ahead = wk__prologue_length(record, records);
    if (ahead > 0) {
        run_after_prologue(run, record, ahead, records);
        return;
    }
    records = wk__drop_failed(run, record, records);
    if (records == 0) return;
    if (wk__log_enabled(WK__LOG_PLACEMENT)) wk__log_placement(record, records);
    const wk__work_family *family = wk__record_family(record[0]);
    if (family->is_program || family->can_have_epilogue)
        run_programs(run, NULL, record, records);
    else if (family->is_transfer)
        run_transfer_record(run, record[0]);
    else
        run_alone(run, record[0]);
}

void wk__release_record(wk__record *r)
{
    for (int k = 0; k < r->nout + r->nin; k++) {
        wk__value *value = r->ref[k].value;
        if (!value) continue;
        if (value->state == WK__PENDING) value->ring_refs--;
        wk__value_drop(value);
    }
    if (!r->prior) return;
    if (r->prior->state == WK__PENDING) r->prior->ring_refs--;
    wk__value_drop(r->prior);
}

/* References are dropped after each group, so that the next group can reuse the memory of values that die in it. */
void wk__execute(wk_context *owner, wk__op_queue *queue, int32_t groups)
{
    wk__execution run;
    run.owner = owner;
    run.queue = queue;
    run.failed_record = NULL;
    run.txn = run.txn_checked = run.txn_aborted = 0;
    run.failed_at_check = 0;
    run.txn_in_place_group = -1;
    run.txn_mixed_end = NULL;
    run.abort_cause = NULL;
    run.undo = NULL;
    run.undos = run.undo_capacity = 0;
    run.stale = NULL;
    run.stales = run.stale_capacity = 0;
    run.stale_total = 0;
    run.stale_list_full = false;
    int64_t live;
    wk__record **record = wk__sort_by_group(queue, groups, &live);
    for (int64_t k = 0, end; k < live; k = end) {
        int count = 0;
        end = k;
        if (wk__transaction_prepare_group(&run, record + k, live - k)) continue;
        for (; end < live && record[end]->group == record[k]->group; end++) run.scratch[count++] = record[end];
        run_group(&run, run.scratch, count);
        for (int64_t done = end; done-- > k;) wk__defer_or_release(queue, record[done]);
    }
    wk__transaction_free_undo(&run);
    wk__failure_drop(run.abort_cause);
    wk__stale_free(&run);
}

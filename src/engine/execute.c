/* SPDX-License-Identifier: Apache-2.0 */
/* Running groups, one after the other: what each is given, what becomes of its records. */
#include "execute.h"
#include "../base/alloc.h"
#include "../base/log.h"
#include "faults.h"
#include "late.h"
#include "plan_check.h"
#include "prologue.h"
#include "watch.h"
#include <string.h>

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void operand_from(wk__record *r, int k, wk__operand *operand)
{
    const wk__ref *ref = &r->ref[k];
    memset(operand, 0, sizeof *operand);
    operand->memory = &ref->value->memory;
    operand->offset = ref->offset;
    operand->dtype = ref->dtype;
    memcpy(operand->stride, wk__record_stride(r, k), sizeof(int64_t) * r->ndim);
}

static void kernel_from(wk__record *r, wk__kernel *kernel)
{
    *kernel = (wk__kernel){.ndim = r->ndim, .dim = r->dim, .mode = r->mode, .bound = r->bound, .tag = -1};
    memcpy(kernel->shape, wk__record_shape(r), sizeof(int64_t) * r->ndim);
    for (int k = 0; k < r->nout + r->nin; k++) operand_from(r, k, &kernel->operand[k]);
    for (int k = 0; k < r->nout; k++) kernel->operand[k].stored = true;
    kernel->operand[0].base = r->partial;
    if (wk__record_family(r)->sums) kernel->sum = wk__record_sum(r);
}

static void prologue_from(wk__building *ahead, const wk__record *r, wk__kernel *kernel)
{
    for (int o = 0; o < ahead->group.noperands; o++) ahead->group.operand[o].memory = &ahead->value[o]->memory;
    for (int k = 0; k < WK__FACTORS; k++)
        if (r->ref[1 + k].value == wk__factor_ahead(ahead)) kernel->prologue[k] = &ahead->group;
}

wk__work wk__work_of(wk__building *b, wk__kernel *kernel)
{
    wk__record *r = b->record[0];
    const bool program = wk__record_family(r)->program;
    if (!program) {
        kernel_from(r, kernel);
        kernel->passes = b->records > 1 && !wk__stores(r->ref[0].value);
        if (b->ahead) prologue_from(b->ahead, r, kernel);
    }
    return (wk__work){
        .family = r->family, .group = program || b->records > 1 ? &b->group : NULL, .kernel = program ? NULL : kernel};
}

static wk_code take_outputs(wk__run *run, wk__building *b, const wk__work *work, wk__kernel *kernel, wk__fail *fail)
{
    wk__record *r = b->record[0];
    const wk__work_family *family = wk__work_family_of(work);
    wk_code code = WK_OK;
    if (family->tail) {
        code = wk__product_output(b, r->ref[0].value, fail);
        run->ring->stores += wk__stores(r->ref[0].value);
    } else if (!family->program) {
        code = wk__kernel_outputs(run, r, kernel, fail);
    }
    return code == WK_OK && work->group ? wk__program_outputs(run, b, fail) : code;
}

/* Gives the device what has its memory. */
static wk_code submit(wk__run *run, wk__building *b, wk__work *work, wk__kernel *kernel, wk__fail *fail)
{
    wk__device *device = b->record[0]->device;
    const wk__work_family *family = wk__work_family_of(work);
    const bool may_fault = family->faults || (work->group && b->indirect);
    if (!work->kernel) wk__group_collapse(&b->group);
    run->ring->groups++;
    if (b->ahead) wk__watch(device, run->owner, b->ahead->record, b->ahead->records, false, NULL);
    const int64_t tag = wk__watch(device, run->owner, b->record, b->records, may_fault, work->group);
    if (work->group) b->group.tag = tag;
    if (work->kernel) kernel->tag = tag;
    wk_code code = wk__origin_of(b->record[0], run->owner, &work->origin, fail);
    if (code != WK_OK) return code;
    if (wk__log_on(WK__LOG_KERNEL)) wk__tell_kernel(b->record[0], work);
    code = device->backend->submit(device->state, work, fail);
    wk__origin_drop(work->origin);
    return code;
}

static wk_code run_work(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__kernel kernel;
    wk__work work = wk__work_of(b, &kernel);
    wk_code code = take_outputs(run, b, &work, &kernel, fail);
    if (code == WK_OK && wk__plan_check_wanted(b->record[0]->device)) code = wk__plan_check(b, &work, fail);
    return code == WK_OK ? submit(run, b, &work, &kernel, fail) : code;
}

/* Dense bytes from one device to another, through the host where the backend knows no shorter way. */
static wk_code run_transfer(wk__run *run, wk__record *r, wk__fail *fail)
{
    wk__value *out = r->ref[0].value, *in = r->ref[1].value;
    wk__device *to = out->device, *from = in->device;
    int64_t skip = r->ref[1].offset * (int64_t)wk_dtype_size(r->ref[1].dtype);
    run->ring->stores++;
    wk_code code = wk__value_take_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    if (in->memory.host) {
        atomic_fetch_add(&to->uploads, out->bytes);
        return to->backend->upload(to->state, &out->memory, 0, in->memory.host + skip, out->bytes, fail);
    }
    if (out->memory.host) {
        atomic_fetch_add(&from->downloads, out->bytes);
        wk__note_wait(from, r->site, out->bytes);
        return wk__value_download(in, skip, out->bytes, out->memory.host, r, r->site, fail);
    }
    if (to->backend == from->backend && to->backend->transfer) {
        code = to->backend->transfer(to->state, &out->memory, from->state, &in->memory, skip, out->bytes, fail);
        if (code != WK_OK && fail->lost) wk__value_lost(in, fail);
        return code;
    }
    void *staging = wk__alloc((size_t)out->bytes);
    if (!staging)
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a copy of %lld bytes", (long long)out->bytes);
    wk__note_wait(from, r->site, out->bytes);
    code = wk__value_download(in, skip, out->bytes, staging, r, r->site, fail);
    if (code == WK_OK) code = to->backend->upload(to->state, &out->memory, 0, staging, out->bytes, fail);
    wk__free(staging);
    return code;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void finish(wk__run *run, wk__record **record, int records, wk_code code, const wk__fail *fail)
{
    wk__watch_given(record[0]->device, run->owner, record, code == WK_OK ? records : 0);
    if (code != WK_OK) wk__fail_group(run, record, records, fail);
}

/* What a later part of a split group reads of an earlier one has to be stored after all. */
static void mark_crossing(wk__record **record, int records, int32_t group)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++) {
            wk__value *in = wk__record_in(record[k], i)->value;
            if (in && in->state == WK__PENDING && in->group == group) in->escapes = true;
        }
}

static void run_programs(wk__run *run, wk__building *ahead, wk__record **record, int records);

/* An index was bad: so that only what depends on it fails, and not what happened to share its kernel. The records run
 * again, each on its own. A group that reads at computed places has written over nothing that it reads (outputs.c), and
 * nothing that the program knows by its address (join.c). */
static void run_apart(wk__run *run, wk__building *ahead, wk__record **record, int records)
{
    wk__watch_given(record[0]->device, run->owner, NULL, 0);
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block) wk__value_give_memory(out);
            out->reg = -1;
            out->escapes = true;
        }
    for (int k = 0; k < records; k++)
        if (wk__drop_failed(run, record + k, 1)) run_programs(run, k == 0 ? ahead : NULL, record + k, 1);
}

/* `ahead`: what the first record, a product, computes of its factors on the way, or NULL. */
static void run_programs(wk__run *run, wk__building *ahead, wk__record **record, int records)
{
    wk__building *b = &run->building;
    for (; records > 0; ahead = NULL) {
        b->ahead = ahead;
        b->record = record;
        b->records = records;
        int fit = wk__build(b);
        while (fit < b->records &&
               b->records > 1) { /* split: rare, so building again is cheaper than foreseeing it exactly */
            for (int k = 0; k < records; k++) record[k]->ref[0].value->reg = -1;
            mark_crossing(record + fit, records - fit, record[0]->group);
            b->records = fit > 0 ? fit : 1;
            fit = wk__build(b);
        }
        wk__fail fail = {.tag = -1};
        wk_code code;
        if (fit < b->records)
            code = wk__fail_set(&fail, WK_ERR_INTERNAL, "%s: its expression is longer than a program can be",
                                record[0]->op->name);
        else
            code = run_work(run, b, &fail);
        fail.code = code;
        const int tried = b->records;
        if (code == WK_ERR_INDEX && tried > 1)
            run_apart(run, ahead, record, tried);
        else
            finish(run, record, tried, code, &fail);
        record += tried;
        records -= tried;
        if (records) records = wk__drop_failed(run, record, records);
    }
}

/* Will the product compute the factor on the way? Then `ahead` is built. */
static bool takes_prologue(wk__run *run, wk__building *ahead, wk__record *product)
{
    if (wk__build(ahead) < ahead->records) return false;
    wk__kernel kernel;
    wk__building *b = &run->building;
    b->ahead = ahead;
    b->record = &product;
    b->records = 1;
    const wk__work work = wk__work_of(b, &kernel);
    return product->device->backend->takes_prologue(product->device->state, &work);
}

static void run_with_prologue(wk__run *run, wk__record **record, int ahead, int records)
{
    run->ahead.record = record;
    run->ahead.records = ahead;
    run->ahead.ahead = NULL;
    wk__value *factor = wk__factor_ahead(&run->ahead);
    factor->escapes = true; /* so that the program stores it */
    if (takes_prologue(run, &run->ahead, record[ahead])) {
        factor->escapes = false;
        run->ring->prologues++;
        run_programs(run, &run->ahead, record + ahead, records - ahead);
        return;
    }
    run_programs(run, NULL, record, ahead);
    records = wk__drop_failed(run, record + ahead, records - ahead);
    run_programs(run, NULL, record + ahead, records);
}

/* A product behind `ahead` records that compute a factor. Where it has failed, nobody wants them. */
static void run_behind(wk__run *run, wk__record **record, int ahead, int records)
{
    const wk__record *product = record[ahead];
    const int left = wk__drop_failed(run, record, ahead), rest = wk__drop_failed(run, record + ahead, records - ahead);
    if (rest == 0) return;
    if (left == ahead && record[ahead] == product) {
        if (wk__log_on(WK__LOG_PLACEMENT)) wk__tell(record, ahead + rest);
        run_with_prologue(run, record, ahead, ahead + rest);
    } else {
        if (wk__log_on(WK__LOG_PLACEMENT)) wk__tell(record + ahead, rest);
        run_programs(run, NULL, record + ahead, rest);
    }
}

static void run_alone(wk__run *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    run->building.ahead = NULL;
    run->building.record = &r;
    run->building.records = 1;
    fail.code = run_work(run, &run->building, &fail);
    finish(run, &r, 1, fail.code, &fail);
}

/* What leaves a device takes its fault along, which may be noticed only now. */
static void run_move(wk__run *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    wk__device_prove(r->ref[1].value->device, r);
    if (wk__drop_failed(run, &r, 1) == 0) return;
    fail.code = run_transfer(run, r, &fail);
    if (fail.code != WK_OK && wk__drop_failed(run, &r, 1) == 0) return;
    finish(run, &r, 1, fail.code, &fail);
}

static void run_group(wk__run *run, wk__record **record, int records)
{
    const int ahead = wk__records_ahead(record, records);
    if (ahead > 0) {
        run_behind(run, record, ahead, records);
        return;
    }
    records = wk__drop_failed(run, record, records);
    if (records == 0) return;
    if (wk__log_on(WK__LOG_PLACEMENT)) wk__tell(record, records);
    const wk__work_family *family = wk__record_family(record[0]);
    if (family->program || family->tail)
        run_programs(run, NULL, record, records);
    else if (family->moves)
        run_move(run, record[0]);
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

/* Live records by group, each group in program order: a counting sort into an array that grew with the ring. */
wk__record **wk__by_group(wk__ring *ring, int32_t groups, int64_t *live)
{
    bool sorted = true;
    int32_t last = 0;
    *live = 0;
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        *live += r->live;
        sorted = sorted && r->live && r->group >= last;
        last = r->group;
    }
    if (sorted) return ring->record;
    int32_t *start = ring->start;
    memset(start, 0, sizeof *start * (size_t)(groups + 1));
    for (int64_t k = 0; k < ring->count; k++)
        if (ring->record[k]->live) start[ring->record[k]->group + 1]++;
    for (int32_t g = 0; g < groups; g++) start[g + 1] += start[g];
    for (int64_t k = 0; k < ring->count; k++)
        if (ring->record[k]->live) ring->sorted[start[ring->record[k]->group]++] = ring->record[k];
    return ring->sorted;
}

/* References go with each group, so that the next one finds out what dies in it. */
void wk__execute(wk_context *owner, wk__ring *ring, int32_t groups)
{
    wk__run run;
    run.owner = owner;
    run.ring = ring;
    run.culprit = NULL;
    run.begun = run.looked = run.refused = 0;
    run.failed = 0;
    run.last = -1;
    run.mixed = NULL;
    run.refusal = NULL;
    run.undo = NULL;
    run.undos = run.undo_capacity = 0;
    run.stale = NULL;
    run.stales = run.stale_capacity = 0;
    run.noted = 0;
    run.any_stale = false;
    int64_t live;
    wk__record **record = wk__by_group(ring, groups, &live);
    for (int64_t k = 0, end; k < live; k = end) {
        int count = 0;
        end = k;
        if (wk__whole_enter(&run, record + k, live - k)) continue;
        for (; end < live && record[end]->group == record[k]->group; end++) run.scratch[count++] = record[end];
        run_group(&run, run.scratch, count);
        for (int64_t done = end; done-- > k;) wk__park_or_release(ring, record[done]);
    }
    wk__whole_leave(&run);
    wk__failure_drop(run.refusal);
    wk__stale_free(&run);
}

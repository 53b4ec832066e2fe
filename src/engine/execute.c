/* SPDX-License-Identifier: Apache-2.0 */
/* Running groups, one after the other: what kind each is, what it is given, what becomes of its records. */
#include "execute.h"
#include "../base/alloc.h"
#include "../base/log.h"
#include "faults.h"
#include "late.h"
#include "plan_check.h"
#include <string.h>

/* ---- the kinds of group ------------------------------------------------------------------------------------------ */

static wk_code run_program(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__device *device = b->record[0]->device;
    wk_code code = wk__program_outputs(run, b, fail);
    if (code == WK_OK && wk__plan_check_wanted(device)) code = wk__plan_check(b, NULL, fail);
    if (code != WK_OK) return code;
    wk__group_collapse(&b->group);
    run->ring->groups++;
    b->group.tag = wk__watch(device, run->owner, b->record, b->records, b->indirect, &b->group);
    code = wk__origin_of(b->record[0], run->owner, &b->group.origin, fail);
    if (code != WK_OK) return code;
    if (wk__log_on(WK__LOG_KERNEL)) wk__tell_kernel(b->record[0], "one pass", &b->group);
    code = device->backend->run(device->state, &b->group, fail);
    wk__origin_drop(b->group.origin);
    return code;
}

static void operand_from(wk__record *r, int k, wk__operand *operand)
{
    const wk__ref *ref = &r->ref[k];
    memset(operand, 0, sizeof *operand);
    operand->memory = &ref->value->memory;
    operand->offset = ref->offset;
    operand->dtype = ref->dtype;
    memcpy(operand->stride, wk__record_stride(r, k), sizeof(int64_t) * r->ndim);
}

wk__matmul wk__product_of(wk__record *r)
{
    wk__matmul mm = {.nbatch = r->ndim - 2, .k = r->bound};
    const int64_t *shape = wk__record_shape(r);
    memcpy(mm.batch, shape, sizeof *shape * (size_t)mm.nbatch);
    mm.m = shape[r->ndim - 2];
    mm.n = shape[r->ndim - 1];
    operand_from(r, 0, &mm.c);
    operand_from(r, 1, &mm.a);
    operand_from(r, 2, &mm.b);
    return mm;
}

static wk_code run_matmul(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__record *r = b->record[0];
    wk__value *product = r->ref[0].value;
    wk__matmul mm = wk__product_of(r);
    wk_code code = wk__product_output(b, product, fail);
    if (code != WK_OK) return code;
    run->ring->stores += wk__stores(product);
    if (b->records > 1) {
        code = wk__program_outputs(run, b, fail);
        mm.tail = &b->group;
    }
    if (code == WK_OK && wk__plan_check_wanted(r->device)) code = wk__plan_check(b, &mm, fail);
    run->ring->groups++;
    b->group.tag = wk__watch(r->device, run->owner, b->record, b->records, b->indirect, mm.tail);
    if (wk__log_on(WK__LOG_KERNEL))
        wk__tell_kernel(r, mm.tail ? "a matrix product, and then" : "a matrix product", mm.tail);
    if (code == WK_OK) code = wk__origin_of(r, run->owner, &mm.origin, fail);
    b->group.origin = mm.origin;
    if (code == WK_OK) code = r->device->backend->matmul(r->device->state, &mm, fail);
    wk__origin_drop(mm.origin);
    if (!wk__stores(product)) wk__value_give_memory(product);
    return code;
}

wk__kernel wk__kernel_of(wk__record *r)
{
    wk__kernel kernel = {
        .family = r->family, .ndim = r->ndim, .dim = r->dim, .mode = r->mode, .bound = r->bound, .tag = -1};
    memcpy(kernel.shape, wk__record_shape(r), sizeof(int64_t) * r->ndim);
    for (int k = 0; k < r->nout + r->nin; k++) operand_from(r, k, &kernel.operand[k]);
    for (int k = 0; k < r->nout; k++) kernel.operand[k].stored = true;
    return kernel;
}

static wk_code run_kernel(wk__run *run, wk__record *r, wk__fail *fail)
{
    wk__kernel kernel = wk__kernel_of(r);
    kernel.operand[0].base = r->partial;
    wk_code code = wk__kernel_outputs(run, r, &kernel, fail);
    if (code == WK_OK && wk__plan_check_wanted(r->device)) code = wk__plan_check_kernel(r, fail);
    run->ring->groups++;
    kernel.tag = wk__watch(r->device, run->owner, &r, 1, r->partial, NULL);
    if (wk__log_on(WK__LOG_KERNEL)) wk__tell_kernel(r, wk__work_families[r->family].name, NULL);
    if (code == WK_OK) code = wk__origin_of(r, run->owner, &kernel.origin, fail);
    if (code == WK_OK) code = r->device->backend->kernel(r->device->state, &kernel, fail);
    wk__origin_drop(kernel.origin);
    return code;
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
        return wk__value_download(in, skip, out->bytes, out->memory.host, r->site, fail);
    }
    if (to->backend == from->backend && to->backend->transfer && skip == 0)
        return to->backend->transfer(to->state, &out->memory, from->state, &in->memory, out->bytes, fail);
    void *staging = wk__alloc((size_t)out->bytes);
    if (!staging)
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a copy of %lld bytes", (long long)out->bytes);
    code = wk__value_download(in, skip, out->bytes, staging, r->site, fail);
    if (code == WK_OK) code = to->backend->upload(to->state, &out->memory, 0, staging, out->bytes, fail);
    wk__free(staging);
    return code;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void finish(wk__run *run, wk__record **record, int records, wk_code code, const wk__fail *fail)
{
    wk__watch_given(record[0]->device, run->owner);
    if (code != WK_OK) {
        wk__fail_group(run, record, records, fail);
        return;
    }
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block && wk__value_state(out) == WK__PENDING) wk__value_set_state(out, WK__STORED);
        }
}

/* What a later part of a split group reads of an earlier one has to be stored after all. */
static void mark_crossing(wk__record **record, int records, int32_t group)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++) {
            wk__value *in = wk__record_in(record[k], i)->value;
            if (in && wk__value_state(in) == WK__PENDING && in->group == group) in->escapes = true;
        }
}

static void run_programs(wk__run *run, wk__record **record, int records);

/* An index was bad: so that only what depends on it fails, and not what happened to share its kernel. The records run
 * again, each on its own. A group that reads at computed places has written over nothing that it reads (outputs.c), and
 * nothing that the program knows by its address (join.c). */
static void run_apart(wk__run *run, wk__record **record, int records)
{
    wk__watch_given(record[0]->device, run->owner);
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block) wk__value_give_memory(out);
            out->reg = -1;
            out->escapes = true;
        }
    for (int k = 0; k < records; k++)
        if (wk__drop_failed(run, record + k, 1)) run_programs(run, record + k, 1);
}

static void run_programs(wk__run *run, wk__record **record, int records)
{
    wk__building *b = &run->building;
    while (records > 0) {
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
            code = record[0]->kind == WK__RECORD_MATMUL ? run_matmul(run, b, &fail) : run_program(run, b, &fail);
        fail.code = code;
        const int tried = b->records;
        if (code == WK_ERR_INDEX && tried > 1)
            run_apart(run, record, tried);
        else
            finish(run, record, tried, code, &fail);
        record += tried;
        records -= tried;
        if (records) records = wk__drop_failed(run, record, records);
    }
}

/* What leaves a device takes its fault along, which may be noticed only now. */
static void run_alone(wk__run *run, wk__record *r)
{
    wk__fail fail = {.tag = -1};
    if (r->kind == WK__RECORD_KERNEL) {
        fail.code = run_kernel(run, r, &fail);
    } else {
        wk__device_prove(r->ref[1].value->device);
        if (wk__drop_failed(run, &r, 1) == 0) return;
        fail.code = run_transfer(run, r, &fail);
        if (fail.code != WK_OK && wk__drop_failed(run, &r, 1) == 0) return;
    }
    finish(run, &r, 1, fail.code, &fail);
}

static void run_group(wk__run *run, wk__record **record, int records)
{
    records = wk__drop_failed(run, record, records);
    if (records == 0) return;
    if (wk__log_on(WK__LOG_PLACEMENT)) wk__tell(record, records);
    if (record[0]->kind == WK__RECORD_KERNEL || record[0]->kind == WK__RECORD_TRANSFER)
        run_alone(run, record[0]);
    else
        run_programs(run, record, records);
}

void wk__release_record(wk__record *r)
{
    for (int k = 0; k < r->nout + r->nin; k++) {
        wk__value *value = r->ref[k].value;
        if (!value) continue;
        if (wk__value_state(value) == WK__PENDING) value->ring_refs--;
        wk__value_drop(value);
    }
    if (!r->prior) return;
    if (wk__value_state(r->prior) == WK__PENDING) r->prior->ring_refs--;
    wk__value_drop(r->prior);
}

/* Live records by group, each group in program order: a counting sort into an array that grew with the ring. */
static wk__record **by_group(wk__ring *ring, int32_t groups, int64_t *live)
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
    int64_t live;
    wk__record **record = by_group(ring, groups, &live);
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
}

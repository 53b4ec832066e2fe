/* SPDX-License-Identifier: Apache-2.0 */
/* See shadow_run.h. */
#include "shadow_run.h"
#include "base/alloc.h"
#include "shadow_compare.h"
#include "engine/execute.h"
#include "shadow_deferred.h"
#include "engine/plan/overlap.h"
#include <stdio.h>
#include <string.h>

/* Returns false for the null device: it computes nothing, so there is nothing to compare. */
static bool computes(const wk__device *device)
{
    return device->id.kind != WK_NULL;
}

/* Asynchronous devices report faults only when synchronized. */
static wk_code settled(wk__device *device, wk_code code, wk__fail *fail)
{
    return code == WK_OK && device->id.kind != WK_CPU ? device->backend->sync(device->state, fail) : code;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static wk_code copy_memory(wk__shadow *to, const wk__memory *from, wk__fail *fail)
{
    wk__device *device = to->value.device;
    if (to->value.bytes == 0) return WK_OK;
    return device->backend->copy(device->state, &to->value.memory, 0, from, 0, to->value.bytes, fail);
}

static wk_code copy_operand(wk__shadow *t, wk__fail *fail)
{
    if (!computes(t->value.device)) return WK_OK;
    t->failed = t->of->state == WK__FAILED;
    t->valid = t->failed || t->stored;
    if (t->failed || !t->stored) return WK_OK;
    wk_code code = wk__shadow_alloc(t, fail);
    return code == WK_OK ? copy_memory(t, &t->of->memory, fail) : code;
}

/* ---- one record -------------------------------------------------------------------------------------------------- */

wk__record *wk__record_on_shadows(const wk__shadow_map *shadows, wk__record *r, void *room)
{
    wk__record *copy = memcpy(room, r, wk__record_bytes(r->family, r->ndim, r->nout + r->nin));
    for (int k = 0; k < r->nout + r->nin; k++) {
        wk__shadow *t = wk__shadow_of(shadows, r->ref[k].value);
        if (t) copy->ref[k].value = &t->value;
    }
    wk__shadow *prior = wk__shadow_of(shadows, r->prior);
    if (prior) copy->prior = &prior->value;
    return copy;
}

static wk_code build_program(wk__lowering *b, wk__record *r, wk__fail *fail)
{
    b->prologue = NULL;
    const bool fits = wk__lower_group(b) == 1;
    r->ref[0].value->reg = -1;
    if (!fits) return wk__fail_set(fail, WK_ERR_INTERNAL, "its expression exceeds the maximum program length");
    for (int o = 0; o < b->group.noperands; o++) b->group.operand[o].memory = &b->value[o]->memory;
    wk__program_coalesce(&b->group);
    return WK_OK;
}

/* Copies through host memory, for any pair of devices. */
static wk_code run_transfer(wk__record *r, wk__fail *fail)
{
    wk__value *out = r->ref[0].value, *in = r->ref[1].value;
    const int64_t skip = r->ref[1].offset * (int64_t)wk_dtype_size(r->ref[1].dtype);
    if (out->bytes == 0) return WK_OK;
    void *staging = wk__alloc((size_t)out->bytes);
    if (!staging) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    wk_code code = in->device->backend->download(in->device->state, staging, &in->memory, skip, out->bytes, fail);
    if (code == WK_OK)
        code = out->device->backend->upload(out->device->state, &out->memory, 0, staging, out->bytes, fail);
    wk__free(staging);
    return code;
}

static wk_code run_one(wk__lowering *b, wk__record *r, wk__fail *fail)
{
    if (wk__record_family(r)->is_transfer) return run_transfer(r, fail);
    b->record = &r;
    b->records = 1;
    const wk_code code = build_program(b, r, fail); /* ignored by wk__work_from_lowering() if the work has no program */
    if (code != WK_OK) return code;
    wk__work_args kernel;
    const wk__work work = wk__work_from_lowering(b, &kernel);
    return r->device->backend->submit(r->device->state, &work, fail);
}

/* Returns true if a partial write may reuse the memory of the old value: when a tensor is joined from thousands of
 * parts, it must not be copied for each. Not if the record may fault, because the old value may be needed again. */
static bool takes_over(const wk__shadow_map *shadows, wk__record *r, const wk__shadow *prior)
{
    if (!prior->writer || prior->observable || prior->last != wk__shadow_of(shadows, r->ref[0].value)->first)
        return false;
    for (int i = 0; i < r->nin; i++)
        if (wk__record_in(r, i)->value == prior->of) return false;
    return !wk__record_may_fault(r);
}

static wk_code alloc_outputs(wk__shadow_map *shadows, wk__record *r, wk__fail *fail)
{
    wk_code code = WK_OK;
    wk__shadow *prior = r->partial ? wk__shadow_of(shadows, r->prior) : NULL;
    for (int o = 0; o < r->nout && code == WK_OK; o++) {
        wk__shadow *t = wk__shadow_of(shadows, r->ref[o].value);
        if (prior && takes_over(shadows, r, prior)) {
            t->value.memory = prior->value.memory;
            prior->value.memory.block = NULL;
        } else {
            code = wk__shadow_alloc(t, fail);
            if (code == WK_OK && prior) code = copy_memory(t, &prior->value.memory, fail);
        }
        t->partly_written = prior ? prior->partly_written : !wk__record_fills(r, o, t->value.bytes);
    }
    return code;
}

/* If a record fails, its target keeps the old contents; other outputs fail. */
static wk_code fail_outputs(wk__shadow_map *shadows, wk__record *r, wk__fail *fail)
{
    wk_code code = WK_OK;
    const wk__shadow *old = r->rolls_back ? wk__shadow_of(shadows, r->prior) : NULL;
    if (old && (!old->value.memory.block || (old->failed && !old->rolled_back))) old = NULL;
    for (int o = 0; o < r->nout && code == WK_OK; o++) {
        wk__shadow *t = wk__shadow_of(shadows, r->ref[o].value);
        t->valid = true;
        t->failed = true;
        if (!old) continue;
        t->rolled_back = true;
        t->partly_written = old->partly_written;
        if (!t->value.memory.block) code = wk__shadow_alloc(t, fail);
        if (code == WK_OK) code = copy_memory(t, &old->value.memory, fail);
    }
    return code;
}

/* Determines whether all operands are valid, and whether any has failed. */
static void look_at_operands(const wk__shadow_map *shadows, wk__record *r, bool *known, bool *failed)
{
    *known = computes(r->device);
    *failed = false;
    for (int i = 0; i < r->nin + r->partial; i++) {
        const wk__shadow *in = wk__shadow_of(shadows, i < r->nin ? wk__record_in(r, i)->value : r->prior);
        if (!in) continue;
        *known = *known && in->valid;
        *failed = *failed || (in->failed && !in->rolled_back);
    }
}

static wk_code compute(wk__shadow_map *shadows, wk__record *r, void *room, wk__fail *fail)
{
    bool known, failed;
    look_at_operands(shadows, r, &known, &failed);
    if (!known) return WK_OK;
    if (failed) return fail_outputs(shadows, r, fail);
    wk_code code = alloc_outputs(shadows, r, fail);
    if (code != WK_OK) return code;
    code = settled(r->device, run_one(&shadows->building, wk__record_on_shadows(shadows, r, room), fail), fail);
    if (code == WK_ERR_INDEX) return fail_outputs(shadows, r, fail);
    for (int o = 0; o < r->nout; o++) wk__shadow_of(shadows, r->ref[o].value)->valid = code == WK_OK;
    return code;
}

/* ---- all records ------------------------------------------------------------------------------------------------- */

/* Frees shadows after their last reader, except those that are compared later and those that a flush file starts
 * with. */
static void free_after_last_use(wk__shadow_map *shadows, wk__record *r, int64_t place)
{
    for (int i = 0; i < r->nin + r->partial; i++) {
        wk__shadow *t = wk__shadow_of(shadows, i < r->nin ? wk__record_in(r, i)->value : r->prior);
        if (t && t->writer && !t->observable && t->last == place) wk__shadow_free(t);
    }
}

static bool is_needed(const wk__shadow_map *shadows, wk__record *r)
{
    bool needed = false;
    for (int o = 0; o < r->nout; o++) needed = needed || wk__shadow_of(shadows, r->ref[o].value)->needed;
    return needed;
}

/* If it was computed in the flush that deferred it, that result is the reference. */
static bool kept_before(wk__shadow_map *shadows, const wk__record *r)
{
    wk__shadow *t = wk__shadow_of(shadows, r->ref[0].value);
    t->valid = wk__deferred_shadow_take(t);
    return t->valid;
}

static int64_t largest_record(const wk__op_queue *queue)
{
    size_t bytes = 0;
    for (int64_t k = 0; k < queue->count; k++) {
        const wk__record *r = queue->record[k];
        const size_t own = wk__record_bytes(r->family, r->ndim, r->nout + r->nin);
        if (own > bytes) bytes = own;
    }
    return (int64_t)bytes;
}

static wk_code compute_all(wk__shadow_map *shadows, wk__fail *fail)
{
    wk__op_queue *queue = shadows->queue;
    wk_code code = WK_OK;
    void *room = wk__alloc((size_t)largest_record(queue));
    if (!room) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    for (int64_t k = 0; k < shadows->count && code == WK_OK; k++)
        if (!shadows->shadow[k].writer && shadows->shadow[k].needed) code = copy_operand(&shadows->shadow[k], fail);
    for (int64_t k = 0; k < queue->count && code == WK_OK; k++) {
        wk__record *r = queue->record[k];
        const bool kept = r->ref[0].value->requeued && kept_before(shadows, r);
        if (!is_needed(shadows, r)) continue;
        if (!kept) code = compute(shadows, r, room, fail);
        free_after_last_use(shadows, r, k);
    }
    wk__free(room);
    return code;
}

void wk__shadow_run(wk__shadow_map *shadows)
{
    shadows->fail.tag = -1;
    if (compute_all(shadows, &shadows->fail) == WK_OK) return;
    shadows->skip_reason = shadows->fail.text;
    for (int64_t k = 0; k < shadows->count; k++) {
        wk__shadow_free(&shadows->shadow[k]);
        wk__deferred_shadow_drop(shadows->shadow[k].of);
    }
}

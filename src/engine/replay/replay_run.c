/* SPDX-License-Identifier: Apache-2.0 */
/* See replay_run.h. Creates values and records like the original calls, but without handles: this file owns the
 * observable values. */
#include "base/alloc.h"
#include "engine/device_sync.h"
#include "replay_run.h"
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Simulates borrowed user memory: any memory outside the arena. */
static wk_code borrow(wk__value *value, wk__fail *fail)
{
    char *memory = wk__alloc((size_t)value->bytes);
    if (!memory) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    value->memory = (wk__memory){.block = memory, .host = memory, .bytes = value->bytes};
    value->release = wk__free;
    value->release_user = memory;
    return WK_OK;
}

static wk_code put_there(wk__value *value, const wk__flush_value *v, wk__fail *fail)
{
    wk__device *device = value->device;
    const bool borrowed = v->flags & WK__FLUSH_BORROWED && device->id.kind == WK_CPU;
    wk_code code = borrowed ? borrow(value, fail) : wk__value_alloc_memory(value, value->bytes, fail);
    if (code != WK_OK) return code;
    wk__value_set_state(value, WK__STORED);
    if (!v->data || v->bytes == 0) return WK_OK;
    return device->backend->upload(device->state, &value->memory, 0, v->data, v->bytes, fail);
}

/* The original reason of the failure is not in the file. */
static void fail_again(wk__value *value)
{
    wk__failure *failure =
        wk__failure_new(WK_ERR_STATE, (wk_site){0}, "replay: an operand had failed before the flush was written");
    wk__value_fail(value, failure);
    wk__failure_drop(failure);
}

static wk_code make_value(wk__replay *replay, int64_t k, wk__fail *fail)
{
    const wk__flush_value *v = &replay->flush->value[k];
    wk__value *value = wk__value_new(replay->context, replay->device[k], v->bytes, (wk_site){0});
    if (!value) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    replay->value[k] = value;
    wk__value_hold(value);
    value->exposed = v->flags & WK__FLUSH_EXPOSED;
    value->force_store = v->flags & WK__FLUSH_WANTED;
    value->requeued = v->flags & WK__FLUSH_REVIVED;
    atomic_store(&value->persistent, (v->flags & WK__FLUSH_KEEP) != 0);
    if (v->flags & WK__FLUSH_FAILED) fail_again(value);
    return v->flags & WK__FLUSH_IN_MEMORY ? put_there(value, v, fail) : WK_OK;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void fill(wk__record *r, const wk__flush_record *f, const wk__replay *replay)
{
    wk__record *from = f->record;
    wk__device *device = r->device;
    memcpy(r, from, wk__record_bytes(from->family, from->ndim, from->nout + from->nin));
    r->device = device;
    for (int k = 0; k < r->nout + r->nin; k++)
        if (f->value[k] >= 0) r->ref[k].value = replay->value[f->value[k]];
    if (f->prior >= 0) r->prior = replay->value[f->prior];
}

static wk_code record_one(const wk__replay *replay, int64_t k, wk__fail *fail)
{
    const wk__flush_record *f = &replay->flush->record[k];
    const wk__record *from = f->record;
    wk__record *r = wk__record_begin(replay->context, (wk__work_id)from->family, from->op, replay->device[f->value[0]],
                                     from->site, from->ndim, wk__record_shape(f->record), from->nout, from->nin);
    if (!r) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    fill(r, f, replay);
    wk__record_commit(replay->context, r);
    return WK_OK;
}

/* Sets the configuration of this thread's queue, if it exists. */
static void use_modes(wk_context *context, const wk__engine_config *modes)
{
    if (!context->op_queue) return;
    wk__op_queue_lock(context);
    context->op_queue->config = modes;
    wk__op_queue_unlock(context);
}

static void run(wk__replay *replay, bool may_defer)
{
    wk_context *context = replay->context;
    if (!context->op_queue) return;
    const int64_t before = context->op_queue->groups;
    wk__op_queue_lock(context);
    context->op_queue->config = replay->modes ? replay->modes : wk__engine_config_get();
    wk__op_queue_run(context, may_defer);
    wk__op_queue_unlock(context);
    replay->groups += context->op_queue->groups - before;
}

/* Records everything as one transaction, so that nothing runs before all is recorded. */
static wk_code record_all(wk__replay *replay, wk__fail *fail)
{
    const wk__flush_data *flush = replay->flush;
    wk_context *context = replay->context;
    wk_code code = WK_OK;
    context->transaction = INT32_MAX;
    for (int64_t k = 0; k < flush->records && code == WK_OK; k++) {
        code = record_one(replay, k, fail);
        if (replay->eager) run(replay, false);
    }
    context->transaction = 0;
    for (int64_t k = 0; k < flush->values && !replay->eager; k++) {
        if (flush->value[k].flags & WK__FLUSH_OBSERVABLE || !replay->value[k]) continue;
        wk__value_drop(replay->value[k]);
        replay->value[k] = NULL;
    }
    run(replay, flush->may_defer);
    return code;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static wk_code look_at(const wk__replay *replay, wk__value *value, wk__outcome *outcome, wk__fail *fail)
{
    wk__value_state state = value->state;
    if (state == WK__PENDING || state == WK__DEFERRED) wk__value_compute(replay->context, value);
    if (value->device->id.kind != WK_CPU) wk__device_sync_if_inflight(value->device, NULL);
    outcome->failed = value->state != WK__STORED;
    if (outcome->failed || value->bytes == 0) return WK_OK;
    outcome->bytes = wk__alloc((size_t)value->bytes);
    if (!outcome->bytes) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    return value->device->backend->download(value->device->state, outcome->bytes, &value->memory, 0, value->bytes,
                                            fail);
}

/* Fills memory with a pattern: the arena reuses memory, so elements that a run does not write might otherwise have the
 * contents of the previous run. */
static wk_code poison_memory(wk__replay *replay, wk__fail *fail)
{
    enum { SPOILT = 0xa5, PIECE = 4096 };
    const wk__flush_data *flush = replay->flush;
    char spoilt[PIECE];
    wk_code code = WK_OK;
    memset(spoilt, SPOILT, sizeof spoilt);
    wk__memory *taken = wk__alloc_zero((size_t)flush->values, sizeof *taken);
    if (!taken) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    for (int64_t k = 0; k < flush->values && code == WK_OK; k++) {
        wk__device *device = replay->device[k];
        const int64_t bytes = flush->value[k].bytes;
        code = wk__arena_alloc(device->arena, bytes, &taken[k], fail);
        for (int64_t at = 0; at < bytes && code == WK_OK; at += PIECE)
            code = device->backend->upload(device->state, &taken[k], at, spoilt,
                                           bytes - at < PIECE ? bytes - at : PIECE, fail);
    }
    for (int64_t k = 0; k < flush->values; k++)
        if (taken[k].block) wk__arena_free(replay->device[k]->arena, &taken[k]);
    wk__free(taken);
    return code;
}

wk_code wk__replay_run(wk__replay *replay, wk__outcome outcome[], wk__fail *fail)
{
    const wk__flush_data *flush = replay->flush;
    wk_code code = poison_memory(replay, fail);
    replay->groups = 0;
    memset(replay->value, 0, sizeof *replay->value * (size_t)flush->values);
    for (int64_t k = 0; k < flush->values && code == WK_OK; k++) code = make_value(replay, k, fail);
    if (code == WK_OK) code = record_all(replay, fail);
    for (int64_t k = 0; k < flush->values && code == WK_OK; k++)
        if (flush->value[k].flags & WK__FLUSH_OBSERVABLE) code = look_at(replay, replay->value[k], &outcome[k], fail);
    for (int64_t k = flush->values; k-- > 0;)
        if (replay->value[k]) wk__value_drop(replay->value[k]);
    use_modes(replay->context, wk__engine_config_get());
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Flushes: runs the records of an op queue, because it is full or because a value is needed. Any thread may flush the
 * queue of any context that it has acquired, with the queue locked. */
#include "engine/verify/check_mode.h"
#include "engine/plan/interleave.h"
#include "engine/plan/prologue.h"
#include "engine/verify/shuffle.h"

static void forget_records(wk__op_queue *queue)
{
    queue->count = 0;
    queue->chunk_now = 0;
    queue->used = 0;
    queue->pending_bytes = 0;
}

void wk__op_queue_run(wk_context *owner, bool may_defer)
{
    wk__op_queue *queue = owner->op_queue;
    if (!queue) return;
    wk__deferred_store_orphans(owner);
    if (queue->count == 0) return;
    queue->flushes++;
    queue->shadows = queue->config->check ? wk__check_begin(owner, may_defer) : NULL;
    wk__plan_liveness(queue, may_defer);
    int32_t groups = wk__plan_fusion(queue);
    wk__plan_prologues(queue);
    wk__plan_interleave(queue, groups);
    wk__plan_shuffle(queue, groups);
    /* before the other records: values that these read must outlive their group, stored or deferred */
    wk__defer_dead_records(queue);
    wk__plan_deferred_reads(queue);
    wk__execute(owner, queue, groups);
    if (queue->shadows) wk__check_end(queue->shadows);
    queue->shadows = NULL;
    forget_records(queue);
}

/* Returns true if values may be deferred. Not in another thread's queue: that thread may be about to record a reader of
 * a value that it found pending, and operands of records must be stored or in the queue. */
static bool can_defer(const wk_context *owner)
{
    return owner == wk__context();
}

void wk__flush(wk_context *context)
{
    if (wk__op_queue_is_locked_here(context) || wk__forked) return;
    wk__op_queue_lock(context);
    wk__op_queue_run(context, can_defer(context));
    wk__op_queue_unlock(context);
}

static void flush_one(wk_context *context, void *user)
{
    (void)user;
    wk__flush(context);
}

void wk__flush_all(void)
{
    wk__context_each(flush_one, NULL);
}

void wk__value_compute(wk_context *owner, wk__value *value)
{
    wk__op_queue_lock(owner);
    wk__value_state state = value->state;
    if (state == WK__PENDING || state == WK__DEFERRED) {
        value->force_store = true;
        if (state == WK__PENDING || wk__deferred_requeue(owner, value)) wk__op_queue_run(owner, can_defer(owner));
    }
    wk__op_queue_unlock(owner);
}

void wk__value_ensure(wk__value *value)
{
    const wk__value_state state = value->state;
    if (state != WK__PENDING && state != WK__DEFERRED) return;
    wk_context *owner = value->writer;
    if (owner == wk__context()) {
        wk__value_compute(owner, value);
    } else if (wk__context_acquire(owner)) { /* otherwise its thread has ended and has stored the value */
        wk__value_compute(owner, value);
        wk__context_release(owner);
    }
}

bool wk__materialize(const wk_tensor *tensor, wk_site site)
{
    if (wk__forked) return wk__report_forked(site, "reading a tensor");
    wk__value *value = wk__body_of(tensor)->storage->value;
    wk__value_ensure(value);
    const wk__value_state state = value->state;
    wk_context *context = wk__context();
    if (context->posted_failure)
        wk__report_posted_failure(context); /* e.g. a failed in-place call whose target kept its contents */
    if (state == WK__STORED) return true;
    wk__report_failure(state == WK__FAILED ? value->failure : NULL);
    return false;
}

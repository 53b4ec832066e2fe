/* SPDX-License-Identifier: Apache-2.0 */
/* Running what a ring has recorded, because it is full or somebody asks for a value: this thread's, or
 * another one's. */
#include "engine/verify/check_mode.h"
#include "engine/plan/interleave.h"
#include "engine/plan/prologue.h"
#include "engine/verify/shuffle.h"

static void forget_records(wk__op_queue *ring)
{
    ring->count = 0;
    ring->chunk_now = 0;
    ring->used = 0;
    ring->pending_bytes = 0;
}

void wk__op_queue_run(wk_context *owner, bool park)
{
    wk__op_queue *ring = owner->op_queue;
    if (!ring) return;
    wk__deferred_store_orphans(owner);
    if (ring->count == 0) return;
    ring->flushes++;
    ring->shadows = ring->config->check ? wk__check_begin(owner, park) : NULL;
    wk__plan_liveness(ring, park);
    int32_t groups = wk__plan_fusion(ring);
    wk__plan_prologues(ring);
    wk__plan_interleave(ring, groups);
    wk__plan_shuffle(ring, groups);
    wk__defer_dead_records(ring); /* before the others: what these read must then outlive its group, in memory or
                                     parked */
    wk__plan_deferred_reads(ring);
    wk__execute(owner, ring, groups);
    if (ring->shadows) wk__check_end(ring->shadows);
    ring->shadows = NULL;
    forget_records(ring);
}

/* Another thread's ring is run without parking: that thread may be about to record a reader of any of its values, which
 * it has found pending, and a record's operands are in memory or in the ring. */
static bool may_park(const wk_context *owner)
{
    return owner == wk__context();
}

void wk__flush(wk_context *context)
{
    if (wk__op_queue_is_locked_here(context) || wk__forked) return;
    wk__op_queue_lock(context);
    wk__op_queue_run(context, may_park(context));
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

/* Has a value computed that was pending or parked when the caller looked. */
void wk__value_compute(wk_context *owner, wk__value *value)
{
    wk__op_queue_lock(owner);
    wk__value_state state = value->state;
    if (state == WK__PENDING || state == WK__DEFERRED) {
        value->force_store = true;
        if (state == WK__PENDING || wk__deferred_requeue(owner, value)) wk__op_queue_run(owner, may_park(owner));
    }
    wk__op_queue_unlock(owner);
}

bool wk__materialize(const wk_tensor *tensor, wk_site site)
{
    if (wk__forked) return wk__report_forked(site, "reading a tensor");
    wk__value *value = wk__body_of(tensor)->storage->value;
    wk__value_state state = value->state;
    if (state == WK__PENDING || state == WK__DEFERRED) {
        wk_context *owner = value->writer;
        if (owner == wk__context()) {
            wk__value_compute(owner, value);
        } else if (wk__context_acquire(owner)) { /* else its thread has ended, and has stored the value */
            wk__value_compute(owner, value);
            wk__context_release(owner);
        }
    }
    state = value->state;
    wk_context *context = wk__context();
    if (context->posted_failure)
        wk__report_posted_failure(context); /* what was run with it: a target that kept its old
                                                                        numbers, say */
    if (state == WK__STORED) return true;
    wk__report_failure(state == WK__FAILED ? value->failure : NULL);
    return false;
}

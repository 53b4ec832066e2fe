/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: appends records to the op queue of a context. */
#include "anomaly.h"
#include "base/alloc.h"
#include "engine/verify/shadow_deferred.h"
#include <sched.h>
#include <string.h>

/* ---- queue ------------------------------------------------------------------------------------------------------- */

void wk__op_queue_lock(wk_context *context)
{
    wk__spin_lock(&context->queue_lock);
    atomic_store_explicit(&context->queue_owner, wk__thread_id(), memory_order_relaxed);
    wk__release_suspend();
}

void wk__op_queue_unlock(wk_context *context)
{
    atomic_store_explicit(&context->queue_owner, NULL, memory_order_relaxed);
    wk__spin_unlock(&context->queue_lock);
    wk__release_resume();
}

bool wk__op_queue_is_locked_here(const wk_context *context)
{
    return atomic_load_explicit(&((wk_context *)(uintptr_t)context)->queue_owner, memory_order_relaxed) ==
           wk__thread_id();
}

/* Runs the queue of a thread that ends, and stores deferred values that are still owned. A flush may defer more values,
 * owned by lists of work in flight (device_fault.c); so it repeats until none is left. */
static void settle(wk_context *context)
{
    wk__op_queue_lock(context);
    do {
        while (!wk__deferred_requeue_all(context)) {
            wk__op_queue_unlock(context);
            sched_yield();
            wk__op_queue_lock(context);
        }
        wk__op_queue_run(context, false);
    } while (context->op_queue->deferred);
    wk__op_queue_unlock(context);
}

static void drain(wk_context *context)
{
    wk__release_suspend();
    settle(context);
    wk__release_resume(); /* also resumes after code that a longjmp left */
}

static void free_queue(wk_context *context)
{
    wk__op_queue *queue = context->op_queue;
    wk__anomaly_forget(queue);
    for (int64_t k = 0; k < queue->chunks; k++) wk__free(queue->chunk[k]);
    wk__free(queue->chunk);
    wk__free(queue->record);
    wk__free(queue->sorted);
    wk__free(queue->start);
    wk__free(queue);
    context->op_queue = NULL;
}

/* Returns true if the newest record computes an unowned value. */
static bool newest_is_dead(const wk__op_queue *queue)
{
    if (queue->count == 0) return false;
    const wk__record *r = queue->record[queue->count - 1];
    return r->nout == 1 && !r->ref[0].value->exposed && !wk__held_outside(r->ref[0].value);
}

static void forget_newest(wk__op_queue *queue)
{
    wk__record *r = queue->record[--queue->count];
    if ((char *)r < queue->chunk[queue->chunk_now] || (char *)r >= queue->chunk[queue->chunk_now] + WK__OP_QUEUE_CHUNK)
        queue->chunk_now--;
    queue->used = (size_t)((char *)r - queue->chunk[queue->chunk_now]);
    for (int k = 0; k < r->nout; k++) {
        if (!r->extends) queue->pending_bytes -= r->ref[k].value->bytes;
        if (r->ref[k].value->requeued) wk__deferred_shadow_drop(r->ref[k].value);
    }
    wk__release_record(r);
}

/* A closing scope destroys handles in reverse order, so unused values can be removed from the end of the queue, without
 * planning. This keeps the memory that a loop touches small. */
static void drop_newest(wk_context *context, const wk__value *value)
{
    bool alone = WK__SINGLE_THREADED; /* no other thread can flush the queue */
    if (!alone) wk__op_queue_lock(context);
    wk__op_queue *queue = context->op_queue;
    if (queue && value->state == WK__PENDING && queue->count > 0 && queue->record[queue->count - 1] == value->record &&
        wk__refcount_get(&value->refs) == value->ring_refs + 1 && value->record->nout == 1 && !value->exposed) {
        forget_newest(queue);
        while (newest_is_dead(queue)) forget_newest(queue);
    }
    if (!alone) wk__op_queue_unlock(context);
}

static void trim_dead(wk__value *value)
{
    if (!wk__op_queue_is_locked_here(value->writer)) drop_newest(value->writer, value);
}

static const wk__work_hooks work_hooks = {
    .drain = drain, .free = free_queue, .trim_dead = trim_dead, .free_deferred = wk__deferred_free};

/* Called with the lock held: other threads may check concurrently whether there are records to flush. */
static bool make_queue(wk_context *context)
{
    context->op_queue = wk__alloc_zero(1, sizeof *context->op_queue);
    if (!context->op_queue) return false;
    context->op_queue->config = wk__engine_config_get();
    context->work = &work_hooks;
    return true;
}

/* Grows the arrays of a flush as well, because an allocation failure is easy to report here. Each record may be a
 * separate group, and the counting sort needs one more entry. */
static bool grow(wk__op_queue *queue)
{
    const int64_t most = queue->capacity == 0 ? 8 : 2 * queue->capacity;
    return wk__grow(&queue->sorted, &queue->sorted_capacity, most, sizeof *queue->sorted) &&
           wk__grow(&queue->start, &queue->start_capacity, most + 1, sizeof *queue->start) &&
           wk__grow(&queue->record, &queue->capacity, most, sizeof *queue->record);
}

/* Allocates the next record in a chunk: records never move while they are in the queue. */
static wk__record *alloc_record(wk__op_queue *queue, int family, int ndim, int refs)
{
    const size_t bytes = (wk__record_bytes(family, ndim, refs) + 15) & ~(size_t)15;
    if (bytes > WK__OP_QUEUE_CHUNK || (queue->count == queue->capacity && !grow(queue))) return NULL;
    if (queue->chunks == 0 || queue->used + bytes > WK__OP_QUEUE_CHUNK) {
        int64_t next = queue->chunks == 0 ? 0 : queue->chunk_now + 1;
        if (next == queue->chunks) {
            if (!wk__grow(&queue->chunk, &queue->chunk_capacity, next + 1, sizeof *queue->chunk)) return NULL;
            if (!(queue->chunk[next] = wk__alloc(WK__OP_QUEUE_CHUNK))) return NULL;
            queue->chunks++;
        }
        queue->chunk_now = next;
        queue->used = 0;
    }
    void *place = queue->chunk[queue->chunk_now] + queue->used;
    queue->used += bytes;
    return queue->record[queue->count++] = place;
}

wk__record *wk__record_append(wk_context *context, const wk__record *r)
{
    wk__record *copy = alloc_record(context->op_queue, r->family, r->ndim, r->nout + r->nin);
    return copy ? memcpy(copy, r, wk__record_bytes(r->family, r->ndim, r->nout + r->nin)) : NULL;
}

wk__record *wk__record_begin(wk_context *context, wk__work_id family, const wk__op *op, wk__device *device,
                             wk_site site, int ndim, const int64_t *shape, int nout, int nin)
{
    wk__spin_lock(&context->queue_lock);
    const bool begun = context->op_queue || make_queue(context);
    wk__record *r = begun ? alloc_record(context->op_queue, (int)family, ndim, nout + nin) : NULL;
    if (!r) {
        wk__spin_unlock(&context->queue_lock);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory to record the call", op->name);
        return NULL;
    }
    const wk__api_call *outer = &context->frame.api_call;
    *r = (wk__record){.op = op,
                      .name = wk__name(context, op->name),
                      .site = outer->active ? outer->site : site,
                      .device = device,
                      .group = -1,
                      .transaction = context->transaction,
                      .family = (uint8_t)family,
                      .ndim = (uint8_t)ndim,
                      .nout = (uint8_t)nout,
                      .nin = (uint8_t)nin,
                      .in_place = outer->in_place};
    int64_t *to = wk__record_shape(r);
    for (int d = 0; d < ndim; d++) to[d] = shape[d];
    return r;
}

static void hold(wk_context *context, wk__value *value)
{
    wk__refcount_inc(&value->refs);
    if (value->writer == context && value->state == WK__PENDING) value->ring_refs++;
}

bool wk__op_queue_should_flush(const wk_context *context)
{
    const wk__op_queue *queue = context->op_queue;
    if (!queue) return false;
    if (context->transaction) return queue->count >= WK__OP_QUEUE_MAX;
    return queue->count >= WK__OP_QUEUE_FLUSH_AT || queue->pending_bytes > queue->config->budget || queue->config->sync;
}

/* Returns the number of products of a contraction. A coordinate with a divisor is an integer for one of `divisor`
 * indices; the other products are 0. Numbers that exceed int64 become its maximum, here and below. */
static int64_t products_of_contraction(wk__record *r)
{
    const wk__contraction *sum = wk__record_sum(r);
    int64_t count = 1;
    bool fits = true;
    for (int i = 0; i < r->ndim + sum->nsummed; i++) {
        const int64_t extent = wk__contraction_extent(sum, r->ndim, wk__record_shape(r), i);
        if (extent == 0) return 0;
        fits = fits && wk__mul_size(count, extent, &count);
    }
    for (int f = 0; f < WK__FACTORS; f++)
        for (int i = 0; i < sum->naffine[f]; i++) count /= sum->affine[f][i].divisor;
    return fits ? count : INT64_MAX;
}

/* Returns `count` times the first `ndim` sizes of the space. */
static int64_t times_sizes(int64_t count, wk__record *r, int ndim)
{
    bool fits = true;
    for (int d = 0; d < ndim; d++) fits = fits && wk__mul_size(count, wk__record_shape(r)[d], &count);
    return fits ? count : INT64_MAX;
}

/* Returns the number of products of a record. Attention multiplies L x S pairs of rows with E and Ev columns. */
static int64_t products_of(wk__record *r)
{
    const wk__work_family *family = wk__record_family(r);
    const int64_t *shape = wk__record_shape(r);
    if (family->is_contraction) return products_of_contraction(r);
    if (family->is_attention) return times_sizes(shape[r->ndim - 2] + shape[r->ndim - 1], r, r->ndim - 2);
    return family->is_quantized ? times_sizes(1, r, WK__QUANTIZED_DIMS - 1) : 0;
}

static void count_products(wk__forward_watch *watch, wk__record *r)
{
    const int64_t count = products_of(r);
    watch->multiply_adds = watch->multiply_adds <= INT64_MAX - count ? watch->multiply_adds + count : INT64_MAX;
}

void wk__record_commit(wk_context *context, wk__record *r)
{
    if (context->frame.forward_watch) count_products(context->frame.forward_watch, r);
    wk__op_queue *queue = context->op_queue;
    r->extends = r->partial && r->prior->state == WK__PENDING;
    for (int k = 0; k < r->nout; k++) {
        wk__value *out = r->ref[k].value;
        out->record = r;
        out->op_name = r->name;
        out->in_place = r->in_place;
        hold(context, out);
        if (!r->extends) queue->pending_bytes += out->bytes;
    }
    /* User memory is read (and written) before the call returns, or before the transaction ends: the user may modify it
     * at any time afterwards. */
    bool borrowed = false;
    for (wk__ref *ref = r->ref + r->nout, *end = ref + r->nin; ref < end; ref++) {
        wk__value *in = ref->value;
        if (!in) continue;
        hold(context, in);
        borrowed = borrowed || wk__value_is_borrowed(in);
    }
    if (r->prior) {
        hold(context, r->prior);
        borrowed = borrowed || wk__value_is_borrowed(r->prior);
    }
    bool full = wk__op_queue_should_flush(context) || (borrowed && !context->transaction);
    context->transaction_borrows = context->transaction_borrows || (borrowed && context->transaction);
    const bool watched = wk__anomaly_on();
    if (watched) wk__anomaly_watch_record(context, r);
    wk__spin_unlock(&context->queue_lock);
    if (full) wk__flush(context);
    if (watched) wk__anomaly_check(context);
}

bool wk__prepare_operand_slow(wk_context *context, const wk_tensor *tensor, wk_site site)
{
    wk__value *value = wk__body_of(tensor)->storage->value;
    wk__value_state state = value->state;
    if (state == WK__DEFERRED && value->writer == context) {
        wk__spin_lock(&context->queue_lock);
        bool requeued = wk__deferred_requeue(context, value);
        wk__spin_unlock(&context->queue_lock);
        if (!requeued) wk__error_set(site, WK_ERR_MEMORY, "out of host memory to compute a value again");
        return requeued;
    }
    if (state != WK__FAILED) { /* pending in another thread: store it */
        if (!wk__materialize(tensor, site)) return false;
        if (value->state != WK__FAILED) return true;
    }
    wk__report_failure(value->failure);
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the samples of an epoch, and the loop WK_EACH over its batches. */
#include "base/alloc.h"
#include "base/platform/clock.h"
#include "engine/op_queue.h"
#include "loader.h"
#include "loader_body.h"
#include <stdatomic.h>
#include <string.h>

/* ---- the order of an epoch --------------------------------------------------------------------------------------- */

/* Determines the samples of the rest of the epoch and starts the workers. Returns false on allocation failure. */
static bool begin_epoch(wk__loader *l)
{
    const int64_t count = l->sampler.count;
    if (!wk__sampler_order(&l->sampler, l->epoch, l->epoch_order)) return false;
    l->batches_left = wk__loader_divide(l, count - l->epoch_start);
    l->batch_index_base = wk__ceil_div(wk__ceil_div(l->epoch_start, l->options.world), l->options.batch_size);
    for (int64_t k = 0; k < l->rank_samples; k++)
        l->rank_positions[k] = (l->epoch_start + k * l->options.world + l->options.rank) % count;
    l->next = 0;
    l->batch_token = 0;
    wk__batch_workers_begin(&l->workers, l->batches_left);
    return true;
}

/* ---- preparing batches ------------------------------------------------------------------------------------------- */

/* Prepares a batch on the loop's thread, in a separate context, so that functions of the user have the random stream,
 * device and error state of a worker thread. */
static void load_in_caller(wk__loader *l, const wk__batch_plan *plan, wk__batch_data *out)
{
    if (!l->caller_context) l->caller_context = wk__context_make_worker();
    if (!l->caller_context) {
        out->code = WK_ERR_MEMORY; /* no text: the default message */
        out->site = l->made;
        return;
    }
    wk_context *before = wk__context_enter(l->caller_context);
    wk__batch_load(plan, out);
    wk__context_enter(before);
}

void wk__loader_prepare(void *loader, int64_t job, bool in_caller)
{
    wk__loader *l = loader;
    const int64_t first = job * l->options.batch_size, left = l->rank_samples - first;
    const wk__batch_plan plan = {.data = l->data,
                                 .order = l->epoch_order,
                                 .positions = l->rank_positions + first,
                                 .count = left < l->options.batch_size ? left : l->options.batch_size,
                                 .seed = l->options.seed,
                                 .epoch = l->epoch,
                                 .stream_by_position = wk__sampler_repeats(&l->sampler),
                                 .collate = l->options.collate,
                                 .collate_user = l->options.collate_user,
                                 .site = l->made,
                                 .cancelled = &l->workers.cancelled};
    wk__batch_data *slot = &l->slot[job % l->workers.slots];
    if (in_caller && l->user_code) {
        load_in_caller(l, &plan, slot);
        return;
    }
    if (l->user_code) wk__context_start_worker();
    wk__batch_load(&plan, slot);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Cleanup of a loop: at its end, after break or return, or when an enclosing scope closes. */
static void close_epoch(void *object)
{
    wk__loader *l = object;
    wk__batch_workers_cancel(&l->workers);
    l->open = false;
    l->epoch++;
    l->epoch_start = 0;
    wk__handle_drop(&l->handle->handle);
}

wk_batch *wk_batch_begin_at(wk_site site, wk_loader *handle)
{
    wk__loader *l = wk__loader_of(handle, site, "WK_EACH");
    if (!l || wk__error_pending()) return NULL;
    if (l->open) {
        wk__error_set(site, WK_ERR_STATE,
                      "WK_EACH: a loop over this loader is already in progress (started at %s:%d); use a second loader "
                      "for a nested loop",
                      l->site.file ? l->site.file : "?", (int)l->site.line);
        return NULL;
    }
    wk__guard *guard = wk__guard_push(WK__GUARD_EPOCH, site);
    if (!guard) return NULL;
    guard->object = l;
    guard->close = close_epoch;
    l->epoch_token = guard->token;
    l->open = true;
    l->site = site;
    l->handle = handle;
    wk__handle_hold(&handle->handle);
    if (begin_epoch(l)) return &l->batch;
    wk__error_set(site, WK_ERR_MEMORY, "WK_EACH: out of host memory");
    wk__guard_close(l->epoch_token);
    return NULL;
}

static wk__loader *loader_of(wk_batch *batch)
{
    return (wk__loader *)(void *)((char *)batch - offsetof(wk__loader, batch));
}

static atomic_llong waited; /* nanoseconds that loops have waited for batches */

double wk__loader_wait_seconds(void)
{
    return 1e-9 * (double)atomic_load_explicit(&waited, memory_order_relaxed);
}

/* Makes the tensors of the batch, on its device. */
static void make_tensors(wk__loader *l, const wk__batch_data *from)
{
    const wk_tensor_options options = {.size = sizeof options, .device = l->options.device};
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "WK_EACH", l->site);
    for (int k = 0; k < WK_SAMPLE_TENSORS; k++) {
        const wk__batch_part *part = &from->part[k];
        l->batch.tensors[k] = k < from->count ? wk_from_on_at(l->site, part->dtype, part->data, (size_t)part->bytes,
                                                              part->shape, part->ndim, &options)
                                              : NULL;
    }
    wk__frame_end(context, before);
    l->batch.count = from->count;
    l->batch.x = l->batch.tensors[0];
    l->batch.y = l->batch.tensors[1];
    if (from->count < 2) wk__note_null_result(l->site, &wk__tensor_kind, "WK_EACH", "the dataset has no y");
}

/* Opens the scope of an iteration and makes the tensors of its batch. */
static bool open_batch(wk__loader *l)
{
    const int64_t begun = wk__monotonic_ns();
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, l->site);
    if (!guard) return false;
    guard->after = wk__flush;
    l->batch_token = guard->token;
    wk__batch_workers_wait(&l->workers, l->next);
    wk__batch_data *prepared = &l->slot[l->next % l->workers.slots];
    if (prepared->code != WK_OK) {
        wk__batch_raise(prepared);
        return false;
    }
    l->batch.index = l->batch_index_base + l->next;
    make_tensors(l, prepared);
    wk__batch_workers_release(&l->workers, l->next++);
    atomic_fetch_add_explicit(&waited, wk__monotonic_ns() - begun, memory_order_relaxed);
    return !wk__error_pending();
}

bool wk_batch_next(wk_batch **batch)
{
    if (!batch || !*batch) return false;
    wk__loader *l = loader_of(*batch);
    if (l->batch_token) wk__guard_close(l->batch_token);
    l->batch_token = 0;
    if (!wk__error_pending() && l->next < l->batches_left && open_batch(l)) return true;
    wk_batch_end(batch);
    return false;
}

void wk_batch_end(wk_batch **batch)
{
    if (!batch) return;
    if (*batch) wk__guard_close(loader_of(*batch)->epoch_token);
    *batch = NULL;
}

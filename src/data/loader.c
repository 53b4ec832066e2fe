/* SPDX-License-Identifier: Apache-2.0 */
/* Data loaders: the sample order of an epoch, prefetching of batches, and the loop WK_EACH.
 *
 *     this thread   | make tensors of batch 0 | train on it     | make tensors of batch 1 | ...
 *     background    | gather 0 |              | gather 1 |                                | gather 2 | ...
 */
#include "base/alloc.h"
#include "base/platform/clock.h"
#include "base/platform/file.h"
#include "base/options.h"
#include "engine/op_queue.h"
#include "ir/random.h"
#include "prefetch_worker.h"
#include "dataset.h"
#include "loader.h"
#include "loader_state.h"
#include <stdatomic.h>
#include <string.h>

typedef struct loader {
    wk__samples *samples; /* held */
    int64_t first, count; /* range of samples that is loaded */
    wk_loader_options options;
    int64_t batches; /* batches of a complete epoch */
    int64_t epoch;   /* running epoch, or the next one */
    int64_t
        epoch_start; /* samples of it consumed before this process entered it: 0, unless resumed from a checkpoint */
    int64_t rank_samples;     /* samples of this rank in the rest of the epoch */
    int64_t batches_left;     /* batches in the rest of the epoch */
    int64_t batch_index_base; /* index of the first of them: batches before epoch_start, in the current batch size */
    int64_t *rank_order;      /* [rank_samples] sample indices of this rank */
    int64_t *epoch_order;     /* [count] sample indices of the epoch, over all ranks */
    void *x, *y;              /* buffers of one batch, owned */
    wk__prefetch_worker background;
    /* state of the open loop */
    bool open;
    wk_site site;
    wk_loader *handle; /* reference held during the loop */
    uint64_t epoch_token, batch_token;
    int64_t next;
    wk_batch batch;
} loader;

struct wk_loader {
    wk__handle handle;
};

static void destroy(void *body)
{
    loader *l = body;
    wk__prefetch_worker_stop(&l->background);
    wk__samples_drop(l->samples);
    wk__free(l->rank_order);
    wk__free(l->epoch_order);
    wk__free(l->x);
    wk__free(l->y);
    wk__free(l);
}

static const wk__handle_type loader_kind = {.name = "loader", .destroy = destroy};

static int64_t size_of_batch(const loader *l, int64_t which)
{
    int64_t left = l->rank_samples - which * l->options.batch_size;
    return left < l->options.batch_size ? left : l->options.batch_size;
}

static void gather(void *user, int64_t which)
{
    const loader *l = user;
    const int64_t *order = l->rank_order + which * l->options.batch_size;
    int64_t n = size_of_batch(l, which);
    wk__samples_gather(&l->samples->x, l->first, order, n, l->x);
    if (l->samples->labelled) wk__samples_gather(&l->samples->y, l->first, order, n, l->y);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool check_options(wk_site site, const wk_loader_options *o)
{
    if (o->batch_size < 1)
        wk__error_set(site, WK_ERR_ARGUMENT, "data_loader: .batch_size must be at least 1, got %lld",
                      (long long)o->batch_size);
    else if (o->world < 1)
        wk__error_set(site, WK_ERR_ARGUMENT, "data_loader: .world must be at least 1, got %d", o->world);
    else if (o->rank < 0 || o->rank >= o->world)
        wk__error_set(site, WK_ERR_ARGUMENT, "data_loader: .rank %d is out of range [0, %d]", o->rank, o->world - 1);
    else if (wk__forked)
        return wk__report_forked(site, "data_loader");
    else
        return wk__device_open(site, "data_loader", o->device) != NULL;
    return false;
}

/* Allocates a buffer for one batch; at least a byte, so that NULL always means allocation failure. */
static void *alloc_batch_buffer(const wk__sample_array *array, int64_t samples)
{
    int64_t bytes;
    if (!wk__mul_size(array->batch_bytes, samples, &bytes) || bytes == INT64_MAX) return NULL;
    return wk__alloc((size_t)bytes + 1);
}

static int64_t ceil_div(int64_t whole, int64_t size)
{
    return whole / size + (whole % size != 0);
}

/* Computes the samples of each rank. All ranks get the same number; if the count is not divisible, the first samples
 * are used twice. */
static int64_t set_shard_size(loader *l, int64_t samples)
{
    const wk_loader_options *o = &l->options;
    l->rank_samples = ceil_div(samples, o->world);
    return o->drop_last ? l->rank_samples / o->batch_size : ceil_div(l->rank_samples, o->batch_size);
}

static bool prepare(loader *l)
{
    const wk_loader_options *o = &l->options;
    l->batches = set_shard_size(l, l->count);
    int64_t most = o->batch_size < l->rank_samples ? o->batch_size : l->rank_samples;
    l->rank_order = wk__alloc_zero((size_t)l->rank_samples + 1, sizeof *l->rank_order);
    l->epoch_order = wk__alloc_zero((size_t)l->count + 1, sizeof *l->epoch_order);
    l->x = alloc_batch_buffer(&l->samples->x, most);
    l->y = l->samples->labelled ? alloc_batch_buffer(&l->samples->y, most) : NULL;
    return l->rank_order && l->epoch_order && l->x && (l->y || !l->samples->labelled);
}

wk_loader *wk_data_loader_at(wk_site site, wk_dataset *data, const wk_loader_options *options)
{
    if (!wk__dataset_check(data, site, "data_loader")) return NULL;
    wk_loader_options o;
    if (!wk__options(site, "data_loader", options, &o)) return NULL;
    if (!o.batch_size) o.batch_size = 1;
    if (!o.world) o.world = 1;
    if (!check_options(site, &o)) return NULL;
    const wk__dataset *from = wk__dataset_of(data);
    loader *l = wk__alloc_zero(1, sizeof *l);
    if (l) {
        *l = (loader){.samples = from->samples, .first = from->first, .count = from->count, .options = o};
        wk__samples_hold(from->samples);
        wk__prefetch_worker_init(&l->background, gather, l);
    }
    return wk__handle_wrap(site, &loader_kind, l, l && prepare(l), "data_loader");
}

static loader *body_of(const wk_loader *handle, wk_site site, const char *op)
{
    return wk__handle_check(handle, &loader_kind, site, op, "the loader") ? wk__handle_body(handle) : NULL;
}

int64_t wk_loader_count_at(wk_site site, const wk_loader *handle)
{
    const loader *l = handle ? body_of(handle, site, "loader_count") : NULL;
    return l ? l->batches : 0;
}

int64_t wk_loader_epoch_at(wk_site site, const wk_loader *handle)
{
    const loader *l = handle ? body_of(handle, site, "loader_epoch") : NULL;
    return l ? l->epoch : 0;
}

/* ---- position ---------------------------------------------------------------------------------------------------- */

bool wk__loader_check(const wk_loader *handle, wk_site site, const char *op)
{
    return body_of(handle, site, op) != NULL;
}

wk__loader_state wk__loader_get_state(const wk_loader *handle)
{
    const loader *l = wk__handle_body(handle);
    int64_t seen = l->open ? l->next * l->options.batch_size : 0; /* samples consumed by this rank */
    if (seen > l->rank_samples) seen = l->rank_samples;
    const int64_t taken = l->epoch_start + seen * l->options.world;
    return (wk__loader_state){.seed = l->options.seed,
                              .shuffle = l->options.shuffle,
                              .samples = l->count,
                              .epoch = l->epoch,
                              .consumed = taken < l->count ? taken : l->count,
                              .world = l->options.world};
}

bool wk__loader_check_state(const wk_loader *handle, const wk__loader_state *p, wk_site site, const char *op,
                            const char *path)
{
    const loader *l = wk__handle_body(handle);
    const wk__printable shown = wk__printable_name(path);
    const char *where = shown.text;
    if (l->open)
        wk__error_set(site, WK_ERR_STATE,
                      "%s: a WK_EACH loop over the loader is in progress (started at %s:%d); load before the loop", op,
                      l->site.file ? l->site.file : "?", (int)l->site.line);
    else if (p->samples != l->count)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s: the loader has %lld samples, the saved loader had %lld", op,
                      where, (long long)l->count, (long long)p->samples);
    else if (p->shuffle != l->options.shuffle)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: %s: .shuffle of the loader is %s, but that of the saved loader was not", op, where,
                      l->options.shuffle ? "true" : "false");
    else if (p->shuffle && p->seed != l->options.seed)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s: .seed of the loader is %llu, that of the saved loader was %llu",
                      op, where, (unsigned long long)l->options.seed, (unsigned long long)p->seed);
    else if (p->epoch < 0 || p->consumed < 0 || p->consumed > p->samples)
        wk__error_set(site, WK_ERR_FORMAT, "%s: %s: invalid position: epoch %lld, sample %lld of %lld", op, where,
                      (long long)p->epoch, (long long)p->consumed, (long long)p->samples);
    else
        return true;
    return false;
}

void wk__loader_set_state(wk_loader *handle, const wk__loader_state *p)
{
    loader *l = wk__handle_body(handle);
    l->epoch = p->epoch;
    l->epoch_start = p->consumed;
}

/* ---- the order of an epoch --------------------------------------------------------------------------------------- */

/* Fisher-Yates shuffle; index k is swapped by PHILOX(k, epoch) under the key `seed`, so the order depends on nothing
 * else. */
static void shuffle(loader *l)
{
    for (int64_t k = l->count - 1; k > 0; k--) {
        uint32_t word[4];
        wk__philox((uint64_t)k, (uint64_t)l->epoch, l->options.seed, word);
        int64_t other = (int64_t)wk__random_below(word[0] | (uint64_t)word[1] << 32, (uint64_t)k + 1),
                held = l->epoch_order[k];
        l->epoch_order[k] = l->epoch_order[other];
        l->epoch_order[other] = held;
    }
}

static void begin_epoch(loader *l)
{
    for (int64_t k = 0; k < l->count; k++) l->epoch_order[k] = k;
    if (l->options.shuffle) shuffle(l);
    l->batches_left = set_shard_size(l, l->count - l->epoch_start);
    l->batch_index_base = ceil_div(ceil_div(l->epoch_start, l->options.world), l->options.batch_size);
    for (int64_t k = 0; k < l->rank_samples; k++)
        l->rank_order[k] = l->epoch_order[(l->epoch_start + k * l->options.world + l->options.rank) % l->count];
    l->next = 0;
    l->batch_token = 0;
    if (l->batches_left > 0) wk__prefetch_worker_submit(&l->background, 0);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Cleanup of a loop: at its end, after break or return, or when an enclosing scope closes. */
static void close_epoch(void *object)
{
    loader *l = object;
    wk__prefetch_worker_wait(&l->background);
    l->open = false;
    l->epoch++;
    l->epoch_start = 0;
    wk__handle_drop(&l->handle->handle);
}

wk_batch *wk_batch_begin_at(wk_site site, wk_loader *handle)
{
    loader *l = body_of(handle, site, "WK_EACH");
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
    begin_epoch(l);
    return &l->batch;
}

static loader *loader_of(wk_batch *batch)
{
    return (loader *)(void *)((char *)batch - offsetof(loader, batch));
}

static wk_tensor *tensor_of(const loader *l, const wk__sample_array *array, const void *data, int64_t n)
{
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, array->shape, sizeof shape);
    shape[0] = n;
    wk_tensor_options options = {.size = sizeof options, .device = l->options.device};
    return wk_from_on_at(l->site, array->dtype, data, (size_t)(n * array->batch_bytes), shape, array->ndim, &options);
}

static atomic_llong waited; /* nanoseconds that loops have waited for batches */

double wk__loader_wait_seconds(void)
{
    return 1e-9 * (double)atomic_load_explicit(&waited, memory_order_relaxed);
}

/* Opens the scope of an iteration and makes the tensors of its batch. */
static bool open_batch(loader *l)
{
    const int64_t begun = wk__monotonic_ns();
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, l->site);
    if (!guard) return false;
    guard->after = wk__flush;
    l->batch_token = guard->token;
    wk__prefetch_worker_wait(&l->background);
    int64_t n = size_of_batch(l, l->next);
    l->batch.index = l->batch_index_base + l->next++;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "WK_EACH", l->site);
    l->batch.x = tensor_of(l, &l->samples->x, l->x, n);
    l->batch.y = l->samples->labelled ? tensor_of(l, &l->samples->y, l->y, n) : NULL;
    wk__frame_end(context, before);
    if (!l->samples->labelled) wk__note_null_result(l->site, &wk__tensor_kind, "WK_EACH", "the dataset has no y");
    if (l->next < l->batches_left) wk__prefetch_worker_submit(&l->background, l->next);
    atomic_fetch_add_explicit(&waited, wk__monotonic_ns() - begun, memory_order_relaxed);
    return !wk__error_pending();
}

bool wk_batch_next(wk_batch **batch)
{
    if (!batch || !*batch) return false;
    loader *l = loader_of(*batch);
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

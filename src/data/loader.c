/* SPDX-License-Identifier: Apache-2.0 */
/* Makes loaders. */
#include "base/alloc.h"
#include "base/options.h"
#include "loader_body.h"

enum { MOST_WORKERS = 1024, USUAL_PREFETCH = 2 };

static void destroy(void *body)
{
    wk__loader *l = body;
    wk__batch_workers_free(&l->workers);
    if (l->caller_context) wk__context_destroy(l->caller_context);
    for (int64_t k = 0; l->slot && k < l->workers.slots; k++) wk__batch_free(&l->slot[k]);
    wk__free(l->slot);
    wk__dataset_drop(l->data);
    wk__sampler_free(&l->sampler);
    wk__free(l->rank_positions);
    wk__free(l->epoch_order);
    wk__free(l);
}

static const wk__handle_type loader_type = {.name = "loader", .destroy = destroy};

wk__loader *wk__loader_of(const wk_loader *handle, wk_site site, const char *op)
{
    return wk__handle_check(handle, &loader_type, site, op, "the loader") ? wk__handle_body(handle) : NULL;
}

static bool check_range(wk_site site, const char *name, int given)
{
    if (given >= 0 && given <= MOST_WORKERS) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "data_loader: %s %d is out of range [0, %d]", name, given, MOST_WORKERS);
    return false;
}

static bool check_options(wk_site site, const wk_loader_options *o)
{
    if (!check_range(site, ".workers", o->workers) || !check_range(site, ".prefetch_factor", o->prefetch_factor))
        return false;
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

/* Checks that a loader keeps the order of a sequential partition. */
static bool check_order(wk_site site, const wk__dataset *data, const wk_loader_options *o)
{
    const bool other_order = o->shuffle || o->order || o->weights;
    if (data->batch_size == 0 || (o->batch_size == data->batch_size && !other_order)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "data_loader: the dataset is a sequential partition for batches of %lld samples, got %s%lld; give "
                  "both the same .batch_size, without .shuffle, .order and .weights",
                  (long long)data->batch_size, other_order ? "another order and .batch_size " : ".batch_size ",
                  (long long)o->batch_size);
    return false;
}

/* All ranks get the same number of samples; if the count is not divisible, the first samples are used twice. */
int64_t wk__loader_divide(wk__loader *l, int64_t samples)
{
    const wk_loader_options *o = &l->options;
    l->rank_samples = wk__ceil_div(samples, o->world);
    return o->drop_last ? l->rank_samples / o->batch_size : wk__ceil_div(l->rank_samples, o->batch_size);
}

/* By default one thread prepares a batch ahead, unless functions of the user run. */
static bool start_workers(wk__loader *l)
{
    const wk_loader_options *o = &l->options;
    const int threads = o->workers || l->user_code ? o->workers : 1;
    int64_t slots = (int64_t)o->workers * (o->prefetch_factor ? o->prefetch_factor : USUAL_PREFETCH);
    if (slots > l->batches) slots = l->batches;
    if (slots < 1) slots = 1;
    const bool fine = wk__batch_workers_init(&l->workers, threads, slots, wk__loader_prepare, l);
    l->slot = wk__alloc_zero((size_t)slots, sizeof *l->slot);
    return fine && l->slot;
}

static bool prepare(wk__loader *l)
{
    l->batches = wk__loader_divide(l, l->sampler.count);
    const bool started = start_workers(l);
    l->rank_positions = wk__alloc_zero((size_t)l->rank_samples + 1, sizeof *l->rank_positions);
    l->epoch_order = wk__alloc_zero((size_t)l->sampler.count + 1, sizeof *l->epoch_order);
    return started && l->rank_positions && l->epoch_order;
}

/* Returns a loader's body; NULL on failure, perhaps without an error. */
static wk__loader *new_body(wk_site site, wk__dataset *data, const wk_loader_options *o)
{
    wk__sampler sampler;
    wk__loader *l = wk__sampler_init(&sampler, site, o, data->count) ? wk__alloc_zero(1, sizeof *l) : NULL;
    if (!l) {
        wk__sampler_free(&sampler);
        return NULL;
    }
    *l = (wk__loader){.data = data, .sampler = sampler, .options = *o, .made = site};
    l->options.weights = l->options.order = NULL; /* the sampler has copied them */
    l->user_code = data->user_code || o->collate;
    wk__dataset_hold(data);
    if (prepare(l)) return l;
    destroy(l);
    return NULL;
}

wk_loader *wk_data_loader_at(wk_site site, wk_dataset *data, const wk_loader_options *options)
{
    if (!wk__dataset_check(data, site, "data_loader")) return NULL;
    wk_loader_options o;
    if (!wk__options(site, "data_loader", options, &o)) return NULL;
    if (!o.batch_size) o.batch_size = 1;
    if (!o.world) o.world = 1;
    if (!check_options(site, &o) || !check_order(site, wk__dataset_of(data), &o)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__loader *l = new_body(site, wk__dataset_of(data), &o);
    wk_loader *loader = wk__handle_wrap(site, &loader_type, l, l != NULL, "data_loader");
    wk__frame_end(context, before);
    return loader;
}

int64_t wk_loader_count_at(wk_site site, const wk_loader *handle)
{
    const wk__loader *l = handle ? wk__loader_of(handle, site, "loader_count") : NULL;
    return l ? l->batches : 0;
}

int64_t wk_loader_epoch_at(wk_site site, const wk_loader *handle)
{
    const wk__loader *l = handle ? wk__loader_of(handle, site, "loader_epoch") : NULL;
    return l ? l->epoch : 0;
}

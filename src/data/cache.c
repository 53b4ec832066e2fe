/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets that keep their samples in host memory once they have been read.
 *
 * Threads: an entry does not change once it is published. If two threads read one sample at the same time, the first
 * entry is kept. */
#include "base/alloc.h"
#include "sample.h"
#include <string.h>

/* A sample in memory: arrays of one element. */
typedef struct entry {
    int count;
    wk__sample_array array[];
} entry;

typedef struct cache {
    wk__dataset base;
    _Atomic(entry *) *entries; /* [count] owned; NULL: not read yet */
    wk_site site;
} cache;

static const char op[] = "data_cache";

static void free_entry(entry *e)
{
    for (int k = 0; e && k < e->count; k++) wk__free(e->array[k].data);
    wk__free(e);
}

/* Copies one tensor of a sample. */
static bool copy_part(const cache *c, const wk__sample_part *part, wk__sample_array *out)
{
    if (part->tensor) {
        const wk__body *body = wk__body_of(part->tensor);
        *out = (wk__sample_array){.dtype = body->dtype, .ndim = body->ndim};
        memcpy(out->shape, body->shape, (size_t)body->ndim * sizeof *out->shape);
        out->elements = wk__body_numel(body);
        out->stored_bytes = out->batch_bytes = out->elements * (int64_t)wk_dtype_size(body->dtype);
    } else {
        *out = *part->array;
        out->convert = NULL;
        out->stored_bytes = out->batch_bytes;
    }
    out->data = wk__alloc((size_t)out->batch_bytes + 1);
    if (!out->data) {
        wk__error_set(c->site, WK_ERR_MEMORY, "%s: out of host memory for %lld bytes", op, (long long)out->batch_bytes);
        return false;
    }
    if (part->tensor) return wk_read_at(c->site, part->tensor, out->data, (size_t)out->batch_bytes) == WK_OK;
    wk__sample_array_write(part->array, part->row, out->data);
    return true;
}

static entry *copy_sample(const cache *c, const wk__sample *sample)
{
    entry *e = wk__alloc_zero(1, sizeof *e + (size_t)sample->count * sizeof *e->array);
    if (!e) wk__error_set(c->site, WK_ERR_MEMORY, "%s: out of host memory", op);
    for (int k = 0; e && k < sample->count; k++) {
        e->count = k + 1;
        if (copy_part(c, &sample->part[k], &e->array[k])) continue;
        free_entry(e);
        e = NULL;
    }
    return e;
}

/* Reads the sample from the parent. Its random numbers depend on the sample alone, so that it does
 * not matter which loader reads it first. */
static entry *read_sample(const cache *c, int64_t index)
{
    wk_context *context = wk__context();
    const uint64_t key = context->key, counter = context->counter;
    wk__sample_begin_stream(context, 0, WK__NO_EPOCH, index);
    wk__sample sample = {0};
    entry *e = wk__dataset_get(c->base.parent, index, &sample) ? copy_sample(c, &sample) : NULL;
    context->key = key;
    context->counter = counter;
    return e;
}

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const cache *c = (const cache *)data;
    entry *e = atomic_load(&c->entries[index]);
    if (!e) {
        entry *other = NULL;
        e = read_sample(c, index);
        if (!e) return false;
        if (!atomic_compare_exchange_strong(&c->entries[index], &other, e)) {
            free_entry(e);
            e = other;
        }
    }
    out->count = e->count;
    for (int k = 0; k < e->count; k++) out->part[k] = (wk__sample_part){.array = &e->array[k]};
    return true;
}

static void destroy(wk__dataset *data)
{
    cache *c = (cache *)data;
    for (int64_t k = 0; c->entries && k < data->count; k++) free_entry(atomic_load(&c->entries[k]));
    wk__free(c->entries);
}

static const wk__dataset_kind cache_kind = {.get = get, .destroy = destroy};

wk_dataset *wk_data_cache_at(wk_site site, wk_dataset *data)
{
    if (!wk__dataset_check(data, site, op)) return NULL;
    wk__dataset *parent = wk__dataset_of(data);
    if (!parent->user_code) { /* all samples are in memory */
        wk__dataset_hold(parent);
        return wk__dataset_wrap(site, op, parent);
    }
    cache *c = wk__dataset_new(site, op, sizeof *c, &cache_kind, parent);
    if (!c) return NULL;
    c->site = site;
    c->entries = wk__alloc_zero((size_t)parent->count, sizeof *c->entries);
    if (c->entries) return wk__dataset_wrap(site, op, &c->base);
    wk__dataset_drop(&c->base);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld samples", op, (long long)parent->count);
    return NULL;
}

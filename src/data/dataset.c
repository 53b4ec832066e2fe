/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: references, handles, and slices. */
#include "dataset.h"
#include "base/alloc.h"
#include <string.h>

/* ---- references -------------------------------------------------------------------------------------------------- */

void wk__dataset_hold(wk__dataset *data)
{
    atomic_fetch_add(&data->refs, 1);
}

/* A loop, so that no long chain of datasets needs a deep stack. */
void wk__dataset_drop(wk__dataset *data)
{
    while (data && atomic_fetch_sub(&data->refs, 1) == 1) {
        wk__dataset *const parent = data->parent;
        if (data->kind->destroy) data->kind->destroy(data);
        wk__free(data);
        data = parent;
    }
}

void *wk__dataset_new(wk_site site, const char *op, size_t size, const wk__dataset_kind *kind, wk__dataset *parent)
{
    wk__dataset *data = wk__alloc_zero(1, size);
    if (!data) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        return NULL;
    }
    data->kind = kind;
    data->depth = 1;
    atomic_init(&data->refs, 1);
    if (!parent) return data;
    if (!wk__dataset_add_part(site, op, data, parent)) {
        wk__free(data);
        return NULL;
    }
    data->parent = parent;
    data->count = parent->count;
    return data;
}

bool wk__dataset_add_part(wk_site site, const char *op, wk__dataset *data, wk__dataset *part)
{
    if (part->depth >= WK__DATASET_DEPTH) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: more than %d datasets are made of one another", op,
                      WK__DATASET_DEPTH);
        return false;
    }
    if (part->depth >= data->depth) data->depth = part->depth + 1;
    data->user_code = data->user_code || part->user_code;
    wk__dataset_hold(part);
    return true;
}

static void destroy(void *body)
{
    wk__dataset_drop(body);
}

const wk__handle_type wk__dataset_type = {.name = "dataset", .destroy = destroy};

wk_dataset *wk__dataset_wrap(wk_site site, const char *op, wk__dataset *data)
{
    return wk__handle_wrap(site, &wk__dataset_type, data, data != NULL, op);
}

bool wk__datasets_check(wk_site site, const char *op, wk_dataset *const *datasets, int64_t count)
{
    if (!wk__array_check(datasets, count, site, op, "the array of datasets")) return false;
    if (count < 1 || count > INT32_MAX) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected 1 to 2^31 - 1 datasets, got %lld", op, (long long)count);
        return false;
    }
    for (int64_t k = 0; k < count; k++)
        if (!wk__dataset_check(datasets[k], site, op)) return false;
    return true;
}

int64_t wk_data_size_at(wk_site site, const wk_dataset *data)
{
    return data && wk__dataset_check(data, site, "data_size") ? wk__dataset_of(data)->count : 0;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

typedef struct slice {
    wk__dataset base;
    int64_t first; /* index of sample 0 in the parent */
} slice;

static bool get_of_slice(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const slice *s = (const slice *)data;
    return wk__dataset_get(data->parent, s->first + index, out);
}

static const wk__dataset_kind slice_kind = {.get = get_of_slice};

wk_dataset *wk_data_slice_at(wk_site site, wk_dataset *data, int64_t from, int64_t to)
{
    static const char op[] = "data_slice";
    if (!wk__dataset_check(data, site, op)) return NULL;
    wk__dataset *parent = wk__dataset_of(data);
    if (from < 0 || to < from || to > parent->count) {
        wk__error_set(site, WK_ERR_INDEX, "%s: samples %lld to %lld are out of range for %lld samples", op,
                      (long long)from, (long long)to, (long long)parent->count);
        return NULL;
    }
    const int64_t count = to - from;
    if (parent->kind == &slice_kind) { /* a slice of a slice is one of the same dataset */
        from += ((const slice *)parent)->first;
        parent = parent->parent;
    }
    slice *s = wk__dataset_new(site, op, sizeof *s, &slice_kind, parent);
    if (!s) return NULL;
    s->first = from;
    s->base.count = count;
    return wk__dataset_wrap(site, op, &s->base);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenated datasets. */
#include "base/alloc.h"
#include "dataset.h"

typedef struct concat {
    wk__dataset base;
    int count;           /* datasets */
    wk__dataset **parts; /* [count], held */
    int64_t *ends;       /* [count] samples up to the end of each */
} concat;

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const concat *c = (const concat *)data;
    int low = 0, high = c->count - 1; /* the first whose end is greater than index is in [low, high] */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (c->ends[middle] > index)
            high = middle;
        else
            low = middle + 1;
    }
    return wk__dataset_get(c->parts[low], low ? index - c->ends[low - 1] : index, out);
}

static void destroy(wk__dataset *data)
{
    concat *c = (concat *)data;
    for (int k = 0; k < c->count; k++) wk__dataset_drop(c->parts[k]);
    wk__free(c->parts);
    wk__free(c->ends);
}

static const wk__dataset_kind concat_kind = {.get = get, .destroy = destroy};
static const char op[] = "data_concat";

/* Adds a dataset. Returns false on error. */
static bool append(concat *c, wk__dataset *part, wk_site site)
{
    if (!wk__add_size(c->base.count, part->count, &c->base.count)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the datasets have more samples than an int64_t can count", op);
        return false;
    }
    if (!wk__dataset_add_part(site, op, &c->base, part)) return false;
    c->ends[c->count] = c->base.count;
    c->parts[c->count++] = part;
    return true;
}

wk_dataset *wk_data_concat_at(wk_site site, wk_dataset *const *datasets, int64_t count)
{
    if (!wk__datasets_check(site, op, datasets, count)) return NULL;
    concat *c = wk__dataset_new(site, op, sizeof *c, &concat_kind, NULL);
    if (!c) return NULL;
    c->parts = wk__alloc_zero((size_t)count, sizeof(wk__dataset *));
    c->ends = wk__alloc_zero((size_t)count, sizeof *c->ends);
    bool fine = c->parts && c->ends;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    for (int64_t k = 0; k < count && fine; k++) fine = append(c, wk__dataset_of(datasets[k]), site);
    if (!fine) wk__dataset_drop(&c->base);
    return fine ? wk__dataset_wrap(site, op, &c->base) : NULL;
}

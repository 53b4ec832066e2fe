/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets side by side: a sample has the tensors of one sample of each. */
#include "base/alloc.h"
#include "dataset.h"

typedef struct stack {
    wk__dataset base;
    wk_site site;
    int count;           /* datasets */
    wk__dataset **parts; /* [count], held */
} stack;

static const char op[] = "data_stack";

/* Fails only if samples have too many tensors, or a part fails. */
static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const stack *s = (const stack *)data;
    out->count = 0;
    for (int k = 0; k < s->count; k++) {
        wk__sample sample;
        if (!wk__dataset_get(s->parts[k], index, &sample)) return false;
        if (sample.count > WK_SAMPLE_TENSORS - out->count) {
            wk__error_set(s->site, WK_ERR_ARGUMENT, "%s: a sample would have more than %d tensors", op,
                          WK_SAMPLE_TENSORS);
            return false;
        }
        for (int t = 0; t < sample.count; t++) out->part[out->count++] = sample.part[t];
    }
    return true;
}

static void destroy(wk__dataset *data)
{
    stack *s = (stack *)data;
    for (int k = 0; k < s->count; k++) wk__dataset_drop(s->parts[k]);
    wk__free(s->parts);
}

static const wk__dataset_kind stack_kind = {.get = get, .destroy = destroy};

/* Adds a dataset. Returns false on error. */
static bool append(stack *s, wk__dataset *part)
{
    wk__dataset *base = &s->base;
    if (s->count == 0) base->count = part->count;
    const bool other_batch = part->batch_size && base->batch_size && part->batch_size != base->batch_size;
    if (part->count != base->count)
        wk__error_set(s->site, WK_ERR_SHAPE, "%s: dataset 0 has %lld samples, but dataset %d has %lld", op,
                      (long long)base->count, s->count, (long long)part->count);
    else if (other_batch)
        wk__error_set(s->site, WK_ERR_ARGUMENT, "%s: the datasets are partitions for batches of %lld and %lld", op,
                      (long long)base->batch_size, (long long)part->batch_size);
    if (part->count != base->count || other_batch || !wk__dataset_add_part(s->site, op, base, part)) return false;
    if (part->batch_size) base->batch_size = part->batch_size;
    s->parts[s->count++] = part;
    return true;
}

/* Checks the number of tensors unless functions of the program provide them. */
static bool check_tensors(const stack *s)
{
    wk__sample first;
    return s->base.user_code || s->base.count == 0 || get(&s->base, 0, &first);
}

wk_dataset *wk_data_stack_at(wk_site site, wk_dataset *const *datasets, int64_t count)
{
    if (!wk__datasets_check(site, op, datasets, count)) return NULL;
    stack *s = wk__dataset_new(site, op, sizeof *s, &stack_kind, NULL);
    if (!s) return NULL;
    s->site = site;
    s->parts = wk__alloc_zero((size_t)count, sizeof(wk__dataset *));
    bool fine = s->parts;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    for (int64_t k = 0; k < count && fine; k++) fine = append(s, wk__dataset_of(datasets[k]));
    fine = fine && check_tensors(s);
    if (!fine) wk__dataset_drop(&s->base);
    return fine ? wk__dataset_wrap(site, op, &s->base) : NULL;
}

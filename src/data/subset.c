/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets of selected samples; see subset.h. */
#include "subset.h"
#include "base/alloc.h"
#include <string.h>

typedef struct subset {
    wk__dataset base;
    int64_t *indices; /* [count] in the parent */
} subset;

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    return wk__dataset_get(data->parent, ((const subset *)data)->indices[index], out);
}

static void destroy(wk__dataset *data)
{
    wk__free(((subset *)data)->indices);
}

static const wk__dataset_kind subset_kind = {.get = get, .destroy = destroy};

wk_dataset *wk__dataset_select(wk_site site, const char *op, wk__dataset *data, const int64_t *indices, int64_t count)
{
    subset *s = wk__dataset_new(site, op, sizeof *s, &subset_kind, data);
    if (!s) return NULL;
    s->indices = wk__alloc_zero((size_t)count, sizeof *s->indices);
    if (!s->indices) {
        wk__dataset_drop(&s->base);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld indices", op, (long long)count);
        return NULL;
    }
    s->base.count = count;
    if (count > 0) memcpy(s->indices, indices, (size_t)count * sizeof *indices);
    return wk__dataset_wrap(site, op, &s->base);
}

static bool check_indices(wk_site site, const char *op, const char *role, const int64_t *indices, int64_t count,
                          int64_t limit)
{
    for (int64_t k = 0; k < count; k++)
        if (indices[k] < 0 || indices[k] >= limit) {
            wk__error_set(site, WK_ERR_INDEX, "%s: element %lld of %s is %lld, out of range for %lld samples", op,
                          (long long)k, role, (long long)indices[k], (long long)limit);
            return false;
        }
    return true;
}

int64_t *wk__read_indices(wk_site site, const char *op, const char *role, wk_tensor *x, int64_t limit, int64_t *count)
{
    if (!wk__check_tensor(x, site, op, role)) return NULL;
    const wk__body *body = wk__body_of(x);
    if (body->ndim != 1 || body->dtype != WK_I64) {
        wk__tensor_refuse(site, body->ndim != 1 ? WK_ERR_SHAPE : WK_ERR_DTYPE, x, "",
                          "%s: %s must be i64 with one dimension", op, role);
        return NULL;
    }
    *count = body->shape[0];
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    int64_t *indices = wk__alloc_zero((size_t)*count + 1, sizeof *indices);
    if (!indices) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    const bool fine = indices && wk_read_at(site, x, indices, (size_t)*count * sizeof *indices) == WK_OK &&
                      check_indices(site, op, role, indices, *count, limit);
    if (!fine) wk__free(indices);
    wk__frame_end(context, before);
    return fine ? indices : NULL;
}

wk_dataset *wk_data_subset_at(wk_site site, wk_dataset *data, wk_tensor *indices)
{
    static const char op[] = "data_subset";
    if (!wk__dataset_check(data, site, op)) return NULL;
    wk__dataset *parent = wk__dataset_of(data);
    int64_t count = 0, *chosen = wk__read_indices(site, op, "the indices", indices, parent->count, &count);
    if (!chosen) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk_dataset *result = wk__dataset_select(site, op, parent, chosen, count);
    wk__free(chosen);
    wk__frame_end(context, before);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets of arrays in host memory: their samples, and datasets of tensors. */
#include "dataset.h"
#include "base/alloc.h"
#include <string.h>

/* ---- samples ----------------------------------------------------------------------------------------------------- */

void wk__sample_array_write(const wk__sample_array *array, int64_t row, void *to)
{
    const char *from = (const char *)array->data + row * array->stored_bytes;
    if (array->convert)
        array->convert(to, from, array->elements);
    else if (array->batch_bytes)
        memcpy(to, from, (size_t)array->batch_bytes);
}

/* ---- datasets of arrays ------------------------------------------------------------------------------------------ */

typedef struct array_dataset {
    wk__dataset base;
    int count; /* arrays */
    wk__sample_array array[WK_SAMPLE_TENSORS];
} array_dataset;

static bool get_of_arrays(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const array_dataset *d = (const array_dataset *)data;
    out->count = d->count;
    for (int k = 0; k < d->count; k++) out->part[k] = (wk__sample_part){.array = &d->array[k], .row = index};
    return true;
}

static void destroy_arrays(wk__dataset *data)
{
    array_dataset *d = (array_dataset *)data;
    for (int k = 0; k < d->count; k++) wk__free(d->array[k].data);
}

static const wk__dataset_kind array_kind = {.get = get_of_arrays, .destroy = destroy_arrays};

wk_dataset *wk__dataset_of_arrays(wk_site site, const char *op, int64_t samples, int count,
                                  const wk__sample_array *arrays)
{
    array_dataset *d = wk__dataset_new(site, op, sizeof *d, &array_kind, NULL);
    if (!d) {
        for (int k = 0; k < count; k++) wk__free(arrays[k].data);
        return NULL;
    }
    d->base.count = samples;
    d->count = count;
    memcpy(d->array, arrays, (size_t)count * sizeof *arrays);
    return wk__dataset_wrap(site, op, &d->base);
}

/* ---- of tensors -------------------------------------------------------------------------------------------------- */

static bool copy_tensor(wk_site site, wk_tensor *x, wk__sample_array *out)
{
    const wk__body *body = wk__body_of(x);
    const int64_t width = (int64_t)wk_dtype_size(body->dtype), bytes = wk__body_numel(body) * width;
    *out = (wk__sample_array){.dtype = body->dtype, .ndim = body->ndim - 1};
    memcpy(out->shape, body->shape + 1, (size_t)out->ndim * sizeof *out->shape);
    out->elements = wk__numel(out->ndim, out->shape);
    out->stored_bytes = out->batch_bytes = out->elements * width;
    out->data = wk__alloc((size_t)bytes + 1);
    if (!out->data) {
        wk__error_set(site, WK_ERR_MEMORY, "data_tensors: out of host memory for %lld bytes", (long long)bytes);
        return false;
    }
    return wk_read_at(site, x, out->data, (size_t)bytes) == WK_OK;
}

static bool counts_fit(wk_site site, wk_tensor *x, wk_tensor *y)
{
    const wk__body *a = wk__body_of(x), *b = y ? wk__body_of(y) : NULL;
    if (a->ndim && (!b || (b->ndim && a->shape[0] == b->shape[0]))) return true;
    wk__text text = {0};
    wk__text_add(&text, "data_tensors: x and y must have the same first dimension, the number of samples; x ");
    wk__text_tensor(&text, x);
    if (y) wk__text_add(&text, " and y ");
    if (y) wk__text_tensor(&text, y);
    wk__text_add(&text, y ? " differ" : " has no dimensions");
    wk__error_set_text(site, WK_ERR_SHAPE, &text);
    return false;
}

wk_dataset *wk_data_tensors_at(wk_site site, wk_tensor *x, wk_tensor *y)
{
    static const char op[] = "data_tensors";
    if (!y && wk__error_pending()) return NULL; /* y may be NULL because of that error */
    if (!wk__check_tensor(x, site, op, "x") || (y && !wk__check_tensor(y, site, op, "y")) || !counts_fit(site, x, y))
        return NULL;
    wk__sample_array arrays[2] = {0};
    wk_dataset *data = NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (copy_tensor(site, x, &arrays[0]) && (!y || copy_tensor(site, y, &arrays[1])))
        data = wk__dataset_of_arrays(site, op, wk__body_of(x)->shape[0], y ? 2 : 1, arrays);
    else
        for (int k = 0; k < 2; k++) wk__free(arrays[k].data);
    wk__frame_end(context, before);
    return data;
}

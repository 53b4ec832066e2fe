/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: of tensors, and slices. */
#include "dataset.h"
#include "base/alloc.h"
#include <string.h>

void wk__samples_hold(wk__samples *samples)
{
    atomic_fetch_add(&samples->refs, 1);
}

void wk__samples_drop(wk__samples *samples)
{
    if (!samples || atomic_fetch_sub(&samples->refs, 1) != 1) return;
    wk__free(samples->x.data);
    wk__free(samples->y.data);
    wk__free(samples);
}

void wk__samples_gather(const wk__sample_array *array, int64_t first, const int64_t *which, int64_t n, void *to)
{
    char *place = to;
    for (int64_t k = 0; k < n; k++, place += array->batch_bytes) {
        const char *from = (const char *)array->data + (first + which[k]) * array->stored_bytes;
        if (array->convert)
            array->convert(place, from, array->elements);
        else if (array->batch_bytes)
            memcpy(place, from, (size_t)array->batch_bytes);
    }
}

static void destroy(void *body)
{
    wk__samples_drop(((wk__dataset *)body)->samples);
    wk__free(body);
}

const wk__handle_type wk__dataset_kind = {.name = "dataset", .destroy = destroy};

wk_dataset *wk__dataset_new(wk_site site, const char *op, wk__samples *samples, int64_t first, int64_t count)
{
    wk__dataset *body = wk__alloc_zero(1, sizeof *body);
    if (body)
        *body = (wk__dataset){samples, first, count};
    else
        wk__samples_drop(samples);
    return wk__handle_wrap(site, &wk__dataset_kind, body, true, op);
}

/* ---- of tensors -------------------------------------------------------------------------------------------------- */

static bool copy_tensor(wk_site site, wk_tensor *x, wk__sample_array *out)
{
    const wk__body *body = wk__body_of(x);
    int64_t bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    *out = (wk__sample_array){.dtype = body->dtype, .ndim = body->ndim};
    memcpy(out->shape, body->shape, sizeof out->shape);
    out->elements = wk__numel(body->ndim - 1, body->shape + 1);
    out->stored_bytes = out->batch_bytes = out->elements * (int64_t)wk_dtype_size(body->dtype);
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
    wk__samples *samples = wk__alloc_zero(1, sizeof *samples);
    if (!samples) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        return NULL;
    }
    atomic_store(&samples->refs, 1);
    samples->count = wk__body_of(x)->shape[0];
    samples->labelled = y != NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool copied = copy_tensor(site, x, &samples->x) && (!y || copy_tensor(site, y, &samples->y));
    if (!copied) wk__samples_drop(samples);
    wk__frame_end(context, before);
    return copied ? wk__dataset_new(site, op, samples, 0, samples->count) : NULL;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

wk_dataset *wk_data_slice_at(wk_site site, wk_dataset *data, int64_t from, int64_t to)
{
    static const char op[] = "data_slice";
    if (!wk__dataset_check(data, site, op)) return NULL;
    const wk__dataset *body = wk__dataset_of(data);
    if (from < 0 || to < from || to > body->count) {
        wk__error_set(site, WK_ERR_INDEX, "%s: samples %lld to %lld are out of range for %lld samples", op,
                      (long long)from, (long long)to, (long long)body->count);
        return NULL;
    }
    wk__samples_hold(body->samples);
    return wk__dataset_new(site, op, body->samples, body->first + from, to - from);
}

int64_t wk_data_size_at(wk_site site, const wk_dataset *data)
{
    return data && wk__dataset_check(data, site, "data_size") ? wk__dataset_of(data)->count : 0;
}

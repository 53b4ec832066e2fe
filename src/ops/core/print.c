/* SPDX-License-Identifier: Apache-2.0 */
/* wk_print, wk_tensor_str, wk_describe: tensors as text. Only the shown elements of a large tensor are read. */
#include "base/alloc.h"
#include "engine/host_transfer.h"
#include "create.h"
#include "print_format.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/device.h>

static const char *device_name(const wk__body *body)
{
    return body->storage->device->id.kind == WK_CPU ? NULL : wk_device_str(body->storage->device->id);
}

/* Advances to the next combination of halves; bit d of *sides selects the side of dimension d's gap. Returns false
 * after the last. */
static bool next_part(const wk__shown_range *shown, int ndim, unsigned *sides)
{
    for (int d = 0; d < ndim; d++) {
        if (!shown->gap[d]) continue;
        *sides ^= 1u << d;
        if (*sides >> d & 1) return true;
    }
    return false;
}

/* Reads the shown elements into a dense block, one download for each combination of sides of the gaps. */
static bool read_shown(wk_tensor *x, const wk__shown_range *shown, char *data, wk_site site)
{
    const wk__body *body = wk__body_of(x);
    size_t size = wk_dtype_size(body->dtype);
    int64_t dense[WK__MAX_DIMS], shape[WK__MAX_DIMS];
    unsigned sides = 0;
    wk__strides_dense(body->ndim, shown->count, dense);
    do {
        int64_t from = body->offset, to = 0;
        for (int d = 0; d < body->ndim; d++) {
            int64_t half = shown->gap[d] ? shown->count[d] / 2 : 0, start = sides >> d & 1 ? half : 0;
            shape[d] = shown->gap[d] ? half : shown->count[d];
            from += wk__shown_index(shown, d, body->shape[d], start) * body->stride[d];
            to += start * dense[d];
        }
        wk_tensor *part = wk__tensor_view(wk__context(), x, from, body->ndim, shape, body->stride);
        if (!part) return false;
        bool fine = wk__host_download(part, data + to * (int64_t)size, dense, site);
        wk__handle_release(&part->handle, site);
        if (!fine) return false;
    } while (next_part(shown, body->ndim, &sides));
    return true;
}

static char *format_tensor(wk_tensor *x, wk_site site)
{
    const wk__body *body = wk__body_of(x);
    wk__shown_range shown = wk__print_shown(body->ndim, body->shape);
    int64_t n = wk__numel(body->ndim, shown.count);
    char *data = wk__alloc((size_t)n * wk_dtype_size(body->dtype) + 1);
    wk__text text = {0};
    if (!data) {
        wk__error_set(site, WK_ERR_MEMORY, "print: out of host memory");
        return NULL;
    }
    if (n == 0 || read_shown(x, &shown, data, site)) {
        wk__print_job job = {.dtype = body->dtype,
                             .ndim = body->ndim,
                             .shape = body->shape,
                             .data = data,
                             .device = device_name(body),
                             .grad_fn = wk__grad_fn_name(x),
                             .requires_grad = wk_requires_grad(x)};
        wk__print_format(&text, &job);
        if (text.failed) wk__error_set(site, WK_ERR_MEMORY, "print: out of host memory");
    }
    wk__free(data);
    if (text.failed) wk__text_free(&text);
    return text.data;
}

/* Returns the text of x for the call `op`; the caller frees it. NULL on error. */
static char *tensor_string(wk_tensor *x, const char *op, wk_site site)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op, site);
    char *text = wk__check_tensor(x, site, op, "input") ? format_tensor(x, site) : NULL;
    wk__frame_end(context, before);
    return text;
}

const char *wk_tensor_str_at(wk_site site, wk_tensor *x)
{
    char *text = tensor_string(x, "tensor_str", site);
    const char *kept = text ? wk__attach(site, &wk__body_of(x)->texts, text) : NULL;
    if (text && !kept) wk__error_set(site, WK_ERR_MEMORY, "tensor_str: out of host memory");
    return kept;
}

wk_tensor *wk_print_at(wk_site site, wk_tensor *x)
{
    char *text = tensor_string(x, "print", site);
    if (!text) return NULL;
    fputs(text, stdout);
    fputc('\n', stdout);
    wk__free(text);
    return x;
}

const char *wk_describe_at(wk_site site, const wk_tensor *x)
{
    if (!x || !wk__check_tensor(x, site, "describe", "input")) return "";
    const wk__body *body = wk__body_of(x);
    wk__text text = {0};
    wk__describe_format(&text, body->dtype, body->ndim, body->shape, wk_device_str(body->storage->device->id),
                        wk_requires_grad(x));
    if (text.failed) wk__text_free(&text);
    const char *kept = text.data ? wk__attach(site, &wk__body_of(x)->texts, text.data) : NULL;
    if (!kept) wk__error_set(site, WK_ERR_MEMORY, "describe: out of host memory");
    return kept ? kept : "";
}

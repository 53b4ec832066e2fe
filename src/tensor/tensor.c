/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor handles and bodies; see tensor.h. */
#include "tensor.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <string.h>
#include <wick/device.h>

static void destroy(void *body_address)
{
    wk__body *body = body_address;
    wk__alias_set *family = wk__alias_set_of(body);
    if (atomic_load_explicit(&family->base, memory_order_relaxed) == body) wk__alias_set_drop_base(family, body);
    wk__body_forget(body);
    if (body->is_view) wk__alias_set_drop_view(family);
    if (body->family) wk__alias_set_drop(family);
    wk__attached_free(&body->texts);
    wk__storage_drop(body->storage);
    wk__slab_free(wk__context()->slots, WK__SLAB_BODY, body);
}

static void on_persistent_owner(void *body, int change)
{
    wk__storage_add_persistent(((wk__body *)body)->storage, change);
}

const wk__handle_type wk__tensor_kind = {
    .name = "tensor", .destroy = destroy, .on_persistent_owner = on_persistent_owner};

static void out_of_memory(void)
{
    wk__error_set((wk_site){0}, WK_ERR_MEMORY, "out of host memory for a new tensor");
}

/* Creates a handle and a body without shape and strides. */
static wk_tensor *wrap(wk_context *context, wk__storage *storage, wk_dtype dtype, int ndim, wk__body **out)
{
    wk__body *body = wk__slab_alloc(context->slots, WK__SLAB_BODY);
    wk__handle *handle = NULL;
    if (body) {
        body->storage = storage;
        body->offset = 0;
        body->ndim = (uint8_t)ndim;
        body->dtype = (uint8_t)dtype;
        body->requires_grad = body->parameter = body->is_view = body->no_grad_view = body->known_dense = false;
        body->output = 0;
        body->node = NULL;
        body->leaf = NULL;
        atomic_init(&body->texts, NULL);
        body->family = NULL;
        body->graph_version = 0;
        handle = wk__handle_new(context, &wk__tensor_kind, body, storage->value->site);
        if (!handle) wk__slab_free(context->slots, WK__SLAB_BODY, body);
    }
    if (!handle) {
        wk__storage_drop(storage);
        out_of_memory();
    }
    *out = body;
    return (wk_tensor *)handle;
}

wk_tensor *wk__tensor_borrowing(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                                wk_site site, wk__foreign memory)
{
    int64_t bytes = 0;
    wk__dense_bytes(ndim, shape, dtype, &bytes);
    wk_tensor *out = wk__tensor_pending_of(context, device, dtype, ndim, shape, NULL, bytes, site, NULL);
    if (!out) return NULL;
    wk__value *value = wk__body_of(out)->storage->value;
    value->memory = (wk__memory){.block = memory.data, .host = memory.data, .bytes = value->bytes};
    value->release = memory.release;
    value->release_user = memory.user;
    wk__value_set_state(value, WK__STORED);
    return out;
}

static wk_tensor *too_large(const wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape, int64_t bytes,
                            wk_site site, const char *op)
{
    char size[WK__FORMAT_BYTES_SIZE], most[WK__FORMAT_BYTES_SIZE];
    wk__text text = {0};
    wk__text_format(&text, "%s: %s", op, wk_dtype_str(dtype));
    wk__text_shape(&text, ndim, shape);
    const int64_t limit = atomic_load_explicit(&((wk__device *)(uintptr_t)device)->limit, memory_order_relaxed);
    wk__text_format(
        &text, " needs %s, but the limit of %s is %s; use a smaller batch, or raise the limit (wk_memory_set_limit)",
        bytes == INT64_MAX ? "more than 8192 PiB" : wk__format_bytes(size, bytes), wk_device_str(device->id),
        wk__format_bytes(most, limit));
    wk__error_set_text(site, WK_ERR_MEMORY, &text);
    return NULL;
}

wk_tensor *wk__tensor_pending(wk_context *context, wk__device *device, wk_dtype dtype, int ndim, const int64_t *shape,
                              wk_site site, const char *op)
{
    int64_t bytes = INT64_MAX; /* if the size overflows */
    wk__dense_bytes(ndim, shape, dtype, &bytes);
    return wk__tensor_pending_of(context, device, dtype, ndim, shape, NULL, bytes, site, op);
}

wk_tensor *wk__tensor_pending_of(wk_context *context, wk__device *device, wk_dtype dtype, int ndim,
                                 const int64_t *shape, const int64_t *stride, int64_t bytes, wk_site site,
                                 const char *op)
{
    if (__builtin_expect(bytes > atomic_load_explicit(&device->limit, memory_order_relaxed), 0) && op)
        return too_large(device, dtype, ndim, shape, bytes, site, op);
    wk__value *value = wk__value_new(context, device, bytes, site);
    if (!value) return NULL;
    wk__storage *storage = wk__storage_new(context, value);
    if (!storage) {
        wk__slab_free(context->slots, WK__SLAB_VALUE, value);
        out_of_memory();
        return NULL;
    }
    atomic_init(&value->refs, 1);
    wk__body *body;
    wk_tensor *tensor = wrap(context, storage, dtype, ndim, &body);
    if (!tensor) return NULL;
    for (int d = 0; d < ndim; d++) body->shape[d] = shape[d];
    if (stride)
        for (int d = 0; d < ndim; d++) body->stride[d] = stride[d];
    else
        wk__strides_dense(ndim, shape, body->stride);
    body->known_dense = true;
    atomic_init(&storage->alias_set.base, body);
    return tensor;
}

wk_tensor *wk__tensor_detached_alias(wk_context *context, const wk__body *like)
{
    wk_tensor *tensor = wk__tensor_alias(context, like);
    if (!tensor) return NULL;
    wk__body *body = wk__body_of(tensor);
    if (!(body->family = wk__alloc_zero(1, sizeof *body->family))) {
        wk__handle_release(&tensor->handle, (wk_site){0});
        out_of_memory();
        return NULL;
    }
    atomic_init(&body->family->base, body);
    atomic_init(&body->family->refs, 1);
    return tensor;
}

wk_tensor *wk__tensor_view(wk_context *context, const wk_tensor *base, int64_t offset, int ndim, const int64_t *shape,
                           const int64_t *stride)
{
    wk__body *from = wk__body_of(base);
    wk__storage_hold(from->storage);
    wk__body *body;
    wk_tensor *view = wrap(context, from->storage, from->dtype, ndim, &body);
    if (!view) return NULL;
    for (int d = 0; d < ndim; d++) body->shape[d] = shape[d];
    for (int d = 0; d < ndim; d++) body->stride[d] = stride[d];
    body->offset = offset;
    body->is_view = true;
    body->no_grad_view = context->frame.grad_off || (from->is_view && from->no_grad_view);
    body->family = from->family;
    if (body->family) wk__refcount_inc(&body->family->refs);
    wk__refcount_inc(&wk__alias_set_of(body)->views);
    if (body->no_grad_view) body->graph_version = wk__alias_set_of(body)->graph_version;
    return view;
}

wk_tensor *wk__tensor_alias(wk_context *context, const wk__body *like)
{
    wk__storage_hold(like->storage);
    wk__body *body;
    wk_tensor *tensor = wrap(context, like->storage, like->dtype, like->ndim, &body);
    if (!tensor) return NULL;
    memcpy(body, like, sizeof *body);
    atomic_init(&body->texts, NULL);
    body->parameter = false;
    if (body->family) wk__refcount_inc(&body->family->refs);
    if (body->is_view) wk__refcount_inc(&wk__alias_set_of(body)->views);
    wk__body_share(body);
    return tensor;
}

wk_tensor *wk__tensor_snapshot(wk_context *context, const wk_tensor *x)
{
    const wk__body *from = wk__body_of(x);
    wk__storage *storage = wk__storage_new(context, from->storage->value);
    if (!storage) {
        out_of_memory();
        return NULL;
    }
    wk__value_hold(storage->value);
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__body copy = *from;
    copy.storage = storage;
    copy.is_view = false;
    copy.family = NULL;
    wk_tensor *tensor = wk__tensor_alias(context, &copy);
    if (tensor) atomic_init(&storage->alias_set.base, wk__body_of(tensor));
    wk__storage_drop(storage);
    wk__frame_end(context, before);
    return tensor;
}

void wk__tensor_promote_to_base(wk_tensor *x)
{
    wk__body *body = wk__body_of(x);
    if (!body->is_view) return;
    body->is_view = false;
    body->graph_version = wk__alias_set_of(body)->graph_version;
    wk__alias_set *family = wk__alias_set_of(body);
    atomic_store_explicit(&family->base, body, memory_order_relaxed);
    wk__alias_set_drop_view(family);
}

void wk__text_shape(wk__text *out, int ndim, const int64_t *shape)
{
    wk__text_repeat(out, '[', 1);
    for (int d = 0; d < ndim; d++) wk__text_format(out, d ? ",%lld" : "%lld", (long long)shape[d]);
    wk__text_repeat(out, ']', 1);
}

void wk__text_tensor(wk__text *out, const wk_tensor *tensor)
{
    const wk__body *body = wk__body_of(tensor);
    wk__text_add(out, wk_dtype_str(body->dtype));
    wk__text_shape(out, body->ndim, body->shape);
}

bool wk__tensor_refuse(wk_site site, wk_code code, const wk_tensor *got, const char *fix, const char *format, ...)
{
    wk__text text = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&text, format, args);
    va_end(args);
    wk__text_add(&text, ", got ");
    wk__text_tensor(&text, got);
    wk__text_add(&text, fix);
    wk__error_set_text(site, code, &text);
    return false;
}

void wk__text_tensor_device(wk__text *out, const wk_tensor *tensor)
{
    wk__text_tensor(out, tensor);
    wk__text_format(out, " on %s", wk_device_str(wk__body_of(tensor)->storage->device->id));
}

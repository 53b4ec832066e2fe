/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor API: copies from and to the host, waiting, addresses (wk_data). */
#include "engine/host_transfer.h"
#include "base/alloc.h"
#include "ir/scalar.h"
#include "create.h"
#include <math.h>
#include <string.h>
#include <wick/autograd.h>
#include <wick/device.h>

/* ---- copies from the host ---------------------------------------------------------------------------------------- */

/* Returns x converted to a leaf of that dtype, and frees x. */
static wk_tensor *cast_and_free(wk_site site, wk_tensor *x, wk_dtype dtype, bool requires_grad)
{
    wk_tensor *out = wk_to_dtype_at(site, x, dtype);
    wk_free_at(site, x);
    return out && requires_grad ? wk_requires_grad__at(site, out, true) : out;
}

static wk_tensor *copy_in(wk_site site, wk_dtype dtype, const void *data, const int64_t *stride, const int64_t *shape,
                          int ndim, size_t bytes, const wk_tensor_options *options)
{
    wk__create c;
    wk_tensor_options o;
    if (!wk__options(site, "from", options, &o)) return NULL;
    const wk_dtype wanted = o.dtype ? o.dtype : dtype;
    const bool wants_gradient = o.requires_grad;
    if (wanted != dtype) o.requires_grad = false; /* set on the converted tensor, not on this one */
    o.dtype = dtype;
    if (!wk__create_begin(&c, &wk__op_empty, site, shape, ndim, &o, dtype)) return NULL;
    int64_t n = wk__numel(ndim, shape), need = n * (int64_t)wk_dtype_size(dtype);
    if (!data && need) {
        wk__error_set(site, WK_ERR_ARGUMENT, "from: the data is NULL");
        return NULL;
    }
    if (bytes != (size_t)-1 && (int64_t)bytes != need) {
        wk__error_set(site, WK_ERR_SHAPE,
                      "from: the shape needs %lld elements of %s (%lld bytes), but the array has %lld (%lld bytes)",
                      (long long)n, wk_dtype_str(dtype), (long long)need, (long long)(bytes / wk_dtype_size(dtype)),
                      (long long)bytes);
        return NULL;
    }
    wk_tensor *out = wk__tensor_pending(c.context, c.device, dtype, ndim, shape, site, "from");
    if (!out) return NULL;
    void *dense = NULL;
    if (stride && n) {
        dense = wk__alloc((size_t)need);
        if (dense)
            wk__host_strided_copy(data, ndim, shape, stride, wk_dtype_size(dtype), dense, wk__body_of(out)->stride);
        else
            wk__error_set(site, WK_ERR_MEMORY, "from: out of host memory");
    }
    bool written = (!stride || !n || dense) &&
                   wk__host_upload(wk__body_of(out)->storage->value, dense ? dense : data, need, site, "from");
    wk__free(dense);
    wk__body_of(out)->requires_grad = c.requires_grad;
    if (!written) return wk__discard_result(out);
    return wanted == dtype ? out : cast_and_free(site, out, wanted, wants_gradient);
}

/* name: of the API call. */
static wk_tensor *from_host(const char *name, wk_site site, wk_dtype dtype, const void *data, const int64_t *stride,
                            const int64_t *shape, int ndim, size_t bytes, const wk_tensor_options *options)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, name, site);
    wk_tensor *out = copy_in(site, dtype, data, stride, shape, ndim, bytes, options);
    wk__frame_end(context, before);
    return out;
}

wk_tensor *wk_from_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape, int ndim,
                         const wk_tensor_options *options)
{
    return from_host("from", site, dtype, data, NULL, shape, ndim, bytes, options);
}

wk_tensor *wk_from_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape, int ndim)
{
    return from_host("from", site, dtype, data, NULL, shape, ndim, bytes, NULL);
}

wk_tensor *wk_of_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape, int ndim)
{
    return from_host("of", site, dtype, data, NULL, shape, ndim, bytes, NULL);
}

wk_tensor *wk_of_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape, int ndim,
                       const wk_tensor_options *options)
{
    return from_host("of", site, dtype, data, NULL, shape, ndim, bytes, options);
}

/* Checks that data with these strides ends within `bytes`, if that is known ((size_t)-1: unknown). Other functions
 * report invalid sizes and strides. */
static bool check_extent(wk_site site, const char *op, wk_dtype dtype, size_t bytes, const int64_t *shape,
                         const int64_t *stride, int ndim)
{
    int64_t last = 0;
    const int64_t width = (int64_t)wk_dtype_size(dtype);
    if (bytes == (size_t)-1 || !width || !shape) return true;
    for (int d = 0; d < ndim; d++)
        if (shape[d] <= 0) return true;
    for (int d = 0; d < ndim; d++) {
        int64_t step;
        if (stride[d] <= 0) continue;
        if (__builtin_mul_overflow(shape[d] - 1, stride[d], &step) || __builtin_add_overflow(last, step, &last)) {
            last = INT64_MAX;
            break;
        }
    }
    if (last < (int64_t)(bytes / (size_t)width)) return true;
    wk__error_set(site, WK_ERR_SHAPE,
                  "%s: shape and strides address element %lld of %s, but the array has %lld (%lld bytes)", op,
                  (long long)last, wk_dtype_str(dtype), (long long)bytes / width, (long long)bytes);
    return false;
}

wk_tensor *wk_from_strided_at(wk_site site, wk_dtype dtype, const void *data, const int64_t *shape,
                              const int64_t *stride, int ndim, const wk_tensor_options *options)
{
    return wk_from_strided_sized_at(site, dtype, data, (size_t)-1, shape, stride, ndim, options);
}

wk_tensor *wk_from_strided_sized_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                    const int64_t *stride, int ndim, const wk_tensor_options *options)
{
    for (int d = 0; d < ndim; d++)
        if (!stride || stride[d] < 0) {
            wk__error_set(site, WK_ERR_ARGUMENT, "from_strided: %s",
                          stride ? "strides must not be negative" : "the strides are NULL");
            return NULL;
        }
    if (!check_extent(site, "from_strided", dtype, bytes, shape, stride, ndim)) return NULL;
    return from_host("from_strided", site, dtype, data, stride, shape, ndim, (size_t)-1, options);
}

wk_tensor *wk_borrow_at(wk_site site, wk_dtype dtype, void *data, const int64_t *shape, int ndim,
                        void (*release)(void *user), void *user)
{
    return wk_borrow_sized_at(site, dtype, data, (size_t)-1, shape, ndim, release, user);
}

wk_tensor *wk_borrow_sized_at(wk_site site, wk_dtype dtype, void *data, size_t bytes, const int64_t *shape, int ndim,
                              void (*release)(void *user), void *user)
{
    wk__create c;
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = wk_cpu()};
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "borrow", site);
    const bool fits = wk__create_begin(&c, &wk__op_empty, site, shape, ndim, &options, dtype);
    wk__frame_end(context, before);
    if (!fits) return NULL;
    if (!data || (uintptr_t)data % wk_dtype_size(dtype) != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "borrow: the data is %s", data ? "not aligned for its dtype" : "NULL");
        return NULL;
    }
    const int64_t need = wk__numel(ndim, shape) * (int64_t)wk_dtype_size(dtype);
    if (bytes != (size_t)-1 && need > (int64_t)bytes) {
        wk__error_set(site, WK_ERR_SHAPE,
                      "borrow: the shape needs %lld elements of %s (%lld bytes), but the array has %lld (%lld bytes)",
                      (long long)wk__numel(ndim, shape), wk_dtype_str(dtype), (long long)need,
                      (long long)(bytes / wk_dtype_size(dtype)), (long long)bytes);
        return NULL;
    }
    const wk__foreign memory = {data, release ? release : wk__release_noop, user};
    wk_tensor *out = wk__tensor_borrowing(c.context, c.device, dtype, ndim, shape, site, memory);
    if (out) wk__body_of(out)->storage->value->exposed = true;
    return out;
}

/* ---- copies to the host ------------------------------------------------------------------------------------------ */

wk_code wk_sync_at(wk_site site)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "sync", site);
    wk__host_sync(site);
    wk__frame_end(context, before);
    if (context->posted_failure) wk__report_posted_failure(context);
    return wk_error_code();
}

wk_code wk_flush(void)
{
    wk_context *context = wk__context();
    wk__flush(context);
    if (context->posted_failure) wk__report_posted_failure(context);
    return wk_error_code();
}

/* Downloads x within a frame that has the call's name, which messages about waiting show. */
static bool read_to_host(wk_site site, const char *op, wk_tensor *x, void *to, const int64_t *stride)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op, site);
    const bool fine = wk__host_download(x, to, stride, site);
    wk__frame_end(context, before);
    return fine;
}

static bool read_single(wk_site site, const char *op, wk_tensor *x, void *out)
{
    if (!wk__check_tensor(x, site, op, "input")) return false;
    if (wk__body_numel(wk__body_of(x)) != 1) {
        wk__call_error(op, site, WK_ERR_SHAPE, &x, "$a has %lld elements, expected 1; use wk_read to copy several",
                       (long long)wk__body_numel(wk__body_of(x)));
        return false;
    }
    return read_to_host(site, op, x, out, NULL);
}

double wk_item_at(wk_site site, wk_tensor *x)
{
    char element[8];
    return read_single(site, "item", x, element) ? wk__scalar_to_double(element, wk__body_of(x)->dtype) : (double)NAN;
}

int64_t wk_item_i64_at(wk_site site, wk_tensor *x)
{
    char element[8];
    return read_single(site, "item_i64", x, element) ? wk__scalar_to_i64(element, wk__body_of(x)->dtype) : 0;
}

static wk_code read_into(wk_site site, const char *op, wk_tensor *x, void *data, const int64_t *stride)
{
    if (!data && wk__body_numel(wk__body_of(x)) > 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the buffer is NULL", op);
    else if (read_to_host(site, op, x, data, stride))
        return WK_OK;
    return wk_error_code();
}

/* C has no type for f16 and bf16, so any 16-bit integer type is accepted. */
static bool check_read_dtype(wk_site site, wk_tensor *x, wk_dtype dtype)
{
    const wk_dtype own = (wk_dtype)wk__body_of(x)->dtype;
    const bool bits = dtype == WK_I16 && (own == WK_F16 || own == WK_BF16);
    if (!dtype || dtype == WK_U8 || dtype == own || bits) return true;
    if (!wk_dtype_size(dtype)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "read: unknown dtype %d; use 0 for raw bytes", (int)dtype);
        return false;
    }
    wk__call_error(
        "read", site, WK_ERR_DTYPE, &x,
        "the buffer is for %s, but the tensor is $a; convert it with wk_to_dtype, or read raw bytes through a void *",
        wk_dtype_str(dtype));
    return false;
}

wk_code wk_read_as_at(wk_site site, wk_tensor *x, void *data, size_t bytes, wk_dtype dtype)
{
    if (!wk__check_tensor(x, site, "read", "input") || !check_read_dtype(site, x, dtype)) return wk_error_code();
    int64_t need = wk__body_numel(wk__body_of(x)) * (int64_t)wk_dtype_size(wk__body_of(x)->dtype);
    if ((int64_t)bytes != need) {
        wk_tensor *in[1] = {x};
        wk__call_error("read", site, WK_ERR_SHAPE, in, "$a needs %lld bytes, but the buffer has %zu", (long long)need,
                       bytes);
        return WK_ERR_SHAPE;
    }
    return read_into(site, "read", x, data, NULL);
}

wk_code wk_read_at(wk_site site, wk_tensor *x, void *data, size_t bytes)
{
    return wk_read_as_at(site, x, data, bytes, (wk_dtype)0);
}

wk_code wk_read_strided_at(wk_site site, wk_tensor *x, void *data, const int64_t *stride)
{
    if (!wk__check_tensor(x, site, "read_strided", "input")) return wk_error_code();
    return read_into(site, "read_strided", x, data, stride);
}

wk_code wk_read_strided_n_at(wk_site site, wk_tensor *x, void *data, size_t bytes, const int64_t *stride, int count)
{
    if (!wk__check_tensor(x, site, "read_strided", "input")) return wk_error_code();
    if (count != wk__body_of(x)->ndim || (count && !stride)) {
        wk_tensor *in[1] = {x};
        wk__call_error("read_strided", site, WK_ERR_SHAPE, in,
                       "expected one stride per dimension: $a has %d dimensions, got %d strides", wk__body_of(x)->ndim,
                       stride ? count : 0);
        return WK_ERR_SHAPE;
    }
    const wk__body *body = wk__body_of(x);
    if (!check_extent(site, "read_strided", (wk_dtype)body->dtype, bytes, body->shape, stride, body->ndim))
        return WK_ERR_SHAPE;
    return read_into(site, "read_strided", x, data, stride);
}

/* Gives the storage a private copy of its value, because writes through a pointer must change this tensor only, not
 * snapshots or parked operands that share the value. */
static bool unshare_storage(wk__storage *storage, wk_site site)
{
    wk__value *old = storage->value;
    if (atomic_load_explicit(&old->refs, memory_order_relaxed) == 1) return true;
    wk__fail fail = {.tag = -1};
    wk__value *own = wk__value_new(wk__context(), old->device, old->bytes, site);
    if (!own) return false;
    wk_code code = wk__value_alloc_memory(own, old->bytes, &fail);
    if (code == WK_OK && old->bytes)
        code = old->device->backend->copy(old->device->state, &own->memory, 0, &old->memory, 0, old->bytes, &fail);
    if (code != WK_OK) {
        if (own->memory.block) wk__value_free_memory(own);
        wk__value_free(own);
        wk__error_set(site, code, "data: %s", fail.text);
        return false;
    }
    wk__value_set_state(own, WK__STORED);
    wk__storage_assign(storage, own);
    return true;
}

void *wk_data_at(wk_site site, wk_tensor *x)
{
    if (!wk__check_tensor(x, site, "data", "input") || !wk__materialize(x, site)) return NULL;
    const wk__body *body = wk__body_of(x);
    wk__value *value = body->storage->value;
    if (!value->memory.host) {
        wk_tensor *in[1] = {x};
        wk__call_error("data", site, WK_ERR_DEVICE, in, "$a is not in host memory; copy it first: wk_to(x, wk_cpu())");
        return NULL;
    }
    wk__flush_all(); /* everything recorded so far must read the data before user code writes it */
    if (!value->exposed && !unshare_storage(body->storage, site)) return NULL;
    value = body->storage->value;
    value->exposed = true;
    return value->memory.host + body->offset * (int64_t)wk_dtype_size(body->dtype);
}

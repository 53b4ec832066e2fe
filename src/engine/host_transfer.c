/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between host memory and devices, and synchronization; see host_transfer.h. */
#include "host_transfer.h"
#include "device_sync.h"
#include "sync_mode.h"
#include "base/alloc.h"
#include <string.h>

bool wk__host_upload(wk__value *value, const void *data, int64_t bytes, wk_site site, const char *op)
{
    wk__fail fail = {.tag = -1};
    wk__device *device = value->device;
    value->op_name = wk__name(wk__context(), op);
    wk_code code = wk__value_alloc_memory(value, bytes, &fail);
    if (code == WK_OK && bytes > 0) {
        if (!value->memory.host) atomic_fetch_add(&device->uploads, bytes);
        code = device->backend->upload(device->state, &value->memory, 0, data, bytes, &fail);
    }
    if (code != WK_OK) {
        if (value->memory.block) wk__value_free_memory(value);
        wk__error_set(site, code, "%s: %s", op, fail.text);
        return false;
    }
    wk__value_set_state(value, WK__STORED);
    return true;
}

/* Computes the range of bytes that a view has in its storage, from its first to its last element. The view is not
 * empty; strides are never negative. */
static void byte_range(const wk__body *body, int64_t *from, int64_t *bytes)
{
    int64_t size = (int64_t)wk_dtype_size(body->dtype), last = 0;
    for (int d = 0; d < body->ndim; d++) last += (body->shape[d] - 1) * body->stride[d];
    *from = body->offset * size;
    *bytes = (last + 1) * size;
}

bool wk__host_map(wk_tensor *x, wk__host_mapping *out, wk_site site)
{
    memset(out, 0, sizeof *out);
    const wk__body *body = wk__body_of(x);
    if (!wk__materialize(x, site)) return false;
    if (wk__body_numel(body) == 0) return true;
    wk__value *value = body->storage->value;
    wk__device *device = value->device;
    int64_t from, bytes;
    byte_range(body, &from, &bytes);
    if (value->memory.host) {
        out->first = value->memory.host + from;
        return true;
    }
    out->owned = wk__alloc((size_t)bytes);
    if (!out->owned) {
        wk__error_set(site, WK_ERR_MEMORY, "out of host memory to read %lld bytes", (long long)bytes);
        return false;
    }
    wk__fail fail = {.tag = -1};
    atomic_fetch_add(&device->downloads, bytes);
    wk__warn_or_error_on_sync(device, site, bytes);
    wk_code code = wk__value_download(value, from, bytes, out->owned, NULL, site, &fail);
    out->first = out->owned;
    bool failed = value->state == WK__FAILED; /* it depends on failed work; other errors are recorded already */
    if (code == WK_OK && !failed) return true;
    wk__host_unmap(out);
    if (failed) wk__report_failure(value->failure);
    return false;
}

void wk__host_unmap(wk__host_mapping *mapping)
{
    wk__free(mapping->owned);
    mapping->owned = NULL;
}

/* Advances a row-major index by one element; the index after the last is the first. */
static void next_index(int64_t at[], int ndim, const int64_t *shape)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++at[d] < shape[d]) return;
        at[d] = 0;
    }
}

void wk__host_strided_copy(const char *first, int ndim, const int64_t *shape, const int64_t *stride, size_t size,
                           char *to, const int64_t *to_stride)
{
    int64_t at[WK__MAX_DIMS] = {0}, n = wk__numel(ndim, shape);
    for (int64_t k = 0; k < n; k++, next_index(at, ndim, shape)) {
        int64_t offset = 0, to_offset = 0;
        for (int d = 0; d < ndim; d++) {
            offset += at[d] * stride[d];
            to_offset += at[d] * to_stride[d];
        }
        memcpy(to + to_offset * (int64_t)size, first + offset * (int64_t)size, size);
    }
}

/* Replaces every nonzero byte by 1: in memory borrowed from the user, any nonzero byte is true. Works row by row. */
static void normalize_bools(unsigned char *to, int ndim, const int64_t *shape, const int64_t *stride)
{
    const int64_t n = wk__numel(ndim, shape), row = ndim ? shape[ndim - 1] : 1, step = ndim ? stride[ndim - 1] : 1;
    int64_t at[WK__MAX_DIMS] = {0};
    for (int64_t k = 0; k < n; k += row, next_index(at, ndim - 1, shape)) {
        unsigned char *first = to;
        for (int d = 0; d < ndim - 1; d++) first += at[d] * stride[d];
        for (int64_t i = 0; i < row; i++) first[i * step] = first[i * step] != 0;
    }
}

bool wk__host_download(wk_tensor *x, void *to, const int64_t *to_stride, wk_site site)
{
    const wk__body *body = wk__body_of(x);
    wk__host_mapping mapping;
    if (!wk__host_map(x, &mapping, site)) return false;
    if (!mapping.first) return true; /* no elements */
    int64_t dense[WK__MAX_DIMS];
    wk__strides_dense(body->ndim, body->shape, dense);
    const int64_t *const stride = to_stride ? to_stride : dense;
    const size_t size = wk_dtype_size(body->dtype);
    if (!to_stride && wk__body_contiguous(body))
        memcpy(to, mapping.first, (size_t)wk__body_numel(body) * size);
    else
        wk__host_strided_copy(mapping.first, body->ndim, body->shape, body->stride, size, to, stride);
    if (body->dtype == WK_BOOL) normalize_bools(to, body->ndim, body->shape, stride);
    wk__host_unmap(&mapping);
    return true;
}

/* Progress of wk__host_sync() over the devices. */
typedef struct sync_result {
    wk_code code; /* of the first failure */
    wk_site site;
} sync_result;

static void sync_device(wk__device *device, void *user)
{
    sync_result *result = user;
    if (device->id.kind != WK_CPU) atomic_fetch_add(&device->syncs, 1);
    wk_code code = wk__device_sync(device, NULL, result->site);
    if (result->code == WK_OK) result->code = code;
}

wk_code wk__host_sync(wk_site site)
{
    sync_result result = {WK_OK, site};
    if (wk__forked) {
        wk__report_forked(site, "sync");
        return WK_ERR_STATE;
    }
    wk__flush(wk__context());
    wk__device_for_each(sync_device, &result);
    return result.code;
}

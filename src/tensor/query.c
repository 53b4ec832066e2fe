/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor API: shape, strides, dtype and device of a tensor. */
#include "tensor.h"
#include <wick/tensor.h>

static const wk__body *live_body(wk_site site, const wk_tensor *x, const char *op)
{
    if (!x) return NULL;
    return wk__check_tensor(x, site, op, "input") ? wk__body_of(x) : NULL;
}

int wk_ndim_at(wk_site site, const wk_tensor *x)
{
    const wk__body *body = live_body(site, x, "ndim");
    return body ? body->ndim : 0;
}

static int64_t dim_property(wk_site site, const wk_tensor *x, int dim, const char *op, bool stride)
{
    const wk__body *body = live_body(site, x, op);
    int d;
    if (!body) return 0;
    if (!body->ndim || !wk__wrap_dim(body->ndim, dim, &d)) {
        wk__error_set(site, WK_ERR_INDEX, "%s: dimension %d is out of range for %d dimensions", op, dim, body->ndim);
        return 0;
    }
    return stride ? body->stride[d] : body->shape[d];
}

int64_t wk_size_at(wk_site site, const wk_tensor *x, int dim)
{
    return dim_property(site, x, dim, "size", false);
}
int64_t wk_stride_at(wk_site site, const wk_tensor *x, int dim)
{
    return dim_property(site, x, dim, "stride", true);
}
int64_t wk_numel_at(wk_site site, const wk_tensor *x)
{
    const wk__body *body = live_body(site, x, "numel");
    return body ? wk__body_numel(body) : 0;
}
wk_dtype wk_dtype_of_at(wk_site site, const wk_tensor *x)
{
    const wk__body *body = live_body(site, x, "dtype_of");
    return body ? (wk_dtype)body->dtype : (wk_dtype)0;
}
wk_device wk_device_of_at(wk_site site, const wk_tensor *x)
{
    const wk__body *body = live_body(site, x, "device_of");
    return body ? body->storage->device->id : (wk_device){.kind = -1};
}
bool wk_is_contiguous_at(wk_site site, const wk_tensor *x)
{
    const wk__body *body = live_body(site, x, "is_contiguous");
    return body && wk__body_contiguous(body);
}
bool wk_same_storage_at(wk_site site, const wk_tensor *a, const wk_tensor *b)
{
    const wk__body *x = live_body(site, a, "same_storage"), *y = live_body(site, b, "same_storage");
    return x && y && x->storage == y->storage;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ops called through their descriptors (dispatch.h). */
#include "dispatch.h"
#include <string.h>
#include <wick/call.h>

#define WK__OP(name) extern const wk__op wk__op_##name;
WK__OP(add)
WK__OP(as_strided)
WK__OP(clone)
WK__OP(copy_)
WK__OP(ones)
WK__OP(reshape)
WK__OP(sum)
WK__OP(to_dtype)
WK__OP(zeros)
#undef WK__OP

enum { MAX_ARGUMENTS = 5 };

static wk_value tensor(wk_tensor *x)
{
    return (wk_value){.kind = WK_VALUE_TENSOR, .tensor = x};
}
static wk_value ints(const int64_t *list, int count)
{
    return (wk_value){.kind = WK_VALUE_INTS, .count = count, .ints = list};
}
static wk_value number(int64_t i)
{
    return (wk_value){.kind = WK_VALUE_INT, .i = i};
}

/* Call sites come from the frame that the pass has set: that of the forward call. */
static wk_tensor *call(const wk__op *op, wk_value a, wk_value b, wk_value c, wk_value d)
{
    wk_value args[MAX_ARGUMENTS] = {a, b, c, d};
    wk_tensor *out = NULL;
    return op->invoke(op, (wk_site){0}, args, &out) == 1 ? out : NULL;
}
static const wk_value none;

wk_tensor *wk__dispatch_add(wk_tensor *a, wk_tensor *b)
{
    return call(&wk__op_add, tensor(a), tensor(b), none, none);
}

wk_tensor *wk__dispatch_clone(wk_tensor *x)
{
    return call(&wk__op_clone, tensor(x), none, none, none);
}

wk_tensor *wk__dispatch_copy_(wk_tensor *x, wk_tensor *y)
{
    return call(&wk__op_copy_, tensor(x), tensor(y), none, none);
}

/* The sum is a new tensor; copying it to x fuses into one kernel that writes x's memory. */
wk_tensor *wk__dispatch_add_(wk_tensor *a, wk_tensor *b)
{
    return wk__dispatch_copy_(a, wk__dispatch_add(a, b));
}

static wk_tensor *cast(wk_tensor *x, wk_dtype dtype)
{
    return x && wk__body_of(x)->dtype != dtype ? call(&wk__op_to_dtype, tensor(x), number(dtype), none, none) : x;
}

wk_tensor *wk__dispatch_upcast(wk_tensor *x)
{
    if (!x) return NULL;
    wk_dtype dtype = wk__body_of(x)->dtype;
    return dtype == WK_F16 || dtype == WK_BF16 ? cast(x, WK_F32) : x;
}

static wk_value device_of(wk_device device)
{
    return (wk_value){.kind = WK_VALUE_DEVICE, .device = device};
}

wk_tensor *wk__dispatch_ones_like(wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    return call(&wk__op_ones, ints(body->shape, body->ndim), number(body->dtype), device_of(body->storage->device->id),
                none);
}

wk_tensor *wk__dispatch_zeros(const wk__tensor_meta *shape, wk_device device)
{
    return call(&wk__op_zeros, ints(shape->size, shape->ndim), number(shape->dtype), device_of(device), none);
}

wk_tensor *wk__dispatch_as_strided(wk_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    return call(&wk__op_as_strided, tensor(x), ints(shape, ndim), ints(stride, ndim), number(offset));
}

wk_tensor *wk__dispatch_unbroadcast(wk_tensor *grad, const wk__tensor_meta *shape)
{
    if (!grad) return NULL;
    const wk__body *body = wk__body_of(grad);
    int lead = body->ndim - shape->ndim, count = 0;
    int64_t dims[WK__MAX_DIMS];
    bool same = lead == 0;
    for (int d = 0; d < body->ndim; d++) {
        bool broadcast = d < lead || (shape->size[d - lead] == 1 && body->shape[d] != 1);
        if (broadcast) dims[count++] = d;
        same = same && !broadcast;
    }
    if (!same) {
        if (count) grad = call(&wk__op_sum, tensor(grad), ints(dims, count), number(1), none);
        if (grad && lead > 0) grad = call(&wk__op_reshape, tensor(grad), ints(shape->size, shape->ndim), none, none);
    }
    return cast(grad, shape->dtype);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Export of tensors to other libraries by DLPack; dlpack_import.c is the counterpart. */
#include "dlpack.h"
#include "base/alloc.h"
#include "ops/core/call.h"
#include <string.h>

static const wk_dl_dtype dl_dtypes[WK_DTYPE_COUNT] = {
    [WK_F32] = {WK_DL_FLOAT, 32, 1}, [WK_F64] = {WK_DL_FLOAT, 64, 1},   [WK_F16] = {WK_DL_FLOAT, 16, 1},
    [WK_I8] = {WK_DL_INT, 8, 1},     [WK_BF16] = {WK_DL_BFLOAT, 16, 1}, [WK_U8] = {WK_DL_UINT, 8, 1},
    [WK_I16] = {WK_DL_INT, 16, 1},   [WK_I32] = {WK_DL_INT, 32, 1},     [WK_I64] = {WK_DL_INT, 64, 1},
    [WK_BOOL] = {WK_DL_BOOL, 8, 1},
};

wk_dl_dtype wk__dl_dtype(wk_dtype dtype)
{
    return dl_dtypes[dtype];
}

wk_dtype wk__dl_dtype_of(wk_dl_dtype dl)
{
    for (int k = WK_F32; k < WK_DTYPE_COUNT; k++)
        if (dl_dtypes[k].kind == dl.kind && dl_dtypes[k].bits == dl.bits && dl.lanes == 1) return (wk_dtype)k;
    return (wk_dtype)0;
}

/* An exported tensor; begins with the DLPack struct. It references the storage, not the tensor, because a tensor can
 * get another storage, as parameters do when a network moves to a device. */
typedef struct exported {
    union {
        wk_dl_managed_versioned versioned;
        wk_dl_managed_unversioned unversioned;
    };
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    wk__storage *storage;
} exported;

static void release_export(exported *l)
{
    if (wk__forked) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__storage_drop(l->storage);
    wk__free(l);
    wk__frame_end(context, before);
}

static void delete_versioned(wk_dl_managed_versioned *self)
{
    if (self) release_export(self->context);
}

static void delete_unversioned(wk_dl_managed_unversioned *self)
{
    if (self) release_export(self->context);
}

/* Returns true if the memory of x can be shared; records the reason otherwise. */
static bool check_exportable(wk_site site, wk_tensor *x)
{
    if (!wk__check_tensor(x, site, "to_dlpack", "input")) return false;
    const bool on_cpu = wk__body_of(x)->storage->device->id.kind == WK_CPU;
    if (!on_cpu)
        wk__call_error("to_dlpack", site, WK_ERR_DEVICE, &x,
                       "$a is on %s; only CPU memory can be exported: copy it with wk_to(x, wk_cpu())",
                       wk_device_str(wk__body_of(x)->storage->device->id));
    else if (wk__requires_grad(x))
        wk__call_error("to_dlpack", site, WK_ERR_STATE, &x,
                       "$a requires grad, and writes by the consumer have no gradient; export wk_detach(x)");
    else
        return true;
    return false;
}

/* Fills *t for x. Returns the owner of the shared storage; NULL after recording an error. */
static exported *export_tensor(wk_site site, wk_tensor *x, wk_dl_tensor *t)
{
    if (!check_exportable(site, x)) return NULL;
    const wk__body *body = wk__body_of(x);
    void *data = wk__body_numel(body) ? wk_data_at(site, x) : NULL;
    if (!data && wk__body_numel(body)) return NULL;
    exported *l = wk__alloc_zero(1, sizeof *l);
    if (!l) {
        wk__error_set(site, WK_ERR_MEMORY, "to_dlpack: out of host memory");
        return NULL;
    }
    memcpy(l->shape, body->shape, sizeof l->shape);
    memcpy(l->stride, body->stride, sizeof l->stride);
    l->storage = body->storage;
    wk__storage_hold(l->storage);
    *t = (wk_dl_tensor){.data = data,
                        .device = {WK_DL_CPU, 0},
                        .ndim = body->ndim,
                        .dtype = wk__dl_dtype((wk_dtype)body->dtype),
                        .shape = l->shape,
                        .stride = l->stride};
    return l;
}

/* The export as a public call of this name. */
static exported *export_call(const char *name, wk_site site, wk_tensor *x, wk_dl_tensor *t)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, name, site);
    exported *l = export_tensor(site, x, t);
    wk__frame_end(context, before);
    return l;
}

wk_dl_managed_versioned *wk_to_dlpack_at(wk_site site, wk_tensor *x)
{
    wk_dl_tensor t;
    exported *l = export_call("to_dlpack", site, x, &t);
    if (!l) return NULL;
    l->versioned = (wk_dl_managed_versioned){
        .version = {WK_DL_MAJOR, WK_DL_MINOR}, .context = l, .deleter = delete_versioned, .tensor = t};
    return &l->versioned;
}

wk_dl_managed_unversioned *wk_to_dlpack_unversioned_at(wk_site site, wk_tensor *x)
{
    wk_dl_tensor t;
    exported *l = export_call("to_dlpack_unversioned", site, x, &t);
    if (!l) return NULL;
    l->unversioned = (wk_dl_managed_unversioned){.tensor = t, .context = l, .deleter = delete_unversioned};
    return &l->unversioned;
}

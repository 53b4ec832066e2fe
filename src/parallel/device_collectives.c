/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives among the devices of a process: wk_devices_scatter, wk_devices_gather, wk_devices_broadcast,
 * wk_devices_all_reduce. They consist of ordinary ops, which supply the gradients, and end with a flush. */
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "nn/tensor_list.h"
#include "tensor/call_scope.h"
#include "device_broadcast.h"
#include "device_list.h"
#include "batch_split.h"
#include <wick/creation.h>
#include <wick/pointwise.h>
#include <wick/shape.h>

static const wk_site no_site;

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Ends a nested call that made `list` and moves the list to its outer scope. Returns NULL if an element is missing. */
static wk_tensors *finish_list(wk_site site, wk__call_scope *c, wk_tensor *const *tensors, int count)
{
    bool fine = true;
    for (int k = 0; k < count; k++) fine = fine && tensors[k];
    wk_tensors *list = fine ? wk_list_at(site, tensors, count) : NULL;
    if (list) {
        wk__flush(wk__context());
        wk__handle_keep(&list->handle, site);
    }
    wk__call_end(c, NULL, 0);
    return list;
}

static bool check_not_empty(wk_site site, const wk_tensors *list, const char *call)
{
    if (!wk__tensor_list_check(list, site, call)) return false;
    if (wk__tensor_list_of(list)->count > 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the list is empty", call);
    return false;
}

/* ---- one to all, and back ---------------------------------------------------------------------------------------- */

wk_tensors *wk_devices_broadcast_at(wk_site site, wk_tensor *x, const wk_device *devices, int n)
{
    wk__device *device[WK_MIRRORED_DEVICES];
    wk_tensor *out[WK_MIRRORED_DEVICES];
    wk__call_scope c;
    if (!wk__check_tensor(x, site, "devices_broadcast", "input") ||
        !wk__open_devices(site, "devices_broadcast", devices, n, false, device) ||
        !wk__call_begin(&c, WK__FRAME_CALL, "devices_broadcast", site, WK__GRAD_KEPT))
        return NULL;
    bool fine = true;
    for (int k = 0; k < n && fine; k++) fine = (out[k] = wk__device_broadcast_copy(no_site, x, device[k]->id)) != NULL;
    fine = fine && wk__device_broadcast_attach(site, x, out, n, true);
    if (fine) return finish_list(site, &c, out, n);
    wk__call_end(&c, NULL, 0);
    return NULL;
}

wk_tensors *wk_devices_scatter_at(wk_site site, wk_tensor *x, const wk_device *devices, int n)
{
    wk__device *device[WK_MIRRORED_DEVICES];
    wk_tensor *out[WK_MIRRORED_DEVICES];
    int64_t share[WK_MIRRORED_DEVICES];
    wk__call_scope c;
    if (!wk__check_tensor(x, site, "devices_scatter", "input") ||
        !wk__open_devices(site, "devices_scatter", devices, n, false, device))
        return NULL;
    if (wk__body_of(x)->ndim == 0) {
        wk__error_set(site, WK_ERR_SHAPE,
                      "devices_scatter: the input has no dimensions to split; use wk_devices_broadcast");
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, "devices_scatter", site, WK__GRAD_KEPT)) return NULL;
    const int64_t samples = wk__body_of(x)->shape[0];
    const int parts = samples == 0 ? 1 : samples < n ? (int)samples : n;
    int64_t at = 0;
    wk__split_batch(samples, parts, NULL, share);
    for (int k = 0; k < parts; at += share[k++]) {
        wk_tensor *part = wk_narrow_at(no_site, x, 0, at, share[k]);
        out[k] = part ? wk_to_at(no_site, part, device[k]->id) : NULL;
    }
    return finish_list(site, &c, out, parts);
}

/* Returns true if all tensors of the list are 0-d. */
static bool all_scalar(const wk__tensor_list *list)
{
    bool all = true;
    for (int64_t k = 0; k < list->count; k++) all = all && wk__body_of(list->item[k].tensor)->ndim == 0;
    return all;
}

static wk_tensor *gathered(const wk__tensor_list *list, wk_device device)
{
    wk_tensor **here = wk__alloc((size_t)list->count * sizeof *here);
    bool fine = here != NULL;
    for (int64_t k = 0; k < list->count && fine; k++)
        fine = (here[k] = wk_to_at(no_site, list->item[k].tensor, device)) != NULL;
    wk_tensor *out = NULL;
    if (fine) out = (all_scalar(list) ? wk_stack_at : wk_cat_at)(no_site, here, (int)list->count, 0);
    if (!here) wk__error_set(no_site, WK_ERR_MEMORY, "out of host memory");
    wk__free(here);
    return out;
}

wk_tensor *wk_devices_gather_at(wk_site site, const wk_tensors *list, wk_device device)
{
    wk__call_scope c;
    const wk__device *opened = wk__device_open(site, "devices_gather", device);
    if (!opened || !check_not_empty(site, list, "devices_gather") ||
        !wk__call_begin(&c, WK__FRAME_CALL, "devices_gather", site, WK__GRAD_KEPT))
        return NULL;
    wk_tensor *out = gathered(wk__tensor_list_of(list), opened->id);
    if (out) wk__flush(wk__context());
    wk__call_end(&c, &out, out != NULL);
    return out;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static bool check_same_shape(wk_site site, const wk__tensor_list *list, const char *call)
{
    const wk__body *first = wk__body_of(list->item[0].tensor);
    for (int64_t k = 1; k < list->count; k++) {
        const wk__body *body = wk__body_of(list->item[k].tensor);
        const bool shapes = wk__same_sizes(first, body);
        if (shapes && first->dtype == body->dtype) continue;
        wk__text text = {0};
        wk__text_format(&text, "%s: tensor %d of the list is ", call, (int)k);
        wk__text_tensor_device(&text, list->item[k].tensor);
        wk__text_add(&text, ", but the first is ");
        wk__text_tensor_device(&text, list->item[0].tensor);
        wk__text_format(&text, "; %s must be the same", shapes ? "dtypes" : "shapes");
        wk__error_set_text(site, shapes ? WK_ERR_DTYPE : WK_ERR_SHAPE, &text);
        return false;
    }
    return true;
}

/* Sums all tensors of the list on the device of the first. */
static wk_tensor *sum_of(const wk__tensor_list *list)
{
    const wk__body *first = wk__body_of(list->item[0].tensor);
    const wk_device home = first->storage->device->id;
    const wk_dtype dtype = first->dtype;
    const bool half = dtype == WK_F16 || dtype == WK_BF16;
    wk_tensor *sum = NULL;
    if (list->count == 1) return wk_clone_at(no_site, list->item[0].tensor);
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *here = wk_to_at(no_site, list->item[k].tensor, home);
        if (half && here) here = wk_to_dtype_at(no_site, here, WK_F32);
        sum = sum && here ? wk_add_at(no_site, sum, here) : here;
        if (!sum) return NULL;
    }
    return half ? wk_to_dtype_at(no_site, sum, dtype) : sum;
}

static bool check_list(wk_site site, const wk_tensors *list, const char *call)
{
    return check_not_empty(site, list, call) && check_same_shape(site, wk__tensor_list_of(list), call);
}

wk_tensors *wk_devices_all_reduce_at(wk_site site, const wk_tensors *list)
{
    wk__call_scope c;
    if (!check_list(site, list, "devices_all_reduce") ||
        !wk__call_begin(&c, WK__FRAME_CALL, "devices_all_reduce", site, WK__GRAD_KEPT))
        return NULL;
    const wk__tensor_list *of = wk__tensor_list_of(list);
    wk_tensors *out = wk_tensors_new_at(site);
    wk_tensor *sum = out ? sum_of(of) : NULL;
    bool fine = sum != NULL;
    for (int64_t k = 0; k < of->count && fine; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)k);
        wk_tensor *there = wk_to_at(no_site, sum, wk__body_of(of->item[k].tensor)->storage->device->id);
        fine = there && wk__tensor_list_append(site, wk__tensor_list_of(out), name, there);
    }
    if (fine) wk__flush(wk__context());
    if (fine) wk__handle_keep(&out->handle, site);
    wk__call_end(&c, NULL, 0);
    return fine ? out : NULL;
}

/* Checks all tensors before the first is written, so that all of them change or none. */
static bool check_writable(wk_site site, const wk__tensor_list *list)
{
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *x = list->item[k].tensor;
        const bool wanted = wk__requires_grad(x), overlaps = wk__body_overlaps(wk__body_of(x));
        if (!wanted && !overlaps) continue;
        wk__error_set(site, WK_ERR_STATE,
                      wanted ? "devices_all_reduce_: tensor %d of the list requires grad; use wk_devices_all_reduce, "
                               "or reduce its gradient wk_grad_of(x) in place"
                             : "devices_all_reduce_: elements of tensor %d of the list share memory; wk_clone it first",
                      (int)k);
        return false;
    }
    return true;
}

wk_tensors *wk_devices_all_reduce__at(wk_site site, wk_tensors *list)
{
    wk__call_scope c;
    if (!check_list(site, list, "devices_all_reduce_") || !check_writable(site, wk__tensor_list_of(list)) ||
        !wk__call_begin(&c, WK__FRAME_CALL, "devices_all_reduce_", site, WK__GRAD_OFF))
        return NULL;
    const wk__tensor_list *of = wk__tensor_list_of(list);
    wk_tensor *sum = sum_of(of);
    bool fine = sum != NULL;
    for (int64_t k = 0; k < of->count && fine; k++) fine = wk_copy__at(no_site, of->item[k].tensor, sum) != NULL;
    if (fine) wk__flush(wk__context());
    wk__call_end(&c, NULL, 0);
    return fine ? list : NULL;
}

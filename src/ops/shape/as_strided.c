/* SPDX-License-Identifier: Apache-2.0 */
/* as_strided: any geometry over a storage; and CopySlices, the node of a base that was written in place through a
 * view. */
#include "base/alloc.h"
#include "ops/core/entries.h"
#include <string.h>

wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride, int ndim,
                            int64_t offset)
{
    if (!wk__check_input(&wk__op_as_strided, site, x) ||
        !wk__array_check(shape, ndim, site, "as_strided", "the shape") ||
        !wk__array_check(stride, ndim, site, "as_strided", "the list of strides"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t last = 0, step, bytes, start = 0;
    bool fits = ndim >= 0 && ndim <= WK__MAX_DIMS && offset >= 0 && wk__add_size(body->offset, offset, &start);
    bool empty = false;
    for (int d = 0; d < ndim && fits; d++) {
        fits = shape[d] >= 0 && stride[d] >= 0 && wk__mul_size(shape[d] > 0 ? shape[d] - 1 : 0, stride[d], &step) &&
               wk__add_size(last, step, &last);
        empty = empty || shape[d] == 0;
    }
    fits = fits && wk__dense_bytes(ndim, shape, body->dtype, &bytes);
    int64_t room = body->storage->bytes / (int64_t)wk_dtype_size(body->dtype) - start;
    if (!fits || (!empty && last >= room)) {
        wk__op_error(&wk__op_as_strided, site, WK_ERR_SHAPE, &x,
                     "shape, strides and offset exceed the storage of $a, or a size or stride is negative");
        return NULL;
    }
    wk__attr attr =
        wk__strided_attr((wk__strided_attributes){.offset = start, .ndim = ndim, .base_offset = body->offset});
    for (int d = 0; d < ndim; d++) { /* lists of length 0 may be NULL */
        attr.list[d] = stride[d];
        attr.list2[d] = shape[d];
    }
    memcpy(attr.list3, body->stride, sizeof attr.list3);
    return wk__make_view(&wk__op_as_strided, site, x, start, ndim, shape, stride, &attr);
}

/* Extent of the view, without dimensions of stride 0, which repeat the same element. */
typedef struct view_extent {
    int ndim;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], offset;
} view_extent;

/* Returns the offset of each element of the view in the base's memory, as one vector. */
static wk_tensor *storage_offsets(const view_extent *view, wk_device device)
{
    const wk_site here = {0};
    const wk_tensor_options whole = {.size = sizeof whole, .dtype = WK_I64, .device = device};
    wk_tensor *sum = wk_add(wk_arange_i64_at(here, 1, &whole), view->offset);
    for (int d = 0; d < view->ndim; d++) {
        int64_t along[WK__MAX_DIMS];
        for (int e = 0; e < view->ndim; e++) along[e] = e == d ? view->shape[d] : 1;
        wk_tensor *step = wk_mul(wk_arange_i64_at(here, view->shape[d], &whole), view->stride[d]);
        sum = wk_add(sum, wk_reshape_at(here, step, along, view->ndim));
    }
    return wk_reshape_at(here, sum, (const int64_t[]){-1}, 1);
}

/* Gradient: zeros with the base's strides, with the gradient written where the view was, or added where several
 * elements of the view shared one element of the base. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__attr *lists = g->attr;
    const wk__strided_attributes a = wk__strided_attributes_of(g->attr);
    const wk__tensor_meta *base = &g->node->shape[0];
    wk_tensor *grad = g->out[0];
    int64_t dims[WK__MAX_DIMS];
    view_extent view = {.offset = a.offset - a.base_offset};
    int repeated = 0;
    for (int d = 0; d < a.ndim; d++) {
        if (lists->list[d] == 0 && lists->list2[d] > 1) {
            dims[repeated++] = d;
        } else {
            view.shape[view.ndim] = lists->list2[d];
            view.stride[view.ndim++] = lists->list[d];
        }
    }
    if (repeated) grad = wk_sum_at(here, grad, dims, repeated, NULL);
    wk__tensor_meta extent;
    if (!grad) return;
    wk__base_extent(base, lists->list3, &extent);
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    wk_tensor *all = wk_zeros_at(here, extent.size, extent.ndim, &like);
    wk_tensor *part = wk_as_strided_at(here, all, view.shape, view.stride, view.ndim, view.offset);
    if (!part) return;
    if (wk__body_overlaps(wk__body_of(part)))
        all = wk_index_add_at(here, all, 0, storage_offsets(&view, like.device),
                              wk_reshape_at(here, grad, (const int64_t[]){-1}, 1));
    else if (!wk_copy__at(here, part, grad))
        return;
    /* viewed as the base only after the copy, so that the view includes the copy's node */
    g->in[0] = wk_as_strided_at(here, all, base->size, lists->list3, base->ndim, 0);
}

const wk__op wk__op_as_strided = {
    .gradient = gradient,
    WK__SIGNATURE_as_strided,
};

const wk__op wk__op_copy_slices = {
    .name = "copy_slices", .grad_fn_name = "CopySlices", .gradient = wk__copy_slices_gradient};

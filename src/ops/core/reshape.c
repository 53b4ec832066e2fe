/* SPDX-License-Identifier: Apache-2.0 */
/* Views: a storage with another geometry. wk__make_view, with which every view op ends, and the general views
 * as_strided, expand and reshape; reshape copies if no view is possible. */
#include "base/leaks.h"
#include "entries.h"
#include "view_geometry.h"
#include <string.h>

wk_tensor *wk__make_view(const wk__op *op, wk_site site, wk_tensor *x, int64_t offset, int ndim, const int64_t *shape,
                         const int64_t *stride, const wk__attr *attr)
{
    int64_t bytes; /* sizes beside a 0 must not overflow either: strides are computed from them */
    if (!wk__dense_bytes(ndim, shape, wk__body_of(x)->dtype, &bytes)) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "the view of $a exceeds 2^63 bytes");
        return NULL;
    }
    wk_context *context = wk__context();
    wk_tensor *view = wk__tensor_view(context, x, offset, ndim, shape, stride);
    if (!view) return NULL;
    if (!view->handle.scope) wk__leaks_set_site(&view->handle, site);
    if (op->grad_fn_name && wk__needs_grad_fn(context, &x, 1) && !wk__node_attach(op, site, &x, 1, &view, 1, attr))
        return NULL;
    return view;
}

bool wk__check_input(const wk__op *op, wk_site site, wk_tensor *x)
{
    wk_context *context = wk__context();
    if (context->posted_failure) wk__report_posted_failure(context);
    return wk__check_tensor(x, site, op->name, "input");
}

/* ---- expand ------------------------------------------------------------------------------------------------------ */

wk_tensor *wk_expand_at(wk_site site, wk_tensor *x, const int64_t *sizes, int ndim)
{
    if (!wk__check_input(&wk__op_expand, site, x) || !wk__array_check(sizes, ndim, site, "expand", "the shape"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], bytes;
    const int lead = ndim - body->ndim;
    const char *problem = ndim > WK__MAX_DIMS ? "a tensor has at most 8 dimensions"
                          : lead < 0          ? "it has more dimensions than the new shape"
                                              : NULL;
    for (int d = 0; d < ndim && !problem; d++) {
        int64_t have = d < lead ? 1 : body->shape[d - lead];
        shape[d] = sizes[d] == -1 && d >= lead ? have : sizes[d];
        stride[d] = d < lead || (have == 1 && shape[d] != 1) ? 0 : body->stride[d - lead];
        problem = sizes[d] < -1                   ? "sizes must be at least 0, or -1 to keep one"
                  : shape[d] < 0                  ? "-1 is not allowed for a new leading dimension"
                  : have != 1 && have != shape[d] ? "only dimensions of size 1 and new leading dimensions expand"
                                                  : NULL;
    }
    if (!problem && !wk__dense_bytes(ndim, shape, body->dtype, &bytes)) problem = "the result exceeds 2^63 bytes";
    if (!problem) return wk__make_view(&wk__op_expand, site, x, body->offset, ndim, shape, stride, NULL);
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__text text = {0};
    wk__text_shape(&text, ndim, sizes);
    wk__op_error(&wk__op_expand, site, WK_ERR_SHAPE, &x, "$a does not expand to %s: %s", text.data ? text.data : "",
                 problem);
    wk__text_free(&text);
    wk__frame_end(context, before);
    return NULL;
}

static void expand_gradient(wk__grad_ctx *g)
{
    g->in[0] = g->out[0]; /* the engine sums it to the operand's shape */
}

const wk__op wk__op_expand = {
    .gradient = expand_gradient,
    WK__SIGNATURE_expand,
};

/* ---- reshape ----------------------------------------------------------------------------------------------------- */

/* Computes strides for `shape` over the same elements; returns false if a new dimension would cross a gap. Splits the
 * old dimensions into contiguous runs, from the right, and distributes each run over the new dimensions. */
static bool view_strides(const wk__body *body, int ndim, const int64_t *shape, int64_t *stride)
{
    int old = body->ndim - 1, place = ndim - 1;
    while (old >= 0) {
        int64_t run = body->shape[old], step = body->stride[old];
        while (old > 0 && (body->shape[old - 1] == 1 || run == 1 || body->stride[old - 1] == run * step)) {
            if (run == 1) step = body->stride[old - 1];
            run *= body->shape[--old];
        }
        for (; place >= 0 && (run > 1 || shape[place] == 1); place--) {
            if (run % shape[place] != 0) return false;
            stride[place] = step;
            step *= shape[place];
            run /= shape[place];
        }
        if (run != 1) return false;
        old--;
    }
    for (; place >= 0; place--) stride[place] = 1;
    return true;
}

wk_tensor *wk_reshape_at(wk_site site, wk_tensor *x, const int64_t *sizes, int ndim)
{
    const wk__op *op = &wk__op_reshape;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    if (!wk__check_input(op, site, x) || !wk__array_check(sizes, ndim, site, op->name, "the shape")) return NULL;
    if (!wk__infer_shape(op, site, x, -1, sizes, ndim, shape)) return NULL;
    const wk__body *body = wk__body_of(x);
    bool empty = wk__body_numel(body) == 0;
    if (!empty && view_strides(body, ndim, shape, stride))
        return wk__make_view(op, site, x, body->offset, ndim, shape, stride, NULL);
    wk__strides_dense(ndim, shape, stride);
    if (empty) return wk__make_view(op, site, x, body->offset, ndim, shape, stride, NULL);
    wk_tensor *copy = wk_clone_at(site, x);
    wk_tensor *out = copy ? wk__make_view(op, site, copy, 0, ndim, shape, stride, NULL) : NULL;
    if (out) wk__tensor_promote_to_base(out);          /* PyTorch: a reshape that copies returns no view */
    if (copy) wk__handle_release(&copy->handle, site); /* the view references its storage */
    return out;
}

static void reshape_gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    g->in[0] = wk_reshape_at((wk_site){0}, g->out[0], from->size, from->ndim);
}

const wk__op wk__op_reshape = {
    .gradient = reshape_gradient,
    WK__SIGNATURE_reshape,
};

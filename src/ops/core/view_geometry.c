/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry of views (view_geometry.h). */
#include "view_geometry.h"
#include "base/alloc.h"
#include <string.h>

void wk__geometry_of(const wk__body *body, wk__geometry *g)
{
    g->ndim = body->ndim;
    g->offset = body->offset;
    memcpy(g->shape, body->shape, sizeof g->shape);
    memcpy(g->stride, body->stride, sizeof g->stride);
}

void wk__geometry_drop(wk__geometry *g, int d)
{
    for (g->ndim--; d < g->ndim; d++) {
        g->shape[d] = g->shape[d + 1];
        g->stride[d] = g->stride[d + 1];
    }
}

bool wk__geometry_insert(const wk__op *op, wk_site site, wk_tensor *x, wk__geometry *g, int d, int64_t size,
                         int64_t stride)
{
    if (g->ndim == WK__MAX_DIMS) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "the result would have more than %d dimensions: $a", WK__MAX_DIMS);
        return false;
    }
    for (int e = g->ndim++; e > d; e--) {
        g->shape[e] = g->shape[e - 1];
        g->stride[e] = g->stride[e - 1];
    }
    g->shape[d] = size;
    g->stride[d] = stride;
    return true;
}

wk_tensor *wk__make_view_geometry(const wk__op *op, wk_site site, wk_tensor *x, const wk__geometry *g,
                                  const wk__attr *attr)
{
    return wk__make_view(op, site, x, g->offset, g->ndim, g->shape, g->stride, attr);
}

bool wk__resolve_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int more, int *d)
{
    if (wk__wrap_dim(wk__body_of(x)->ndim + more, dim, d)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, &x, "dimension %lld is out of range for $a (%d dimensions)", (long long)dim,
                 wk__body_of(x)->ndim);
    return false;
}

bool wk__infer_shape(const wk__op *op, wk_site site, wk_tensor *x, int d, const int64_t *sizes, int count,
                     int64_t *shape)
{
    const wk__body *body = wk__body_of(x);
    const int64_t total = d < 0 ? wk__body_numel(body) : d < body->ndim ? body->shape[d] : 1;
    const char *problem = d >= 0 && body->ndim == 0                             ? "it has no dimensions"
                          : d >= 0 && count == 0                                ? "expected at least one size"
                          : count + (d < 0 ? 0 : body->ndim - 1) > WK__MAX_DIMS ? "a tensor has at most 8 dimensions"
                                                                                : NULL;
    int64_t known = 1, beside = 1; /* product of the sizes; product of the nonzero ones, from which strides are
                                    * computed */
    int open = -1;
    for (int k = 0; k < count && !problem; k++) {
        shape[k] = sizes[k];
        if (sizes[k] == -1 && open < 0)
            open = k;
        else if (sizes[k] < 0)
            problem = sizes[k] == -1 ? "at most one size may be -1" : "sizes must be at least 0, or -1 to infer one";
        else if (!wk__mul_size(known, sizes[k], &known) || (sizes[k] && !wk__mul_size(beside, sizes[k], &beside)))
            problem = "the product of the sizes exceeds 2^63";
    }
    if (!problem && open >= 0 && known == 0) problem = "-1 is ambiguous beside a size of 0; give the size";
    if (!problem && (open < 0 ? known == total : total % known == 0)) {
        if (open >= 0) shape[open] = total / known;
        return true;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__text text = {0};
    if (d >= 0)
        wk__text_format(&text, "cannot unflatten dimension %d of $a into ", d);
    else
        wk__text_add(&text, "cannot reshape $a to ");
    wk__text_shape(&text, count, sizes);
    wk__text_add(&text, ": ");
    if (problem)
        wk__text_add(&text, problem);
    else
        wk__text_format(&text, "%s %lld is not %s %lld", d < 0 ? "element count" : "size", (long long)total,
                        open < 0 ? "equal to" : "a multiple of", (long long)known);
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "%s", text.data ? text.data : "");
    wk__text_free(&text);
    wk__frame_end(context, before);
    return false;
}

void wk__reshape_gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    g->in[0] = wk_reshape_at((wk_site){0}, g->out[0], from->size, from->ndim);
}

wk_tensor *wk__zeros_like_operand(const wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    wk_tensor *grad = g->out[0];
    for (int k = 1; k < g->node->outputs && !grad; k++) grad = g->out[k];
    wk_tensor_options options = {.size = sizeof options, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    return wk_zeros_at((wk_site){0}, from->size, from->ndim, &options);
}

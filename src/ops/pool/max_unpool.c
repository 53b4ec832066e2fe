/* SPDX-License-Identifier: Apache-2.0 */
/* max_unpool1d to 3d: writes each element to its index in a plane of zeros. */
#include "windows.h"
#include "base/alloc.h"
#include "base/integers.h"
#include <string.h>

/* Computes the spatial sizes of the result: those of .output_size, or those that the pooling had at least. */
static bool result_sizes(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes kernel,
                         const wk_max_unpool_options *o)
{
    const wk__sizes_rule of_output = {.name = "output_size", .usual = 0, .least = 0};
    int64_t given[WK__MAX_SIZES];
    if (!wk__windows_take_shape(w, op, site, x, dims) ||
        !wk__sizes_read(site, op->name, &wk__kernel_rule, kernel, dims, w->kernel) ||
        !wk__sizes_read(site, op->name, &wk__stride_rule, o->stride ? o->stride : kernel, dims, w->stride) ||
        !wk__sizes_read(site, op->name, &wk__padding_rule, o->padding, dims, w->padding) ||
        !wk__sizes_read(site, op->name, &of_output, o->output_size, dims, given))
        return false;
    for (int k = 0; k < dims; k++) {
        int64_t usual, least, most;
        if (!wk__mul_size(w->size[k] - 1, w->stride[k], &usual) ||
            __builtin_add_overflow(usual, w->kernel[k] - 2 * w->padding[k], &usual) ||
            __builtin_add_overflow(usual, w->stride[k] - 1, &most))
            most = usual = -1;
        least = usual - (w->stride[k] - 1);
        w->out[k] = o->output_size ? given[k] : usual;
        if (w->out[k] >= 1 && w->out[k] >= least && w->out[k] <= most) continue;
        wk__op_error(op, site, WK_ERR_SHAPE, &x,
                     "size %lld of the result in dimension %d is not in [%lld, %lld] for $a", (long long)w->out[k],
                     w->first + k, (long long)wk__max_i64(least, 1), (long long)most);
        return false;
    }
    return true;
}

/* x and the indices have one shape. */
static wk_tensor *unpool(const wk__windows *w, wk_tensor *x, wk_tensor *indices)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(x), .device = wk_device_of(x)};
    int64_t shape[WK__MAX_DIMS], plane[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(x)->shape, sizeof shape);
    memcpy(shape + w->first, w->out, sizeof *shape * (size_t)w->dims);
    memcpy(plane, shape, sizeof plane);
    plane[w->first] = wk__numel(w->dims, w->out);
    wk_tensor *zeros = wk_zeros_at(w->site, plane, w->first + 1, &like);
    wk_tensor *out = wk_scatter_at(w->site, zeros, w->first, wk_flatten_at(w->site, indices, w->first, -1),
                                   wk_flatten_at(w->site, x, w->first, -1));
    return wk_reshape_at(w->site, out, shape, w->first + w->dims);
}

static wk_tensor *max_unpool(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *indices, int dims,
                             wk_sizes kernel, const wk_max_unpool_options *options)
{
    wk_max_unpool_options o;
    wk__windows w;
    wk__compose c;
    wk_tensor *in[2] = {x, indices}, *out = NULL;
    if (!wk__options(site, op->name, options, &o) || !wk__compose_begin(&c, op, site, in, 2)) return NULL;
    if (!wk__same_sizes(wk__body_of(x), wk__body_of(indices)))
        wk__op_error(op, site, WK_ERR_SHAPE, in, "$a and the indices $b must have the same shape");
    else if (wk__body_of(indices)->dtype != WK_I64)
        wk__op_error(op, site, WK_ERR_DTYPE, in, "the indices $b must be i64; convert them with wk_to_dtype");
    else if (result_sizes(&w, op, site, x, dims, kernel, &o) && wk__check_result_fits(op, site, x, w.out, w.dims))
        out = unpool(&w, x, indices);
    return wk__compose_end(&c, out, NULL);
}

wk_tensor *wk_max_unpool1d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                              const wk_max_unpool_options *options)
{
    return max_unpool(&wk__op_max_unpool1d, site, x, indices, 1, kernel, options);
}
wk_tensor *wk_max_unpool2d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                              const wk_max_unpool_options *options)
{
    return max_unpool(&wk__op_max_unpool2d, site, x, indices, 2, kernel, options);
}
wk_tensor *wk_max_unpool3d_at(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                              const wk_max_unpool_options *options)
{
    return max_unpool(&wk__op_max_unpool3d, site, x, indices, 3, kernel, options);
}

/* Takes the gradient at the indices; elements with one index all get it, as in PyTorch. */
static wk_tensor *gather_gradient(wk__grad_ctx *g, int dims)
{
    const wk_site here = {0};
    const wk__tensor_meta *x = &g->node->shape[0];
    const int64_t first = x->ndim - dims;
    wk_tensor *index = wk_flatten_at(here, wk__saved(g, 1), first, -1);
    wk_tensor *grad = wk_gather_at(here, wk_flatten_at(here, g->out[0], first, -1), first, index);
    return wk_reshape_at(here, grad, x->size, x->ndim);
}

static void gradient1d(wk__grad_ctx *g)
{
    g->in[0] = gather_gradient(g, 1);
}
static void gradient2d(wk__grad_ctx *g)
{
    g->in[0] = gather_gradient(g, 2);
}
static void gradient3d(wk__grad_ctx *g)
{
    g->in[0] = gather_gradient(g, 3);
}

const wk__op wk__op_max_unpool1d = {.gradient = gradient1d, .saves = {WK__SAVE_1}, WK__SIGNATURE_max_unpool1d};
const wk__op wk__op_max_unpool2d = {.gradient = gradient2d, .saves = {WK__SAVE_1}, WK__SIGNATURE_max_unpool2d};
const wk__op wk__op_max_unpool3d = {.gradient = gradient3d, .saves = {WK__SAVE_1}, WK__SIGNATURE_max_unpool3d};

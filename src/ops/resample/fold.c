/* SPDX-License-Identifier: Apache-2.0 */
/* im2col, col2im: windows of images as columns, one copy of a strided view; and the sum of columns in an image, tap by
 * tap. Each is the gradient of the other. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include <string.h>

enum { DIMS = 2 };

/* The windows of a call: sizes of the image and number of windows in each dimension. */
typedef struct columns {
    wk_site site;
    int64_t size[DIMS], kernel[DIMS], dilation[DIMS], padding[DIMS], stride[DIMS], count[DIMS];
} columns;

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool read_sizes(columns *w, const wk__op *op, wk_site site, wk_sizes kernel, wk_sizes dilation, wk_sizes padding,
                       wk_sizes stride)
{
    w->site = site;
    return wk__sizes_read(site, op->name, &wk__kernel_rule, kernel, DIMS, w->kernel) &&
           wk__sizes_read(site, op->name, &wk__dilation_rule, dilation, DIMS, w->dilation) &&
           wk__sizes_read(site, op->name, &wk__padding_rule, padding, DIMS, w->padding) &&
           wk__sizes_read(site, op->name, &wk__stride_rule, stride, DIMS, w->stride);
}

/* Computes the number of windows; size[] is set. */
static bool count_windows(columns *w, const wk__op *op, wk_tensor *x)
{
    for (int d = 0; d < DIMS; d++) {
        int64_t reach, padded;
        if (!wk__mul_size(w->kernel[d] - 1, w->dilation[d], &reach) || w->padding[d] > INT64_MAX / 4 ||
            __builtin_add_overflow(w->size[d], 2 * w->padding[d], &padded) || reach >= padded) {
            wk__op_error(op, w->site, WK_ERR_SHAPE, &x,
                         "the kernel (%lld) is larger than the padded size of spatial dimension %d: $a",
                         (long long)w->kernel[d], d);
            return false;
        }
        w->count[d] = (padded - reach - 1) / w->stride[d] + 1;
        if (w->kernel[d] == 1) w->dilation[d] = 1; /* one tap, or one window: the step is never taken, */
        if (w->count[d] == 1) w->stride[d] = 1;    /* and could overflow */
    }
    return true;
}

/* Returns x with a first dimension for the samples if it has none. */
static wk_tensor *with_samples(wk_site site, wk_tensor *x, int ndim)
{
    return wk__body_of(x)->ndim == ndim ? x : wk_unsqueeze_at(site, x, 0);
}

static wk_tensor *without_samples(wk_site site, wk_tensor *y, bool batched)
{
    return batched ? y : wk_squeeze_at(site, y, (const int64_t[]){0}, 1);
}

static bool check_ndim(const wk__op *op, wk_site site, wk_tensor *x, int ndim, const char *what)
{
    const int given = wk__body_of(x)->ndim;
    if (given == ndim || given == ndim - 1) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "expected %d dimensions (%s), or %d for one sample, got $a%s", ndim, what,
                 ndim - 1, wk__unsqueeze_hint(given, ndim - 1));
    return false;
}

static wk__attr attributes(const columns *w)
{
    wk__attr attr = {.count = 0};
    memcpy(attr.list, w->kernel, sizeof w->kernel);
    memcpy(attr.list + DIMS, w->dilation, sizeof w->dilation);
    memcpy(attr.list2, w->padding, sizeof w->padding);
    memcpy(attr.list2 + DIMS, w->stride, sizeof w->stride);
    memcpy(attr.list3, w->size, sizeof w->size);
    return attr;
}

/* ---- im2col ------------------------------------------------------------------------------------------------------ */

/* x (N, C, H, W) -> (N, C kernel, windows) */
static wk_tensor *take_columns(const columns *w, wk_tensor *x)
{
    const int64_t ph = w->padding[0], pw = w->padding[1];
    wk_tensor *wide = ph || pw ? wk_pad_at(w->site, x, (const int64_t[]){pw, pw, ph, ph}, 4, NULL) : x;
    if (!wide) return NULL;
    const wk__body *b = wk__body_of(wide);
    const int64_t shape[] = {b->shape[0], b->shape[1], w->kernel[0], w->kernel[1], w->count[0], w->count[1]};
    const int64_t stride[] = {b->stride[0],
                              b->stride[1],
                              b->stride[2] * w->dilation[0],
                              b->stride[3] * w->dilation[1],
                              b->stride[2] * w->stride[0],
                              b->stride[3] * w->stride[1]};
    wk_tensor *view = wk__tensor_view(wk__context(), wide, b->offset, 6, shape, stride);
    const int64_t rows = shape[1] * shape[2] * shape[3];
    return view ? wk_reshape_at(w->site, view, (const int64_t[]){shape[0], rows, shape[4] * shape[5]}, 3) : NULL;
}

/* Takes the columns; of `w` all but the sizes of x and the number of windows is set. */
static wk_tensor *call_im2col(wk_site site, wk_tensor *x, columns *w)
{
    const wk__op *op = &wk__op_im2col;
    wk__compose c;
    wk_tensor *out = NULL;
    wk__attr attr = {.count = 0};
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    memcpy(w->size, body->shape + body->ndim - DIMS, sizeof w->size);
    if (count_windows(w, op, x)) {
        attr = attributes(w);
        out = without_samples(site, take_columns(w, with_samples(site, x, 4)), body->ndim == 4);
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_im2col_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_im2col_options *options)
{
    const wk__op *op = &wk__op_im2col;
    wk_im2col_options o;
    columns w;
    if (!wk__options(site, op->name, options, &o) || !wk__check_input(op, site, x) ||
        !check_ndim(op, site, x, 4, "samples, channels, two spatial") ||
        !read_sizes(&w, op, site, kernel, o.dilation, o.padding, o.stride))
        return NULL;
    return call_im2col(site, x, &w);
}

/* ---- col2im ------------------------------------------------------------------------------------------------------ */

/* x (N, C kernel, windows) -> (N, C, H, W) */
static wk_tensor *add_columns(const columns *w, wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    const int64_t n = body->shape[0], channels = body->shape[1] / (w->kernel[0] * w->kernel[1]);
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(x), .device = wk_device_of(x)};
    const int64_t shape[] = {n, channels, w->size[0] + 2 * w->padding[0], w->size[1] + 2 * w->padding[1]};
    wk_tensor *sum = wk_zeros_at(w->site, shape, 4, &like);
    wk_tensor *taps = wk_reshape_at(
        w->site, x, (const int64_t[]){n, channels, w->kernel[0], w->kernel[1], w->count[0], w->count[1]}, 6);
    for (int64_t i = 0; i < w->kernel[0] && sum && taps; i++)
        for (int64_t j = 0; j < w->kernel[1]; j++) {
            const int64_t at[DIMS] = {i * w->dilation[0], j * w->dilation[1]};
            wk_tensor *part = sum;
            for (int d = 0; d < DIMS; d++)
                part = wk_slice_at(w->site, part, 2 + d, at[d], at[d] + (w->count[d] - 1) * w->stride[d] + 1,
                                   w->stride[d]);
            if (!part || !wk_add_(part, wk_select_at(w->site, wk_select_at(w->site, taps, 2, i), 2, j))) return NULL;
        }
    for (int d = 0; d < DIMS && sum; d++)
        if (w->padding[d]) sum = wk_narrow_at(w->site, sum, 2 + d, w->padding[d], w->size[d]);
    return sum;
}

static bool check_columns(const columns *w, const wk__op *op, wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    const int64_t rows = body->shape[body->ndim - 2], windows = body->shape[body->ndim - 1];
    int64_t taps, count;
    if (wk__mul_size(w->kernel[0], w->kernel[1], &taps) && rows > 0 && rows % taps == 0 &&
        wk__mul_size(w->count[0], w->count[1], &count) && count == windows)
        return true;
    wk__op_error(op, w->site, WK_ERR_SHAPE, &x,
                 "expected a multiple of %lld x %lld rows and %lld x %lld columns, got $a", (long long)w->kernel[0],
                 (long long)w->kernel[1], (long long)w->count[0], (long long)w->count[1]);
    return false;
}

/* Adds the columns; of `w` all but the number of windows is set. */
static wk_tensor *call_col2im(wk_site site, wk_tensor *x, columns *w)
{
    const wk__op *op = &wk__op_col2im;
    wk__compose c;
    wk_tensor *out = NULL;
    wk__attr attr = {.count = 0};
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const int ndim = wk__body_of(x)->ndim;
    if (count_windows(w, op, x) && check_columns(w, op, x)) {
        attr = attributes(w);
        wk_tensor *wide = wk__to_opmath(x), *sum = wide ? add_columns(w, with_samples(site, wide, 3)) : NULL;
        sum = without_samples(site, sum, ndim == 3);
        out = sum ? wk_to_dtype_at(site, sum, wk_dtype_of(x)) : NULL;
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_col2im_at(wk_site site, wk_tensor *x, wk_sizes size, wk_sizes kernel, const wk_im2col_options *options)
{
    const wk__op *op = &wk__op_col2im;
    const wk__sizes_rule of_size = {.name = "output size", .least = 1, .is_kernel = true};
    wk_im2col_options o;
    columns w;
    if (!wk__options(site, op->name, options, &o) || !wk__check_input(op, site, x)) return NULL;
    if (wk_dtype_of(x) == WK_BOOL) {
        wk__op_error(op, site, WK_ERR_DTYPE, &x, "bool is not supported; convert $a with wk_to_dtype(x, WK_I64)");
        return NULL;
    }
    if (!check_ndim(op, site, x, 3, "samples, rows, columns") ||
        !read_sizes(&w, op, site, kernel, o.dilation, o.padding, o.stride) ||
        !wk__sizes_read(site, op->name, &of_size, size, DIMS, w.size))
        return NULL;
    return call_col2im(site, x, &w);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The windows of the node's call. No wk_sizes, which holds numbers up to 2^29 only. */
static columns windows_of(const wk__attr *attr)
{
    columns w = {.site = {0}};
    memcpy(w.kernel, attr->list, sizeof w.kernel);
    memcpy(w.dilation, attr->list + DIMS, sizeof w.dilation);
    memcpy(w.padding, attr->list2, sizeof w.padding);
    memcpy(w.stride, attr->list2 + DIMS, sizeof w.stride);
    memcpy(w.size, attr->list3, sizeof w.size);
    return w;
}

static void im2col_gradient(wk__grad_ctx *g)
{
    columns w = windows_of(g->attr);
    g->in[0] = call_col2im((wk_site){0}, g->out[0], &w);
}

static void col2im_gradient(wk__grad_ctx *g)
{
    columns w = windows_of(g->attr);
    g->in[0] = call_im2col((wk_site){0}, g->out[0], &w);
}

const wk__op wk__op_im2col = {
    .gradient = im2col_gradient,
    WK__SIGNATURE_im2col,
};
const wk__op wk__op_col2im = {
    .gradient = col2im_gradient,
    WK__SIGNATURE_col2im,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* pad: constant, reflect, replicate, circular.
 *
 * Constant padding fills the result and copies x into it, with the computation of x if that is pending. The other modes
 * read small planes at indices, in one kernel, and join the border parts, which are views of x, to a larger x, one
 * dimension after the other:
 *
 *     x = [a b c], (2, 1)     reflect  c b | a b c | b     replicate  a a | a b c | c     circular  b c | a b c | a
 *
 * The gradient adds the gradients of the border parts to those of the elements that they repeat. */
#include "ops/core/compose.h"
#include "ops/reduce/reduction.h"
#include <string.h>

/* Elements to add before and after one dimension; a negative number crops. */
typedef struct padding {
    int64_t before, after;
} padding;

static int64_t added(int64_t n)
{
    return n > 0 ? n : 0;
}

static int64_t cropped(int64_t n)
{
    return n < 0 ? -n : 0;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Distributes the list over the dimensions of x, the last one first. */
static bool read_list(wk_site site, wk_tensor *x, const int64_t *pad, int count, padding by[WK__MAX_DIMS])
{
    const int ndim = wk__body_of(x)->ndim;
    memset(by, 0, sizeof *by * WK__MAX_DIMS);
    if (count % 2 || count > 2 * ndim) {
        wk__op_error(&wk__op_pad, site, WK_ERR_ARGUMENT, &x,
                     "expected two numbers for each padded dimension of $a (at most %d), got %d", 2 * ndim, count);
        return false;
    }
    for (int k = 0; k < count / 2; k++) by[ndim - 1 - k] = (padding){pad[2 * k], pad[2 * k + 1]};
    return true;
}

/* Returns the largest number of elements that a mode can add at one side of a dimension of size n, from which `crop`
 * elements are cropped. */
static int64_t most_added(int mode, int64_t n, int64_t crop)
{
    return mode == WK_PAD_REFLECT ? n - 1 : mode == WK_PAD_CIRCULAR ? n - crop : INT64_MAX;
}

/* Checks the padding of dimension d and adds it to the shape of the result. */
static bool check_dim(wk_site site, wk_tensor *x, int mode, int d, padding by, int64_t shape[])
{
    const int64_t n = wk__body_of(x)->shape[d];
    int64_t crop = 0, size = 0;
    const bool negatable = by.before != INT64_MIN && by.after != INT64_MIN;
    if (!negatable || __builtin_add_overflow(cropped(by.before), cropped(by.after), &crop) || crop > n) {
        wk__op_error(&wk__op_pad, site, WK_ERR_SHAPE, &x, "cannot crop dimension %d of $a by %lld and %lld elements", d,
                     (long long)by.before, (long long)by.after);
        return false;
    }
    if (__builtin_add_overflow(n - crop, added(by.before), &size) ||
        __builtin_add_overflow(size, added(by.after), &size)) {
        wk__op_error(&wk__op_pad, site, WK_ERR_SHAPE, &x, "dimension %d of the result exceeds 2^63 elements", d);
        return false;
    }
    shape[d] = size;
    if (mode == WK_PAD_CONSTANT || (by.before == 0 && by.after == 0)) return true;
    const int64_t most = most_added(mode, n, crop), wanted = by.before > by.after ? by.before : by.after;
    if (n - crop > 0 && wanted <= most) return true;
    wk__op_error(&wk__op_pad, site, WK_ERR_SHAPE, &x,
                 "dimension %d of $a is too small for padding (%lld, %lld) in this mode; %s", d, (long long)by.before,
                 (long long)by.after,
                 mode == WK_PAD_REFLECT    ? "reflect adds at most its size - 1"
                 : mode == WK_PAD_CIRCULAR ? "circular adds at most its size"
                                           : "replicate needs at least 1 element");
    return false;
}

static bool check_options(wk_site site, const wk_pad_options *o)
{
    if (o->mode == WK_PAD_CONSTANT || o->value == 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "pad: .value is for WK_PAD_CONSTANT; omit it for other modes");
    return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Returns x, or a view without the elements that a negative padding crops. */
static wk_tensor *crop_dim(wk_site site, wk_tensor *x, int d, padding by)
{
    const int64_t before = cropped(by.before), after = cropped(by.after);
    return x && (before || after) ? wk_narrow_at(site, x, d, before, wk__body_of(x)->shape[d] - before - after) : x;
}

/* Returns the view of out that x fills: without the added elements. */
static wk_tensor *interior(wk_site site, wk_tensor *out, int ndim, const padding by[])
{
    for (int d = 0; d < ndim && out; d++) {
        const int64_t before = added(by[d].before), after = added(by[d].after);
        if (before || after) out = wk_narrow_at(site, out, d, before, wk__body_of(out)->shape[d] - before - after);
    }
    return out;
}

static wk_tensor *pad_constant(wk_site site, wk_tensor *x, const padding by[], const int64_t shape[], double value)
{
    const wk__body *body = wk__body_of(x);
    const int ndim = body->ndim;
    wk_tensor_options like = {.size = sizeof like, .dtype = (wk_dtype)body->dtype, .device = body->storage->device->id};
    bool grows = false;
    for (int d = 0; d < ndim; d++) {
        grows = grows || by[d].before > 0 || by[d].after > 0;
        x = crop_dim(site, x, d, by[d]);
    }
    if (!x || !grows) return x; /* the view is copied at the end of the call */
    wk_tensor *out = wk_full_f64_at(site, shape, ndim, value, &like),
              *part = out ? interior(site, out, ndim, by) : NULL;
    return part && wk_copy__at(site, part, x) ? out : NULL;
}

/* First index in x of the elements that are repeated before and after dimension d of size n. */
static padding border_source(int mode, int64_t n, padding by)
{
    if (mode == WK_PAD_REFLECT) return (padding){1, n - 1 - by.after};
    if (mode == WK_PAD_CIRCULAR) return (padding){n - cropped(by.after) - by.before, cropped(by.before)};
    return (padding){0, n - 1};
}

/* Returns the n border elements of dimension d that come from index `from` of x. */
static wk_tensor *border(wk_site site, wk_tensor *x, int mode, int d, int64_t from, int64_t n)
{
    const int64_t dim = d;
    if (mode != WK_PAD_REPLICATE) {
        wk_tensor *part = wk_narrow_at(site, x, d, from, n);
        return part && mode == WK_PAD_REFLECT ? wk_flip_at(site, part, &dim, 1) : part;
    }
    wk_tensor *edge = wk_narrow_at(site, x, d, from, 1);
    if (!edge) return NULL;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(edge)->shape, sizeof shape);
    shape[d] = n;
    return wk_expand_at(site, edge, shape, wk__body_of(edge)->ndim);
}

static wk_tensor *pad_dim(wk_site site, wk_tensor *x, int mode, int d, padding by)
{
    if (by.before == 0 && by.after == 0) return x;
    const padding from = border_source(mode, wk__body_of(x)->shape[d], by);
    wk_tensor *part[3];
    int parts = 0;
    if (by.before > 0) part[parts++] = border(site, x, mode, d, from.before, by.before);
    part[parts++] = crop_dim(site, x, d, by);
    if (by.after > 0) part[parts++] = border(site, x, mode, d, from.after, by.after);
    for (int k = 0; k < parts; k++)
        if (!part[k]) return NULL;
    return parts == 1 ? part[0] : wk_cat_at(site, part, parts, d);
}

/* Returns the index in dimension d, of size n, of each element of the result along it. */
static wk_tensor *source_index(wk_site site, wk_device device, int mode, int64_t n, padding by)
{
    const wk_tensor_options i64 = {.size = sizeof i64, .dtype = WK_I64, .device = device};
    wk_tensor *at = wk_sub(wk_arange_i64_at(site, n + by.before + by.after, &i64), by.before);
    if (mode == WK_PAD_REPLICATE) return wk_minimum(wk_maximum(at, 0), n - 1);
    if (mode == WK_PAD_REFLECT) return wk_sub(n - 1, wk_abs(wk_sub(n - 1, wk_abs(at))));
    const int64_t first = cropped(by.before), count = n - first - cropped(by.after);
    return wk_add(wk_remainder(wk_sub(at, first), count), first);
}

enum { MOST_INDICES = 1 << 14 /* of a plane: they stay in a cache */ };

/* Pads the dimensions of x from `first` on: reads its planes of these dimensions at indices that all planes share. */
static wk_tensor *pad_planes(wk_site site, wk_tensor *x, int mode, const padding by[], const int64_t out[], int first)
{
    const wk__body *body = wk__body_of(x);
    const int ndim = body->ndim;
    const int64_t all = -1, column[WK__MAX_DIMS] = {-1, 1, 1, 1, 1, 1, 1, 1};
    int64_t stride = 1;
    wk_tensor *index = NULL;
    for (int d = ndim - 1; d >= first; d--) {
        wk_tensor *part = source_index(site, wk_device_of(x), mode, body->shape[d], by[d]);
        part = wk_reshape_at(site, wk_mul(part, stride), column, ndim - d);
        index = index ? wk_add(index, part) : part;
        stride *= body->shape[d];
    }
    wk_tensor *planes = wk_reshape_at(site, x, (const int64_t[]){wk__numel(first, body->shape), stride}, 2);
    wk_tensor *padded = wk_index_select_at(site, planes, 1, wk_reshape_at(site, index, &all, 1));
    return wk_reshape_at(site, padded, out, ndim);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* PyTorch composes circular padding of copies, so its node is that of a copy into a slice. */
static const char *node_name(int mode, int dims)
{
    static const char *const reflect[] = {"ReflectionPad1DBackward0", "ReflectionPad2DBackward0",
                                          "ReflectionPad3DBackward0"},
                             *const replicate[] = {"ReplicationPad1DBackward0", "ReplicationPad2DBackward0",
                                                   "ReplicationPad3DBackward0"};
    const int k = dims < 1 ? 0 : dims > 3 ? 2 : dims - 1;
    return mode == WK_PAD_REFLECT     ? reflect[k]
           : mode == WK_PAD_REPLICATE ? replicate[k]
           : mode == WK_PAD_CIRCULAR  ? "CopySlices"
                                      : NULL;
}

static wk_tensor *compose_pad(wk_site site, wk_tensor *x, const padding by[], const wk_pad_options *o)
{
    const int ndim = wk__body_of(x)->ndim;
    int64_t shape[WK__MAX_DIMS] = {0}, bytes;
    for (int d = 0; d < ndim; d++)
        if (!check_dim(site, x, o->mode, d, by[d], shape)) return NULL;
    if (!wk__dense_bytes(ndim, shape, wk__body_of(x)->dtype, &bytes)) {
        wk__op_error(&wk__op_pad, site, WK_ERR_SHAPE, &x, "the result exceeds 2^63 bytes");
        return NULL;
    }
    if (o->mode == WK_PAD_CONSTANT) return pad_constant(site, x, by, shape, o->value);
    int first = 0;
    while (first < ndim && by[first].before == 0 && by[first].after == 0) first++;
    if (first < ndim && wk__numel(ndim - first, shape + first) <= MOST_INDICES)
        return pad_planes(site, x, o->mode, by, shape, first);
    for (int d = ndim; d-- > 0 && x;) x = pad_dim(site, x, o->mode, d, by[d]);
    return x;
}

wk_tensor *wk_pad_at(wk_site site, wk_tensor *x, const int64_t *pad, int count, const wk_pad_options *options)
{
    wk_pad_options o;
    wk__compose c;
    padding by[WK__MAX_DIMS];
    if (!wk__read_pad_options(site, "pad", options, &o) ||
        !wk__array_check(pad, count, site, "pad", "the list of paddings") || !check_options(site, &o) ||
        !wk__compose_begin(&c, &wk__op_pad, site, &x, 1))
        return NULL;
    if (!read_list(site, x, pad, count, by)) return wk__compose_end(&c, NULL, NULL);
    wk__attr attr = wk__pad_attr((wk__pad_attributes){.mode = o.mode});
    for (int d = 0; d < wk__body_of(x)->ndim; d++) {
        attr.list[d] = by[d].before;
        attr.list2[d] = by[d].after;
    }
    attr.grad_fn_name = node_name(o.mode, count / 2);
    return wk__compose_end(&c, compose_pad(site, x, by, &o), &attr);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Undoes the padding of dimensions first..last: crops grad, and pads it with zeros where x was cropped. */
static wk_tensor *unpad(wk_tensor *grad, const padding by[], int first, int last)
{
    if (!grad) return NULL;
    int64_t list[2 * WK__MAX_DIMS] = {0};
    const int ndim = wk__body_of(grad)->ndim;
    for (int d = first; d <= last; d++) {
        list[2 * (ndim - 1 - d)] = -by[d].before;
        list[2 * (ndim - 1 - d) + 1] = -by[d].after;
    }
    return wk_pad_at((wk_site){0}, grad, list, 2 * (ndim - first), NULL);
}

/* Adds the gradient of n border elements, which begin at index `at` of grad, to those of dimension d of sum that they
 * repeat, from index `from` on. */
static bool add_border(wk_tensor *sum, wk_tensor *grad, int mode, int d, int64_t at, int64_t from, int64_t n)
{
    const wk_site here = {0};
    const int64_t dim = d;
    if (n <= 0) return true;
    wk_tensor *part = wk_narrow_at(here, grad, d, at, n);
    if (mode == WK_PAD_REFLECT) part = wk_flip_at(here, part, &dim, 1);
    if (mode == WK_PAD_REPLICATE) part = wk__sum_keepdim(part, 1 << d);
    wk_tensor *to = wk_narrow_at(here, sum, d, from, mode == WK_PAD_REPLICATE ? 1 : n);
    return part && to && wk_add_(to, part);
}

static wk_tensor *unpad_dim(wk_tensor *grad, int mode, int d, const padding by[], int64_t n)
{
    const padding from = border_source(mode, n, by[d]);
    wk_tensor *sum = unpad(grad, by, d, d);
    const bool fine =
        sum && add_border(sum, grad, mode, d, 0, from.before, by[d].before) &&
        add_border(sum, grad, mode, d, wk__body_of(grad)->shape[d] - added(by[d].after), from.after, by[d].after);
    return fine ? sum : NULL;
}

static void gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *x = &g->node->shape[0];
    const int mode = (int)wk__pad_attributes_of(g->attr).mode;
    padding by[WK__MAX_DIMS];
    wk_tensor *grad = g->out[0];
    for (int d = 0; d < x->ndim; d++) by[d] = (padding){g->attr->list[d], g->attr->list2[d]};
    if (mode == WK_PAD_CONSTANT) {
        g->in[0] = x->ndim ? unpad(grad, by, 0, x->ndim - 1) : grad;
        return;
    }
    for (int d = 0; d < x->ndim && grad; d++)
        if (by[d].before || by[d].after) grad = unpad_dim(grad, mode, d, by, x->size[d]);
    g->in[0] = grad;
}

const wk__op wk__op_pad = {
    .gradient = gradient,
    WK__SIGNATURE_pad,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry of pooling windows (windows.h). */
#include "windows.h"
#include "backend/contraction.h"
#include "base/alloc.h"
#include "base/integers.h"
#include <string.h>

/* ---- arguments --------------------------------------------------------------------------------------------------- */

bool wk__windows_take_shape(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims)
{
    const wk__body *body = wk__body_of(x);
    *w = (wk__windows){.op = op, .site = site, .dims = dims, .first = body->ndim - dims};
    if (!(op->dtypes >> body->dtype & 1)) {
        wk__op_error(op, site, WK_ERR_DTYPE, &x, "dtype %s is not supported; convert $a with wk_to_dtype(x, WK_F32)",
                     wk_dtype_str((wk_dtype)body->dtype));
        return false;
    }
    if (w->first != 1 && w->first != 2) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x,
                     "expected %d dimensions (samples, channels, %d spatial), or %d for one sample, got $a%s", dims + 2,
                     dims, dims + 1, wk__unsqueeze_hint(body->ndim, dims + 1));
        return false;
    }
    for (int d = w->first - 1; d < body->ndim; d++) {
        if (body->shape[d] > 0) continue;
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "dimension %d of $a is empty; only the number of samples may be 0", d);
        return false;
    }
    memcpy(w->size, body->shape + w->first, sizeof *w->size * (size_t)dims);
    return true;
}

/* Returns the valid taps of element i as a run of one. */
static wk__window_run taps_of(const wk__windows *w, int k, int64_t i)
{
    const int64_t start = i * w->stride[k] - w->padding[k]; /* of tap 0 in x */
    const int64_t tap = start < 0 ? wk__ceil_div(-start, w->dilation[k]) : 0;
    const int64_t inside = start < w->size[k] ? (w->size[k] - 1 - start) / w->dilation[k] + 1 : 0;
    const int64_t end = inside < w->kernel[k] ? inside : w->kernel[k];
    return (wk__window_run){i, 1, tap, end > tap ? end - tap : 0};
}

/* Returns true if each window has an element of x: with a dilation greater than the size, one may step over it. */
static bool windows_have_elements(const wk__windows *w, wk_tensor *x, int k)
{
    if (w->dilation[k] <= w->size[k]) return true;
    for (int64_t i = 0; i < w->out[k]; i++) {
        if (taps_of(w, k, i).taps > 0) continue;
        wk__op_error(
            w->op, w->site, WK_ERR_SHAPE, &x,
            "a window with dilation %lld steps over all elements of dimension %d of $a; use a smaller dilation",
            (long long)w->dilation[k], w->first + k);
        return false;
    }
    return true;
}

static bool check_padding(const wk__windows *w, wk_tensor *x, int k)
{
    if (w->padding[k] <= w->kernel[k] / 2) return true;
    wk__op_error(w->op, w->site, WK_ERR_ARGUMENT, &x,
                 "padding must be at most half of the kernel, got %lld for %lld in dimension %d of $a",
                 (long long)w->padding[k], (long long)w->kernel[k], w->first + k);
    return false;
}

/* Computes the size of the result in pooled dimension k. */
static bool count_windows(wk__windows *w, wk_tensor *x, int k, bool ceil_mode)
{
    int64_t reach, padded, last;
    if (!check_padding(w, x, k)) return false;
    /* rounded up, the only window may reach past the padded size by less than a step */
    if (!wk__mul_size(w->kernel[k] - 1, w->dilation[k], &reach) ||
        __builtin_add_overflow(w->size[k], 2 * w->padding[k], &padded) ||
        reach - (ceil_mode ? w->stride[k] - 1 : 0) >= padded) {
        wk__op_error(w->op, w->site, WK_ERR_SHAPE, &x,
                     "the kernel (%lld, dilation %lld) exceeds the padded size (%lld + 2 * %lld) in dimension %d of $a",
                     (long long)w->kernel[k], (long long)w->dilation[k], (long long)w->size[k],
                     (long long)w->padding[k], w->first + k);
        return false;
    }
    const int64_t span = padded - reach - 1;
    w->out[k] = span < 0 ? 1 : span / w->stride[k] + 1;
    if (!ceil_mode || span < 0 || span % w->stride[k] == 0) return true;
    /* a window that begins in the padding after x is dropped */
    const bool begins = wk__mul_size(w->out[k], w->stride[k], &last) && last < w->size[k] + w->padding[k];
    w->out[k] += begins;
    return true;
}

bool wk__windows_read(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims,
                      const wk__window_sizes *sizes)
{
    if (!wk__windows_take_shape(w, op, site, x, dims) ||
        !wk__sizes_read(site, op->name, &wk__kernel_rule, sizes->kernel, dims, w->kernel) ||
        !wk__sizes_read(site, op->name, &wk__stride_rule, sizes->stride ? sizes->stride : sizes->kernel, dims,
                        w->stride) ||
        !wk__sizes_read(site, op->name, &wk__padding_rule, sizes->padding, dims, w->padding) ||
        !wk__sizes_read(site, op->name, &wk__dilation_rule, sizes->dilation, dims, w->dilation))
        return false;
    for (int k = 0; k < dims; k++)
        if (!count_windows(w, x, k, sizes->ceil_mode) || !windows_have_elements(w, x, k)) return false;
    return true;
}

bool wk__windows_read_adaptive(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes out)
{
    const wk__sizes_rule of_out = {.name = "output size", .usual = 0, .least = -1, .is_kernel = true};
    if (!wk__windows_take_shape(w, op, site, x, dims) || !wk__sizes_read(site, op->name, &of_out, out, dims, w->out))
        return false;
    for (int k = 0; k < dims; k++) {
        if (w->out[k] == -1) w->out[k] = w->size[k];
        const int64_t n = w->size[k], m = w->out[k] ? w->out[k] : 1;
        w->dilation[k] = 1;
        w->stride[k] = w->kernel[k] = n / m;
        w->uneven[k] = n % m != 0;
        if (!w->uneven[k]) continue;
        if (!wk__mul_size(n, m, &(int64_t){0})) {
            wk__op_error(op, site, WK_ERR_SHAPE, &x, "output size (%lld) is too large for dimension %d of $a",
                         (long long)m, w->first + k);
            return false;
        }
        w->kernel[k] = n / m + 1 + (n % m > wk__gcd(n, m)); /* of the longest window */
    }
    return wk__check_result_fits(op, site, x, w->out, dims);
}

void wk__windows_to_attr(const wk__windows *w, wk__attr *attr)
{
    const size_t bytes = sizeof(int64_t) * WK__MAX_SIZES;
    int64_t uneven = 0;
    for (int k = 0; k < w->dims; k++) uneven |= (int64_t)w->uneven[k] << k;
    attr->i[3] = uneven;
    memcpy(attr->list, w->size, bytes);
    memcpy(attr->list + WK__MAX_SIZES, w->kernel, bytes);
    memcpy(attr->list2, w->stride, bytes);
    memcpy(attr->list2 + WK__MAX_SIZES, w->padding, bytes);
    memcpy(attr->list3, w->dilation, bytes);
    memcpy(attr->list3 + WK__MAX_SIZES, w->out, bytes);
}

void wk__windows_of_attr(wk__windows *w, const wk__grad_ctx *g)
{
    const size_t bytes = sizeof(int64_t) * WK__MAX_SIZES;
    const int ndim = g->node->shape[0].ndim;
    *w = (wk__windows){.op = g->node->op};
    memcpy(w->size, g->attr->list, bytes);
    memcpy(w->kernel, g->attr->list + WK__MAX_SIZES, bytes);
    memcpy(w->stride, g->attr->list2, bytes);
    memcpy(w->padding, g->attr->list2 + WK__MAX_SIZES, bytes);
    memcpy(w->dilation, g->attr->list3, bytes);
    memcpy(w->out, g->attr->list3 + WK__MAX_SIZES, bytes);
    while (w->dims < WK__MAX_SIZES && w->size[w->dims] > 0) w->dims++;
    w->first = ndim - w->dims;
    for (int k = 0; k < w->dims; k++) w->uneven[k] = g->attr->i[3] >> k & 1;
}

bool wk__windows_empty(const wk__windows *w, wk_tensor *x)
{
    for (int k = 0; k < w->dims; k++)
        if (w->out[k] == 0) return true;
    return wk__body_numel(wk__body_of(x)) == 0;
}

wk_tensor *wk__windows_empty_result(const wk__windows *w, wk_tensor *x, wk_dtype dtype)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = dtype, .device = wk_device_of(x)};
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(x)->shape, sizeof shape);
    memcpy(shape + w->first, w->out, sizeof *shape * (size_t)w->dims);
    return wk_empty_at(w->site, shape, w->first + w->dims, &like);
}

/* ---- runs and taps ----------------------------------------------------------------------------------------------- */

bool wk__window_run_at(const wk__windows *w, int k, int64_t first, wk__window_run *run)
{
    if (first >= w->out[k]) return false;
    if (w->uneven[k]) {
        *run = (wk__window_run){first, w->out[k] - first, 0, w->kernel[k]};
        return true;
    }
    *run = taps_of(w, k, first);
    if (run->taps == w->kernel[k]) { /* all windows inside of x */
        const int64_t room = w->size[k] - 1 - (w->kernel[k] - 1) * w->dilation[k] + w->padding[k];
        run->count = wk__min_i64(room / w->stride[k], w->out[k] - 1) - first + 1;
        return true;
    }
    for (int64_t i = first + 1; i < w->out[k]; i++, run->count++) {
        const wk__window_run next = taps_of(w, k, i);
        if (next.tap != run->tap || next.taps != run->taps) break;
    }
    return true;
}

wk_tensor *wk__window_slice(const wk__windows *w, wk_tensor *x, int k, const wk__window_run *run, int64_t j)
{
    const int64_t from = run->first * w->stride[k] + j * w->dilation[k] - w->padding[k];
    return wk_slice_at(w->site, x, w->first + k, from, from + (run->count - 1) * w->stride[k] + 1, w->stride[k]);
}

wk_tensor *wk__window_tap(const wk__windows *w, wk_tensor *x, int k, const wk__window_run *run, int64_t j)
{
    if (!w->uneven[k]) return wk__window_slice(w, x, k, run, j);
    return x ? wk_index_select_at(w->site, x, w->first + k, wk__window_index(w, k, j, wk_device_of(x))) : NULL;
}

/* ---- uneven windows ---------------------------------------------------------------------------------------------- */

static wk_tensor *window_numbers(const wk__windows *w, int k, wk_device device)
{
    const wk_tensor_options i64 = {.size = sizeof i64, .dtype = WK_I64, .device = device};
    return wk_arange_i64_at(w->site, w->out[k], &i64);
}

wk_tensor *wk__window_starts(const wk__windows *w, int k, wk_device device)
{
    return wk_floor_divide(wk_mul(window_numbers(w, k, device), w->size[k]), w->out[k]);
}

/* Returns for each window the element after its last one. */
static wk_tensor *window_ends(const wk__windows *w, int k, wk_device device)
{
    wk_tensor *next = wk_mul(wk_add(window_numbers(w, k, device), 1), w->size[k]);
    return wk_floor_divide(wk_add(next, w->out[k] - 1), w->out[k]);
}

wk_tensor *wk__window_lengths(const wk__windows *w, int k, wk_device device)
{
    return wk_sub(window_ends(w, k, device), wk__window_starts(w, k, device));
}

wk_tensor *wk__window_index(const wk__windows *w, int k, int64_t j, wk_device device)
{
    return wk_minimum(wk_add(wk__window_starts(w, k, device), j), wk_sub(window_ends(w, k, device), 1));
}

wk_tensor *wk__window_vector(const wk__windows *w, wk_tensor *vector, int k)
{
    int64_t shape[WK__MAX_SIZES] = {-1, 1, 1};
    return wk_reshape_at(w->site, vector, shape, w->dims - k);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

bool wk__parts_add(wk__parts *parts, wk_site site, wk_tensor *part, int64_t dim)
{
    const int most = (int)(sizeof parts->part / sizeof *parts->part);
    if (!part) return false;
    if (parts->count == most) {
        parts->part[0] = wk__parts_join(parts, site, dim);
        parts->count = 1;
        if (!parts->part[0]) return false;
    }
    parts->part[parts->count++] = part;
    return true;
}

wk_tensor *wk__parts_join(wk__parts *parts, wk_site site, int64_t dim)
{
    if (parts->count == 0) return NULL;
    if (parts->count == 1) return parts->part[0];
    wk_tensor *whole = wk_cat_at(site, parts->part, parts->count, dim);
    for (int k = 0; k < parts->count; k++) wk__handle_release(&parts->part[k]->handle, site);
    return whole;
}

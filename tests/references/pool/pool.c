/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pool: the elements of each window are collected, then reduced. */
#include "references/reference.h"
#include "tensor/tensor.h"
#include <math.h>
#include <string.h>

enum { DIMS = 3, MOST = 4096 };

/* The windows of a call; of those of an adaptive pooling, the sizes alone. */
typedef struct windows {
    int dims, first;
    bool adaptive;
    int64_t size[DIMS], out[DIMS], kernel[DIMS], stride[DIMS], padding[DIMS], dilation[DIMS];
} windows;

/* The valid elements of a window in row-major order, with their indices in the plane, and the number of elements that
 * it has with padding. */
typedef struct window {
    int64_t count, with_padding, index[MOST];
    double value[MOST];
} window;

static void read_sizes(const wk_value *value, int dims, const int64_t usual[], int64_t size[])
{
    int count;
    const int64_t *given = wk__value_dims(value, &count);
    for (int k = 0; k < dims; k++) size[k] = count < 1 ? usual[k] : given[count == 1 ? 0 : k];
}

static windows read_shape(const reference_array *x, int dims)
{
    windows w = {.dims = dims, .first = x->ndim - dims};
    for (int k = 0; k < dims; k++) w.size[k] = x->shape[w.first + k];
    return w;
}

/* Reads kernel, stride, padding and dilation (NULL: none). */
static windows read_windows(const reference_array *x, int dims, const wk_value *kernel, const wk_value *padding,
                            const wk_value *dilation, bool ceil_mode)
{
    static const int64_t zeros[DIMS], ones[DIMS] = {1, 1, 1};
    static const wk_value none = {.kind = WK_VALUE_NONE};
    windows w = read_shape(x, dims);
    read_sizes(kernel, dims, ones, w.kernel);
    read_sizes(kernel + 1, dims, w.kernel, w.stride);
    read_sizes(padding ? padding : &none, dims, zeros, w.padding);
    read_sizes(dilation ? dilation : &none, dims, ones, w.dilation);
    for (int k = 0; k < dims; k++) {
        const int64_t span = w.size[k] + 2 * w.padding[k] - w.dilation[k] * (w.kernel[k] - 1) - 1;
        w.out[k] = (span + (ceil_mode ? w.stride[k] - 1 : 0)) / w.stride[k] + 1;
        if (ceil_mode && (w.out[k] - 1) * w.stride[k] >= w.size[k] + w.padding[k]) w.out[k]--;
    }
    return w;
}

static windows read_adaptive(const reference_array *x, int dims, const wk_value *out)
{
    windows w = read_shape(x, dims);
    w.adaptive = true;
    static const int64_t zeros[DIMS];
    read_sizes(out, dims, zeros, w.out);
    for (int k = 0; k < dims; k++) w.out[k] = w.out[k] < 0 ? w.size[k] : w.out[k];
    return w;
}

/* Adds the elements of window at[] of dimension k on; `index` is that of the dimensions before. */
static void collect(const windows *w, const double *plane, const int64_t at[], int k, int64_t index, window *into)
{
    if (k == w->dims || k >= DIMS) {
        into->index[into->count] = index;
        into->value[into->count++] = plane[index];
        return;
    }
    int64_t start = at[k] * w->stride[k] - w->padding[k], end = start + w->dilation[k] * w->kernel[k];
    if (w->adaptive) start = at[k] * w->size[k] / w->out[k];
    if (w->adaptive) end = ((at[k] + 1) * w->size[k] + w->out[k] - 1) / w->out[k];
    for (int64_t i = start; i < end; i += w->adaptive ? 1 : w->dilation[k])
        if (i >= 0 && i < w->size[k]) collect(w, plane, at, k + 1, index * w->size[k] + i, into);
}

/* Returns the number of elements of a window, of x or of its padding. */
static int64_t count_with_padding(const windows *w, const int64_t at[])
{
    int64_t count = 1;
    for (int k = 0; k < w->dims; k++) {
        const int64_t start = at[k] * w->stride[k] - w->padding[k], end = start + w->kernel[k];
        count *= (end < w->size[k] + w->padding[k] ? end : w->size[k] + w->padding[k]) - start;
    }
    return count;
}

typedef double reduction(const windows *w, const window *in, const reference_call *r, int64_t *index);

/* Reduces each window; with `indices`, result 1 receives the indices. */
static void pool(reference_call *r, const windows *w, reduction *reduce, bool indices)
{
    static window in;
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], plane = 1;
    memcpy(shape, x->shape, sizeof shape);
    for (int k = 0; k < w->dims; k++) shape[w->first + k] = w->out[k];
    for (int k = 0; k < w->dims; k++) plane *= w->size[k];
    double *out = reference_out(r, 0, x->ndim, shape), *index = indices ? reference_out(r, 1, x->ndim, shape) : NULL;
    for (int64_t n = 0; n < reference_numel(&r->out[0]); n++) {
        int64_t at[DIMS], rest = n, best = 0;
        for (int k = w->dims; k-- > 0; rest /= w->out[k]) at[k] = rest % w->out[k];
        in.count = 0;
        in.with_padding = w->adaptive ? 0 : count_with_padding(w, at);
        collect(w, x->data + rest * plane, at, 0, 0, &in);
        out[n] = reduce(w, &in, r, &best);
        if (index) index[n] = (double)best;
    }
}

/* ---- max_pool, adaptive_max_pool --------------------------------------------------------------------------------- */

static double largest(const windows *w, const window *in, const reference_call *r, int64_t *index)
{
    (void)w;
    (void)r;
    double best = in->value[0];
    *index = in->index[0];
    for (int64_t k = 1; k < in->count; k++) {
        if (!(in->value[k] > best) && in->value[k] == in->value[k]) continue;
        best = in->value[k];
        *index = in->index[k];
    }
    return best;
}

static void max_reference(reference_call *r, int dims)
{
    const wk_value *a = r->args;
    const windows w = read_windows(&r->in[0], dims, &a[1], &a[3], &a[4], wk__value_int(&a[5], 0));
    pool(r, &w, largest, wk__value_int(&a[6], 0));
}
static void max_1d(reference_call *r)
{
    max_reference(r, 1);
}
static void max_2d(reference_call *r)
{
    max_reference(r, 2);
}
static void max_3d(reference_call *r)
{
    max_reference(r, 3);
}

static void adaptive_max_reference(reference_call *r, int dims)
{
    const windows w = read_adaptive(&r->in[0], dims, &r->args[1]);
    pool(r, &w, largest, wk__value_int(&r->args[2], 0));
}
static void adaptive_max_1d(reference_call *r)
{
    adaptive_max_reference(r, 1);
}
static void adaptive_max_2d(reference_call *r)
{
    adaptive_max_reference(r, 2);
}
static void adaptive_max_3d(reference_call *r)
{
    adaptive_max_reference(r, 3);
}

/* ---- avg_pool, adaptive_avg_pool, lp_pool ------------------------------------------------------------------------ */

static double mean_by(const window *in, double divisor)
{
    return reference_sum(in->value, in->count) / divisor;
}

static double mean(const windows *w, const window *in, const reference_call *r, int64_t *index)
{
    (void)w;
    (void)r;
    (void)index;
    return mean_by(in, (double)in->count);
}

static double padded_mean(const windows *w, const window *in, const reference_call *r, int64_t *index)
{
    (void)w;
    (void)index;
    const bool padded = wk__value_int(&r->args[5], 1);
    const int64_t override = wk__value_int(&r->args[6], 0);
    return mean_by(in, (double)(override ? override : padded ? in->with_padding : in->count));
}

static void avg_reference(reference_call *r, int dims)
{
    const wk_value *a = r->args;
    const windows w = read_windows(&r->in[0], dims, &a[1], &a[3], NULL, wk__value_int(&a[4], 0));
    pool(r, &w, padded_mean, false);
}
static void avg_1d(reference_call *r)
{
    avg_reference(r, 1);
}
static void avg_2d(reference_call *r)
{
    avg_reference(r, 2);
}
static void avg_3d(reference_call *r)
{
    avg_reference(r, 3);
}

static void adaptive_avg_reference(reference_call *r, int dims)
{
    const windows w = read_adaptive(&r->in[0], dims, &r->args[1]);
    pool(r, &w, mean, false);
}
static void adaptive_avg_1d(reference_call *r)
{
    adaptive_avg_reference(r, 1);
}
static void adaptive_avg_2d(reference_call *r)
{
    adaptive_avg_reference(r, 2);
}
static void adaptive_avg_3d(reference_call *r)
{
    adaptive_avg_reference(r, 3);
}

/* A window that reaches past x counts fewer elements in the mean, but all of them in the sum, as in PyTorch. */
static double p_norm(const windows *w, const window *in, const reference_call *r, int64_t *index)
{
    (void)index;
    double sum = 0, whole = 1;
    const double p = wk__value_float(&r->args[1], 0);
    for (int k = 0; k < w->dims; k++) whole *= (double)w->kernel[k];
    for (int64_t k = 0; k < in->count; k++) sum += pow(in->value[k], p);
    return pow(sum / (double)in->with_padding * whole, 1 / p); /* NaN if the sum is negative */
}

static void lp_reference(reference_call *r, int dims)
{
    const wk_value *a = r->args;
    const windows w = read_windows(&r->in[0], dims, &a[2], NULL, NULL, wk__value_int(&a[4], 0));
    pool(r, &w, p_norm, false);
}
static void lp_1d(reference_call *r)
{
    lp_reference(r, 1);
}
static void lp_2d(reference_call *r)
{
    lp_reference(r, 2);
}
static void lp_3d(reference_call *r)
{
    lp_reference(r, 3);
}

/* ---- max_unpool -------------------------------------------------------------------------------------------------- */

static void unpool_reference(reference_call *r, int dims)
{
    const wk_value *a = r->args;
    const reference_array *x = &r->in[0], *index = &r->in[1];
    windows w = read_windows(x, dims, &a[2], &a[4], NULL, false);
    int64_t shape[WK__MAX_DIMS], from = 1, to = 1;
    for (int k = 0; k < dims; k++) w.out[k] = (w.size[k] - 1) * w.stride[k] - 2 * w.padding[k] + w.kernel[k];
    read_sizes(&a[5], dims, w.out, w.out);
    memcpy(shape, x->shape, sizeof shape);
    for (int k = 0; k < dims; k++) {
        shape[w.first + k] = w.out[k];
        from *= w.size[k];
        to *= w.out[k];
    }
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t n = 0; n < reference_numel(x); n++) out[n / from * to + (int64_t)index->data[n]] = x->data[n];
}
static void unpool_1d(reference_call *r)
{
    unpool_reference(r, 1);
}
static void unpool_2d(reference_call *r)
{
    unpool_reference(r, 2);
}
static void unpool_3d(reference_call *r)
{
    unpool_reference(r, 3);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static const char *const max_1d_samples[] = {"[2,3,8], 2",
                                             "[3,9], 3, 2, 1",
                                             "[1,2,7], (3), 2, 1, 1, true, true",
                                             "[1,2,9], 3, 1, 1, 2, false, true",
                                             "[1,2,3], 5, 4, 0, 1, true, true",
                                             "[0,2,5], 2",
                                             NULL};
static const char *const max_2d_samples[] = {"[2,2,4,4], 2",
                                             "[1,6,7], (3,2), 2, (1,0), 1, true, true",
                                             "[1,1,7,7], 3, 2, 1, 1, false, true",
                                             "[1,1,7,8], (2,3), 1, (1,1), (3,2)",
                                             "[1,2,5,6], 3, (2,1), 1, 1, true, true",
                                             "[0,2,5,5], 2",
                                             NULL};
static const char *const max_3d_samples[] = {"[1,1,4,4,4], 2", "[1,4,3,5], (2,1,3), 1, (1,0,1), 1, false, true",
                                             "[1,1,3,4,5], 3, 2, 1, 1, true, true", NULL};
static const char *const adaptive_max_1d_samples[] = {"[2,3,8], 4", "[1,2,7], 3, true", "[2,5], 1, true",
                                                      "[1,2,3], 5, true", NULL};
static const char *const adaptive_max_2d_samples[] = {"[1,2,6,6], (3,2)", "[1,7,5], (3,2), true", "[1,2,5,4], 1, true",
                                                      "[1,1,4,5], (-1,2), true", NULL};
static const char *const adaptive_max_3d_samples[] = {"[1,1,4,4,4], 2", "[1,1,5,3,4], (2,2,3), true", NULL};
static const char *const avg_1d_samples[] = {"[2,3,8], 2",
                                             "[3,9], 3, 2, 1",
                                             "[1,2,7], 3, 2, 1, true",
                                             "[1,2,8], 3, 2, 1, true, false",
                                             "[1,2,8], 3, 1, 0, false, true, 2",
                                             "[1,1,40], 17, 3, 8, true, false",
                                             "[1,2,3], 5, 4, 0, true",
                                             "[2,2,3], 3",
                                             "[0,2,5], 2",
                                             NULL};
static const char *const avg_2d_samples[] = {"[2,2,4,4], 2",
                                             "[1,6,7], (3,2), 2, (1,0), true",
                                             "[1,1,7,7], 3, 2, 1, false, false",
                                             "[1,2,5,6], 3, (2,1), 1, true, true, 5",
                                             "[1,2,7,5], (2,3), (2,3)",
                                             "[0,2,5,5], 2",
                                             NULL};
static const char *const avg_3d_samples[] = {"[1,1,4,4,4], 2", "[1,4,3,5], (2,1,3), 1, (1,0,1), false, false",
                                             "[1,1,3,4,5], 3, 2, 1, true", NULL};
static const char *const adaptive_avg_1d_samples[] = {"[2,3,8], 4",   "[1,2,7], 3",  "[2,5], 1",
                                                      "[1,2,3], 5",   "[0,2,5], 2",  "[1,1,14], 5",
                                                      "[1,1,34], 21", "[1,1,56], 3", NULL};
static const char *const adaptive_avg_2d_samples[] = {"[1,2,6,6], (3,2)", "[1,7,5], (3,2)", "[1,2,5,4], 1",
                                                      "[1,1,4,5], (-1,2)", NULL};
static const char *const adaptive_avg_3d_samples[] = {"[1,1,4,4,4], 2", "[1,1,5,3,4], (2,2,3)", NULL};
static const char *const lp_1d_samples[] = {"[2,3,8], 2.0, 2", "[1,2,7], 3.0, 3, 2, true", NULL};
static const char *const lp_2d_samples[] = {"[2,2,4,4], 2.0, 2", "[1,6,7], 1.5, (3,2), 2, true",
                                            "[1,2,5,5], 2.0, 3, (1,2)", NULL};
static const char *const lp_3d_samples[] = {"[1,1,4,4,4], 2.0, 2", NULL};
/* one element per plane: of several with one index only one is in the result, and only that one has a gradient */
static const char *const unpool_1d_samples[] = {"[2,3,1], [2,3,1]:i64<2, 2", "[3,1], [3,1]:i64<4, 3, 2, none, (4)",
                                                NULL};
static const char *const unpool_2d_samples[] = {"[2,3,1,1], [2,3,1,1]:i64<4, 2", "[3,1,1], [3,1,1]:i64<6, (2,3)",
                                                "[3,1,1], [3,1,1]:i64<9, 2, 2, 0, (3,3)", NULL};
static const char *const unpool_3d_samples[] = {"[2,3,1,1,1], [2,3,1,1,1]:i64<8, 2", NULL};

const op_reference op_reference_max_pool1d = {.reference = max_1d, .samples = max_1d_samples, .low = -3, .high = 3};
const op_reference op_reference_max_pool2d = {.reference = max_2d, .samples = max_2d_samples, .low = -3, .high = 3};
const op_reference op_reference_max_pool3d = {.reference = max_3d, .samples = max_3d_samples, .low = -3, .high = 3};
const op_reference op_reference_avg_pool1d = {.reference = avg_1d, .samples = avg_1d_samples, .low = -3, .high = 3};
const op_reference op_reference_avg_pool2d = {.reference = avg_2d, .samples = avg_2d_samples, .low = -3, .high = 3};
const op_reference op_reference_avg_pool3d = {.reference = avg_3d, .samples = avg_3d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_max_pool1d = {
    .reference = adaptive_max_1d, .samples = adaptive_max_1d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_max_pool2d = {
    .reference = adaptive_max_2d, .samples = adaptive_max_2d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_max_pool3d = {
    .reference = adaptive_max_3d, .samples = adaptive_max_3d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_avg_pool1d = {
    .reference = adaptive_avg_1d, .samples = adaptive_avg_1d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_avg_pool2d = {
    .reference = adaptive_avg_2d, .samples = adaptive_avg_2d_samples, .low = -3, .high = 3};
const op_reference op_reference_adaptive_avg_pool3d = {
    .reference = adaptive_avg_3d, .samples = adaptive_avg_3d_samples, .low = -3, .high = 3};
const op_reference op_reference_lp_pool1d = {.reference = lp_1d, .samples = lp_1d_samples, .low = 0.5, .high = 3};
const op_reference op_reference_lp_pool2d = {.reference = lp_2d, .samples = lp_2d_samples, .low = 0.5, .high = 3};
const op_reference op_reference_lp_pool3d = {.reference = lp_3d, .samples = lp_3d_samples, .low = 0.5, .high = 3};
const op_reference op_reference_max_unpool1d = {
    .reference = unpool_1d, .samples = unpool_1d_samples, .low = -3, .high = 3};
const op_reference op_reference_max_unpool2d = {
    .reference = unpool_2d, .samples = unpool_2d_samples, .low = -3, .high = 3};
const op_reference op_reference_max_unpool3d = {
    .reference = unpool_3d, .samples = unpool_3d_samples, .low = -3, .high = 3};

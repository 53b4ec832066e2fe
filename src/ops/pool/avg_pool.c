/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool1d to 3d, adaptive_avg_pool1d to 3d: sums over windows, one pooled dimension after the other, divided by a
 * number of elements. If all windows of a dimension count the same number, it is a factor of one divisor, by which the
 * last dimension divides; else each run divides by its own. f16 and bf16 are summed in f32. Uneven windows form a run
 * as long as they have one length and one distance, unless there would be many runs: then they are read at indices.
 *
 * The gradient adds the gradient of each window to its taps, one dimension after the other in reverse. */
#include "windows.h"
#include "base/integers.h"
#include <string.h>

enum {
    MOST_TAPS = 16, /* of a fused chain; longer windows are reduced */
    MOST_RUNS = 8   /* of uneven windows that are pooled like even ones */
};

typedef struct avg_call {
    wk__windows w;
    bool include_pad;  /* padding counts as elements */
    double divisor;    /* of all windows together, by which the last dimension divides */
    bool has_override; /* .divisor_override replaces the number of elements */
    int64_t length;    /* of the windows of a run of uneven ones; else 0 */
} avg_call;

/* ---- runs of uneven windows -------------------------------------------------------------------------------------- */

static int64_t start_of(const wk__windows *w, int k, int64_t i)
{
    return i * w->size[k] / w->out[k];
}

static int64_t length_of(const wk__windows *w, int k, int64_t i)
{
    return wk__ceil_div((i + 1) * w->size[k], w->out[k]) - start_of(w, k, i);
}

/* Returns the call with even windows in dimension k for those uneven ones from `first` on that have one length and one
 * distance; *run receives them. */
static avg_call even_run(const avg_call *a, int k, int64_t first, wk__window_run *run)
{
    const wk__windows *w = &a->w;
    const int64_t start = start_of(w, k, first), length = length_of(w, k, first);
    int64_t step = 1, count = 1;
    for (; first + count < w->out[k] && length_of(w, k, first + count) == length; count++) {
        const int64_t distance = start_of(w, k, first + count) - start_of(w, k, first + count - 1);
        if (distance < 1 || (count > 1 && distance != step)) break;
        step = distance;
    }
    *run = (wk__window_run){first, count, 0, length};
    avg_call even = *a;
    even.length = even.w.kernel[k] = length;
    even.w.stride[k] = step;
    even.w.padding[k] = first * step - start;
    even.w.uneven[k] = false;
    return even;
}

/* Returns true if the windows of an uneven dimension are pooled as runs of even ones. */
static bool has_few_runs(const avg_call *a, int k)
{
    if (!a->w.uneven[k]) return false;
    wk__window_run run = {.count = 0};
    int runs = 0;
    for (int64_t i = 0; i < a->w.out[k] && runs <= MOST_RUNS; i += run.count, runs++) (void)even_run(a, k, i, &run);
    return runs <= MOST_RUNS;
}

/* Finds the run from element `first` of the result on; *part receives the call that pools it. few: has_few_runs().
 * Returns false at the end. */
static bool next_run(const avg_call *a, int k, bool few, int64_t first, avg_call *part, wk__window_run *run)
{
    if (first >= a->w.out[k]) return false;
    if (few) {
        *part = even_run(a, k, first, run);
        return true;
    }
    *part = *a;
    return wk__window_run_at(&a->w, k, first, run);
}

/* ---- divisors ---------------------------------------------------------------------------------------------------- */

/* Returns the number of elements that the windows of a run count along dimension k. */
static int64_t counted(const avg_call *a, int k, const wk__window_run *run)
{
    const wk__windows *w = &a->w;
    if (!a->include_pad) return run->taps;
    const int64_t start = run->first * w->stride[k] - w->padding[k];
    return wk__min_i64(w->kernel[k], w->size[k] + w->padding[k] - start);
}

/* Returns true if all windows count the same number of elements along dimension k. */
static bool is_uniform(const avg_call *a, int k)
{
    wk__window_run run = {.count = 0};
    if (a->w.uneven[k]) return false;
    while (wk__window_run_at(&a->w, k, run.first + run.count, &run))
        if (counted(a, k, &run) != a->w.kernel[k]) return false;
    return true;
}

static void set_divisor(avg_call *a, int64_t override)
{
    a->has_override = override != 0;
    a->divisor = a->has_override ? (double) override : 1;
    for (int k = 0; k < a->w.dims && !a->has_override; k++)
        if (is_uniform(a, k)) a->divisor *= (double)a->w.kernel[k];
}

/* Divides the sums, or gradients, of a run along dimension k. */
static wk_tensor *divide(const avg_call *a, wk_tensor *x, int k, const wk__window_run *run)
{
    const bool last = k == a->w.dims - 1;
    if (x && a->w.uneven[k]) {
        wk_tensor *lengths = wk__window_vector(&a->w, wk__window_lengths(&a->w, k, wk_device_of(x)), k);
        x = wk_div(x, wk_to_dtype_at(a->w.site, lengths, wk_dtype_of(x)));
    } else if (a->length) {
        x = wk_div(x, a->length);
    } else if (!a->has_override && !is_uniform(a, k)) {
        const double count = (double)counted(a, k, run);
        x = wk_div(x, count);
    }
    return last && a->divisor != 1 ? wk_div(x, a->divisor) : x;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Returns x where the windows of an uneven pooling have a tap j, else 0; x otherwise. */
static wk_tensor *mask_tap(const avg_call *a, wk_tensor *x, int k, int64_t j)
{
    if (!x || !a->w.uneven[k] || j < a->w.size[k] / a->w.out[k]) return x;
    wk_tensor *valid = wk_gt(wk__window_lengths(&a->w, k, wk_device_of(x)), j);
    return wk_where(wk__window_vector(&a->w, valid, k), x, 0);
}

/* Sums the windows of a run with many taps by one reduction. */
static wk_tensor *reduce_run(const avg_call *a, wk_tensor *x, int k, const wk__window_run *run)
{
    const wk__windows *w = &a->w;
    const int64_t from = run->first * w->stride[k] + run->tap - w->padding[k], last = -1, dim = w->first + k;
    wk_tensor *part = wk_narrow_at(w->site, x, dim, from, (run->count - 1) * w->stride[k] + run->taps);
    const bool half = wk__dtypes[wk_dtype_of(x)].size == 2;
    const wk_reduce_options wide = {.size = sizeof wide, .dtype = half ? WK_F32 : wk_dtype_of(x)};
    return wk_sum_at(w->site, wk_unfold_at(w->site, part, dim, run->taps, w->stride[k]), &last, 1, &wide);
}

static wk_tensor *sum_run(const avg_call *a, wk_tensor *x, int k, const wk__window_run *run)
{
    wk_tensor *sum = NULL;
    if (run->taps > MOST_TAPS && !a->w.uneven[k]) return divide(a, reduce_run(a, x, k, run), k, run);
    for (int64_t j = run->tap; j < run->tap + run->taps; j++) {
        wk_tensor *tap = wk__window_tap(&a->w, x, k, run, j);
        tap = mask_tap(a, tap ? wk__to_opmath(tap) : NULL, k, j);
        sum = j > run->tap ? wk_add(sum, tap) : tap;
        if (!sum) return NULL;
    }
    return divide(a, sum, k, run);
}

/* Pools dimension k; the last one returns `dtype`. */
static wk_tensor *avg_dim(const avg_call *a, wk_tensor *x, int k, wk_dtype dtype)
{
    const wk__windows *w = &a->w;
    wk__parts parts = {.count = 0};
    wk__window_run run = {.count = 0};
    avg_call call;
    const bool few = has_few_runs(a, k);
    while (x && next_run(a, k, few, run.first + run.count, &call, &run)) {
        wk_tensor *part = sum_run(&call, x, k, &run);
        if (part && k == w->dims - 1) part = wk_to_dtype_at(w->site, part, dtype);
        if (!wk__parts_add(&parts, w->site, part, w->first + k)) return NULL;
    }
    return wk__parts_join(&parts, w->site, w->first + k);
}

/* Returns true if the result is the mean of each plane. */
static bool is_mean(const wk__windows *w)
{
    for (int k = 0; k < w->dims; k++)
        if (w->out[k] != 1 || w->kernel[k] != w->size[k] || w->padding[k] != 0) return false;
    return true;
}

static wk_tensor *avg_all(const avg_call *a, wk_tensor *x)
{
    if (is_mean(&a->w) && !a->has_override) {
        const wk_reduce_options kept = {.size = sizeof kept, .keepdim = true};
        return wk_mean_at(a->w.site, x, (const int64_t[]){-1, -2, -3}, a->w.dims, &kept);
    }
    const wk_dtype dtype = wk_dtype_of(x);
    if (wk__windows_empty(&a->w, x)) return wk__windows_empty_result(&a->w, x, dtype);
    for (int k = 0; k < a->w.dims; k++) x = avg_dim(a, x, k, dtype);
    return x;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* PyTorch pools one dimension as two, and a squeeze follows; to size 1 it computes a mean. */
static const char *node_name(const wk__windows *w, bool adaptive)
{
    bool to_one = adaptive;
    for (int k = 0; k < w->dims; k++) to_one = to_one && w->out[k] == 1;
    return w->dims == 1 ? "SqueezeBackward1" : to_one ? "MeanBackward1" : NULL;
}

static wk_tensor *finish(wk__compose *c, const avg_call *a, bool adaptive)
{
    wk__attr attr = {.count = 0};
    wk__windows_to_attr(&a->w, &attr);
    attr.i[0] = a->include_pad;
    attr.i[1] = a->has_override ? (int64_t)a->divisor : 0;
    attr.grad_fn_name = node_name(&a->w, adaptive);
    return wk__compose_end(c, avg_all(a, c->in[0]), &attr);
}

static wk_tensor *avg_pool(const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes kernel,
                           const wk_avg_pool_options *options)
{
    wk_avg_pool_options o;
    wk__compose c;
    if (!wk__options(site, op->name, options, &o) || !wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__window_sizes sizes = {kernel, o.stride, o.padding, 0, o.ceil_mode};
    avg_call a = {.include_pad = !o.no_count_include_pad};
    if (!wk__windows_read(&a.w, op, site, x, dims, &sizes)) return wk__compose_end(&c, NULL, NULL);
    set_divisor(&a, o.divisor_override);
    return finish(&c, &a, false);
}

static wk_tensor *adaptive_avg_pool(const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes size)
{
    wk__compose c;
    avg_call a = {.include_pad = true};
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    if (!wk__windows_read_adaptive(&a.w, op, site, x, dims, size)) return wk__compose_end(&c, NULL, NULL);
    set_divisor(&a, 0);
    return finish(&c, &a, true);
}

wk_tensor *wk_avg_pool1d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(&wk__op_avg_pool1d, site, x, 1, kernel, options);
}
wk_tensor *wk_avg_pool2d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(&wk__op_avg_pool2d, site, x, 2, kernel, options);
}
wk_tensor *wk_avg_pool3d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(&wk__op_avg_pool3d, site, x, 3, kernel, options);
}
wk_tensor *wk_adaptive_avg_pool1d_at(wk_site site, wk_tensor *x, wk_sizes size)
{
    return adaptive_avg_pool(&wk__op_adaptive_avg_pool1d, site, x, 1, size);
}
wk_tensor *wk_adaptive_avg_pool2d_at(wk_site site, wk_tensor *x, wk_sizes size)
{
    return adaptive_avg_pool(&wk__op_adaptive_avg_pool2d, site, x, 2, size);
}
wk_tensor *wk_adaptive_avg_pool3d_at(wk_site site, wk_tensor *x, wk_sizes size)
{
    return adaptive_avg_pool(&wk__op_adaptive_avg_pool3d, site, x, 3, size);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Returns zeros of grad's shape with the size of x in dimension k. */
static wk_tensor *zeros_along(const wk__windows *w, wk_tensor *grad, int k)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(grad)->shape, sizeof shape);
    shape[w->first + k] = w->size[k];
    return wk_zeros_at(w->site, shape, wk__body_of(grad)->ndim, &like);
}

/* Windows that lie side by side: each element of grad is repeated, and the elements after the last window are 0. */
static wk_tensor *repeat_dim(const avg_call *a, wk_tensor *grad, int k, const wk__window_run *run)
{
    const wk__windows *w = &a->w;
    const int64_t rest = w->size[k] - w->out[k] * w->kernel[k], behind = w->dims - 1 - k;
    wk_tensor *x = wk_repeat_interleave_at(w->site, divide(a, grad, k, run), w->kernel[k], w->first + k);
    int64_t pad[2 * WK__MAX_SIZES] = {0};
    pad[2 * behind + 1] = rest;
    return rest ? wk_pad_at(w->site, x, pad, (int)(2 * behind + 2), NULL) : x;
}

/* Adds the gradients of a run to its taps in `sum`. */
static bool add_run(const avg_call *a, wk_tensor *sum, wk_tensor *grad, int k, const wk__window_run *run)
{
    const wk__windows *w = &a->w;
    wk_tensor *part = divide(a, wk_narrow_at(w->site, grad, w->first + k, run->first, run->count), k, run);
    for (int64_t j = run->tap; part && j < run->tap + run->taps; j++) {
        wk_tensor *term = mask_tap(a, part, k, j);
        if (w->uneven[k]) {
            wk_tensor *index = wk__window_index(w, k, j, wk_device_of(sum));
            if (!term || !wk_index_add__at(w->site, sum, w->first + k, index, term)) return false;
        } else {
            wk_tensor *slice = wk__window_slice(w, sum, k, run, j);
            if (!slice || !wk_add_(slice, term)) return false;
        }
    }
    return part != NULL;
}

static wk_tensor *spread_dim(const avg_call *a, wk_tensor *grad, int k)
{
    const wk__windows *w = &a->w;
    wk__window_run run = {.count = 0};
    if (!grad) return NULL;
    if (!w->uneven[k] && w->stride[k] == w->kernel[k] && w->dilation[k] == 1 && wk__window_run_at(w, k, 0, &run) &&
        run.count == w->out[k] && run.taps == w->kernel[k])
        return repeat_dim(a, grad, k, &run);
    wk_tensor *sum = zeros_along(w, grad, k);
    run = (wk__window_run){.count = 0};
    avg_call call;
    const bool few = has_few_runs(a, k);
    while (sum && next_run(a, k, few, run.first + run.count, &call, &run))
        if (!add_run(&call, sum, grad, k, &run)) return NULL;
    return sum;
}

static void gradient(wk__grad_ctx *g)
{
    avg_call a = {.include_pad = g->attr->i[0]};
    wk__windows_of_attr(&a.w, g);
    set_divisor(&a, g->attr->i[1]);
    wk_tensor *grad = g->out[0] ? wk__to_opmath(g->out[0]) : NULL;
    for (int k = a.w.dims; k-- > 0;) grad = spread_dim(&a, grad, k);
    g->in[0] = grad ? wk_to_dtype_at((wk_site){0}, grad, (wk_dtype)g->node->shape[0].dtype) : NULL;
}

const wk__op wk__op_avg_pool1d = {.gradient = gradient, WK__SIGNATURE_avg_pool1d};
const wk__op wk__op_avg_pool2d = {.gradient = gradient, WK__SIGNATURE_avg_pool2d};
const wk__op wk__op_avg_pool3d = {.gradient = gradient, WK__SIGNATURE_avg_pool3d};
const wk__op wk__op_adaptive_avg_pool1d = {.gradient = gradient, WK__SIGNATURE_adaptive_avg_pool1d};
const wk__op wk__op_adaptive_avg_pool2d = {.gradient = gradient, WK__SIGNATURE_adaptive_avg_pool2d};
const wk__op wk__op_adaptive_avg_pool3d = {.gradient = gradient, WK__SIGNATURE_adaptive_avg_pool3d};

/* SPDX-License-Identifier: Apache-2.0 */
/* interpolate: resamples the spatial dimensions, one after the other. Along a dimension, element i of the result is a
 * sum over taps
 *
 *     out[i] = sum over j of weight[j][i] x[index[j][i]]
 *
 * whose indices and weights depend on the mode and the two sizes: 1 tap for nearest, 2 for linear, 4 for cubic, as many
 * as a window has with antialiasing. They are computed on the host in the precision in which PyTorch computes them,
 * because a rounding error may select another element. The gradient adds to x at the same indices. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include <math.h>
#include <string.h>

enum { CUBIC_TAPS = 4 };

/* One call. */
typedef struct resample {
    wk_site site;
    int mode, dims, first; /* spatial dimensions, and the first of them */
    bool align_corners, antialias, wide;
    int64_t size[WK__MAX_SIZES], out[WK__MAX_SIZES];
    double scale[WK__MAX_SIZES]; /* given by the caller; 0: the ratio of the sizes */
} resample;

/* Taps along one dimension: [taps][out] each. */
typedef struct taps {
    int64_t count, out;
    int64_t *index;
    double *weight;
} taps;

static bool is_nearest(const resample *r)
{
    return r->mode == WK_INTERPOLATE_NEAREST || r->mode == WK_INTERPOLATE_NEAREST_EXACT;
}

/* Returns true if dimension k stays as it is. Between equal sizes antialiasing ignores a scale, as in PyTorch; so do
 * linear_taps(). */
static bool is_copied(const resample *r, int k)
{
    return r->size[k] == r->out[k] && (r->antialias || (is_nearest(r) && r->scale[k] == 0));
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* Rounds an intermediate result to f32 unless x is f64 and has weights: the nearest elements are the same for all
 * dtypes. */
static double rounded(const resample *r, double x)
{
    return r->wide && !is_nearest(r) ? x : (double)(float)x;
}

/* Returns the distance in x between adjacent elements of the result. */
static double step_of(const resample *r, int k)
{
    const double in = (double)r->size[k], out = (double)r->out[k];
    if (r->align_corners) return r->out[k] > 1 ? rounded(r, (in - 1) / (out - 1)) : 0;
    return rounded(r, r->scale[k] > 0 ? 1 / r->scale[k] : in / out);
}

/* Returns the position in x of element i of the result. */
static double position_of(const resample *r, int k, int64_t i)
{
    const double step = step_of(r, k);
    if (r->align_corners) return rounded(r, step * (double)i);
    return rounded(r, rounded(r, step * ((double)i + 0.5)) - 0.5);
}

static int64_t clamped(double index, int64_t size)
{
    return index < 0 ? 0 : index > (double)(size - 1) ? size - 1 : (int64_t)index;
}

/* The weight of an element at distance x: a piecewise cubic with parameter a. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* ---- taps -------------------------------------------------------------------------------------------------------- */

static void set_tap(taps *t, int64_t j, int64_t i, int64_t index, double weight)
{
    t->index[j * t->out + i] = index;
    t->weight[j * t->out + i] = weight;
}

static void nearest_tap(const resample *r, int k, int64_t i, taps *t)
{
    const double half = r->mode == WK_INTERPOLATE_NEAREST_EXACT ? 0.5 : 0;
    t->index[i] = clamped(floor(rounded(r, step_of(r, k) * ((double)i + half))), r->size[k]);
}

static void linear_taps(const resample *r, int k, int64_t i, taps *t)
{
    const double at = fmax(position_of(r, k, i), 0);
    const int64_t first = r->out[k] == r->size[k] ? i : clamped(at, r->size[k]);
    const double part = r->out[k] == r->size[k] ? 0 : fmin(fmax(rounded(r, at - (double)first), 0), 1);
    set_tap(t, 0, i, first, rounded(r, 1 - part));
    set_tap(t, 1, i, first + (first < r->size[k] - 1), part);
}

static void cubic_taps(const resample *r, int k, int64_t i, taps *t)
{
    const double at = position_of(r, k, i), first = floor(at), part = rounded(r, at - first);
    for (int64_t j = 0; j < CUBIC_TAPS; j++)
        set_tap(t, j, i, clamped(first - 1 + (double)j, r->size[k]), cubic(part + 1 - (double)j, -0.75));
}

/* Returns how many elements on each side of its position an antialiased element depends on. */
static double support_of(const resample *r, int k)
{
    const double step = step_of(r, k), most = step > 1 ? step : 1;
    return r->mode == WK_INTERPOLATE_BICUBIC ? 2 * most : most;
}

static void antialias_taps(const resample *r, int k, int64_t i, taps *t)
{
    const double step = step_of(r, k), support = support_of(r, k), center = step * ((double)i + 0.5);
    const double shrink = step >= 1 ? 1 / step : 1;
    const int64_t first = (int64_t)fmax(center - support + 0.5, 0);
    const int64_t end = (int64_t)fmin(center + support + 0.5, (double)r->size[k]);
    double total = 0;
    for (int64_t j = 0; j < t->count; j++) {
        const double x = ((double)(first + j) - center + 0.5) * shrink;
        const double weight = r->mode == WK_INTERPOLATE_BICUBIC ? cubic(x, -0.5) : fmax(1 - fabs(x), 0);
        const bool inside = first + j < end;
        set_tap(t, j, i, inside ? first + j : end - 1, inside ? weight : 0);
        total += inside ? weight : 0;
    }
    for (int64_t j = 0; j < t->count && total != 0; j++) t->weight[j * t->out + i] /= total;
}

static bool is_cubic(const resample *r)
{
    return r->mode == WK_INTERPOLATE_BICUBIC;
}

/* Computes the taps along dimension k. The caller frees them. Returns false on allocation failure. */
static bool make_taps(const resample *r, int k, taps *t)
{
    int64_t count;
    t->out = r->out[k];
    t->count = is_nearest(r)  ? 1
               : r->antialias ? 2 * (int64_t)ceil(support_of(r, k)) + 1
               : is_cubic(r)  ? CUBIC_TAPS
                              : 2;
    if (!wk__mul_size(t->count, t->out, &count)) return false;
    t->index = wk__alloc_zero((size_t)count, sizeof *t->index);
    if (!is_nearest(r)) t->weight = wk__alloc_zero((size_t)count, sizeof *t->weight);
    if (!t->index || (!is_nearest(r) && !t->weight)) return false;
    void (*const set)(const resample *, int, int64_t, taps *) = is_nearest(r)  ? nearest_tap
                                                                : r->antialias ? antialias_taps
                                                                : is_cubic(r)  ? cubic_taps
                                                                               : linear_taps;
    for (int64_t i = 0; i < t->out; i++) set(r, k, i, t);
    return true;
}

/* The taps as tensors: indices [taps][out], and weights in the dtype of x, [taps][out, 1, ..]. */
typedef struct tap_tensors {
    int64_t count;
    wk_tensor *index, *weight;
} tap_tensors;

/* Converts weights to f32 on the host: a device may not support f64. */
static void narrow_weights(double *weight, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const float narrow = (float)weight[k];
        memcpy((char *)weight + (size_t)k * sizeof narrow, &narrow, sizeof narrow);
    }
}

/* `dtype` is f32 or f64. Nearest elements have no weights. */
static bool tap_tensors_of(const resample *r, int k, wk_dtype dtype, wk_device device, tap_tensors *t)
{
    taps host = {.count = 0};
    const wk_tensor_options like = {.size = sizeof like, .device = device};
    bool fine = make_taps(r, k, &host);
    *t = (tap_tensors){.count = host.count};
    if (!fine) wk__error_set(r->site, WK_ERR_MEMORY, "interpolate: out of host memory");
    int64_t shape[1 + WK__MAX_SIZES] = {host.count, host.out, 1, 1};
    if (fine) t->index = wk_from_on_at(r->site, WK_I64, host.index, (size_t)-1, shape, 2, &like);
    if (fine && !is_nearest(r)) {
        if (dtype == WK_F32) narrow_weights(host.weight, host.count * host.out);
        t->weight = wk_from_on_at(r->site, dtype, host.weight, (size_t)-1, shape, 1 + r->dims - k, &like);
    }
    fine = fine && t->index && (is_nearest(r) || t->weight);
    wk__free(host.index);
    wk__free(host.weight);
    return fine;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static wk_tensor *resample_dim(const resample *r, wk_tensor *x, int k)
{
    tap_tensors t;
    wk_tensor *sum = NULL;
    if (!x || is_copied(r, k)) return x;
    if (!tap_tensors_of(r, k, wk_dtype_of(x), wk_device_of(x), &t)) return NULL;
    for (int64_t j = 0; j < t.count; j++) {
        wk_tensor *term = wk_index_select_at(r->site, x, r->first + k, wk_select_at(r->site, t.index, 0, j));
        if (!is_nearest(r)) term = wk_mul(term, wk_select_at(r->site, t.weight, 0, j));
        sum = j > 0 ? wk_add(sum, term) : term;
        if (!sum) return NULL;
    }
    return sum;
}

static wk_tensor *resample_all(const resample *r, wk_tensor *x)
{
    const wk_dtype dtype = wk_dtype_of(x);
    if (!is_nearest(r)) x = wk__to_opmath(x);
    for (int k = 0; k < r->dims; k++) x = resample_dim(r, x, k);
    return x ? wk_to_dtype_at(r->site, x, dtype) : NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool report(wk_site site, wk_code code, wk_tensor *x, const char *problem)
{
    wk__op_error(&wk__op_interpolate, site, code, &x, "%s: $a", problem);
    return false;
}

/* Returns the number of spatial dimensions that a mode needs; 0 if any will do. */
static int dims_of(int mode)
{
    return mode == WK_INTERPOLATE_LINEAR                                       ? 1
           : mode == WK_INTERPOLATE_BILINEAR || mode == WK_INTERPOLATE_BICUBIC ? 2
           : mode == WK_INTERPOLATE_TRILINEAR                                  ? 3
                                                                               : 0;
}

/* Checks the mode, which must fit the number of spatial dimensions of x. */
static bool check_mode(wk_site site, wk_tensor *x, const wk_interpolate_options *o, int dims)
{
    const int expected = dims_of(o->mode);
    const bool smooth = expected != 0;
    if (dims < 1 || dims > WK__MAX_SIZES || (smooth && expected != dims)) {
        wk__op_error(&wk__op_interpolate, site, WK_ERR_SHAPE, &x,
                     "expected samples, channels, and one spatial dimension for linear, two for bilinear and bicubic, "
                     "three for trilinear, or one to three for other modes: $a%s",
                     wk__unsqueeze_hint(dims, smooth ? expected : 1));
        return false;
    }
    if (o->align_corners && !smooth)
        return report(site, WK_ERR_ARGUMENT, x, ".align_corners is for linear and cubic modes");
    if (o->antialias && o->mode != WK_INTERPOLATE_BILINEAR && o->mode != WK_INTERPOLATE_BICUBIC)
        return report(site, WK_ERR_ARGUMENT, x, ".antialias is for bilinear and bicubic");
    if (!wk__is_float(wk_dtype_of(x)))
        return report(site, WK_ERR_DTYPE, x, "expected a floating dtype; convert x with wk_to_dtype(x, WK_F32)");
    return true;
}

/* Computes the sizes of the result. */
static bool check_sizes(wk_site site, wk_tensor *x, const wk_interpolate_options *o, resample *r)
{
    const wk__sizes_rule rule = {.name = "size", .usual = 0, .least = 1};
    const wk__body *body = wk__body_of(x);
    const double given[WK__MAX_SIZES] = {o->scales_d, o->scales_h, o->scales_w};
    bool scaled = o->scale_factor != 0;
    for (int k = 0; k < WK__MAX_SIZES; k++) {
        if (given[k] != 0 && k < WK__MAX_SIZES - r->dims)
            return report(site, WK_ERR_ARGUMENT, x, ".scales_d needs three spatial dimensions and .scales_h two");
        scaled = scaled || given[k] != 0;
    }
    if ((o->output_size != 0) == scaled)
        return report(site, WK_ERR_ARGUMENT, x, "expected either .output_size or .scale_factor (or .scales_w, ...)");
    if (o->output_size && wk__sizes_count(o->output_size) == r->dims + 1) {
        wk__op_error(&wk__op_interpolate, site, WK_ERR_SHAPE, &x,
                     ".output_size has %d numbers, but $a has %d spatial dimension%s%s", r->dims + 1, r->dims,
                     r->dims == 1 ? "" : "s", wk__unsqueeze_hint(r->dims, r->dims + 1));
        return false;
    }
    if (o->output_size && !wk__sizes_read(site, "interpolate", &rule, o->output_size, r->dims, r->out)) return false;
    for (int k = 0; k < r->dims; k++) {
        const double own = given[WK__MAX_SIZES - r->dims + k], usual = o->scale_factor != 0 ? o->scale_factor : 1;
        r->size[k] = body->shape[2 + k];
        r->scale[k] = o->output_size ? 0 : own != 0 ? own : usual;
        const double size = floor((double)r->size[k] * r->scale[k]);
        if (!o->output_size && !(size >= 1 && size < 0x1p62))
            return report(site, WK_ERR_ARGUMENT, x, "the scale of a dimension gives an invalid size");
        if (!o->output_size) r->out[k] = (int64_t)size;
        if (o->recompute_scale_factor) r->scale[k] = 0;
        if (r->size[k] < 1) return report(site, WK_ERR_SHAPE, x, "a spatial dimension is empty");
    }
    return wk__check_result_fits(&wk__op_interpolate, site, x, r->out, r->dims);
}

static const char *node_name(const resample *r)
{
    static const char *const nearest[] = {"UpsampleNearest1DBackward0", "UpsampleNearest2DBackward0",
                                          "UpsampleNearest3DBackward0"},
                             *const exact[] = {"UpsampleNearestExact1DBackward0", "UpsampleNearestExact2DBackward0",
                                               "UpsampleNearestExact3DBackward0"},
                             *const linear[] = {"UpsampleLinear1DBackward0", "UpsampleBilinear2DBackward0",
                                                "UpsampleTrilinear3DBackward0"};
    if (r->mode == WK_INTERPOLATE_NEAREST) return nearest[r->dims - 1];
    if (r->mode == WK_INTERPOLATE_NEAREST_EXACT) return exact[r->dims - 1];
    if (is_cubic(r)) return r->antialias ? "UpsampleBicubic2DAaBackward0" : "UpsampleBicubic2DBackward0";
    return r->antialias ? "UpsampleBilinear2DAaBackward0" : linear[r->dims - 1];
}

/* Calls the adaptive pooling to the sizes of r. */
static wk_tensor *pool_area(const resample *r, wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "interpolate", r->site);
    const wk_sizes out = wk_sizes_of(r->out, r->dims);
    wk_tensor *y = r->dims == 1   ? wk_adaptive_avg_pool1d_at(r->site, x, out)
                   : r->dims == 2 ? wk_adaptive_avg_pool2d_at(r->site, x, out)
                                  : wk_adaptive_avg_pool3d_at(r->site, x, out);
    wk__frame_end(context, before);
    return y;
}

wk_tensor *wk_interpolate_at(wk_site site, wk_tensor *x, const wk_interpolate_options *options)
{
    const wk__op *op = &wk__op_interpolate;
    wk_interpolate_options o;
    wk__compose c;
    if (!wk__read_interpolate_options(site, op->name, options, &o) || !wk__check_input(op, site, x)) return NULL;
    resample r = {.site = site,
                  .mode = o.mode,
                  .dims = wk__body_of(x)->ndim - 2,
                  .first = 2,
                  .align_corners = o.align_corners,
                  .antialias = o.antialias,
                  .wide = wk_dtype_of(x) == WK_F64};
    if (!check_mode(site, x, &o, r.dims) || !check_sizes(site, x, &o, &r)) return NULL;
    if (o.mode == WK_INTERPOLATE_AREA) return pool_area(&r, x);
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk__attr attr = wk__interpolate_attr(
        (wk__interpolate_attributes){.mode = r.mode, .align_corners = r.align_corners, .antialias = r.antialias});
    memcpy(attr.list, r.size, sizeof r.size);
    memcpy(attr.list2, r.out, sizeof r.out);
    memcpy(attr.list3, r.scale, sizeof r.scale); /* the bits of doubles */
    attr.grad_fn_name = node_name(&r);
    return wk__compose_end(&c, resample_all(&r, x), &attr);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

static wk_tensor *spread_dim(const resample *r, wk_tensor *grad, int k)
{
    tap_tensors t;
    if (!grad || is_copied(r, k)) return grad;
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(grad)->shape, sizeof shape);
    shape[r->first + k] = r->size[k];
    wk_tensor *sum = wk_zeros_at(r->site, shape, wk__body_of(grad)->ndim, &like);
    if (!sum || !tap_tensors_of(r, k, like.dtype, like.device, &t)) return NULL;
    for (int64_t j = 0; j < t.count; j++) {
        wk_tensor *term = is_nearest(r) ? grad : wk_mul(grad, wk_select_at(r->site, t.weight, 0, j));
        if (!wk_index_add__at(r->site, sum, r->first + k, wk_select_at(r->site, t.index, 0, j), term)) return NULL;
    }
    return sum;
}

static void gradient(wk__grad_ctx *g)
{
    const wk__interpolate_attributes a = wk__interpolate_attributes_of(g->attr);
    const wk__tensor_meta *x = &g->node->shape[0];
    resample r = {.mode = (int)a.mode,
                  .dims = x->ndim - 2,
                  .first = 2,
                  .align_corners = a.align_corners,
                  .antialias = a.antialias,
                  .wide = x->dtype == WK_F64};
    memcpy(r.size, g->attr->list, sizeof r.size);
    memcpy(r.out, g->attr->list2, sizeof r.out);
    memcpy(r.scale, g->attr->list3, sizeof r.scale);
    wk_tensor *grad = g->out[0] ? wk__to_opmath(g->out[0]) : NULL;
    for (int k = r.dims; k-- > 0;) grad = spread_dim(&r, grad, k);
    g->in[0] = grad ? wk_to_dtype_at((wk_site){0}, grad, (wk_dtype)x->dtype) : NULL;
}

const wk__op wk__op_interpolate = {
    .gradient = gradient,
    WK__SIGNATURE_interpolate,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/resample: each element of the result from its position in x. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

enum { MOST_TAPS = 64 };

/* The arguments of a call, and one dimension of it. */
typedef struct axis {
    const char *mode;
    bool align, antialias;
    int64_t in, out;
    double step;
} axis;

/* The elements of x that element i of a dimension is made of. */
typedef struct taps {
    int count;
    int64_t index[MOST_TAPS];
    double weight[MOST_TAPS];
} taps;

static bool is(const axis *a, const char *mode)
{
    return strcmp(a->mode, mode) == 0;
}

static double cubic_weight(double x, double a)
{
    x = fabs(x);
    return x <= 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

static void add_tap(const axis *a, taps *t, int64_t index, double weight)
{
    t->index[t->count] = index < 0 ? 0 : index >= a->in ? a->in - 1 : index;
    t->weight[t->count++] = weight;
}

static void smooth(const axis *a, double at, taps *t)
{
    const double shrink = a->antialias && a->step > 1 ? a->step : 1, reach = (is(a, "bicubic") ? 2 : 1) * shrink;
    double total = 0;
    for (int64_t k = (int64_t)floor(at - reach); k <= (int64_t)ceil(at + reach); k++) {
        const double x = ((double)k - at) / shrink;
        const double weight = is(a, "bicubic") ? cubic_weight(x, a->antialias ? -0.5 : -0.75)
                              : fabs(x) < 1    ? 1 - fabs(x)
                                               : 0;
        if (a->antialias && (k < 0 || k >= a->in)) continue;
        add_tap(a, t, k, weight);
        total += weight;
    }
    for (int k = 0; k < t->count && a->antialias; k++) t->weight[k] /= total;
}

/* Returns true if each element is copied: without a scale, or with one that linear modes and antialiasing ignore. */
static bool is_copied(const axis *a)
{
    return a->in == a->out && (a->antialias || strstr(a->mode, "linear"));
}

static taps taps_of(const axis *a, int64_t i)
{
    taps t = {.count = 0};
    const double half = a->step * ((double)i + 0.5);
    const float step = (float)a->step; /* that of nearest elements */
    if (is_copied(a))
        add_tap(a, &t, i, 1);
    else if (is(a, "nearest"))
        add_tap(a, &t, (int64_t)floorf(step * (float)i), 1);
    else if (is(a, "nearest-exact"))
        add_tap(a, &t, (int64_t)floorf(step * ((float)i + 0.5f)), 1);
    else if (is(a, "area"))
        for (int64_t first = i * a->in / a->out, end = ((i + 1) * a->in + a->out - 1) / a->out, k = first; k < end; k++)
            add_tap(a, &t, k, 1 / (double)(end - first));
    else if (a->antialias)
        smooth(a, half - 0.5, &t);
    else
        smooth(a, a->align ? a->step * (double)i : is(a, "bicubic") ? half - 0.5 : fmax(half - 0.5, 0), &t);
    return t;
}

/* Resamples dimension d of x, whose rows have `inner` elements. */
static void resample(const axis *a, const double *x, double *out, int64_t outer, int64_t inner)
{
    for (int64_t n = 0; n < outer; n++)
        for (int64_t i = 0; i < a->out; i++) {
            const taps t = taps_of(a, i);
            for (int64_t j = 0; j < inner; j++) {
                double sum = 0;
                for (int k = 0; k < t.count; k++) sum += t.weight[k] * x[(n * a->in + t.index[k]) * inner + j];
                out[(n * a->out + i) * inner + j] = sum;
            }
        }
}

static void reference(reference_call *r)
{
    static double buffer[2][4096];
    const wk_value *v = r->args;
    const reference_array *x = &r->in[0];
    int count;
    const int64_t *size = wk__value_dims(&v[1], &count);
    const double scale = wk__value_float(&v[2], 1);
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    memcpy(buffer[0], x->data, sizeof(double) * (size_t)reference_numel(x));
    int now = 0;
    for (int d = 2; d < x->ndim; d++, now = !now) {
        axis a = {
            wk__value_text(&v[3], "nearest"), wk__value_int(&v[4], 0), wk__value_int(&v[6], 0), x->shape[d], 0, 0};
        const double factor = count < 0 ? wk__value_float(&v[7 + d + 3 - x->ndim], scale) : 0;
        a.out = count < 0 ? (int64_t)floor((double)a.in * factor) : size[count == 1 ? 0 : d - 2];
        a.step = a.align                                  ? (a.out > 1 ? (double)(a.in - 1) / (double)(a.out - 1) : 0)
                 : factor > 0 && !wk__value_int(&v[5], 0) ? 1 / factor
                                                          : (double)a.in / (double)a.out;
        int64_t outer = 1, inner = 1;
        for (int k = 0; k < d; k++) outer *= shape[k];
        for (int k = d + 1; k < x->ndim; k++) inner *= shape[k];
        resample(&a, buffer[now], buffer[!now], outer, inner);
        shape[d] = a.out;
    }
    double *out = reference_out(r, 0, x->ndim, shape);
    memcpy(out, buffer[now], sizeof(double) * (size_t)reference_numel(&r->out[0]));
}

static const char *const samples[] = {"[1,2,4], 8",
                                      "[1,2,7], 5",
                                      "[2,2,3,4], (5,3)",
                                      "[1,2,4,3], none, 2.5",
                                      "[1,1,2,3,2], (3,2,4)",
                                      "[1,2,7], 5, none, \"nearest-exact\"",
                                      "[1,1,4,5], none, 1.75, \"nearest-exact\"",
                                      "[2,2,5], 8, none, \"linear\"",
                                      "[1,2,6], 4, none, \"linear\", true",
                                      "[1,2,4,5], (7,3), none, \"bilinear\"",
                                      "[1,2,4,5], none, 1.5, \"bilinear\"",
                                      "[1,1,4,5], none, 1.3, \"bilinear\", false, true",
                                      "[1,2,4,5], (6,9), none, \"bilinear\", true",
                                      "[1,1,8,7], (3,5), none, \"bilinear\", false, false, true",
                                      "[1,1,4,5], (7,3), none, \"bicubic\"",
                                      "[1,1,4,5], (6,9), none, \"bicubic\", true",
                                      "[1,1,7,8], (3,4), none, \"bicubic\", false, false, true",
                                      "[1,1,2,3,4], (3,5,2), none, \"trilinear\"",
                                      "[1,1,3,2,3], none, 2.0, \"trilinear\", true",
                                      "[1,2,7,5], (3,2), none, \"area\"",
                                      "[1,1,4,5], none, none, \"bilinear\", false, false, false, none, 1.5, 1.7",
                                      "[1,1,4,5], none, none, \"bilinear\", false, true, false, none, 1.5, 1.7",
                                      "[1,1,5,4], none, 0.7, \"bilinear\", false, false, true, none, none, 2.3",
                                      "[1,2,3,4], none, none, \"nearest\", false, false, false, none, 1.0, 2.6",
                                      "[1,1,2,3,3], none, none, \"trilinear\", false, false, false, 1.5, 2.0, 1.4",
                                      "[1,2,5], none, none, \"linear\", false, false, false, none, none, 1.3",
                                      "[1,1,31], none, 1.3",
                                      "[1,1,16], none, 1.3, \"nearest-exact\"",
                                      "[1,1,3], none, 1.1, \"linear\"",
                                      "[1,1,3,4], none, 1.1, \"bilinear\", false, false, true",
                                      "[1,1,4,3], none, none, \"bicubic\", false, false, true, none, 2.0, 1.1",
                                      NULL};

const op_reference op_reference_interpolate = {
    .reference = reference, .samples = samples, .low = -3, .high = 3, .max_ulps = 64};

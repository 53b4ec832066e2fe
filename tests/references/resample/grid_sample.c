/* SPDX-License-Identifier: Apache-2.0 */
/* References of affine_grid and grid_sample: each element of the result from its position. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

enum { DIMS = 3, MOST_TAPS = 4 };

/* ---- affine_grid ------------------------------------------------------------------------------------------------- */

static double coordinate_of(int64_t i, int64_t n, bool align)
{
    if (align) return n > 1 ? (double)(2 * i + 1 - n) / (double)(n - 1) : 0;
    return (double)(2 * i + 1 - n) / (double)n;
}

static void affine_grid(reference_call *r)
{
    const double *theta = r->in[0].data;
    int count;
    const int64_t *size = wk__value_dims(&r->args[1], &count);
    const bool align = wk__value_int(&r->args[2], 0);
    const int dims = count - 2;
    int64_t shape[2 + DIMS], points = 1;
    shape[0] = size[0];
    for (int k = 0; k < dims; k++) points *= shape[1 + k] = size[2 + k];
    shape[1 + dims] = dims;
    double *out = reference_out(r, 0, dims + 2, shape);
    for (int64_t n = 0; n < size[0]; n++)
        for (int64_t p = 0; p < points; p++)
            for (int row = 0; row < dims; row++) {
                const double *line = theta + (n * dims + row) * (dims + 1);
                double sum = line[dims];
                int64_t rest = p;
                for (int column = 0; column < dims; column++) {
                    const int64_t length = size[count - 1 - column];
                    sum += line[column] * coordinate_of(rest % length, length, align);
                    rest /= length;
                }
                *out++ = sum;
            }
}

static const char *const affine_samples[] = {"[2,2,3], (2,1,3,4)",
                                             "[1,2,3], (1,2,2,5), true",
                                             "[2,3,4], (2,1,2,3,2)",
                                             "[1,3,4], (1,1,2,1,3), true",
                                             "[1,2,3], (1,1,1,1)",
                                             "[0,2,3], (0,1,2,2)",
                                             NULL};

const op_reference op_reference_affine_grid = {
    .reference = affine_grid, .samples = affine_samples, .low = -2, .high = 2};

/* ---- grid_sample ------------------------------------------------------------------------------------------------- */

/* One dimension of a call, and the elements of one position in it. */
typedef struct axis {
    char mode, padding; /* first letters */
    bool align;
    int64_t n;
    int count;
    int64_t index[MOST_TAPS];
    double weight[MOST_TAPS];
} axis;

static double cubic_weight(double x)
{
    const double a = -0.75;
    x = fabs(x);
    return x <= 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : a * (x * x * x - 5 * x * x + 8 * x - 4);
}

static double into_range(const axis *a, double at)
{
    const double last = (double)(a->n - 1), low = a->align ? 0 : -0.5, high = a->align ? last : last + 0.5;
    if (a->padding == 'z') return at;
    if (a->padding == 'r') {
        const double rest = fmod(fabs(at - low), 2 * (high - low));
        at = fmin(rest, 2 * (high - low) - rest) + low;
        if (high == low) at = 0;
    }
    return at > 0 ? fmin(at, last) : 0;
}

/* Adds an element, unless it is outside of x. */
static void add_tap(axis *a, double whole, double weight)
{
    if (!(whole >= 0 && whole <= (double)(a->n - 1))) return;
    a->index[a->count] = (int64_t)whole;
    a->weight[a->count++] = weight;
}

static void find_taps(axis *a, double coordinate)
{
    double at = a->align ? (coordinate + 1) / 2 * (double)(a->n - 1) : ((coordinate + 1) * (double)a->n - 1) / 2;
    a->count = 0;
    if (a->mode == 'c') {
        for (int j = -1; j <= 2; j++) add_tap(a, into_range(a, floor(at) + j), cubic_weight(at - floor(at) - j));
        return;
    }
    at = into_range(a, at);
    if (a->mode == 'n') {
        add_tap(a, nearbyint(at), 1);
    } else {
        add_tap(a, floor(at), 1 - (at - floor(at)));
        add_tap(a, floor(at) + 1, at - floor(at));
    }
}

/* Returns the sum over the elements of dimension k and those after it. */
static double weighted_sum(const axis *a, int dims, const double *x)
{
    if (dims == 0) return *x;
    int64_t inner = 1;
    for (int k = 1; k < dims; k++) inner *= a[k].n;
    double sum = 0;
    for (int j = 0; j < a->count; j++) sum += a->weight[j] * weighted_sum(a + 1, dims - 1, x + a->index[j] * inner);
    return sum;
}

static void grid_sample(reference_call *r)
{
    const reference_array *x = &r->in[0], *grid = &r->in[1];
    const char *mode = wk__value_text(&r->args[2], "bilinear"), *padding = wk__value_text(&r->args[3], "zeros");
    const int dims = x->ndim - 2;
    axis a[DIMS];
    int64_t shape[2 + DIMS] = {x->shape[0], x->shape[1]}, plane = 1, points = 1;
    for (int k = 0; k < dims; k++) {
        a[k] = (axis){.mode = strcmp(mode, "bicubic") ? mode[0] : 'c',
                      .padding = padding[0],
                      .align = wk__value_int(&r->args[4], 0),
                      .n = x->shape[2 + k]};
        plane *= x->shape[2 + k];
        points *= shape[2 + k] = grid->shape[1 + k];
    }
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t n = 0; n < shape[0]; n++)
        for (int64_t p = 0; p < points; p++) {
            const double *position = grid->data + (n * points + p) * dims;
            bool unknown = false;
            for (int k = 0; k < dims; k++) {
                find_taps(&a[k], position[dims - 1 - k]);
                unknown = unknown || (a[k].mode == 'c' && !isfinite(position[dims - 1 - k]));
            }
            for (int64_t c = 0; c < shape[1]; c++) {
                const double *from = x->data + (n * shape[1] + c) * plane;
                out[(n * shape[1] + c) * points + p] = unknown ? NAN : weighted_sum(a, dims, from);
            }
        }
}

static const char *const grid_samples[] = {"[2,2,3,4], [2,2,3,2]",
                                           "[1,2,4,3], [1,3,2,2], \"bilinear\", \"zeros\", true",
                                           "[1,1,3,4], [1,2,5,2], \"bilinear\", \"border\"",
                                           "[1,2,4,3], [1,2,3,2], \"bilinear\", \"reflection\"",
                                           "[1,1,4,3], [1,2,3,2], \"bilinear\", \"reflection\", true",
                                           "[2,1,3,4], [2,3,3,2], \"nearest\"",
                                           "[1,2,3,4], [1,3,3,2], \"nearest\", \"border\", true",
                                           "[1,2,4,5], [1,3,3,2], \"nearest\", \"reflection\"",
                                           "[1,2,4,5], [1,2,2,2], \"bicubic\"",
                                           "[1,1,4,3], [1,2,3,2], \"bicubic\", \"border\", true",
                                           "[1,1,3,4], [1,2,3,2], \"bicubic\", \"reflection\"",
                                           "[1,2,2,3,2], [1,1,2,3,3]",
                                           "[1,1,3,2,3], [1,2,1,2,3], \"bilinear\", \"border\", true",
                                           "[1,1,2,3,2], [1,1,2,2,3], \"bilinear\", \"reflection\"",
                                           "[1,2,3,3,2], [1,2,2,2,3], \"nearest\", \"reflection\", true",
                                           "[1,1,1,3], [1,1,4,2]",
                                           "[2,0,2,2], [2,2,2,2]",
                                           "[1,1,2,2], [1,0,3,2]",
                                           NULL};

const op_reference op_reference_grid_sample = {
    .reference = grid_sample, .samples = grid_samples, .low = -1.3, .high = 1.3, .max_ulps = 64, .discontinuous = true};

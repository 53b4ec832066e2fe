/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of grid_sample along one dimension of size n, in elements: 0 is the first one, n - 1 the last one. They are
 * differentiable functions of the coordinate, made of public ops, so the gradient of a gradient follows. */
#include "grid_axis.h"
#include "ops/core/entries.h"

static const double cubic_parameter = -0.75;

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* Mirrors positions at both ends: at the first and last elements, or at their outer edges. */
static wk_tensor *reflected(const wk__grid_call *c, wk_tensor *at, int k)
{
    const double edge = c->align_corners ? 0 : 0.5, period = 2 * ((double)c->size[k] - 1 + 2 * edge);
    wk_tensor *rest = wk_fmod(wk_abs(wk_add(at, edge)), period);
    return wk_sub(wk_minimum(rest, wk_sub(period, rest)), edge);
}

/* Moves positions outside of x to its first or last element; NaN to the first one. */
static wk_tensor *clipped(const wk__grid_call *c, wk_tensor *at, int k)
{
    return wk_where(wk_gt(at, 0), wk_minimum(at, c->size[k] - 1), 0);
}

/* Applies the padding mode: the result is within x, unless the padding is zeros. */
static wk_tensor *padded(const wk__grid_call *c, wk_tensor *at, int k)
{
    if (c->padding_mode == WK_GRID_SAMPLE_ZEROS) return at;
    return clipped(c, c->padding_mode == WK_GRID_SAMPLE_REFLECTION ? reflected(c, at, k) : at, k);
}

static wk_tensor *is_inside(wk_tensor *at, int64_t size)
{
    return wk_logical_and(wk_ge(at, 0), wk_le(at, size - 1));
}

/* Returns the derivative of padded() at positions `at`, times scale. Positions at an end and outside have 0. */
static wk_tensor *padded_slope(const wk__grid_call *c, wk_tensor *at, int k, double scale)
{
    wk_tensor *slope = wk_full_like(at, scale), *within = at;
    if (c->padding_mode == WK_GRID_SAMPLE_REFLECTION) {
        const double edge = c->align_corners ? 0 : 0.5, span = (double)c->size[k] - 1 + 2 * edge;
        wk_tensor *from = wk_add(at, edge);
        wk_tensor *rises = wk_lt(wk_fmod(wk_abs(from), 2 * span), span);
        slope = wk_where(wk_ne(rises, wk_lt(from, 0)), slope, -scale);
        within = reflected(c, at, k);
    }
    wk_tensor *inside = wk_logical_and(wk_gt(within, 0), wk_lt(within, c->size[k] - 1));
    return wk_where(inside, slope, 0);
}

/* Converts positions of elements to indices. */
static wk_tensor *index_of(const wk__grid_call *c, wk_tensor *whole, int k)
{
    return wk_mul(wk_to_dtype_at(c->site, whole, WK_I64), c->stride[k]);
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/* Returns false if a tensor could not be made, which would count as one that is not needed. */
static bool are_made(wk_tensor *const x[], int count)
{
    int made = 0;
    while (made < count && x[made]) made++;
    return made == count;
}

static bool make_nearest(const wk__grid_call *c, wk_tensor *at, int k, bool slopes, wk__grid_axis *axis)
{
    wk_tensor *whole = wk_round(padded(c, at, k));
    (void)slopes; /* the gradient is 0 */
    axis->taps = 1;
    axis->index[0] = index_of(c, clipped(c, whole, k), k);
    if (c->padding_mode != WK_GRID_SAMPLE_ZEROS) return are_made(axis->index, 1);
    axis->valid[0] = is_inside(whole, c->size[k]);
    return are_made(axis->index, 1) && are_made(axis->valid, 1);
}

/* Weights, slopes and validity of the two elements if positions are within x: `part` is 0 to 1, and 1 only at the last
 * element, which is then the second one. */
static bool weigh_inside(wk_tensor *part, bool slopes, wk__grid_axis *axis)
{
    axis->weight[0] = wk_sub(1, part);
    axis->weight[1] = part;
    axis->valid[0] = axis->taps > 1 ? wk_lt(part, 1) : NULL;
    for (int j = 0; j < 2 && slopes; j++)
        axis->slope[j] = wk_full_like(wk_narrow_at((wk_site){0}, part, 2, 0, 1), j > 0 ? 1 : -1);
    return are_made(axis->weight, 2) && are_made(axis->valid, axis->taps > 1) && are_made(axis->slope, slopes ? 2 : 0);
}

/* The same for all positions: weights are 1 minus the distances to the elements, and those from distance 1 on are not
 * valid. */
static bool weigh_everywhere(wk_tensor *part, bool slopes, wk__grid_axis *axis)
{
    for (int j = 0; j < axis->taps; j++) {
        wk_tensor *distance = j > 0 ? wk_sub(part, j) : part, *is_left = wk_lt(distance, 0);
        axis->valid[j] = wk_logical_and(wk_ge(distance, -1), wk_lt(distance, 1));
        /* not 1 - abs(distance), whose derivative at 0 would be 0 */
        axis->weight[j] = wk_where(is_left, wk_add(distance, 1), wk_sub(1, distance));
        if (slopes) axis->slope[j] = wk_where(is_left, wk_ones_like(distance), -1);
    }
    return are_made(axis->valid, axis->taps) && are_made(axis->weight, axis->taps) &&
           are_made(axis->slope, slopes ? axis->taps : 0);
}

/* Takes two adjacent elements within x. The position of an element has this element and the next one, with weight 0,
 * if there is one. */
static bool make_linear(const wk__grid_call *c, wk_tensor *at, int k, bool slopes, wk__grid_axis *axis)
{
    const int64_t last = c->size[k] - 1;
    wk_tensor *position = padded(c, at, k), *whole = wk_floor(position);
    wk_tensor *first = wk_where(wk_gt(position, 0), wk_minimum(whole, last > 0 ? last - 1 : 0), 0);
    axis->taps = last > 0 ? 2 : 1;
    axis->index[0] = index_of(c, first, k);
    axis->shift[1] = c->stride[k];
    wk_tensor *part = wk_sub(position, first);
    return are_made(axis->index, 1) &&
           (c->padding_mode == WK_GRID_SAMPLE_ZEROS ? weigh_everywhere : weigh_inside)(part, slopes, axis);
}

/* The weight of an element at distance x: a cubic for x up to 1, another one from 1 to 2. */
static wk_tensor *cubic_weight(wk_tensor *x, bool is_near)
{
    const double a = cubic_parameter;
    if (is_near) return wk_add(wk_mul(wk_mul(wk_sub(wk_mul(x, a + 2), a + 3), x), x), 1);
    return wk_sub(wk_mul(wk_add(wk_mul(wk_sub(wk_mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
}

/* The derivative of cubic_weight(). */
static wk_tensor *cubic_slope(wk_tensor *x, bool is_near)
{
    const double a = cubic_parameter;
    if (is_near) return wk_mul(wk_sub(wk_mul(x, 3 * (a + 2)), 2 * (a + 3)), x);
    return wk_add(wk_mul(wk_sub(wk_mul(x, 3 * a), 10 * a), x), 8 * a);
}

/* Takes four elements, each of which has the padding mode. */
static bool make_cubic(const wk__grid_call *c, wk_tensor *at, int k, bool slopes, wk__grid_axis *axis)
{
    wk_tensor *floor = wk_floor(at), *part = wk_where(wk_isfinite(at), wk_sub(at, floor), 0);
    const bool zeros = c->padding_mode == WK_GRID_SAMPLE_ZEROS;
    axis->taps = WK__GRID_TAPS;
    for (int j = 0; j < WK__GRID_TAPS; j++) {
        const int offset = j - 1;
        const bool is_near = j == 1 || j == 2, is_left = offset <= 0;
        wk_tensor *whole = wk_add(floor, offset);
        wk_tensor *distance = is_left ? wk_add(part, -offset) : wk_sub(offset, part);
        axis->index[j] = index_of(c, clipped(c, padded(c, whole, k), k), k);
        if (zeros) axis->valid[j] = is_inside(whole, c->size[k]);
        axis->weight[j] = cubic_weight(distance, is_near);
        if (!slopes) continue;
        wk_tensor *slope = cubic_slope(distance, is_near);
        axis->slope[j] = is_left ? slope : wk_neg(slope);
    }
    return are_made(axis->index, WK__GRID_TAPS) && are_made(axis->weight, WK__GRID_TAPS) &&
           are_made(axis->valid, zeros ? WK__GRID_TAPS : 0) && are_made(axis->slope, slopes ? WK__GRID_TAPS : 0);
}

bool wk__grid_axis_make(const wk__grid_call *c, wk_tensor *coordinate, int k, bool slopes, wk__grid_axis *axis)
{
    const double size = (double)c->size[k];
    *axis = (wk__grid_axis){.scale = (c->align_corners ? size - 1 : size) / 2};
    wk_tensor *at = wk_mul(wk_add(coordinate, 1), axis->scale);
    if (!c->align_corners) at = wk_sub(at, 0.5);
    const bool varies = slopes && c->mode != WK_GRID_SAMPLE_BICUBIC && c->padding_mode != WK_GRID_SAMPLE_ZEROS;
    if (varies) axis->factor = padded_slope(c, at, k, axis->scale);
    const bool made = (c->mode == WK_GRID_SAMPLE_BICUBIC   ? make_cubic
                       : c->mode == WK_GRID_SAMPLE_NEAREST ? make_nearest
                                                           : make_linear)(c, at, k, slopes, axis);
    return made && are_made(&axis->factor, varies);
}

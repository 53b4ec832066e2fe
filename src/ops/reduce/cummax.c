/* SPDX-License-Identifier: Apache-2.0 */
/* cummax, cummin, logcumsumexp: scans in steps of 1, 2, 4, ... After a step of s, element k has the result of the
 * 2 s elements up to k:
 *
 *     step 1    [a, ab, bc, cd]
 *     step 2    [a, ab, abc, abcd] */
#include "reduction.h"

/* Returns `count` elements of the axis from `first` on. */
static wk_tensor *part_of(wk_tensor *x, int axis, int64_t first, int64_t count)
{
    return wk_narrow_at((wk_site){0}, x, axis, first, count);
}

/* Returns the first s elements of x and then `rest`. */
static wk_tensor *behind_first(wk_tensor *x, int axis, int64_t s, wk_tensor *rest)
{
    return wk_cat_at((wk_site){0}, (wk_tensor *const[]){part_of(x, axis, 0, s), rest}, 2, axis);
}

/* Returns x with at least one dimension, and the size of the axis; 0 if x is NULL. */
static int64_t begin_scan(wk_tensor **x, int axis)
{
    if (*x && wk__body_of(*x)->ndim == 0) *x = wk_reshape_at((wk_site){0}, *x, (const int64_t[]){1}, 1);
    return *x ? wk__body_of(*x)->shape[axis] : 0;
}

/* Removes the dimension again that begin_scan added to a tensor without dimensions. */
static wk_tensor *end_scan(wk_tensor *out, int ndim)
{
    return out && ndim == 0 ? wk_reshape_at((wk_site){0}, out, NULL, 0) : out;
}

/* ---- cummax, cummin ---------------------------------------------------------------------------------------------- */

/* Returns the index of each element along the axis, in x's shape. */
static wk_tensor *own_indices(wk_tensor *x, int axis)
{
    const wk__body *body = wk__body_of(x);
    const wk_site here = {0};
    const wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(x)};
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < body->ndim; d++) shape[d] = d == axis ? body->shape[d] : 1;
    wk_tensor *index = wk_reshape_at(here, wk_arange_i64_at(here, body->shape[axis], &options), shape, body->ndim);
    return wk_expand_at(here, index, body->shape, body->ndim);
}

/* Returns where the later of two windows has the result: it is NaN, or at least as extreme as the earlier. */
static wk_tensor *later_wins(wk_tensor *earlier, wk_tensor *later, bool largest)
{
    wk_tensor *reached = largest ? wk_ge(later, earlier) : wk_le(later, earlier);
    return wk_logical_or(wk_isnan(later), reached);
}

static void scan_extremes(wk_tensor *x, int axis, bool largest, wk_tensor *out[2])
{
    const int ndim = wk__body_of(x)->ndim;
    const int64_t n = begin_scan(&x, axis);
    out[0] = x;
    out[1] = x ? wk_clone_at((wk_site){0}, own_indices(x, axis)) : NULL;
    for (int64_t s = 1; s < n && out[0] && out[1]; s *= 2) {
        wk_tensor *earlier = part_of(out[0], axis, 0, n - s), *later = part_of(out[0], axis, s, n - s);
        wk_tensor *wins = later_wins(earlier, later, largest);
        for (int k = 0; k < 2; k++)
            out[k] = behind_first(out[k], axis, s,
                                  wk_where(wins, part_of(out[k], axis, s, n - s), part_of(out[k], axis, 0, n - s)));
    }
    for (int k = 0; k < 2; k++) out[k] = end_scan(out[k], ndim);
}

static wk_code extremes(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, wk_tensor **values,
                        wk_tensor **indices)
{
    wk__compose c;
    wk_tensor *out[2] = {NULL, NULL};
    int axis = 0;
    if (values) *values = NULL;
    if (indices) *indices = NULL;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return wk_error_code();
    if (wk__reduction_dim(op, site, x, dim, &axis)) scan_extremes(x, axis, op == &wk__op_cummax, out);
    const wk__attr attr = wk__sort_attr((wk__sort_attributes){.axis = axis});
    return wk__end_values_and_indices(&c, out, &attr, values, indices);
}

wk_code wk_cummax_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **values, wk_tensor **indices)
{
    return extremes(&wk__op_cummax, site, x, dim, values, indices);
}
wk_code wk_cummin_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **values, wk_tensor **indices)
{
    return extremes(&wk__op_cummin, site, x, dim, values, indices);
}

const wk__op wk__op_cummax = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_cummax,
};
const wk__op wk__op_cummin = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_cummin,
};

/* ---- logcumsumexp ------------------------------------------------------------------------------------------------ */

static wk_tensor *scan_logarithms(wk_tensor *x, int axis)
{
    const int ndim = wk__body_of(x)->ndim;
    const int64_t n = begin_scan(&x, axis);
    for (int64_t s = 1; s < n && x; s *= 2)
        x = behind_first(x, axis, s, wk_logaddexp(part_of(x, axis, 0, n - s), part_of(x, axis, s, n - s)));
    return end_scan(x, ndim);
}

wk_tensor *wk_logcumsumexp_at(wk_site site, wk_tensor *x, int64_t dim)
{
    const wk__op *op = &wk__op_logcumsumexp;
    wk__call_scope c;
    wk_tensor *out = NULL;
    int axis;
    if (!wk__inlined_begin(&c, op, site, &x, 1)) return NULL;
    if (wk__check_float(op, site, x) && wk__reduction_dim(op, site, x, dim, &axis)) {
        wk_tensor *wide = wk__to_opmath(x);
        out = wide ? scan_logarithms(wide, axis) : NULL;
        out = wk__cast_result(out, wk__body_of(x)->dtype);
        if (out && wk_same_storage_at(site, out, x)) out = wk_clone_at(site, out);
    }
    return wk__inlined_end(&c, out);
}

const wk__op wk__op_logcumsumexp = {WK__SIGNATURE_logcumsumexp};

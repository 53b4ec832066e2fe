/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a part: slice, narrow, select, diagonal, unfold. The gradient of each is zeros with the gradient written
 * where the view was. */
#include "ops/core/view_geometry.h"
#include <string.h>

/* Writes the gradient into `part`, a view of `zeros`, which becomes the operand's gradient. */
static void write_view_grad(wk__grad_ctx *g, wk_tensor *zeros, wk_tensor *part)
{
    if (part && wk_copy__at((wk_site){0}, part, g->out[0])) g->in[0] = zeros;
}

/* ---- slice and narrow -------------------------------------------------------------------------------------------- */

static int64_t clamp_index(int64_t place, int64_t size)
{
    if (place < 0) place += size;
    return place < 0 ? 0 : place > size ? size : place;
}

/* start, end and step are in range. */
static wk_tensor *make_slice(const wk__op *op, wk_site site, wk_tensor *x, int d, int64_t start, int64_t end,
                             int64_t step)
{
    wk__geometry g;
    const wk__attr attr = wk__slice_attr((wk__slice_attributes){.dim = d, .start = start, .end = end, .step = step});
    wk__geometry_of(wk__body_of(x), &g);
    g.shape[d] = (end - start) / step + ((end - start) % step > 0);
    if (g.shape[d] > 0) g.offset += start * g.stride[d];
    g.stride[d] *= g.shape[d] > 1 ? step : 1;
    return wk__make_view_geometry(op, site, x, &g, &attr);
}

static bool check_has_dims(const wk__op *op, wk_site site, wk_tensor *x)
{
    if (wk__body_of(x)->ndim) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a has no dimensions to slice");
    return false;
}

wk_tensor *wk_slice_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step)
{
    int d;
    if (!wk__check_input(&wk__op_slice, site, x) || !check_has_dims(&wk__op_slice, site, x) ||
        !wk__resolve_dim(&wk__op_slice, site, x, dim, 0, &d))
        return NULL;
    if (step < 1) {
        wk__op_error(&wk__op_slice, site, WK_ERR_ARGUMENT, &x,
                     "step must be at least 1, got %lld; use wk_flip to reverse a dimension", (long long)step);
        return NULL;
    }
    int64_t size = wk__body_of(x)->shape[d];
    start = clamp_index(start, size);
    end = clamp_index(end, size);
    return make_slice(&wk__op_slice, site, x, d, start, end < start ? start : end, step);
}

wk_tensor *wk_narrow_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t length)
{
    int d;
    if (!wk__check_input(&wk__op_narrow, site, x) || !check_has_dims(&wk__op_narrow, site, x) ||
        !wk__resolve_dim(&wk__op_narrow, site, x, dim, 0, &d))
        return NULL;
    int64_t size = wk__body_of(x)->shape[d], from = start < 0 ? start + size : start;
    if (from >= 0 && from <= size && length >= 0 && length <= size - from)
        return make_slice(&wk__op_narrow, site, x, d, from, from + length, 1);
    wk__op_error(&wk__op_narrow, site, WK_ERR_INDEX, &x,
                 "length %lld from start %lld exceeds dimension %d of $a (size %lld)", (long long)length,
                 (long long)start, d, (long long)size);
    return NULL;
}

static void slice_gradient(wk__grad_ctx *g)
{
    const wk__slice_attributes a = wk__slice_attributes_of(g->attr);
    wk_tensor *zeros = wk__zeros_like_operand(g);
    write_view_grad(g, zeros, wk_slice_at((wk_site){0}, zeros, a.dim, a.start, a.end, a.step));
}

const wk__op wk__op_slice = {
    .gradient = slice_gradient,
    WK__SIGNATURE_slice,
};
const wk__op wk__op_narrow = {
    .gradient = slice_gradient,
    WK__SIGNATURE_narrow,
};

/* ---- select ------------------------------------------------------------------------------------------------------ */

wk_tensor *wk_select_at(wk_site site, wk_tensor *x, int64_t dim, int64_t index)
{
    int d;
    if (!wk__check_input(&wk__op_select, site, x) || !check_has_dims(&wk__op_select, site, x) ||
        !wk__resolve_dim(&wk__op_select, site, x, dim, 0, &d))
        return NULL;
    wk__geometry g;
    wk__geometry_of(wk__body_of(x), &g);
    if (index < -g.shape[d] || index >= g.shape[d]) {
        wk__op_error(&wk__op_select, site, WK_ERR_INDEX, &x,
                     "index %lld is out of range for dimension %d of $a (size %lld)", (long long)index, d,
                     (long long)g.shape[d]);
        return NULL;
    }
    if (index < 0) index += g.shape[d];
    g.offset += index * g.stride[d];
    wk__geometry_drop(&g, d);
    const wk__attr attr = wk__select_attr((wk__select_attributes){.dim = d, .index = index});
    return wk__make_view_geometry(&wk__op_select, site, x, &g, &attr);
}

static void select_gradient(wk__grad_ctx *g)
{
    const wk__select_attributes a = wk__select_attributes_of(g->attr);
    wk_tensor *zeros = wk__zeros_like_operand(g);
    write_view_grad(g, zeros, wk_select_at((wk_site){0}, zeros, a.dim, a.index));
}

const wk__op wk__op_select = {
    .gradient = select_gradient,
    WK__SIGNATURE_select,
};

/* ---- diagonal ---------------------------------------------------------------------------------------------------- */

static int64_t diagonal_length(int64_t rows, int64_t columns, int64_t offset)
{
    int64_t length = offset < 0 ? (rows + offset < columns ? rows + offset : columns)
                                : (columns - offset < rows ? columns - offset : rows);
    return length < 0 ? 0 : length;
}

static void take_diagonal(wk__geometry *g, int64_t offset, int row, int column)
{
    int64_t length = diagonal_length(g->shape[row], g->shape[column], offset),
            stride = g->stride[row] + g->stride[column];
    if (length > 0) g->offset += offset < 0 ? -offset * g->stride[row] : offset * g->stride[column];
    wk__geometry_drop(g, row > column ? row : column);
    wk__geometry_drop(g, row > column ? column : row);
    g->shape[g->ndim] = length;
    g->stride[g->ndim++] = stride;
}

wk_tensor *wk_diagonal_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1)
{
    int row, column;
    if (!wk__check_input(&wk__op_diagonal, site, x) || !wk__resolve_dim(&wk__op_diagonal, site, x, dim0, 0, &row) ||
        !wk__resolve_dim(&wk__op_diagonal, site, x, dim1, 0, &column))
        return NULL;
    if (row == column) {
        wk__op_error(&wk__op_diagonal, site, WK_ERR_ARGUMENT, &x, "a diagonal of $a needs two different dimensions");
        return NULL;
    }
    wk__geometry g;
    wk__geometry_of(wk__body_of(x), &g);
    int64_t most = g.shape[row] + g.shape[column]; /* larger offsets give the same empty view */
    take_diagonal(&g, offset > most ? most : offset < -most ? -most : offset, row, column);
    const wk__attr attr = wk__diagonal_attr((wk__diagonal_attributes){.offset = offset, .row = row, .column = column});
    return wk__make_view_geometry(&wk__op_diagonal, site, x, &g, &attr);
}

static void diagonal_gradient(wk__grad_ctx *g)
{
    const wk__diagonal_attributes a = wk__diagonal_attributes_of(g->attr);
    wk_tensor *zeros = wk__zeros_like_operand(g);
    write_view_grad(g, zeros, wk_diagonal_at((wk_site){0}, zeros, a.offset, a.row, a.column));
}

const wk__op wk__op_diagonal = {
    .gradient = diagonal_gradient,
    WK__SIGNATURE_diagonal,
};

/* ---- unfold ------------------------------------------------------------------------------------------------------ */

wk_tensor *wk_unfold_at(wk_site site, wk_tensor *x, int64_t dim, int64_t size, int64_t step)
{
    int d;
    if (!wk__check_input(&wk__op_unfold, site, x) || !wk__resolve_dim(&wk__op_unfold, site, x, dim, 0, &d)) return NULL;
    wk__geometry g;
    wk__geometry_of(wk__body_of(x), &g);
    const int64_t places = g.ndim ? g.shape[d] : 1;
    if (size < 0 || size > places || step < 1) {
        wk__op_error(&wk__op_unfold, site, WK_ERR_ARGUMENT, &x,
                     "windows of size %lld and step %lld do not fit dimension %d of $a (size %lld)", (long long)size,
                     (long long)step, d, (long long)places);
        return NULL;
    }
    const int64_t stride = g.ndim ? g.stride[d] : 1;
    if (g.ndim) { /* a 0-d tensor is its only window */
        g.shape[d] = (places - size) / step + 1;
        g.stride[d] *= g.shape[d] > 1 ? step : 1;
    }
    if (!wk__geometry_insert(&wk__op_unfold, site, x, &g, g.ndim, size, stride)) return NULL;
    const wk__attr attr = wk__unfold_attr((wk__unfold_attributes){.dim = d, .size = size, .step = step});
    return wk__make_view_geometry(&wk__op_unfold, site, x, &g, &attr);
}

/* Processes element k of all windows at once: elements with the same k never overlap. */
static void unfold_gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__unfold_attributes a = wk__unfold_attributes_of(g->attr);
    if (g->node->shape[0].ndim == 0) {
        g->in[0] = wk_sum_at(here, g->out[0], NULL, -1, NULL);
        return;
    }
    wk_tensor *zeros = wk__zeros_like_operand(g);
    if (!zeros) return;
    int64_t windows = (wk__body_of(zeros)->shape[a.dim] - a.size) / a.step + 1;
    for (int64_t k = 0; k < a.size; k++) {
        wk_tensor *part = wk_slice_at(here, zeros, a.dim, k, k + (windows - 1) * a.step + 1, a.step);
        if (!wk_add_(part, wk_select_at(here, g->out[0], -1, k))) return;
    }
    g->in[0] = zeros;
}

const wk__op wk__op_unfold = {
    .gradient = unfold_gradient,
    WK__SIGNATURE_unfold,
};

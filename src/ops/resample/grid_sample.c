/* SPDX-License-Identifier: Apache-2.0 */
/* grid_sample: each position of the grid takes elements of x with weights that are products over the dimensions
 * (grid_axis.h):
 *
 *     out[n, c, p] = sum over i and j of wy[j][n, p] wx[i][n, p] x[n, c, iy[j][n, p] + ix[i][n, p]]
 *
 * Indices and weights are computed once for all channels. The sum is a tree of elementwise records that read x at
 * indices, so it is one kernel without intermediate results. The gradient by the grid has the same form, with the
 * derivative of the weights along one dimension; that by x adds to the same elements. */
#include "base/sizes.h"
#include "grid_axis.h"
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include "ops/reduce/reduction.h"
#include <string.h>

enum { MOST_ELEMENTS = WK__GRID_TAPS * WK__GRID_TAPS /* of a position: 4 x 4, or 2 x 2 x 2 */ };

typedef struct sampler {
    wk__grid_call call;
    wk__grid_axis axis[WK__GRID_DIMS];
} sampler;

/* ---- the elements of a position ---------------------------------------------------------------------------------- */

/* Advances j[] to the next element of a position, the last dimension first. Returns false after the last one. */
static bool next_element(const sampler *s, int j[])
{
    for (int k = s->call.dims; k-- > 0;) {
        if (++j[k] < s->axis[k].taps) return true;
        j[k] = 0;
    }
    return false;
}

/* Returns the part of an element's index in its plane that is the same for all positions. */
static int64_t shift_of(const sampler *s, const int j[])
{
    int64_t shift = 0;
    for (int k = 0; k < s->call.dims; k++) shift += s->axis[k].index[j[k]] ? 0 : s->axis[k].shift[j[k]];
    return shift;
}

/* Returns the other part of the index. */
static wk_tensor *index_of(const sampler *s, const int j[])
{
    wk_tensor *sum = NULL;
    for (int k = 0; k < s->call.dims; k++) {
        wk_tensor *const *index = s->axis[k].index;
        wk_tensor *part = index[j[k]] ? index[j[k]] : index[0];
        sum = k > 0 ? wk_add(sum, part) : part;
    }
    return sum;
}

static wk_tensor *for_all_channels(const sampler *s, wk_tensor *x)
{
    const int64_t shape[] = {s->call.samples, s->call.channels, s->call.points};
    return wk_expand_at(s->call.site, x, shape, 3);
}

/* x (N, C, elements of a plane) -> the elements of all positions, (N, C, points) each */
static bool take_elements(const sampler *s, wk_tensor *x, wk_tensor *taken[])
{
    int j[WK__GRID_DIMS] = {0}, count = 0;
    wk_tensor *index = NULL;
    do {
        const int64_t shift = shift_of(s, j);
        if (shift == 0) index = for_all_channels(s, index_of(s, j));
        wk_tensor *from = shift ? wk_narrow_at(s->call.site, x, 2, shift, s->call.plane_size - shift) : x;
        taken[count] = wk_gather_at(s->call.site, from, 2, index);
        if (!taken[count++]) return false;
    } while (next_element(s, j));
    return true;
}

/* Computes the weight of an element of each position, with its slope along dimension `derived` (-1: none); NULL for 1.
 * *valid receives a mask of the positions that have the element, or NULL for all. Returns false on error. */
static bool weigh(const sampler *s, const int j[], int derived, wk_tensor **weight, wk_tensor **valid)
{
    bool fine = true;
    *weight = *valid = NULL;
    for (int k = 0; k < s->call.dims && fine; k++) {
        const wk__grid_axis *axis = &s->axis[k];
        wk_tensor *factor = (k == derived ? axis->slope : axis->weight)[j[k]], *inside = axis->valid[j[k]];
        if (factor) *weight = *weight ? wk_mul(*weight, factor) : factor;
        if (inside) *valid = *valid ? wk_logical_and(*valid, inside) : inside;
        fine = (*weight || !factor) && (*valid || !inside);
    }
    return fine;
}

/* Returns the sum of the elements of each position times their weights. */
static wk_tensor *weighted_sum(const sampler *s, wk_tensor *const taken[], int derived)
{
    int j[WK__GRID_DIMS] = {0};
    wk_tensor *sum = NULL;
    do {
        wk_tensor *weight, *valid, *term = *taken++;
        if (!weigh(s, j, derived, &weight, &valid)) return NULL;
        if (weight) term = wk_mul(term, weight);
        if (valid) term = wk_where(valid, term, 0);
        sum = sum ? wk_add(sum, term) : term;
    } while (sum && next_element(s, j));
    return sum;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Computes the elements along all dimensions from a grid (N, .., dims). */
static bool make_axes(sampler *s, wk_tensor *grid, bool slopes)
{
    const wk__grid_call *c = &s->call;
    const int64_t shape[] = {c->samples, 1, c->points, c->dims};
    wk_tensor *wide = wk__to_opmath(grid), *rows = wide ? wk_reshape_at(c->site, wide, shape, 4) : NULL;
    for (int k = 0; k < c->dims && rows; k++) {
        wk_tensor *coordinate = wk_select_at(c->site, rows, 3, c->dims - 1 - k);
        if (!wk__grid_axis_make(c, coordinate, k, slopes, &s->axis[k])) return false;
    }
    return rows != NULL;
}

static wk_tensor *as_planes(const sampler *s, wk_tensor *x)
{
    return wk_reshape_at(s->call.site, x, (const int64_t[]){s->call.samples, s->call.channels, s->call.plane_size}, 3);
}

static wk_tensor *sample(sampler *s, wk_tensor *x, wk_tensor *grid)
{
    const wk_site site = s->call.site;
    wk_tensor *taken[MOST_ELEMENTS];
    if (!make_axes(s, grid, false) || !take_elements(s, as_planes(s, x), taken)) return NULL;
    wk_tensor *sum = weighted_sum(s, taken, -1);
    int64_t shape[2 + WK__GRID_DIMS] = {s->call.samples, s->call.channels};
    memcpy(shape + 2, wk__body_of(grid)->shape + 1, sizeof *shape * (size_t)s->call.dims);
    return sum ? wk_to_dtype_at(site, wk_reshape_at(site, sum, shape, 2 + s->call.dims), wk_dtype_of(x)) : NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool report(const wk__op *op, wk_site site, wk_code code, wk_tensor *const in[], const char *problem)
{
    wk__op_error(op, site, code, in, "%s: input $a, grid $b", problem);
    return false;
}

static bool check(const wk__op *op, wk_site site, wk_tensor *const in[], const wk_grid_sample_options *o)
{
    const wk__body *x = wk__body_of(in[0]), *grid = wk__body_of(in[1]);
    const int dims = x->ndim - 2;
    if (!wk__is_float(x->dtype) || x->dtype != grid->dtype)
        return report(op, site, WK_ERR_DTYPE, in,
                      "expected one floating dtype for both; convert one of them with wk_to_dtype");
    if (dims < 2 || dims > WK__GRID_DIMS || grid->ndim != x->ndim) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "expected 4 or 5 dimensions for both: input $a, grid $b%s",
                     wk__unsqueeze_hint(x->ndim < grid->ndim ? x->ndim : grid->ndim, 4));
        return false;
    }
    if (grid->shape[0] != x->shape[0] || grid->shape[dims + 1] != dims)
        return report(op, site, WK_ERR_SHAPE, in,
                      "expected as many samples in both, and a last dimension of the grid with a number per spatial "
                      "dimension");
    if (o->mode == WK_GRID_SAMPLE_BICUBIC && dims != 2)
        return report(op, site, WK_ERR_SHAPE, in, "bicubic needs two spatial dimensions");
    for (int k = 0; k < dims; k++)
        if (x->shape[2 + k] < 1) return report(op, site, WK_ERR_SHAPE, in, "a spatial dimension is empty");
    return true;
}

/* Fills in the sizes from the shapes of x and the grid. */
static void set_sizes(wk__grid_call *c, const int64_t x[], const int64_t grid[], int dims)
{
    c->dims = dims;
    c->samples = x[0];
    c->channels = x[1];
    c->points = wk__numel(dims, grid + 1);
    c->plane_size = 1;
    for (int k = dims; k-- > 0;) {
        c->size[k] = x[2 + k];
        c->stride[k] = c->plane_size;
        c->plane_size *= c->size[k];
    }
}

wk_tensor *wk_grid_sample_at(wk_site site, wk_tensor *x, wk_tensor *grid, const wk_grid_sample_options *options)
{
    const wk__op *op = &wk__op_grid_sample;
    wk_grid_sample_options o;
    wk__compose c;
    wk_tensor *in[] = {x, grid};
    if (!wk__read_grid_sample_options(site, op->name, options, &o) || !wk__compose_begin(&c, op, site, in, 2))
        return NULL;
    if (!check(op, site, in, &o)) return wk__compose_end(&c, NULL, NULL);
    sampler s = {
        .call = {.site = site, .mode = o.mode, .padding_mode = o.padding_mode, .align_corners = o.align_corners}};
    set_sizes(&s.call, wk__body_of(x)->shape, wk__body_of(grid)->shape, wk__body_of(x)->ndim - 2);
    wk__attr attr = wk__grid_sample_attr(
        (wk__grid_sample_attributes){.mode = o.mode, .padding_mode = o.padding_mode, .align_corners = o.align_corners});
    if (s.call.dims == 3) attr.grad_fn_name = "GridSampler3DBackward0";
    return wk__compose_end(&c, sample(&s, x, grid), &attr);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Adds grad (N, C, points), times the weights, to the elements of x (N, C, elements of a plane). */
static wk_tensor *gradient_by_x(const sampler *s, wk_tensor *grad)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    const int64_t shape[] = {s->call.samples, s->call.channels, s->call.plane_size};
    wk_tensor *sum = wk_zeros_at(s->call.site, shape, 3, &like);
    int j[WK__GRID_DIMS] = {0};
    do {
        const int64_t shift = shift_of(s, j);
        wk_tensor *index = index_of(s, j), *weight, *valid;
        if (!weigh(s, j, -1, &weight, &valid)) return NULL;
        wk_tensor *part = weight ? wk_mul(grad, weight) : grad;
        if (valid) part = wk_where(valid, part, 0);
        index = for_all_channels(s, shift ? wk_add(index, shift) : index);
        if (!wk_scatter_add__at(s->call.site, sum, 2, index, part)) return NULL;
    } while (next_element(s, j));
    return sum;
}

/* Returns the gradient by the grid as (N, points, dims). */
static wk_tensor *gradient_by_grid(const sampler *s, wk_tensor *x, wk_tensor *grad)
{
    const wk_site site = s->call.site;
    wk_tensor *taken[MOST_ELEMENTS], *part[WK__GRID_DIMS];
    if (!take_elements(s, x, taken)) return NULL;
    for (int k = 0; k < s->call.dims; k++) {
        wk_tensor *slope = wk__sum_keepdim(wk_mul(grad, weighted_sum(s, taken, k)), 1 << 1);
        slope = s->axis[k].factor ? wk_mul(slope, s->axis[k].factor) : wk_mul(slope, s->axis[k].scale);
        part[s->call.dims - 1 - k] = wk_select_at(site, slope, 1, 0);
    }
    return wk_stack_at(site, part, s->call.dims, 2);
}

static wk_tensor *finished(wk_tensor *sum, const wk__tensor_meta *operand)
{
    const wk_site here = {0};
    return sum ? wk_to_dtype_at(here, wk_reshape_at(here, sum, operand->size, operand->ndim), (wk_dtype)operand->dtype)
               : NULL;
}

static void gradient(wk__grad_ctx *g)
{
    const wk__grid_sample_attributes a = wk__grid_sample_attributes_of(g->attr);
    const wk__tensor_meta *x = &g->node->shape[0], *grid = &g->node->shape[1];
    const bool smooth = a.mode != WK_GRID_SAMPLE_NEAREST, by_x = wk__needs_input_grad(g, 0),
               by_grid = wk__needs_input_grad(g, 1);
    sampler s = {.call = {.mode = (int)a.mode, .padding_mode = (int)a.padding_mode, .align_corners = a.align_corners}};
    set_sizes(&s.call, x->size, grid->size, x->ndim - 2);
    const int64_t shape[] = {s.call.samples, s.call.channels, s.call.points};
    wk_tensor *grad = wk__to_opmath(g->out[0]), *positions = wk__saved(g, 1);
    if (!grad || !positions || !make_axes(&s, positions, by_grid && smooth)) return;
    grad = wk_reshape_at((wk_site){0}, grad, shape, 3);
    if (by_x) g->in[0] = finished(gradient_by_x(&s, grad), x);
    if (by_grid)
        g->in[1] = smooth ? finished(gradient_by_grid(&s, as_planes(&s, wk__saved(g, 0)), grad), grid)
                          : wk_zeros_like(positions);
}

const wk__op wk__op_grid_sample = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_grid_sample,
};

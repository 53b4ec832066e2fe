/* SPDX-License-Identifier: Apache-2.0 */
/* affine_grid: theta times the coordinates of each element of the result, as one elementwise expression that broadcasts
 * a vector of coordinates per dimension. */
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include "ops/reduce/reduction.h"
#include <string.h>

enum { MOST_DIMS = 3 };

/* Spatial sizes of the result, the last dimension first, as theta has them. */
typedef struct affine {
    wk_site site;
    int dims;
    bool align_corners;
    int64_t samples, size[MOST_DIMS];
} affine;

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

/* Returns the coordinates along dimension k, with the shape (1, .., size, .., 1, 1) of the grid. */
static wk_tensor *coordinates(const affine *a, int k, wk_tensor *like)
{
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = wk_dtype_of(like), .device = wk_device_of(like)};
    const int64_t n = a->size[k], divisor = !a->align_corners ? n : n > 1 ? n - 1 : 1;
    int64_t shape[2 + MOST_DIMS] = {1, 1, 1, 1, 1};
    shape[a->dims - k] = n;
    wk_tensor *place = wk_mul(wk_arange_i64_at(a->site, n, &options), 2);
    return wk_reshape_at(a->site, wk_div(wk_sub(place, n - 1), divisor), shape, a->dims + 2);
}

/* theta (N, dims, dims + 1) -> its column k with the shape (N, 1, .., 1, dims) of the grid */
static wk_tensor *column(const affine *a, wk_tensor *theta, int k)
{
    int64_t shape[2 + MOST_DIMS] = {a->samples, 1, 1, 1, 1};
    shape[a->dims + 1] = a->dims;
    return wk_reshape_at(a->site, wk_select_at(a->site, theta, 2, k), shape, a->dims + 2);
}

static wk_tensor *make_grid(const affine *a, wk_tensor *theta)
{
    wk_tensor *wide = wk__to_opmath(theta), *sum = wide ? column(a, wide, a->dims) : NULL;
    for (int k = 0; k < a->dims && sum; k++) sum = wk_add(sum, wk_mul(coordinates(a, k, wide), column(a, wide, k)));
    return sum ? wk_to_dtype_at(a->site, sum, wk_dtype_of(theta)) : NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check(const wk__op *op, wk_tensor *theta, const int64_t *size, int count, affine *a)
{
    const wk__body *body = wk__body_of(theta);
    if (count != 4 && count != 5) {
        wk__error_set(a->site, WK_ERR_ARGUMENT, "affine_grid: expected a size of four or five numbers, got %d", count);
        return false;
    }
    a->dims = count - 2;
    a->samples = size[0];
    if (body->ndim != 3 || body->shape[0] != size[0] || body->shape[1] != a->dims || body->shape[2] != a->dims + 1) {
        wk__op_error(op, a->site, WK_ERR_SHAPE, &theta, "expected theta of shape [%lld,%d,%d] for this size, got $a",
                     (long long)size[0], a->dims, a->dims + 1);
        return false;
    }
    for (int k = 0; k < a->dims; k++) {
        a->size[k] = size[count - 1 - k];
        if (a->size[k] >= 1) continue;
        wk__error_set(a->site, WK_ERR_ARGUMENT, "affine_grid: spatial sizes must be at least 1, got %lld",
                      (long long)a->size[k]);
        return false;
    }
    return wk__check_float(op, a->site, theta);
}

wk_tensor *wk_affine_grid_at(wk_site site, wk_tensor *theta, const int64_t *size, int count,
                             const wk_affine_grid_options *options)
{
    const wk__op *op = &wk__op_affine_grid;
    wk_affine_grid_options o;
    wk__compose c;
    if (!wk__options(site, op->name, options, &o) || !wk__array_check(size, count, site, op->name, "the size") ||
        !wk__compose_begin(&c, op, site, &theta, 1))
        return NULL;
    affine a = {.site = site, .align_corners = o.align_corners};
    if (!check(op, theta, size, count, &a)) return wk__compose_end(&c, NULL, NULL);
    const wk__attr attr = wk__affine_grid_attr((wk__affine_grid_attributes){.align_corners = a.align_corners});
    return wk__compose_end(&c, make_grid(&a, theta), &attr);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* The gradient of column k is the sum of grad times the coordinates along dimension k, or of grad for the last one. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__tensor_meta *theta = &g->node->shape[0];
    affine a = {.dims = (int)theta->size[1],
                .align_corners = wk__affine_grid_attributes_of(g->attr).align_corners,
                .samples = theta->size[0]};
    wk_tensor *grad = wk__to_opmath(g->out[0]), *part[MOST_DIMS + 1];
    if (!grad) return;
    for (int k = 0; k < a.dims; k++) a.size[k] = wk__body_of(grad)->shape[a.dims - k];
    const int64_t spatial[] = {1, 2, 3};
    for (int k = 0; k <= a.dims; k++)
        part[k] = wk_sum_at(here, k < a.dims ? wk_mul(grad, coordinates(&a, k, grad)) : grad, spatial, a.dims, NULL);
    wk_tensor *sum = wk_stack_at(here, part, a.dims + 1, 2);
    g->in[0] = sum ? wk_to_dtype_at(here, sum, (wk_dtype)theta->dtype) : NULL;
}

const wk__op wk__op_affine_grid = {
    .gradient = gradient,
    WK__SIGNATURE_affine_grid,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* uniform_ and normal_: fill a tensor with random numbers, in place. */
#include "ops/core/compose.h"
#include "dtype_range.h"
#include "philox_draw.h"
#include <math.h>

wk_tensor *wk__uniform(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device)
{
    return wk_rand_at(site, shape, ndim,
                      &(const wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = dtype, .device = device});
}
static wk_tensor *normal_on(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device)
{
    return wk_randn_at(site, shape, ndim,
                       &(const wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = dtype, .device = device});
}

/* Distribution: offset + scale x, x uniform in [0, 1) or normal; and the largest value that uniform numbers may be
 * rounded to. */
typedef struct fill {
    const wk__op *op;
    bool normal;
    double offset, scale, greatest;
} fill;

/* Draws the numbers in the target's computation dtype. */
static wk_tensor *draw_numbers(const fill *f, wk_site site, const wk__body *body)
{
    wk_tensor *(*draw)(wk_site, const int64_t *, int, wk_dtype, wk_device) = f->normal ? normal_on : wk__uniform;
    wk_tensor *numbers = draw(site, body->shape, body->ndim, wk__compute_class(body->dtype), body->storage->device->id);
    if (f->scale != 1) numbers = wk_mul(numbers, f->scale);
    if (f->offset != 0) numbers = wk_add(numbers, f->offset);
    return f->normal ? numbers : wk_minimum(numbers, f->greatest);
}

/* Draws and assigns; the old contents do not affect the result. */
static wk_tensor *fill_in_frame(const fill *f, wk_site site, wk_tensor *x)
{
    wk__compose c;
    bool node = wk__needs_grad_fn(wk__context(), &x, 1);
    if (!wk__in_place_allowed(f->op, site, &x, 1) || !wk__compose_begin(&c, f->op, site, &x, 1)) return NULL;
    wk_tensor *numbers = draw_numbers(f, site, wk__body_of(x));
    wk__savepoint before;
    wk__savepoint_take(&before, x);
    bool fine = numbers && wk__assign(f->op, site, x, wk__tensor_arg(numbers));
    wk__compose_end(&c, NULL, NULL);
    fine = fine && (!node || wk__node_attach_in_place(f->op, site, x, &x, 1, NULL));
    wk__savepoint_end(&before, fine);
    return fine ? x : NULL;
}

static wk_tensor *fill_random(const fill *f, wk_site site, wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk_tensor *out = fill_in_frame(f, site, x);
    wk__frame_end(context, before);
    return out;
}

static bool check_target(const wk__op *op, wk_site site, wk_tensor *x)
{
    if (!wk__check_input(op, site, x)) return false;
    if (wk__is_float(wk__body_of(x)->dtype)) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, &x, "$a cannot hold random floats; use wk_randint for integers");
    return false;
}

/* The ends are rounded to x's dtype, so that `from` itself may be drawn, and no stored value equals `to`. */
wk_tensor *wk_uniform__at(wk_site site, wk_tensor *x, double from, double to)
{
    const wk__op *op = &wk__op_uniform_;
    if (!(from <= to)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "uniform_: the range [%g, %g) is empty", from, to);
        return NULL;
    }
    if (!check_target(op, site, x)) return NULL;
    const wk_dtype dtype = wk__body_of(x)->dtype;
    const double first = wk__float_nearest(from, dtype), end = wk__float_nearest(to, dtype);
    if (!isfinite(first) || !isfinite(end) || !isfinite(wk__float_nearest(to - from, dtype))) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x,
                     "[%g, %g) is too wide for $a: its ends and its length must be finite "
                     "in that dtype",
                     from, to);
        return NULL;
    }
    const double greatest = first < end ? wk__float_below(end, dtype) : end;
    return fill_random(&(const fill){op, false, from, to - from, greatest}, site, x);
}
wk_tensor *wk_normal__at(wk_site site, wk_tensor *x, double mean, double std)
{
    const wk__op *op = &wk__op_normal_;
    if (!(std >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "normal_: std must be at least 0, got %g", std);
        return NULL;
    }
    return check_target(op, site, x) ? fill_random(&(const fill){op, true, mean, std, 0}, site, x) : NULL;
}

static void refilled_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

const wk__op wk__op_uniform_ = {
    .gradient = refilled_gradient,
    WK__SIGNATURE_uniform_,
};

const wk__op wk__op_normal_ = {
    .gradient = refilled_gradient,
    WK__SIGNATURE_normal_,
};

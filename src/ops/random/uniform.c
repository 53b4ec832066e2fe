/* SPDX-License-Identifier: Apache-2.0 */
/* uniform_ and normal_: a tensor filled anew, in place. */
#include "philox_draw.h"

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

/* offset + scale x, in the class of the target; the old numbers do not flow into the new ones. */
static wk_tensor *fill_random(const wk__op *op, wk_site site, wk_tensor *x, bool normal, double offset, double scale)
{
    if (!wk__check_input(op, site, x)) return NULL;
    const wk__body *body = wk__body_of(x);
    if (!wk__is_float(body->dtype)) {
        wk__op_error(op, site, WK_ERR_DTYPE, &x, "$a cannot be filled with floats; wk_randint draws whole numbers");
        return NULL;
    }
    wk__compose c;
    bool node = wk__needs_grad_fn(wk__context(), &x, 1);
    if (!wk__in_place_allowed(op, site, x) || !wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *(*draw)(wk_site, const int64_t *, int, wk_dtype, wk_device) = normal ? normal_on : wk__uniform;
    wk_tensor *numbers = draw(site, body->shape, body->ndim, wk__compute_class(body->dtype), body->storage->device->id);
    if (scale != 1) numbers = wk_mul(numbers, scale);
    if (offset != 0) numbers = wk_add(numbers, offset);
    wk__savepoint before;
    wk__savepoint_take(&before, x);
    bool fine = numbers && wk__assign(op, site, x, wk__tensor_arg(numbers));
    wk__compose_end(&c, NULL, NULL);
    fine = fine && (!node || wk__node_attach_in_place(op, site, x, &x, 1, NULL));
    wk__savepoint_end(&before, fine);
    return fine ? x : NULL;
}

static wk_tensor *fill_random_call(const wk__op *op, wk_site site, wk_tensor *x, bool normal, double offset,
                                   double scale)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk_tensor *out = fill_random(op, site, x, normal, offset, scale);
    wk__frame_end(context, before);
    return out;
}

wk_tensor *wk_uniform__at(wk_site site, wk_tensor *x, double from, double to)
{
    if (from <= to) return fill_random_call(&wk__op_uniform_, site, x, false, from, to - from);
    wk__error_set(site, WK_ERR_ARGUMENT, "uniform_: no number lies in [%g, %g)", from, to);
    return NULL;
}
wk_tensor *wk_normal__at(wk_site site, wk_tensor *x, double mean, double std)
{
    if (std >= 0) return fill_random_call(&wk__op_normal_, site, x, true, mean, std);
    wk__error_set(site, WK_ERR_ARGUMENT, "normal_: a standard deviation of %g is less than 0", std);
    return NULL;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm: x / sqrt(mean of squares + eps) weight over the last dimensions. One row program: the sum of squares, the
 * result. */
#include "ops/reduce/reduction.h"
#include "ops/reduce/row_norm.h"
#include <float.h>

static int square(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[0]);
}
/* in: sum of squares, number of elements, eps */
static int reciprocal_root(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__RSQRT, wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__DIV, in[0], in[1]), in[2]));
}
/* in: gradient of the result, x, factor */
static int weight_term(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], wk__emit_binary(e, WK__MUL, in[1], in[2]));
}

static const wk__op weight_op = {.name = "rms_norm", .expression = weight_term, .arity = 3, .reduction = WK__RSUM};
static const wk__op square_op = {.name = "rms_norm", .expression = square, .arity = 1};
static const wk__op root_op = {.name = "rms_norm", .expression = reciprocal_root, .arity = 3};

/* Sets out[0] to x normalised, out[1] to the factors of the rows. */
static void normalise(wk_site site, wk_tensor *x, const wk__rms_norm_attributes *a, wk_tensor *out[2])
{
    const uint16_t mask = (uint16_t)a->mask;
    wk_tensor *squares = x ? wk__reduce_sum(site, wk__unary(&square_op, site, x), mask, true) : NULL;
    if (!squares) return;
    const wk__arg args[] = {wk__tensor_arg(squares), wk__float_arg((double)wk__reduced_numel(x, mask)),
                            wk__float_arg(a->eps)};
    out[1] = wk__elementwise(&root_op, site, args, 3, NULL);
    out[0] = out[1] ? wk_mul(x, out[1]) : NULL;
}

/* Checks that the last dimensions of x, and weight, have this shape. */
static bool check_shape(wk_site site, wk_tensor *const in[2], const int64_t *shape, int ndim)
{
    const wk__op *op = &wk__op_rms_norm;
    if (!wk__array_check(shape, ndim, site, op->name, "the shape")) return false;
    const wk__body *x = wk__body_of(in[0]), *weight = in[1] ? wk__body_of(in[1]) : NULL;
    if (ndim >= 1 && ndim <= x->ndim && wk__same_shape(ndim, x->shape + x->ndim - ndim, ndim, shape) &&
        (!weight || wk__same_shape(weight->ndim, weight->shape, ndim, shape)))
        return true;
    wk__op_error(op, site, WK_ERR_SHAPE, in,
                 weight ? "the last dimensions of $a, and weight, $b, must be the %d dimensions of the normalised shape"
                        : "the last dimensions of $a must be the %d dimensions of the normalised shape",
                 ndim);
    return false;
}

wk_tensor *wk_rms_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight, double eps)
{
    const wk__op *op = &wk__op_rms_norm;
    wk__compose c;
    if (!weight && wk__omitted_may_have_failed()) return NULL;
    if ((weight && !wk__check_tensor(weight, site, op->name, "weight")) || !wk__compose_begin(&c, op, site, &x, 1))
        return NULL;
    c.in[1] = weight;
    c.inputs = 2;
    wk_tensor *out[2] = {NULL};
    wk__rms_norm_attributes a = {.eps = eps};
    if (wk__check_float(op, site, x) && check_shape(site, c.in, shape, ndim)) {
        const wk__body *body = wk__body_of(x);
        a.mask = ((1 << body->ndim) - 1) & ~((1 << (body->ndim - ndim)) - 1);
        if (!(eps >= 0)) a.eps = body->dtype == WK_F64 ? DBL_EPSILON : FLT_EPSILON;
        normalise(site, wk__to_opmath(x), &a, out);
        if (weight) out[0] = wk_mul(out[0], weight);
        out[0] = wk__cast_result(out[0], body->dtype);
    }
    const wk__attr attr = wk__rms_norm_attr(a);
    if (!wk__compose_end_n(&c, out, 2, &attr)) return NULL;
    wk__handle_release(&out[1]->handle, site); /* the node references it */
    return out[0];
}

/* Returns h = x r, the result without weight; a new tensor for each kernel, so that none is stored. */
static wk_tensor *saved_normalised(const wk__grad_ctx *g)
{
    return wk_mul(wk__saved(g, 0), wk__saved(g, WK__SAVED_OUT + 1));
}

/* With d the gradient of the result times the weight, the gradient of x is r (d - h mean(d h)). The gradient of r adds
 * -r^2 h / n times itself. */
static void gradient(wk__grad_ctx *g)
{
    const int64_t mask = wk__rms_norm_attributes_of(g->attr).mask;
    wk_tensor *grad = g->out[0], *in = NULL;
    if (grad && !g->out[1] && wk__needs_input_grad(g, 0) &&
        wk__row_norm_gradient(g, mask, NULL, wk__saved(g, WK__SAVED_OUT + 1)))
        return;
    if (grad && wk__needs_input_grad(g, 1)) g->in[1] = wk__row_norm_sum(g, mask, &weight_op, saved_normalised);
    if (!wk__needs_input_grad(g, 0)) return;
    wk_tensor *h = saved_normalised(g), *r = wk__saved(g, WK__SAVED_OUT + 1);
    if (!h || !r) return;
    if (grad) {
        wk_tensor *d = g->node->saved[1] ? wk_mul(grad, wk__saved(g, 1)) : grad;
        in = wk_mul(wk_sub(d, wk_mul(h, wk__mean_keepdim(wk_mul(d, h), mask))), r);
    }
    if (g->out[1]) {
        const double n = (double)wk__reduced_numel(h, (uint16_t)mask);
        in = wk__add_terms(in, wk_mul(h, wk_mul(wk_mul(wk_mul(r, r), g->out[1]), -1 / n)));
    }
    g->in[0] = in;
}

const wk__op wk__op_rms_norm = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT_1, WK__SAVE_0 | WK__SAVE_OUT_1},
    WK__SIGNATURE_rms_norm,
};

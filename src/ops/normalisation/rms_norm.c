/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm: x / sqrt(mean of squares + eps) weight over the last dimensions. One row program: the sum of squares, the
 * result. */
#include "ops/reduce/reduction.h"
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
static const wk__op square_op = {.name = "rms_norm", .expression = square, .arity = 1};
static const wk__op root_op = {.name = "rms_norm", .expression = reciprocal_root, .arity = 3};

static wk_tensor *normalised(wk_site site, wk_tensor *x, const wk__rms_norm_attributes *a)
{
    const uint16_t mask = (uint16_t)a->mask;
    wk_tensor *squares = x ? wk__reduce_sum(site, wk__unary(&square_op, site, x), mask, true) : NULL;
    if (!squares) return NULL;
    const wk__arg args[] = {wk__tensor_arg(squares), wk__float_arg((double)wk__reduced_numel(x, mask)),
                            wk__float_arg(a->eps)};
    return wk_mul(x, wk__elementwise(&root_op, site, args, 3, NULL));
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
    wk_tensor *out = NULL;
    wk__rms_norm_attributes a = {.eps = eps};
    if (wk__check_float(op, site, x) && check_shape(site, c.in, shape, ndim)) {
        const wk__body *body = wk__body_of(x);
        a.mask = ((1 << body->ndim) - 1) & ~((1 << (body->ndim - ndim)) - 1);
        if (!(eps >= 0)) a.eps = body->dtype == WK_F64 ? DBL_EPSILON : FLT_EPSILON;
        out = normalised(site, wk__to_opmath(x), &a);
        if (weight) out = wk_mul(out, weight);
        out = wk__cast_result(out, body->dtype);
    }
    const wk__attr attr = wk__rms_norm_attr(a);
    return wk__compose_end(&c, out, &attr);
}

/* With h = x r, the result without weight, and d the gradient times the weight, the gradient of x is r (d - h mean(d
 * h)). */
static void gradient(wk__grad_ctx *g)
{
    const wk__rms_norm_attributes a = wk__rms_norm_attributes_of(g->attr);
    wk_tensor *x = wk__saved(g, 0), *grad = g->out[0];
    wk_tensor *r = wk_rsqrt(wk_add(wk__mean_keepdim(wk_mul(x, x), a.mask), a.eps)), *h = wk_mul(x, r);
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(grad, h);
    if (!wk__needs_input_grad(g, 0)) return;
    wk_tensor *d = g->node->saved[1] ? wk_mul(grad, wk__saved(g, 1)) : grad;
    g->in[0] = wk_mul(wk_sub(d, wk_mul(h, wk__mean_keepdim(wk_mul(d, h), a.mask))), r);
}

const wk__op wk__op_rms_norm = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_rms_norm,
};

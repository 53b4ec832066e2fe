/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm: (x - mean) / sqrt(var + eps) weight + bias over the last dimensions. One row program: the mean, the sum
 * of squared deviations, the result. */
#include "reduction.h"
#include "row_norm.h"
#include <math.h>

static int square(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[0]);
}
/* in: sum of squares, number of elements, eps */
static int scale(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__RSQRT, wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__DIV, in[0], in[1]), in[2]));
}

/* in: gradient of the result, x, mean, factor */
static int weight_term(wk__emit *e, const int in[])
{
    const int centred = wk__emit_binary(e, WK__SUB, in[1], in[2]);
    return wk__emit_binary(e, WK__MUL, in[0], wk__emit_binary(e, WK__MUL, centred, in[3]));
}

static const wk__op weight_op = {.name = "layer_norm", .expression = weight_term, .arity = 4, .reduction = WK__RSUM};
static const wk__op square_op = {.name = "layer_norm", .expression = square, .arity = 1};
static const wk__op scale_op = {.name = "layer_norm", .expression = scale, .arity = 3};

/* Returns 1 / sqrt(var + eps) of each row of centred data. */
static wk_tensor *row_scale(wk_site site, wk_tensor *centred, uint16_t mask, double columns, double eps)
{
    wk_tensor *squares = centred ? wk__reduce_sum(site, wk__unary(&square_op, site, centred), mask, true) : NULL;
    return squares ? wk__elementwise(&scale_op, site,
                                     (wk__arg[]){wk__tensor_arg(squares), wk__float_arg(columns), wk__float_arg(eps)},
                                     3, NULL)
                   : NULL;
}

/* Sets out[0] to x normalised, out[1] to the means and out[2] to the factors of the rows. */
static void normalise(wk_site site, wk_tensor *x, uint16_t mask, double eps, wk_tensor *out[3])
{
    if (!x) return;
    const double columns = (double)wk__reduced_numel(x, mask);
    wk_tensor *sum = wk__reduce_sum(site, x, mask, true);
    out[1] = sum ? wk_div(sum, columns) : NULL;
    wk_tensor *centred = out[1] ? wk_sub(x, out[1]) : NULL;
    out[2] = row_scale(site, centred, mask, columns, eps);
    out[0] = out[2] ? wk_mul(centred, out[2]) : NULL;
}

/* Checks that the last dimensions of x, and the optional operands, have this shape. */
static bool check_normalized_shape(wk_site site, wk_tensor *const in[], const int64_t *shape, int ndim)
{
    if (!wk__array_check(shape, ndim, site, "layer_norm", "the shape")) return false;
    const wk__body *x = wk__body_of(in[0]);
    bool fit = ndim >= 1 && ndim <= x->ndim && wk__same_shape(ndim, x->shape + x->ndim - ndim, ndim, shape);
    for (int k = 1; k < 3 && fit; k++) {
        const wk__body *body = in[k] ? wk__body_of(in[k]) : NULL;
        fit = !body || wk__same_shape(body->ndim, body->shape, ndim, shape);
    }
    if (fit) return true;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__text text = {0};
    wk__text_shape(&text, ndim, shape);
    wk__op_error(&wk__op_layer_norm, site, WK_ERR_SHAPE, in,
                 "the last dimensions of $a, and weight and bias, must be the normalised shape %s",
                 text.data ? text.data : "");
    wk__text_free(&text);
    wk__frame_end(context, before);
    return false;
}

wk_tensor *wk_layer_norm_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim, wk_tensor *weight,
                            wk_tensor *bias, double eps)
{
    const wk__op *op = &wk__op_layer_norm;
    wk__compose c;
    if ((!weight || !bias) && wk__omitted_may_have_failed()) return NULL;
    if ((weight && !wk__check_tensor(weight, site, op->name, "weight")) ||
        (bias && !wk__check_tensor(bias, site, op->name, "bias")))
        return NULL;
    if (!(eps >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "layer_norm: eps must be at least 0, got %g", eps);
        return NULL;
    }
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    c.in[1] = weight;
    c.in[2] = bias;
    c.inputs = 3;
    wk_tensor *out[3] = {NULL};
    wk__layer_norm_attributes a = {.eps = eps}; /* the mask of the normalised dimensions is set below */
    if (wk__check_float(op, site, x) && check_normalized_shape(site, c.in, shape, ndim)) {
        int all = wk__body_of(x)->ndim;
        a.mask = ((1 << all) - 1) & ~((1 << (all - ndim)) - 1);
        normalise(site, wk__to_opmath(x), (uint16_t)a.mask, eps, out);
        if (weight) out[0] = wk_mul(out[0], weight);
        if (bias) out[0] = wk_add(out[0], bias);
        out[0] = wk__cast_result(out[0], wk__body_of(x)->dtype);
    }
    const wk__attr attr = wk__layer_norm_attr(a);
    if (!wk__compose_end_n(&c, out, 3, &attr)) return NULL;
    for (int k = 1; k < 3; k++) wk__handle_release(&out[k]->handle, site); /* the node references them */
    return out[0];
}

/* Returns h = (x - mean) r, the result without weight; a new tensor for each kernel, so that none is stored. */
static wk_tensor *saved_normalised(const wk__grad_ctx *g)
{
    wk_tensor *centred = wk_sub(wk__saved(g, 0), wk__saved(g, WK__SAVED_OUT + 1));
    return wk_mul(centred, wk__saved(g, WK__SAVED_OUT + 2));
}

/* With d the gradient of the result times the weight, the gradient of x is r (d - mean d - h mean(d h)). The gradient
 * of the mean adds itself / n to each x, that of r adds -r^2 h / n times itself. */
static void gradient(wk__grad_ctx *g)
{
    const int64_t mask = wk__layer_norm_attributes_of(g->attr).mask;
    wk_tensor *grad = g->out[0];
    if (grad && !g->out[1] && !g->out[2] && wk__needs_input_grad(g, 0) &&
        wk__row_norm_gradient(g, mask, wk__saved(g, WK__SAVED_OUT + 1), wk__saved(g, WK__SAVED_OUT + 2)))
        return;
    if (wk__needs_input_grad(g, 2)) g->in[2] = grad;
    if (grad && wk__needs_input_grad(g, 1)) g->in[1] = wk__row_norm_sum(g, mask, &weight_op, saved_normalised);
    if (!wk__needs_input_grad(g, 0)) return;
    wk_tensor *h = saved_normalised(g), *r = wk__saved(g, WK__SAVED_OUT + 2), *in = NULL;
    if (!h || !r) return;
    if (grad) {
        wk_tensor *d = g->node->saved[1] ? wk_mul(grad, wk__saved(g, 1)) : grad;
        wk_tensor *rest = wk_sub(wk_sub(d, wk__mean_keepdim(d, mask)), wk_mul(h, wk__mean_keepdim(wk_mul(d, h), mask)));
        in = wk_mul(rest, r);
    }
    const double n = (double)wk__reduced_numel(h, (uint16_t)mask);
    if (g->out[1]) in = wk__add_terms(in, wk_div(g->out[1], n));
    if (g->out[2]) in = wk__add_terms(in, wk_mul(h, wk_mul(wk_mul(wk_mul(r, r), g->out[2]), -1 / n)));
    g->in[0] = in;
}

const wk__op wk__op_layer_norm = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT_1 | WK__SAVE_OUT_2, WK__SAVE_0 | WK__SAVE_OUT_1 | WK__SAVE_OUT_2},
    WK__SIGNATURE_layer_norm,
};

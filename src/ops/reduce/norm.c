/* SPDX-License-Identifier: Apache-2.0 */
/* norm: vector norms, (sum |x|^p)^(1/p). p is 2 by default; 0 (the number of nonzero elements), inf and -inf are
 * allowed. */
#include "base/alloc.h"
#include "norm.h"
#include <math.h>

/* An element's term of the sum, before the root. in: x, p */
static int magnitude(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__ABS, in[0]);
}
static int square(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[0]);
}
static int nonzero_indicator(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0);
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], zero), wk__emit_constant(e, 1), zero);
}
static int power(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__POW, wk__emit_unary(e, WK__ABS, in[0]), in[1]);
}
/* in: sum, p */
static int root(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__POW, in[0], wk__emit_unary(e, WK__RECIPROCAL, in[1]));
}

static const wk__op magnitude_op = {.name = "norm", .expression = magnitude, .arity = 2};
static const wk__op square_op = {.name = "norm", .expression = square, .arity = 2};
static const wk__op present_op = {.name = "norm", .expression = nonzero_indicator, .arity = 2};
static const wk__op power_op = {.name = "norm", .expression = power, .arity = 2};
static const wk__op root_op = {.name = "norm", .expression = root, .arity = 2};

static const wk__op *term_op_for(double p)
{
    return p == 2 ? &square_op : p == 0 ? &present_op : p == 1 || isinf(p) ? &magnitude_op : &power_op;
}

wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim, double p)
{
    if (!x) return NULL;
    const wk__op *reduction = p == INFINITY ? &wk__op_amax : p == -INFINITY ? &wk__op_amin : &wk__op_sum;
    wk_dtype class = wk__compute_class(wk__body_of(x)->dtype);
    wk_tensor *part = wk__elementwise(term_op_for(p), site, (wk__arg[]){wk__tensor_arg(x), wk__float_arg(p)}, 2, NULL);
    wk_tensor *out = part ? wk__reduce(reduction, site, part, mask, keepdim, class, class) : NULL;
    if (!out || p == 0 || p == 1 || isinf(p)) return out;
    return p == 2 ? wk_sqrt(out)
                  : wk__elementwise(&root_op, site, (wk__arg[]){wk__tensor_arg(out), wk__float_arg(p)}, 2, NULL);
}

wk_tensor *wk_norm_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_norm_options *options)
{
    wk__reduction_call r;
    wk_norm_options o;
    const wk__op *op = &wk__op_norm;
    if (!wk__read_norm_options(site, op->name, options, &o) ||
        !wk__reduction_begin(&r, op, site, x, dims, count, o.keepdim, 0))
        return NULL;
    const double p = r.attributes.p = o.p;
    wk_tensor *out = NULL;
    if (!isinf(p) || wk__check_nonempty_reduction(op, site, x, r.mask))
        out = wk__vector_norm(site, wk__to_opmath(x), r.mask, r.keepdim, p);
    return wk__reduction_end(&r, wk__cast_result(out, r.dtype));
}

/* For p = 2 the gradient is x / length. Where the length is 0 the slope is undefined; 0 is used. */
wk_tensor *wk__vector_norm_grad(wk_tensor *x, wk_tensor *length, wk_tensor *grad, double p, int64_t mask)
{
    if (p == 0) return wk_zeros_like_at((wk_site){0}, x, NULL); /* counts nonzero elements: a step function */
    if (p == 1) return wk_mul(wk_sign(x), grad);
    if (isinf(p)) return wk_mul(wk_sign(x), wk__split_grad_among_ties(wk_eq(wk_abs(x), length), grad, mask));
    wk_tensor *none = wk_eq(length, 0), *safe = wk_add(length, none), *flow = wk_mul(grad, wk_eq(none, 0));
    if (p == 2) return wk_mul(x, wk_div(flow, safe));
    wk_tensor *missing = wk_eq(x, 0), *size = wk_add(wk_abs(x), missing); /* |x|^(p-1) has a pole at 0 for p < 1 */
    return wk_mul(wk_mul(wk_sign(x), wk_pow(wk_div(size, safe), p - 1)), flow);
}

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *length = wk__restore_reduced_dims(g, wk__saved(g, WK__SAVED_OUT)),
              *grad = wk__restore_reduced_dims(g, g->out[0]);
    const wk__reduce_attributes reduced = wk__reduce_attributes_of(g->attr);
    g->in[0] = wk__vector_norm_grad(wk__saved(g, 0), length, grad, reduced.p, reduced.mask);
}

const wk__op wk__op_norm = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_norm,
};

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

static const wk__op magnitude_op = {.name = "norm", .expression = magnitude, .arity = 2};
static const wk__op square_op = {.name = "norm", .expression = square, .arity = 2};
static const wk__op nonzero_op = {.name = "norm", .expression = nonzero_indicator, .arity = 2};
static const wk__op power_op = {.name = "norm", .expression = power, .arity = 2};

static const wk__op *term_op_for(double p)
{
    return p == 2 ? &square_op : p == 0 ? &nonzero_op : p == 1 || isinf(p) ? &magnitude_op : &power_op;
}

/* ---- roots of sums of powers ------------------------------------------------------------------------------------- */

/* A power overflows or underflows long before the norm does. If the sum indicates that, the powers are summed again for
 * x / m, where m is the largest |x| (the smallest for p < 0), and the root is multiplied by m. This takes two more
 * passes over a row, and each row's own sum decides whether they run for it (wk__program_pass_condition). */

/* True if the sum is infinite, or so small that terms of it may have underflowed. */
static int out_of_range(wk__emit *e, const int in[])
{
    int infinite = wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, INFINITY));
    int small = wk__emit_compare(e, WK__LT, in[0], wk__emit_constant(e, e->dtype == WK_F64 ? 0x1p-900 : 0x1p-90));
    return wk__emit_ins(e, WK__OR, WK_BOOL, infinite, small, 0);
}
/* in: whether the sum is out of range, x */
static int largest(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], wk__emit_unary(e, WK__ABS, in[1]), wk__emit_constant(e, -INFINITY));
}
static int least(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], wk__emit_unary(e, WK__ABS, in[1]), wk__emit_constant(e, INFINITY));
}
/* x| / m, which is 1 where both are 0 or infinite. */
static int ratio(wk__emit *e, int x, int m)
{
    int size = wk__emit_unary(e, WK__ABS, x);
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, size, m), wk__emit_constant(e, 1),
                          wk__emit_binary(e, WK__DIV, size, m));
}
/* in: whether the sum is out of range, x, m, p */
static int scaled_square(wk__emit *e, const int in[])
{
    int x = ratio(e, in[1], in[2]);
    return wk__emit_where(e, in[0], wk__emit_binary(e, WK__MUL, x, x), wk__emit_constant(e, 0));
}
static int scaled_power(wk__emit *e, const int in[])
{
    int power = wk__emit_binary(e, WK__POW, ratio(e, in[1], in[2]), in[3]);
    return wk__emit_where(e, in[0], power, wk__emit_constant(e, 0));
}
/* in: whether the sum is out of range, sum, m, p */
static int times_scale(wk__emit *e, const int in[], int root)
{
    return wk__emit_binary(e, WK__MUL, root, wk__emit_where(e, in[0], in[2], wk__emit_constant(e, 1)));
}
static int square_root(wk__emit *e, const int in[])
{
    return times_scale(e, in, wk__emit_unary(e, WK__SQRT, in[1]));
}
static int root(wk__emit *e, const int in[])
{
    return times_scale(e, in, wk__emit_binary(e, WK__POW, in[1], wk__emit_unary(e, WK__RECIPROCAL, in[3])));
}

#define ROOT_OP(function, operands)                                                                                    \
    {                                                                                                                  \
        .name = "norm", .expression = function, .arity = operands, .own_dtype_operands = 1                             \
    }
static const wk__op out_of_range_op = {
    .name = "norm", .expression = out_of_range, .arity = 1, .result = WK__RESULT_BOOL};
static const wk__op largest_op = ROOT_OP(largest, 2), least_op = ROOT_OP(least, 2);
static const wk__op scaled_square_op = ROOT_OP(scaled_square, 4), scaled_power_op = ROOT_OP(scaled_power, 4);
static const wk__op square_root_op = ROOT_OP(square_root, 4), root_op = ROOT_OP(root, 4);

/* Computes op->expression(flag, x, m, p). */
static wk_tensor *with_scale(const wk__op *op, wk_site site, wk_tensor *flag, wk_tensor *x, wk_tensor *m, double p)
{
    if (!flag || !x || !m) return NULL;
    wk__arg args[] = {wk__tensor_arg(flag), wk__tensor_arg(x), wk__tensor_arg(m), wk__float_arg(p)};
    return wk__elementwise(op, site, args, 4, NULL);
}

static int minus(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__SUB, in[0], in[1]);
}
static const wk__op minus_op = {.name = "norm", .expression = minus, .arity = 2};

/* Returns x - other, or x. Recorded anew for each sum over it, because a tensor that several kernels read is stored. */
static wk_tensor *difference(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!x || !other) return x ? wk__to_opmath(x) : NULL;
    wk__arg args[] = {wk__tensor_arg(wk__to_opmath(x)), wk__tensor_arg(wk__to_opmath(other))};
    return wk__elementwise(&minus_op, site, args, 2, NULL);
}

/* Returns m, by which x is divided if the sum is out of range. */
static wk_tensor *scale_of(wk_site site, wk_tensor *flag, wk_tensor *x, uint16_t mask, double p)
{
    if (!flag || !x) return NULL;
    const wk_dtype class = wk__body_of(x)->dtype;
    const bool low = p < 0;
    wk__arg args[] = {wk__tensor_arg(flag), wk__tensor_arg(x)};
    wk_tensor *part = wk__elementwise(low ? &least_op : &largest_op, site, args, 2, NULL);
    return part ? wk__reduce(low ? &wk__op_amin : &wk__op_amax, site, part, mask, true, class, class) : NULL;
}

/* Returns the sum of op->expression(x, p), with the masked dimensions at size 1. */
static wk_tensor *sum_of(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask, double p)
{
    if (!x) return NULL;
    wk__arg args[] = {wk__tensor_arg(x), wk__float_arg(p)};
    return wk__reduce_sum(site, wk__elementwise(op, site, args, 2, NULL), mask, true);
}

wk_tensor *wk__root_of_powers(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p,
                              double divided_by)
{
    wk_tensor *way = difference(site, x, other), *sum = sum_of(term_op_for(p), site, way, mask, p);
    wk_tensor *flag = sum ? wk__unary(&out_of_range_op, site, sum) : NULL;
    if (!flag) return NULL;
    wk_tensor *m = sum; /* 0 if there are no elements */
    if (wk__reduced_numel(way, mask)) m = scale_of(site, flag, difference(site, x, other), mask, p);
    wk_tensor *part =
        with_scale(p == 2 ? &scaled_square_op : &scaled_power_op, site, flag, difference(site, x, other), m, p);
    wk_tensor *scaled = wk__reduce_sum(site, part, mask, true);
    sum = scaled ? wk_where(flag, scaled, sum) : NULL;
    if (divided_by != 1) sum = wk_div(sum, divided_by);
    return wk__drop_reduced_dims(with_scale(p == 2 ? &square_root_op : &root_op, site, flag, sum, m, p), mask, keepdim);
}

wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p)
{
    if (p != 0 && p != 1 && !isinf(p)) return wk__root_of_powers(site, x, other, mask, keepdim, p, 1);
    const wk__op *reduction = p == INFINITY ? &wk__op_amax : p == -INFINITY ? &wk__op_amin : &wk__op_sum;
    wk_tensor *way = difference(site, x, other);
    if (!way) return NULL;
    const wk_dtype class = wk__compute_class(wk__body_of(way)->dtype);
    wk__arg args[] = {wk__tensor_arg(way), wk__float_arg(p)};
    wk_tensor *part = wk__elementwise(term_op_for(p), site, args, 2, NULL);
    return part ? wk__reduce(reduction, site, part, mask, keepdim, class, class) : NULL;
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
        out = wk__vector_norm(site, x, NULL, r.mask, r.keepdim, p);
    return wk__reduction_end(&r, wk__cast_result(out, r.dtype));
}

/* For p = 2 the gradient is x / length. At length 0 the slope is undefined; 0 is used. x is divided first,
 * because that quotient is representable, while grad / length may not be. */
wk_tensor *wk__vector_norm_grad(wk_tensor *x, wk_tensor *length, wk_tensor *grad, double p, int64_t mask)
{
    if (p == 0) return wk_zeros_like_at((wk_site){0}, x, NULL); /* counts nonzero elements: a step function */
    if (p == 1) return wk_mul(wk_sign(x), grad);
    if (isinf(p)) return wk_mul(wk_sign(x), wk__split_grad_among_ties(wk_eq(wk_abs(x), length), grad, mask));
    wk_tensor *is_zero = wk_eq(length, 0), *divisor = wk_add(length, is_zero),
              *grad_or_0 = wk_mul(grad, wk_eq(is_zero, 0));
    if (p == 2) return wk_mul(wk_div(x, divisor), grad_or_0);
    wk_tensor *x_is_zero = wk_eq(x, 0), *size = wk_add(wk_abs(x), x_is_zero); /* |x|^(p-1) has a pole at 0 for p < 1 */
    return wk_mul(wk_mul(wk_sign(x), wk_pow(wk_div(size, divisor), p - 1)), grad_or_0);
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

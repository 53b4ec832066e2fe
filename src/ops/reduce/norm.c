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

/* p: 0, 1, inf or -inf */
static const wk__op *term_op_for(double p)
{
    return p == 0 ? &nonzero_op : &magnitude_op;
}

/* ---- roots of sums of powers ------------------------------------------------------------------------------------- */

/* A power overflows or underflows long before the norm does. If the sum indicates that, the powers are summed again for
 * elements times a scale (p = 2) or divided by m (other p), and the root is scaled back. This takes more passes over a
 * row, and each row's own sum decides whether they run for it (wk__program_pass_condition). */

/* If a sum of squares is below `least`, terms may have underflowed: the elements are multiplied by `scale`. If it is
 * infinite, they are divided by it. Either way their squares are in range, or negligible beside the largest. */
typedef struct square_range {
    double least, scale;
} square_range;

static square_range range_of(wk_dtype dtype)
{
    return dtype == WK_F64 ? (square_range){0x1p-900, 0x1p600} : (square_range){0x1p-90, 0x1p100};
}

static int is_infinite(wk__emit *e, int sum)
{
    return wk__emit_compare(e, WK__EQ, sum, wk__emit_constant(e, INFINITY));
}
/* True if the sum is infinite, or so small that terms of it may have underflowed. */
static int out_of_range(wk__emit *e, const int in[])
{
    int small = wk__emit_compare(e, WK__LT, in[0], wk__emit_constant(e, range_of(e->dtype).least));
    return wk__emit_ins(e, WK__OR, WK_BOOL, is_infinite(e, in[0]), small, 0);
}

/* Returns the scale of the elements, or its reciprocal. */
static int scale_for(wk__emit *e, int sum, bool reciprocal)
{
    const double scale = range_of(e->dtype).scale;
    return wk__emit_where(e, is_infinite(e, sum), wk__emit_constant(e, reciprocal ? scale : 1 / scale),
                          wk__emit_constant(e, reciprocal ? 1 / scale : scale));
}
static int scaled_square_of(wk__emit *e, int sum, int x)
{
    int y = wk__emit_binary(e, WK__MUL, x, scale_for(e, sum, false));
    return wk__emit_where(e, out_of_range(e, &sum), wk__emit_binary(e, WK__MUL, y, y), wk__emit_constant(e, 0));
}
/* in: sum, x */
static int scaled_square(wk__emit *e, const int in[])
{
    return scaled_square_of(e, in[0], in[1]);
}
/* in: sum, x, other */
static int scaled_square_of_difference(wk__emit *e, const int in[])
{
    return scaled_square_of(e, in[0], wk__emit_binary(e, WK__SUB, in[1], in[2]));
}
/* in: sum, sum of the scaled squares, divisor */
static int square_root(wk__emit *e, const int in[])
{
    int flag = out_of_range(e, in), one = wk__emit_constant(e, 1);
    int mean = wk__emit_binary(e, WK__DIV, wk__emit_where(e, flag, in[1], in[0]), in[2]);
    return wk__emit_binary(e, WK__MUL, wk__emit_unary(e, WK__SQRT, mean),
                           wk__emit_where(e, flag, scale_for(e, in[0], true), one));
}
/* in: x, other */
static int square_of_difference(wk__emit *e, const int in[])
{
    int difference = wk__emit_binary(e, WK__SUB, in[0], in[1]);
    return wk__emit_binary(e, WK__MUL, difference, difference);
}

static const wk__op scaled_square_op = {.name = "norm", .expression = scaled_square, .arity = 2};
static const wk__op scaled_difference_op = {.name = "norm", .expression = scaled_square_of_difference, .arity = 3};
static const wk__op square_root_op = {.name = "norm", .expression = square_root, .arity = 3};
const wk__op wk__square_of_difference_op = {.name = "norm", .expression = square_of_difference, .arity = 2};

/* Returns the sum of op->expression(args), with the masked dimensions at size 1. */
static wk_tensor *sum_of(const wk__op *op, wk_site site, const wk__arg args[], uint16_t mask)
{
    return wk__reduce_sum(site, wk__elementwise(op, site, args, op->arity, NULL), mask, true);
}

/* Returns the sum of op->expression(sum, x, other), without the arguments that are NULL. Operands are converted anew
 * for each sum, because a tensor that several kernels read is stored. */
static wk_tensor *sum_of_squares(const wk__op *op, wk_site site, wk_tensor *sum, wk_tensor *x, wk_tensor *other,
                                 uint16_t mask)
{
    wk__arg args[3];
    int count = 0;
    if (sum) args[count++] = wk__tensor_arg(sum);
    args[count++] = wk__tensor_arg(wk__to_opmath(x));
    if (other) args[count++] = wk__tensor_arg(wk__to_opmath(other));
    if (op == &square_op) args[count++] = wk__float_arg(2);
    return sum_of(op, site, args, mask);
}

/* wk__root_of_powers() for p = 2, with dimensions kept. */
static wk_tensor *root_of_squares(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, double divided_by)
{
    const wk__op *square = other ? &wk__square_of_difference_op : &square_op,
                 *again = other ? &scaled_difference_op : &scaled_square_op;
    wk_tensor *sum = sum_of_squares(square, site, NULL, x, other, mask);
    wk_tensor *scaled = sum ? sum_of_squares(again, site, sum, x, other, mask) : NULL;
    if (!scaled) return NULL;
    const wk__arg sums[] = {wk__tensor_arg(sum), wk__tensor_arg(scaled), wk__float_arg(divided_by)};
    return wk__elementwise(&square_root_op, site, sums, 3, NULL);
}

/* ---- powers other than 2: divided by m, the largest |x|, or the smallest for p < 0 ------------------------------ */

/* in: whether the sum is out of range, x */
static int largest(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], wk__emit_unary(e, WK__ABS, in[1]), wk__emit_constant(e, -INFINITY));
}
static int least(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], wk__emit_unary(e, WK__ABS, in[1]), wk__emit_constant(e, INFINITY));
}
/* |x| / m, which is 1 where both are 0 or infinite. */
static int ratio(wk__emit *e, int x, int m)
{
    int size = wk__emit_unary(e, WK__ABS, x);
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, size, m), wk__emit_constant(e, 1),
                          wk__emit_binary(e, WK__DIV, size, m));
}
/* in: whether the sum is out of range, x, m, p */
static int scaled_power(wk__emit *e, const int in[])
{
    int power = wk__emit_binary(e, WK__POW, ratio(e, in[1], in[2]), in[3]);
    return wk__emit_where(e, in[0], power, wk__emit_constant(e, 0));
}
/* in: whether the sum is out of range, sum, m, p */
static int root(wk__emit *e, const int in[])
{
    int power = wk__emit_binary(e, WK__POW, in[1], wk__emit_unary(e, WK__RECIPROCAL, in[3]));
    return wk__emit_binary(e, WK__MUL, power, wk__emit_where(e, in[0], in[2], wk__emit_constant(e, 1)));
}

/* The flag, operand 0, is not promoted. */
#define ROOT_OP(function, operands)                                                                                    \
    {                                                                                                                  \
        .name = "norm", .expression = function, .arity = operands, .own_dtype_operands = 1                             \
    }
static const wk__op out_of_range_op = {
    .name = "norm", .expression = out_of_range, .arity = 1, .result = WK__RESULT_BOOL};
static const wk__op largest_op = ROOT_OP(largest, 2), least_op = ROOT_OP(least, 2);
static const wk__op scaled_power_op = ROOT_OP(scaled_power, 4), root_op = ROOT_OP(root, 4);

/* Computes op->expression(flag, x, m, p); for root_op, x is the sum. */
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

/* Returns m, by which the elements of rows with the flag are divided: the largest |x|, or the smallest for p < 0. */
static wk_tensor *scale_of(wk_site site, wk_tensor *flag, wk_tensor *x, uint16_t mask, double p)
{
    if (!flag || !x) return NULL;
    const wk_dtype class = wk__body_of(x)->dtype;
    const bool low = p < 0;
    wk__arg args[] = {wk__tensor_arg(flag), wk__tensor_arg(x)};
    wk_tensor *part = wk__elementwise(low ? &least_op : &largest_op, site, args, 2, NULL);
    return part ? wk__reduce(low ? &wk__op_amin : &wk__op_amax, site, part, mask, true, class, class) : NULL;
}

/* wk__root_of_powers() for p other than 2, with dimensions kept. */
static wk_tensor *root_of_other_powers(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, double p,
                                       double divided_by)
{
    wk_tensor *delta = difference(site, x, other);
    if (!delta) return NULL;
    wk_tensor *sum = sum_of(&power_op, site, (wk__arg[]){wk__tensor_arg(delta), wk__float_arg(p)}, mask);
    wk_tensor *flag = sum ? wk__unary(&out_of_range_op, site, sum) : NULL;
    if (!flag) return NULL;
    wk_tensor *m = sum; /* 0 if there are no elements */
    if (wk__reduced_numel(delta, mask)) m = scale_of(site, flag, difference(site, x, other), mask, p);
    wk_tensor *part = with_scale(&scaled_power_op, site, flag, difference(site, x, other), m, p);
    wk_tensor *scaled = wk__reduce_sum(site, part, mask, true);
    sum = scaled ? wk_where(flag, scaled, sum) : NULL;
    if (divided_by != 1) sum = wk_div(sum, divided_by);
    return with_scale(&root_op, site, flag, sum, m, p);
}

wk_tensor *wk__root_of_powers(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p,
                              double divided_by)
{
    wk_tensor *out = p == 2 ? root_of_squares(site, x, other, mask, divided_by)
                            : root_of_other_powers(site, x, other, mask, p, divided_by);
    return wk__drop_reduced_dims(out, mask, keepdim);
}

wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p)
{
    if (p != 0 && p != 1 && !isinf(p)) return wk__root_of_powers(site, x, other, mask, keepdim, p, 1);
    const wk__op *reduction = p == INFINITY ? &wk__op_amax : p == -INFINITY ? &wk__op_amin : &wk__op_sum;
    wk_tensor *delta = difference(site, x, other);
    if (!delta) return NULL;
    const wk_dtype class = wk__compute_class(wk__body_of(delta)->dtype);
    wk__arg args[] = {wk__tensor_arg(delta), wk__float_arg(p)};
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

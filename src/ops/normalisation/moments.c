/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and variance (channel_norm.h).
 *
 * Short rows stay in cache, so the deviations from the mean are summed in a second pass of the same kernel. For long
 * rows, and those that cross samples, mean and variance follow from the sums of x - shift and of its square. The shift
 * is the mean of a part of the row, a share f of its elements. Its distance from the mean is at most sqrt((1 - f) / f)
 * standard deviations, because the part contributes to the variance; so with f = 1/32 the difference of the two sums
 * loses at most five bits, for any contents. */
#include "channel_norm.h"
#include <string.h>

enum { SHARE = 32 };

static int difference(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__SUB, in[0], in[1]);
}
static int square_of_difference(wk__emit *e, const int in[])
{
    int distance = difference(e, in);
    return wk__emit_binary(e, WK__MUL, distance, distance);
}
/* in: sum of the differences, sum of their squares, number of elements. Rounding may make the variance negative. */
static int variance(wk__emit *e, const int in[])
{
    int mean = wk__emit_binary(e, WK__DIV, in[0], in[2]);
    int value =
        wk__emit_binary(e, WK__SUB, wk__emit_binary(e, WK__DIV, in[1], in[2]), wk__emit_binary(e, WK__MUL, mean, mean));
    int zero = wk__emit_constant(e, 0);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, value, zero), zero, value);
}

static const wk__op difference_op = {.name = "batch_norm", .expression = difference, .arity = 2, .reduction = WK__RSUM};
static const wk__op square_op = {
    .name = "batch_norm", .expression = square_of_difference, .arity = 2, .reduction = WK__RSUM};
static const wk__op variance_op = {.name = "batch_norm", .expression = variance, .arity = 3};

static bool in_two_steps(const wk_tensor *x, uint16_t mask)
{
    return wk__sums_in_two_steps(wk__body_of(x)->ndim, wk__body_of(x)->shape, mask);
}

/* Returns the sum over the masked dimensions of op's expression of x, in its computation dtype, and other. x is
 * converted anew for each sum, because a tensor that several kernels read is stored. */
static wk_tensor *sum_of(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask)
{
    wk_tensor *value = other ? wk__to_opmath(x) : NULL;
    const bool two_steps = in_two_steps(x, mask);
    const uint16_t first = two_steps ? mask & (uint16_t)~3u : mask;
    const wk_dtype dtype = value ? wk__body_of(value)->dtype : WK_F32;
    wk_tensor *sum =
        value ? wk__reduce_expression(op, site, (wk_tensor *[]){value, other}, 2, first, true, dtype, dtype) : NULL;
    return sum && two_steps ? wk__reduce_sum(site, sum, 1, true) : sum;
}

/* Returns the number of elements of a row; 1 if there are none, whose statistics are 0. */
static double count_of(const wk_tensor *x, uint16_t mask)
{
    const int64_t n = wk__reduced_numel(x, mask);
    return n > 0 ? (double)n : 1;
}

static wk_tensor *mean_of(wk_site site, wk_tensor *x, uint16_t mask)
{
    wk_tensor *sum = x ? wk__reduce_sum(site, wk__to_opmath(x), mask, true) : NULL;
    return sum ? wk_div(sum, count_of(x, mask)) : NULL;
}

/* Returns a view of a part of x: the first elements along its first masked dimension that has enough, else along the
 * longest. */
static wk_tensor *part_of(wk_tensor *x, uint16_t mask)
{
    const wk__body *body = wk__body_of(x);
    int dim = -1;
    for (int d = 0; d < body->ndim; d++)
        if (mask >> d & 1 && (dim < 0 || (body->shape[dim] < SHARE && body->shape[d] > body->shape[dim]))) dim = d;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, body->shape, sizeof shape);
    shape[dim] = (shape[dim] + SHARE - 1) / SHARE;
    return wk__tensor_view(wk__context(), x, body->offset, body->ndim, shape, body->stride);
}

wk__moments wk__moments_of(wk_site site, wk_tensor *x, uint16_t mask)
{
    const double n = count_of(x, mask);
    if (n <= WK__SHORT_ROW && !in_two_steps(x, mask)) {
        wk_tensor *mean = mean_of(site, x, mask), *squares = sum_of(&square_op, site, x, mean, mask);
        return (wk__moments){mean, squares ? wk_div(squares, n) : NULL};
    }
    wk_tensor *shift = mean_of(site, part_of(x, mask), mask);
    wk_tensor *sum = sum_of(&difference_op, site, x, shift, mask), *squares = sum_of(&square_op, site, x, shift, mask);
    if (!sum || !squares) return (wk__moments){.mean = NULL};
    const wk__arg args[] = {wk__tensor_arg(sum), wk__tensor_arg(squares), wk__float_arg(n)};
    return (wk__moments){wk_add(shift, wk_div(sum, n)), wk__elementwise(&variance_op, site, args, 3, NULL)};
}

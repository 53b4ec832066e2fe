/* SPDX-License-Identifier: Apache-2.0 */
/* hypot: sqrt(a^2 + b^2). Factors the larger operand out of the root, so that no square overflows or underflows. */
#include "mul.h"
#include <math.h>

/* If an operand is infinite, so is the result, even if the other is NaN, as in C. */
static int hypot_expression(wk__emit *e, const int in[])
{
    int a = wk__emit_unary(e, WK__ABS, in[0]), b = wk__emit_unary(e, WK__ABS, in[1]);
    int none = wk__emit_constant(e, 0), one = wk__emit_constant(e, 1), infinity = wk__emit_constant(e, INFINITY);
    int large = wk__emit_binary(e, WK__MAX, a, b), small = wk__emit_binary(e, WK__MIN, a, b);
    int ratio = wk__emit_binary(
        e, WK__DIV, small, wk__emit_where(e, wk__emit_compare(e, WK__EQ, large, none), one, large)); /* 0 / 0 is 0 */
    int root = wk__emit_unary(e, WK__SQRT, wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__MUL, ratio, ratio), one));
    int length = wk__emit_binary(e, WK__MUL, large, root);
    length = wk__emit_where(e, wk__emit_compare(e, WK__EQ, b, infinity), infinity, length);
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, a, infinity), infinity, length);
}

/* Gradients a / length and b / length; 0 at the origin. */
static void hypot_gradient(wk__grad_ctx *g)
{
    wk_tensor *length = wk__saved(g, WK__SAVED_OUT), *none = wk_eq(length, 0);
    wk_tensor *share = wk_where(none, 0, g->out[0]), *divisor = wk_where(none, 1, length);
    for (int k = 0; k < 2; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = wk_div(wk__mul_saved_operand(g, share, k), divisor);
}

const wk__op wk__op_hypot = {
    .expression = hypot_expression,
    .gradient = hypot_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT, WK__SAVE_1 | WK__SAVE_OUT},
    WK__SIGNATURE_hypot,
};

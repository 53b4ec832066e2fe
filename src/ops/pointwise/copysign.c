/* SPDX-License-Identifier: Apache-2.0 */
/* copysign: the magnitude of one operand with the sign of another. */
#include "ops/core/entries.h"

/* Distinguishes -0 from 0, which compare equal, by the sign of the reciprocal. The NaN that an operation returns is
 * unspecified, so its sign must not affect the result: NaN < 0 is false. */
static int copysign_expression(wk__emit *e, const int in[])
{
    int none = wk__emit_constant(e, 0), size = wk__emit_unary(e, WK__ABS, in[0]);
    int is_zero = wk__emit_compare(e, WK__EQ, in[1], none);
    int side = wk__emit_where(e, is_zero, wk__emit_unary(e, WK__RECIPROCAL, in[1]), in[1]);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, side, none), wk__emit_unary(e, WK__NEG, size), size);
}

/* The gradient changes sign where the result differs in sign from operand 0. Computed from signs, because the product
 * of operand and result may underflow. */
static void copysign_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) {
        wk_tensor *turned = wk_mul(wk_sign(wk__saved(g, 0)), wk_sign(wk__saved(g, WK__SAVED_OUT)));
        g->in[0] = wk_mul(g->out[0], turned);
    }
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

const wk__op wk__op_copysign = {
    .expression = copysign_expression,
    .gradient = copysign_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_copysign,
};

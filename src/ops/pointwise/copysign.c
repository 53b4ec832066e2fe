/* SPDX-License-Identifier: Apache-2.0 */
/* copysign: the magnitude of one operand with the sign of another. */
#include "ops/core/entries.h"

/* No comparison tells -0 from 0; their reciprocals are infinities of either sign. Which NaN an operation gives is left
 * open, so its sign must not reach a number: NaN is not below 0. */
static int copysign_expression(wk__emit *e, const int in[])
{
    int none = wk__emit_constant(e, 0), size = wk__emit_unary(e, WK__ABS, in[0]);
    int is_zero = wk__emit_compare(e, WK__EQ, in[1], none);
    int side = wk__emit_where(e, is_zero, wk__emit_unary(e, WK__RECIPROCAL, in[1]), in[1]);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, side, none), wk__emit_unary(e, WK__NEG, size), size);
}

/* Was the sign of the first operand turned? Not by a product with the result, which may vanish. */
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

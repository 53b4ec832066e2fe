/* SPDX-License-Identifier: Apache-2.0 */
/* maximum and minimum. */
#include "ops/core/entries.h"

/* The selected operand gets the gradient; equal operands get half each. `lost` compares operand 0 with operand 1 and is
 * true where operand 0 was not selected. */
static void gradient(wk__grad_ctx *g, const wk__op *lost)
{
    wk_site here = {0};
    wk__arg a = wk__saved_operand(g, 0), b = wk__saved_operand(g, 1);
    wk_tensor *shared =
        wk_where(wk__elementwise(&wk__op_eq, here, (wk__arg[]){a, b}, 2, NULL), wk_mul(g->out[0], 0.5), g->out[0]);
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk_where(wk__elementwise(lost, here, (wk__arg[]){a, b}, 2, NULL), 0, shared);
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk_where(wk__elementwise(lost, here, (wk__arg[]){b, a}, 2, NULL), 0, shared);
}

static void maximum_gradient(wk__grad_ctx *g)
{
    gradient(g, &wk__op_lt);
}

static void minimum_gradient(wk__grad_ctx *g)
{
    gradient(g, &wk__op_gt);
}

const wk__op wk__op_maximum = {
    .expression = wk__single_instruction,
    .instruction = WK__MAX,
    .gradient = maximum_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_maximum,
};

const wk__op wk__op_minimum = {
    .expression = wk__single_instruction,
    .instruction = WK__MIN,
    .gradient = minimum_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_minimum,
};

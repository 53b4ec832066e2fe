/* SPDX-License-Identifier: Apache-2.0 */
/* bitwise_and, bitwise_or, bitwise_xor, bitwise_not on integers and bool; shifts of integers. */
#include "ops/core/entries.h"

const wk__op wk__op_bitwise_and = {
    .expression = wk__single_instruction,
    .instruction = WK__AND,
    WK__SIGNATURE_bitwise_and,
};

const wk__op wk__op_bitwise_or = {
    .expression = wk__single_instruction,
    .instruction = WK__OR,
    WK__SIGNATURE_bitwise_or,
};

const wk__op wk__op_bitwise_xor = {
    .expression = wk__single_instruction,
    .instruction = WK__XOR,
    WK__SIGNATURE_bitwise_xor,
};

const wk__op wk__op_bitwise_left_shift = {
    .expression = wk__single_instruction,
    .instruction = WK__SHL,
    WK__SIGNATURE_bitwise_left_shift,
};

const wk__op wk__op_bitwise_right_shift = {
    .expression = wk__single_instruction,
    .instruction = WK__SHR,
    WK__SIGNATURE_bitwise_right_shift,
};

/* ---- bitwise_not: a bool has one bit ----------------------------------------------------------------------------- */

static int not_expression(wk__emit *e, const int in[])
{
    if (e->compute != WK_BOOL) return wk__emit_unary(e, WK__NOT, in[0]);
    return wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, 0));
}

const wk__op wk__op_bitwise_not = {
    .expression = not_expression,
    WK__SIGNATURE_bitwise_not,
};

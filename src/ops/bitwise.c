/* SPDX-License-Identifier: Apache-2.0 */
/* bitwise_and, bitwise_or, bitwise_xor, bitwise_not: of integers and bool. */
#include "forms.h"

#define BITWISE .group = "logic", .domain = WK__INTS | WK__BOOLS, WK__ROW_BINARY

const wk__op wk__op_bitwise_and = {
    .name = "bitwise_and",
    .schema = "bitwise_and(Tensor self, Tensor other) -> Tensor",
    .doc = "a & b, bit by bit",
    .instruction = WK__AND,
    BITWISE,
};

#define WK__FORM bitwise_and
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_bitwise_or = {
    .name = "bitwise_or",
    .schema = "bitwise_or(Tensor self, Tensor other) -> Tensor",
    .doc = "a | b, bit by bit",
    .instruction = WK__OR,
    BITWISE,
};

#define WK__FORM bitwise_or
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_bitwise_xor = {
    .name = "bitwise_xor",
    .schema = "bitwise_xor(Tensor self, Tensor other) -> Tensor",
    .doc = "a ^ b, bit by bit",
    .instruction = WK__XOR,
    BITWISE,
};

#define WK__FORM bitwise_xor
#define WK__IN_PLACE
#include "binary.inc"

/* ---- bitwise_not: a bool has one bit ----------------------------------------------------------------------------- */

static int not_expression(wk__emit *e, const int in[])
{
    if (e->compute != WK_BOOL) return wk__emit_1(e, WK__NOT, in[0]);
    return wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, 0));
}

const wk__op wk__op_bitwise_not = {
    .name = "bitwise_not",
    .schema = "bitwise_not(Tensor self) -> Tensor",
    .group = "logic",
    .doc = "~x, bit by bit; of bool: not",
    .expression = not_expression,
    .arity = 1,
    .domain = WK__INTS | WK__BOOLS,
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM bitwise_not
#include "unary.inc"

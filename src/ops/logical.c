/* SPDX-License-Identifier: Apache-2.0 */
/* logical_and, logical_or, logical_xor, logical_not: of x != 0. The result is bool. */
#include "forms.h"

static int truth(wk__emit *e, int reg)
{
    if (e->compute == WK_BOOL) return reg;
    return wk__emit_compare(e, WK__NE, reg, wk__emit_constant(e, 0));
}

static int expression(wk__emit *e, const int in[])
{
    int a = truth(e, in[0]), b = truth(e, in[1]);
    return wk__emit_ins(e, (wk__alu)e->op->instruction, WK_BOOL, a, b, 0);
}

#define LOGICAL                                                                                                        \
    .group = "logic", .expression = expression, .arity = 2, .result = WK__RESULT_BOOL, .invoke = wk__invoke_pointwise

const wk__op wk__op_logical_and = {
    .name = "logical_and",
    .schema = "logical_and(Tensor self, Tensor other) -> Tensor",
    .doc = "a != 0 and b != 0",
    .instruction = WK__AND,
    LOGICAL,
};

#define WK__FORM logical_and
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_logical_or = {
    .name = "logical_or",
    .schema = "logical_or(Tensor self, Tensor other) -> Tensor",
    .doc = "a != 0 or b != 0",
    .instruction = WK__OR,
    LOGICAL,
};

#define WK__FORM logical_or
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_logical_xor = {
    .name = "logical_xor",
    .schema = "logical_xor(Tensor self, Tensor other) -> Tensor",
    .doc = "one of a, b is 0, the other is not",
    .instruction = WK__XOR,
    LOGICAL,
};

#define WK__FORM logical_xor
#define WK__IN_PLACE
#include "binary.inc"

/* ---- logical_not ------------------------------------------------------------------------------------------------- */

static int not_expression(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, 0));
}

const wk__op wk__op_logical_not = {
    .name = "logical_not",
    .schema = "logical_not(Tensor self) -> Tensor",
    .group = "logic",
    .doc = "x == 0",
    .expression = not_expression,
    .arity = 1,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
};

#define WK__FORM logical_not
#include "unary.inc"

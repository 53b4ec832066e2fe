/* SPDX-License-Identifier: Apache-2.0 */
/* logical_and, logical_or, logical_xor, logical_not on x != 0; the result is bool. */
#include "ops/core/entries.h"

static int truth(wk__emit *e, int reg)
{
    if (e->compute == WK_BOOL) return reg;
    return wk__emit_compare(e, WK__NE, reg, wk__emit_constant(e, 0));
}

static int expression(wk__emit *e, const int in[])
{
    int a = truth(e, in[0]), b = truth(e, in[1]);
    return wk__emit_ins(e, (wk__opcode)e->op->instruction, WK_BOOL, a, b, 0);
}

const wk__op wk__op_logical_and = {
    .expression = expression,
    .instruction = WK__AND,
    WK__SIGNATURE_logical_and,
};

const wk__op wk__op_logical_or = {
    .expression = expression,
    .instruction = WK__OR,
    WK__SIGNATURE_logical_or,
};

const wk__op wk__op_logical_xor = {
    .expression = expression,
    .instruction = WK__XOR,
    WK__SIGNATURE_logical_xor,
};

/* ---- logical_not ------------------------------------------------------------------------------------------------- */

static int not_expression(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, 0));
}

const wk__op wk__op_logical_not = {
    .expression = not_expression,
    WK__SIGNATURE_logical_not,
};

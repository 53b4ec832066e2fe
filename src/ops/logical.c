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

static double and_exact(const double *x)
{
    return x[0] != 0 && x[1] != 0;
}

static double or_exact(const double *x)
{
    return x[0] != 0 || x[1] != 0;
}

static double xor_exact(const double *x)
{
    return (x[0] != 0) != (x[1] != 0);
}

static const char *const samples[] = {"[]:bool, []:bool",
                                      "[9]:bool, [9]:bool",
                                      "[30]:i64<2, [30]:i64<2",
                                      "[30]:i32<2, [30]:bool",
                                      "[30]:u8<2, 1",
                                      "0, [5]",
                                      "[3,4], [4]",
                                      "[0,3], [3]",
                                      NULL};

#define LOGICAL                                                                                                        \
    .group = "logic", .expression = expression, .arity = 2, .result = WK__RESULT_BOOL, .invoke = wk__invoke_pointwise, \
    .samples = samples, .low = -3, .high = 3

const wk__op wk__op_logical_and = {
    .name = "logical_and",
    .schema = "logical_and(Tensor self, Tensor other) -> Tensor",
    .doc = "a != 0 and b != 0",
    .instruction = WK__AND,
    .exact = and_exact,
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
    .exact = or_exact,
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
    .exact = xor_exact,
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

static double not_exact(const double *x)
{
    return x[0] == 0;
}

static const char *const not_samples[] = {"[]:bool", "[9]:bool", "[30]:i64<3", "[3,5]", "[2,0]", NULL};

const wk__op wk__op_logical_not = {
    .name = "logical_not",
    .schema = "logical_not(Tensor self) -> Tensor",
    .group = "logic",
    .doc = "x == 0",
    .expression = not_expression,
    .arity = 1,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = not_exact,
    .samples = not_samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM logical_not
#include "unary.inc"

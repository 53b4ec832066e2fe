/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a group program: what an op's expression calls. Each function appends one instruction and returns its
 * register, or -1 once the program is full (the engine checks sizes before, so an op need not). */
#ifndef WICK_IR_EMIT_H
#define WICK_IR_EMIT_H

#include "ir.h"

struct wk__op;

typedef struct wk__emit {
    wk__program *group;
    const struct wk__op *op; /* whose expression is being written */
    wk_dtype compute;        /* what the op computes in; a bool that became an i32 may still be a register of bool */
    wk_dtype dtype;          /* its class (f32, f64, i32, i64) */
    bool full;
} wk__emit;

int wk__emit_ins(wk__emit *e, wk__opcode code, wk_dtype dtype, int a, int b, int c);

/* In the op's compute class. */
static inline int wk__emit_unary(wk__emit *e, wk__opcode code, int a)
{
    return wk__emit_ins(e, code, e->dtype, a, 0, 0);
}
static inline int wk__emit_binary(wk__emit *e, wk__opcode code, int a, int b)
{
    return wk__emit_ins(e, code, e->dtype, a, b, 0);
}
/* A comparison: the result is bool. */
static inline int wk__emit_compare(wk__emit *e, wk__opcode code, int a, int b)
{
    return wk__emit_ins(e, code, WK_BOOL, a, b, 0);
}
static inline int wk__emit_where(wk__emit *e, int condition, int a, int b)
{
    return wk__emit_ins(e, WK__WHERE, e->dtype, condition, a, b);
}
static inline int wk__emit_cast(wk__emit *e, wk_dtype dtype, int a)
{
    return wk__emit_ins(e, WK__CAST, dtype, a, 0, 0);
}
/* A constant of the op's expression, in its compute class. */
int wk__emit_constant(wk__emit *e, double value);
/* The same in class `dtype`. */
int wk__emit_imm(wk__emit *e, wk_dtype dtype, wk__imm value);

#endif

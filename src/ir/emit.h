/* SPDX-License-Identifier: Apache-2.0 */
/* Emitter of programs, used by the expressions of ops. Each function appends one instruction and returns its register;
 * if the program is full it sets `full` and returns 0. The engine checks the size beforehand, so expressions need
 * not. */
#ifndef WICK_IR_EMIT_H
#define WICK_IR_EMIT_H

#include "ir.h"

struct wk__op;

typedef struct wk__emit {
    wk__program *group;
    const struct wk__op *op; /* op whose expression is being emitted */
    wk_dtype compute;        /* compute dtype of the op; a bool converted to i32 may still be in a bool register */
    wk_dtype dtype;          /* compute class (f32, f64, i32, i64) */
    bool full;
} wk__emit;

int wk__emit_ins(wk__emit *e, wk__opcode code, wk_dtype dtype, int a, int b, int c);

/* Emit arithmetic in the op's compute class. */
static inline int wk__emit_unary(wk__emit *e, wk__opcode code, int a)
{
    return wk__emit_ins(e, code, e->dtype, a, 0, 0);
}
static inline int wk__emit_binary(wk__emit *e, wk__opcode code, int a, int b)
{
    return wk__emit_ins(e, code, e->dtype, a, b, 0);
}
/* Emits a comparison; the result is bool. */
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
/* Emits a constant in the op's compute class. */
int wk__emit_constant(wk__emit *e, double value);
/* Emits a constant in class `dtype`. */
int wk__emit_imm(wk__emit *e, wk_dtype dtype, wk__imm value);

#endif

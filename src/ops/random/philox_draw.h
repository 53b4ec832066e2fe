/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call's numbers begin in its thread's stream, and the instructions that draw them. */
#ifndef WICK_OPS_RANDOM_H
#define WICK_OPS_RANDOM_H

#include "ops/core/create.h"
#include "ops/core/entries.h"

/* The next `count` numbers of this thread's stream belong to the caller. */
typedef struct wk__philox_state {
    uint64_t key, counter;
} wk__philox_state;
wk__philox_state wk__philox_reserve(int64_t count);

/* Instructions on i64: of two registers, a whole number, the number in a RAW immediate. */
static inline int wk__emit_i64(wk__emit *e, wk__opcode code, int a, int b)
{
    return wk__emit_ins(e, code, WK_I64, a, b, 0);
}
static inline int wk__emit_i64_const(wk__emit *e, int64_t value)
{
    return wk__emit_imm(e, WK_I64, (wk__imm){.i = value});
}
static inline int wk__emit_raw_imm(wk__emit *e, int raw)
{
    return wk__emit_ins(e, WK__IMM, WK_I64, raw, 0, 0);
}

/* The bits of the element that is being computed: `bits` 32, as 0..2^32-1, or 64. counter and key are RAW
 * immediates. */
int wk__emit_bits(wk__emit *e, int counter, int key, int bits);
/* Uniform in [0, 1), from those bits: f32 of so many of the upper ones, 24 for all that f32 holds; f64. */
int wk__emit_uniform_f32(wk__emit *e, int counter, int key, int bits);
int wk__emit_uniform_f64(wk__emit *e, int counter, int key);
/* What wk__record_random records: a descriptor beside the row of the op. */
#define WK__RANDOM_OP(op, function)                                                                                    \
    {                                                                                                                  \
        .name = op, .expression = function, .uses_position = true                                                      \
    }
enum { WK__RANDOM_NUMBERS = 4 };
/* Makes the tensor c, from the thread's stream: how->expression over counter and key of the draw and numbers[count], at
 * most WK__RANDOM_NUMBERS of them, all RAW immediates. */
wk_tensor *wk__record_random(wk__create *c, const wk__op *how, wk_dtype compute, const int64_t *numbers, int count);

/* op->expression over x, the draw's counter and key (raw), and two numbers more: one raw, one in the class of x. One
 * number is drawn for each element of x, in row-major order. */
wk_tensor *wk__record_random_like(const wk__op *op, wk_site site, wk_tensor *x, wk__philox_state draw, int64_t raw,
                                  double number);

/* Uniform numbers of a dtype on a device; without checks of the call: for composed ops. */
wk_tensor *wk__uniform(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device);

#endif

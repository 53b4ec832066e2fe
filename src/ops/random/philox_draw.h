/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of ops: reserves a section of the thread's Philox stream, and emits the instructions that generate
 * it. */
#ifndef WICK_OPS_RANDOM_PHILOX_DRAW_H
#define WICK_OPS_RANDOM_PHILOX_DRAW_H

#include "ops/core/create.h"
#include "ops/core/entries.h"

/* Reserves the next `count` numbers of this thread's stream for the caller. */
typedef struct wk__philox_state {
    uint64_t key, counter;
} wk__philox_state;
wk__philox_state wk__philox_reserve(int64_t count);

/* Emit an i64 instruction on two registers, an i64 constant, and the value of RAW immediate `raw`. */
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

/* Emit the random bits of the current element: 32, as 0..2^32-1, or 64. counter and key are RAW immediates. */
int wk__emit_bits(wk__emit *e, int counter, int key, int bits);
/* Emit a uniform number in [0, 1) made of those bits: f32 of the upper `bits` (24 is all that f32 represents), or
 * f64. */
int wk__emit_uniform_f32(wk__emit *e, int counter, int key, int bits);
int wk__emit_uniform_f64(wk__emit *e, int counter, int key);
/* Descriptor of the records of wk__record_random; separate from the op's own. */
#define WK__RANDOM_OP(op, function)                                                                                    \
    {                                                                                                                  \
        .name = op, .expression = function, .uses_position = true                                                      \
    }
enum { WK__RANDOM_NUMBERS = 4 };
/* Creates the tensor c from the thread's stream: evaluates how->expression of the draw's counter and key and
 * numbers[count] (at most WK__RANDOM_NUMBERS), all RAW immediates. */
wk_tensor *wk__record_random(wk__create *c, const wk__op *how, wk_dtype compute, const int64_t *numbers, int count);

/* Records op->expression of x, the draw's counter and key (RAW immediates) and numbers[count] (at most
 * WK__RANDOM_NUMBERS), of which the first `raw` are RAW integers and the others numbers in x's class. Draws one number
 * per element of x, in row-major order. */
wk_tensor *wk__record_random_like(const wk__op *op, wk_site site, wk_tensor *x, wk__philox_state draw,
                                  const wk__imm *numbers, int raw, int count);

/* Returns uniform numbers of a dtype on a device. Does not check its arguments; for composite ops. */
wk_tensor *wk__uniform(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device);

#endif

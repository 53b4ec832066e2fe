/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams of threads, and the instructions that generate their numbers (philox_draw.h). ir/random.h defines the
 * numbers, bit for bit. */
#include "philox_draw.h"
#include "ir/random.h"
#include <math.h>

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* Each thread draws from its own stream; with seeds below 2^32, streams of different threads never coincide. */
void wk_seed_stream(uint64_t seed, uint64_t stream)
{
    wk_context *context = wk__context();
    context->key = seed ^ stream << 32;
    context->counter = 0;
}

void wk_seed(uint64_t seed)
{
    wk_seed_stream(seed, (uint64_t)wk__context()->stream);
}

wk__philox_state wk__philox_reserve(int64_t count)
{
    wk_context *context = wk__context();
    wk__philox_state draw = {context->key, context->counter};
    context->counter += (uint64_t)count;
    return draw;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

int wk__emit_bits(wk__emit *e, int counter, int key, int bits)
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    return wk__emit_ins(e, WK__PHILOX, WK_I64, wk__emit_i64(e, WK__ADD, position, wk__emit_raw_imm(e, counter)), key,
                        bits);
}

/* The upper bits of a word as a fraction. */
int wk__emit_uniform_f32(wk__emit *e, int counter, int key, int bits)
{
    int word = wk__emit_bits(e, counter, key, 32);
    int upper = wk__emit_cast(e, WK_F32, wk__emit_i64(e, WK__SHR, word, wk__emit_i64_const(e, 32 - bits)));
    return wk__emit_ins(e, WK__MUL, WK_F32, upper, wk__emit_imm(e, WK_F32, (wk__imm){.f = ldexp(1, -bits)}), 0);
}

int wk__emit_uniform_f64(wk__emit *e, int counter, int key)
{
    int bits = wk__emit_i64(e, WK__SHR, wk__emit_bits(e, counter, key, 64), wk__emit_i64_const(e, 11));
    int upper = wk__emit_cast(e, WK_F64, wk__emit_i64(e, WK__AND, bits, wk__emit_i64_const(e, ((int64_t)1 << 53) - 1)));
    return wk__emit_ins(e, WK__MUL, WK_F64, upper, wk__emit_imm(e, WK_F64, (wk__imm){.f = 0x1p-53}), 0);
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

wk_tensor *wk__record_random(wk__create *c, const wk__op *how, wk_dtype compute, const int64_t *numbers, int count)
{
    enum { DRAW = 2, MOST = DRAW + WK__RANDOM_NUMBERS };
    const wk__philox_state draw = wk__philox_reserve(wk__numel(c->ndim, c->shape));
    wk__imm imm[MOST] = {{.i = (int64_t)draw.counter}, {.i = (int64_t)draw.key}};
    uint8_t raw[MOST];
    for (int k = 0; k < MOST; k++) raw[k] = WK__REF_IMM | WK__REF_IMM_INDEX;
    for (int k = 0; k < count; k++) imm[DRAW + k].i = numbers[k];
    c->op = how;
    return wk__create_end(c, compute, imm, raw, DRAW + count);
}

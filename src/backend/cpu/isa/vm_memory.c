/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of the accumulator: every dtype is widened to its class when loaded and narrowed when stored. */
#include "block_io.h"
#include "narrow_dtypes.h"
#include "tables.h"

/* ---- dtypes equal to their class --------------------------------------------------------------------------------- */

static void load_4(VM_ARGUMENTS)
{
    block4 x = load_block4(s, in->a, i);
    NEXT4(x.v[0], x.v[1], x.v[2], x.v[3]);
}

static void load_8(VM_ARGUMENTS)
{
    block8 x = load_block8(s, in->a, i);
    NEXT8(x.v[0], x.v[1], x.v[2], x.v[3], x.v[4], x.v[5], x.v[6], x.v[7]);
}

static void store_4(VM_ARGUMENTS)
{
    char *p = slot_address(s, in->a, i);
    const V x[4] = {x0, x1, x2, x3};
    if (LIKELY(s->count >= LANES)) {
        UNROLL for (int k = 0; k < 4; k++) store_vector(p + k * WIDTH, x[k]);
    } else {
        UNROLL for (int k = 0; k < 4; k++) store_part4(p, s->count, k, x[k]);
    }
    NEXT4(x0, x1, x2, x3);
}

static void store_8(VM_ARGUMENTS)
{
    char *p = slot_address(s, in->a, i);
    const V x[8] = {x0, x1, x2, x3, x4, x5, x6, x7};
    if (LIKELY(s->count >= LANES)) {
        UNROLL for (int k = 0; k < 8; k++) store_vector(p + k * WIDTH, x[k]);
    } else {
        UNROLL for (int k = 0; k < 8; k++) store_part8(p, s->count, k, x[k]);
    }
    NEXT8(x0, x1, x2, x3, x4, x5, x6, x7);
}

/* Returns true if the store can bypass the caches: it needs a complete, aligned block, and not a tile (step 0), which
 * is read again immediately. */
static inline bool can_stream(const wk__vm_state *s, int place, const char *p)
{
    return s->count >= LANES && s->place[place].step != 0 && (uintptr_t)p % WIDTH == 0;
}

static void stream_4(VM_ARGUMENTS)
{
    char *p = slot_address(s, in->a, i);
    const V x[4] = {x0, x1, x2, x3};
    if (LIKELY(can_stream(s, in->a, p))) {
        UNROLL for (int k = 0; k < 4; k++) stream_vector(p + k * WIDTH, x[k]);
        NEXT4(x0, x1, x2, x3);
    } else {
        store_4(in, s, i, x0, x1, x2, x3, x4, x5, x6, x7);
    }
}

static void stream_8(VM_ARGUMENTS)
{
    char *p = slot_address(s, in->a, i);
    const V x[8] = {x0, x1, x2, x3, x4, x5, x6, x7};
    if (LIKELY(can_stream(s, in->a, p))) {
        UNROLL for (int k = 0; k < 8; k++) stream_vector(p + k * WIDTH, x[k]);
        NEXT8(x0, x1, x2, x3, x4, x5, x6, x7);
    } else {
        store_8(in, s, i, x0, x1, x2, x3, x4, x5, x6, x7);
    }
}

/* ---- dtypes narrower than their class ---------------------------------------------------------------------------- */

/* Returns the address of a complete block: p itself, or a padded copy of the existing lanes. */
static const char *padded_source(const wk__vm_state *s, const char *p, char *buffer, size_t size)
{
    if (LIKELY(s->count >= LANES)) return p;
    memset(buffer, 0, (size_t)LANES * size);
    memcpy(buffer, p, (size_t)s->count * size);
    return buffer;
}

#define DEFINE_LOAD(DTYPE, TYPE)                                                                                       \
    static void load_##DTYPE(VM_ARGUMENTS)                                                                             \
    {                                                                                                                  \
        char buffer[LANES * sizeof(TYPE)];                                                                             \
        const char *p = padded_source(s, slot_address(s, in->a, i), buffer, sizeof(TYPE));                             \
        V x[4];                                                                                                        \
        UNROLL for (int k = 0; k < 4; k++) x[k] = widen_##DTYPE(p + k * LANES4 * (int)sizeof(TYPE));                   \
        NEXT4(x[0], x[1], x[2], x[3]);                                                                                 \
    }
#define DEFINE_SMALL(DTYPE, TYPE)                                                                                      \
    DEFINE_LOAD(DTYPE, TYPE)                                                                                           \
    static void store_##DTYPE(VM_ARGUMENTS)                                                                            \
    {                                                                                                                  \
        char *p = slot_address(s, in->a, i), buffer[LANES * sizeof(TYPE)];                                             \
        char *to = LIKELY(s->count >= LANES) ? p : buffer;                                                             \
        const V x[4] = {x0, x1, x2, x3};                                                                               \
        UNROLL for (int k = 0; k < 4; k++) narrow_##DTYPE(to + k * LANES4 * (int)sizeof(TYPE), x[k]);                  \
        if (!LIKELY(to == p)) memcpy(p, buffer, (size_t)s->count * sizeof(TYPE));                                      \
        NEXT4(x0, x1, x2, x3);                                                                                         \
    }

DEFINE_SMALL(f16, uint16_t)
DEFINE_SMALL(bf16, uint16_t)
DEFINE_SMALL(i8, int8_t)
DEFINE_SMALL(u8, uint8_t)
DEFINE_SMALL(i16, int16_t)
DEFINE_LOAD(bool, uint8_t)

#define OP(function) ((wk__vm_op *)(function))

wk__vm_op *const WK__ISA_NAME(wk__vm_load)[WK_DTYPE_COUNT] = {
    [WK_F32] = OP(load_4),   [WK_I32] = OP(load_4),     [WK_F64] = OP(load_8), [WK_I64] = OP(load_8),
    [WK_F16] = OP(load_f16), [WK_BF16] = OP(load_bf16), [WK_I8] = OP(load_i8), [WK_U8] = OP(load_u8),
    [WK_I16] = OP(load_i16), [WK_BOOL] = OP(load_bool),
};

wk__vm_op *const WK__ISA_NAME(wk__vm_store)[WK_DTYPE_COUNT] = {
    [WK_F32] = OP(store_4),   [WK_I32] = OP(store_4),     [WK_F64] = OP(store_8), [WK_I64] = OP(store_8),
    [WK_F16] = OP(store_f16), [WK_BF16] = OP(store_bf16), [WK_I8] = OP(store_i8), [WK_U8] = OP(store_u8),
    [WK_I16] = OP(store_i16), [WK_BOOL] = OP(store_u8),
};

wk__vm_op *const WK__ISA_NAME(wk__vm_stream)[WK_DTYPE_COUNT] = {
    [WK_F32] = OP(stream_4),  [WK_I32] = OP(stream_4),    [WK_F64] = OP(stream_8), [WK_I64] = OP(stream_8),
    [WK_F16] = OP(store_f16), [WK_BF16] = OP(store_bf16), [WK_I8] = OP(store_i8),  [WK_U8] = OP(store_u8),
    [WK_I16] = OP(store_i16), [WK_BOOL] = OP(store_u8),
};

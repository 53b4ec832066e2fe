/* Values that come from an index, a position or a counter. */
#include "memory.h"
#include "tables.h"

#define WIDE_BLOCK ((block8){{x0, x1, x2, x3, x4, x5, x6, x7}})
#define OP(function) ((wk__vm_op *)(function))

/* IOTA: the address of WK__VM_POSITION is the position itself. */
static void iota(VM_ARGUMENTS)
{
    int64_t first = (int64_t)s->place[in->a].p + i * s->place[in->a].step;
    const char *offset = s->place[in->b].p;
    V x[8];
    UNROLL for (int k = 0; k < 8; k++) x[k] = (V)(first + (i64v)load_vector(offset + k * WIDTH));
    NEXT8(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

/* ---- LOADX ---------------------------------------------------------------------------------------------------------------- */

/* Where the element of a lane is, or NULL when its index is out of range. A negative one counts from the end. */
static inline const char *element_at(wk__vm_state *s, const char *lane, int64_t index, int64_t bound, int64_t step)
{
    int64_t k = index < 0 ? index + bound : index;
    if (LIKELY(k >= 0 && k < bound)) return lane + k * step;
    if (!s->fault) {
        s->fault = true;
        s->fault_index = index;
        s->fault_bound = bound;
    }
    return NULL;
}

/* Fetches the elements of a block side by side into place FETCHED, 0 where there is none; the load of their dtype takes
 * them from there. When all lanes want the same index and lie side by side (rows of an embedding), one copy does. */
static inline void fetch(const wk__vm_ins *in, wk__vm_state *s, int64_t i, const int64_t index[LANES], size_t size)
{
    const wk__vm_place *place = &s->place[in->a];
    const char *base = place->p + i * place->step;
    const int64_t *offset = (const int64_t *)(const void *)s->place[in->b].p;
    char *to = s->place[WK__VM_FETCHED].p;
    const int64_t bound = s->cell[in->c].i64, step = s->cell[in->c + 1].i64 * (int64_t)size;
    const int64_t count = s->count < LANES ? s->count : LANES;
    bool one_row = place->step == (int64_t)size;
    for (int64_t l = 1; l < count; l++) one_row &= index[l] == index[0];
    memset(to, 0, LANES * size);
    if (one_row) {
        const char *at = element_at(s, base, index[0], bound, step);
        if (at) memcpy(to, at, (size_t)count * size);
        return;
    }
    for (int64_t l = 0; l < count; l++) {
        const char *at = element_at(s, base + offset[l], index[l], bound, step);
        if (at) memcpy(to + (size_t)l * size, at, size);
    }
}

#define DEFINE_FETCH(SIZE)                                                                                             \
    static void fetch_##SIZE(VM_ARGUMENTS)                                                                             \
    {                                                                                                                  \
        const block8 x = WIDE_BLOCK;                                                                                   \
        int64_t index[LANES];                                                                                          \
        memcpy(index, &x, sizeof index);                                                                               \
        fetch(in, s, i, index, SIZE);                                                                                  \
        NEXT8(x0, x1, x2, x3, x4, x5, x6, x7);                                                                         \
    }

DEFINE_FETCH(1)
DEFINE_FETCH(2)
DEFINE_FETCH(4)
DEFINE_FETCH(8)

wk__vm_op *const WK__ISA_NAME(wk__vm_fetch)[WK_DTYPE_COUNT] = {
    [WK_F32] = OP(fetch_4), [WK_I32] = OP(fetch_4), [WK_F64] = OP(fetch_8), [WK_I64] = OP(fetch_8),
    [WK_F16] = OP(fetch_2), [WK_BF16] = OP(fetch_2), [WK_I16] = OP(fetch_2), [WK_I8] = OP(fetch_1),
    [WK_U8] = OP(fetch_1),  [WK_BOOL] = OP(fetch_1),
};

wk__vm_op *const WK__ISA_NAME(wk__vm_source_ops)[WK__VM_SOURCES] = {
    [WK__VM_IOTA] = OP(iota),
};

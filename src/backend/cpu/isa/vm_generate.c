/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that produce values from an index, a position or a counter. */
#include "ir/random.h"
#include "block_io.h"
#include "tables.h"

#define WIDE_BLOCK   ((block8){{x0, x1, x2, x3, x4, x5, x6, x7}})
#define OP(function) ((wk__vm_op *)(function))

/* IOTA: the address of WK__VM_POSITION is the position. Sums wrap: lanes past the end of a block have arbitrary offsets
 * and are unused. */
static void iota(VM_ARGUMENTS)
{
    const uint64_t first = (uint64_t)(uintptr_t)s->place[in->a].p + (uint64_t)i * (uint64_t)s->place[in->a].step;
    const char *offset = s->place[in->b].p;
    V x[8];
    UNROLL for (int k = 0; k < 8; k++) x[k] = (V)(first + (u64v)load_vector(offset + k * WIDTH));
    NEXT8(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

/* ---- LOADX ------------------------------------------------------------------------------------------------------- */

/* Valid indices of a LOADX, and the stride of elements in bytes. */
typedef struct range {
    int64_t bound, step;
    int64_t from_end; /* added to negative indices: bound, or 0 if they are out of range */
} range;

/* Returns the address of a lane's element; NULL if its index is out of range, recording the first such index. */
static inline const char *element_at(wk__vm_state *s, const char *lane, int64_t index, const range *r)
{
    int64_t k = index < 0 ? index + r->from_end : index;
    if (LIKELY(k >= 0 && k < r->bound)) return lane + k * r->step;
    if (!s->fault) {
        s->fault = true;
        s->fault_index = index;
        s->fault_bound = r->bound;
    }
    return NULL;
}

static inline bool all_equal(const int64_t *index, int64_t count)
{
    int64_t differences = 0;
    /* from 0 on: exactly as they were stored, for store forwarding */
    for (int64_t l = 0; l < count; l++) differences |= index[l] ^ index[0];
    return differences == 0;
}

static inline bool contiguous(const int64_t *offset, int64_t count, int64_t size)
{
    int64_t differences = 0;
    for (int64_t l = 0; l < count; l++) differences |= offset[l] ^ l * size;
    return differences == 0;
}

/* Computes the offsets in bytes of the elements of a complete block. Returns false if an index is out of range. */
static inline bool find_elements(const block8 *index, const int64_t offset[LANES], const range *r, int64_t at[LANES])
{
    const i64v last = i64_splat(r->bound - 1), from_end = i64_splat(r->from_end), step = i64_splat(r->step);
    i64v sign = {0};
    UNROLL for (int k = 0; k < 8; k++)
    {
        const i64v given = (i64v)index->v[k], place = given + ((given < 0) & from_end);
        sign |= place | (last - place);
        const i64v from = (i64v)load_vector((const char *)(offset + k * LANES8));
        store_vector((char *)(at + k * LANES8), (V)(from + (i64v)((u64v)place * (u64v)step)));
    }
    return !i64_any(sign < 0);
}

/* Gathers the elements of a block contiguously into slot GATHERED, 0 for those out of range; the load of their dtype
 * reads them there. If all lanes have the same index and are contiguous (rows of an embedding), one copy suffices. */
static inline void fetch(const wk__vm_ins *in, wk__vm_state *s, int64_t i, const block8 *x, size_t size)
{
    const wk__vm_slot *place = &s->place[in->a];
    const char *base = place->p + i * place->step;
    const int64_t *offset = (const int64_t *)(const void *)s->place[in->b].p;
    char *to = s->place[WK__VM_GATHERED].p;
    const int64_t bound = s->cell[in->c].i64, step = s->cell[in->c + 1].i64 * (int64_t)size;
    const range r = {bound < 0 ? -bound : bound, step, bound < 0 ? 0 : bound};
    const int64_t count = s->count < LANES ? s->count : LANES;
    const bool full = count == LANES; /* the common case, with constant sizes */
    int64_t index[LANES] __attribute__((aligned(64))), found[LANES] __attribute__((aligned(64)));
    memcpy(index, x, sizeof index);
    if ((full ? all_equal(index, LANES) : all_equal(index, count)) && contiguous(offset, count, (int64_t)size)) {
        const char *at = element_at(s, base, index[0], &r);
        if (!at || !full) memset(to, 0, LANES * size);
        if (at) memcpy(to, at, full ? LANES * size : (size_t)count * size);
        return;
    }
    if (full && LIKELY(find_elements(x, offset, &r, found))) {
        UNROLL for (int l = 0; l < LANES; l++) memcpy(to + (size_t)l * size, base + found[l], size);
        return;
    }
    memset(to, 0, LANES * size);
    for (int64_t l = 0; l < count; l++) {
        const char *at = element_at(s, base + offset[l], index[l], &r);
        if (at) memcpy(to + (size_t)l * size, at, size);
    }
}

#define DEFINE_FETCH(SIZE)                                                                                             \
    static void fetch_##SIZE(VM_ARGUMENTS)                                                                             \
    {                                                                                                                  \
        const block8 x = WIDE_BLOCK;                                                                                   \
        fetch(in, s, i, &x, SIZE);                                                                                     \
        NEXT8(x0, x1, x2, x3, x4, x5, x6, x7);                                                                         \
    }

DEFINE_FETCH(1)
DEFINE_FETCH(2)
DEFINE_FETCH(4)
DEFINE_FETCH(8)

wk__vm_op *const WK__ISA_NAME(wk__vm_fetch)[WK_DTYPE_COUNT] = {
    [WK_F32] = OP(fetch_4), [WK_I32] = OP(fetch_4),  [WK_F64] = OP(fetch_8), [WK_I64] = OP(fetch_8),
    [WK_F16] = OP(fetch_2), [WK_BF16] = OP(fetch_2), [WK_I16] = OP(fetch_2), [WK_I8] = OP(fetch_1),
    [WK_U8] = OP(fetch_1),  [WK_BOOL] = OP(fetch_1),
};

/* ---- random numbers: see src/ir/random.h ------------------------------------------------------------------------- */

/* Multiplies the low halves of each lane. */
static inline u64v multiply_low_halves(u64v x, u64v y)
{
#if WIDTH == 64
    return (u64v)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif WIDTH == 32
    return (u64v)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__x86_64__)
    return (u64v)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
    return (x & 0xffffffff) * (y & 0xffffffff);
#endif
}

/* wk__philox() with one counter per lane. The upper halves of c0..c3 are undefined and ignored. */
static inline u64v philox_words(u64v counter, uint64_t key, bool both)
{
    const u64v zero = {0};
    u64v c0 = counter, c1 = counter >> 32, c2 = zero, c3 = zero;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        u64v a = multiply_low_halves(c0, 0xD2511F53u + zero), b = multiply_low_halves(c2, 0xCD9E8D57u + zero);
        c0 = b >> 32 ^ c1 ^ k0;
        c1 = b;
        c2 = a >> 32 ^ c3 ^ k1;
        c3 = a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return both ? (c0 & 0xffffffff) | c1 << 32 : c0 & 0xffffffff;
}

static void philox(VM_ARGUMENTS)
{
    block8 x = WIDE_BLOCK;
    const uint64_t key = (uint64_t)s->cell[in->c].i64;
    ROLLED for (int k = 0; k < 8; k++) x.v[k] = (V)philox_words((u64v)x.v[k], key, in->bits == 64);
    NEXT8(x.v[0], x.v[1], x.v[2], x.v[3], x.v[4], x.v[5], x.v[6], x.v[7]);
}

#if WIDTH > 16

static inline f32v table_row(const float *row, i32v segment)
{
#if WIDTH == 64
    return (f32v)_mm512_i32gather_ps((__m512i)segment, row, 4);
#else
    return (f32v)_mm256_i32gather_ps(row, (__m256i)segment, 4);
#endif
}

/* wk__ndtri32() for each lane. */
static inline f32v normal_of_bits(u32v bits)
{
    const u32v upper_half = (u32v)((i32v)bits >> 31), m = bits ^ upper_half;
    const f32v position = __builtin_convertvector((i32v)(m & ~(m >> 8)), f32v) + 0.5f;
    const u32v segment = ((u32v)position >> 21) - (126u << 2);
    const u32v place = (2 * m + 1) << (31 - segment / 4);
    const f32v t = __builtin_convertvector((i32v)((~place & 0x1FFFFFFFu) + 1), f32v) * 0x1p-29f;
    f32v value = table_row(wk__ndtri32_table[WK__NDTRI32_DEGREE], (i32v)segment);
    for (int k = WK__NDTRI32_DEGREE - 1; k >= 0; k--) {
        value = f32_fma(value, t, table_row(wk__ndtri32_table[k], (i32v)segment));
    }
    return f32_select((i32v)upper_half, value, -value);
}

#else

/* Lane by lane: there is no gather instruction, and the exact bits require an fma even if the set has none. */
static inline f32v normal_of_bits(u32v bits)
{
    f32v value;
    for (int l = 0; l < LANES4; l++) value[l] = wk__ndtri32(bits[l]);
    return value;
}

#endif

static void normal32(VM_ARGUMENTS)
{
    const block8 x = WIDE_BLOCK;
    block4 y;
    ROLLED for (int k = 0; k < 4; k++)
    {
        y.v[k] = (V)normal_of_bits((u32v)i32_narrow((i64v)x.v[2 * k], (i64v)x.v[2 * k + 1]));
    }
    NEXT4(y.v[0], y.v[1], y.v[2], y.v[3]);
}

static void normal64(VM_ARGUMENTS)
{
    block8 x = WIDE_BLOCK;
    int64_t bits[LANES];
    double value[LANES];
    memcpy(bits, &x, sizeof bits);
    for (int l = 0; l < LANES; l++) value[l] = wk__ndtri64((uint64_t)bits[l]);
    memcpy(&x, value, sizeof x);
    NEXT8(x.v[0], x.v[1], x.v[2], x.v[3], x.v[4], x.v[5], x.v[6], x.v[7]);
}

wk__vm_op *const WK__ISA_NAME(wk__vm_source_ops)[WK__VM_GENERATORS] = {
    [WK__VM_IOTA] = OP(iota),
    [WK__VM_PHILOX] = OP(philox),
    [WK__VM_NORMAL32] = OP(normal32),
    [WK__VM_NORMAL64] = OP(normal64),
};

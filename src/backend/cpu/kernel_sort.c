/* SPDX-License-Identifier: Apache-2.0 */
/* sort: stable sort along one dimension, returning values and original indices.
 *
 * An element of any dtype maps to an unsigned key of 32 or 64 bits with the same order (NaN greatest, -0 equal to 0;
 * descending: all bits inverted). Pairs of key and index are sorted and values are fetched by index, so NaN and -0 keep
 * their bits. Short lines use insertion sort, others radix sort by 8-bit digits from the least significant; a digit
 * shared by all keys is skipped. */
#include "along_dim.h"

#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "half.h"

enum { VALUES, INDICES, FROM };
enum { SHORT = 40, DIGITS = 256 };

typedef struct narrow_pair {
    uint32_t key, position;
} narrow_pair;

typedef struct wide_pair {
    uint64_t key;
    int64_t position;
} wide_pair;

typedef struct sort {
    wk__dim_lines lines;
    wk_dtype dtype;
    bool descending;
    char *values;
    int64_t *indices;
    const char *from;
    void (*line)(const struct sort *s, const int64_t at[], void *pairs);
    int64_t tasks;
    size_t pairs_size; /* bytes of one task's pairs and of the second buffer for sorting them */
    char *pairs;
} sort;

/* Converts IEEE bits to a key: negative numbers are inverted, so that larger magnitudes compare less. */
static inline uint64_t key_of_float(uint64_t bits, uint64_t sign, uint64_t infinity)
{
    const uint64_t magnitude = bits & (sign - 1);
    if (magnitude > infinity) return sign | (sign - 1);
    if (magnitude == 0) return sign;
    return bits & sign ? ~bits & (sign - 1) : bits | sign;
}

/* Returns the key of an element, in the low bits of the dtype's width. */
static uint64_t key_at(wk_dtype dtype, const char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, wk_dtype_size(dtype)); /* little-endian, like all supported platforms */
    switch (dtype) {
    case WK_F64: return key_of_float(bits, (uint64_t)1 << 63, (uint64_t)0x7ff << 52);
    case WK_F32: return key_of_float(bits, (uint64_t)1 << 31, 0x7f800000);
    case WK_F16: return key_of_float(bits, 0x8000, 0x7c00);
    case WK_BF16: return key_of_float(bits, 0x8000, 0x7f80);
    case WK_I64: return bits ^ (uint64_t)1 << 63;
    case WK_I32: return bits ^ (uint64_t)1 << 31;
    case WK_I16: return bits ^ 0x8000;
    case WK_I8: return bits ^ 0x80;
    case WK_BOOL: return bits != 0;
    default: return bits;
    }
}

#define PAIR     narrow_pair
#define KEY      uint32_t
#define POSITION uint32_t
#define NAME(x)  narrow_##x
#include "kernel_sort.inc"
#undef PAIR
#undef KEY
#undef POSITION
#undef NAME

#define PAIR     wide_pair
#define KEY      uint64_t
#define POSITION int64_t
#define NAME(x)  wide_##x
#include "kernel_sort.inc"

static void sort_bundle(void *user, const wk__line_bundle *bundle, int64_t task)
{
    const sort *s = user;
    for (int64_t j = 0; j < bundle->lines; j++) {
        int64_t at[WK__LINE_OPERANDS];
        for (int o = 0; o < WK__LINE_OPERANDS; o++) at[o] = bundle->at[o] + j * bundle->across[o];
        s->line(s, at, s->pairs + (size_t)task * s->pairs_size);
    }
}

/* Allocates the pairs of all tasks in one block, before anything is written. */
static bool take_pairs(sort *s, size_t pair)
{
    int64_t one, all;
    if (!wk__mul_size(s->lines.length, 2 * (int64_t)pair, &one) || !wk__mul_size(one, s->tasks, &all)) return false;
    s->pairs_size = (size_t)one;
    s->pairs = wk__alloc((size_t)all);
    return s->pairs != NULL;
}

wk_code wk__cpu_sort(const wk__work *work, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    sort s = {.dtype = (wk_dtype)kernel->operand[FROM].dtype,
              .descending = kernel->mode == 1,
              .values = wk__operand_data(&kernel->operand[VALUES]),
              .indices = (int64_t *)(void *)wk__operand_data(&kernel->operand[INDICES]),
              .from = wk__operand_data(&kernel->operand[FROM])};
    wk__dim_lines_init(&s.lines, kernel, FROM);
    s.tasks = wk__dim_lines_ntasks(&s.lines);
    if (s.tasks == 0) return WK_OK;
    if (s.tasks > wk__thread_count()) s.tasks = wk__thread_count(); /* one buffer per thread */
    const bool wide = wk_dtype_size(s.dtype) == 8 || s.lines.length > UINT32_MAX;
    s.line = wide ? wide_line : narrow_line;
    if (!take_pairs(&s, wide ? sizeof(wide_pair) : sizeof(narrow_pair)))
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to sort %lld elements", (long long)s.lines.length);
    wk__dim_lines_for_each(&s.lines, s.tasks, sort_bundle, &s);
    wk__free(s.pairs);
    return WK_OK;
}

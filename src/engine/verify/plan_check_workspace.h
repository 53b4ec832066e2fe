/* SPDX-License-Identifier: Apache-2.0 */
/* What a check of a plan works in: one piece of memory, taken once and used again, so that checks change
 * nothing that tests count. */
#ifndef WICK_ENGINE_PLAN_CHECK_SPACE_H
#define WICK_ENGINE_PLAN_CHECK_SPACE_H

#include "engine/op_queue.h"

enum {
    WK__PLAN_CHECK_PLACES = 4096, /* elements up to which all are visited */
    WK__PLAN_CHECK_SAMPLE = 1024, /* and about so many of more */
    WK__PLAN_CHECK_RESULTS = 1 << 16,
    WK__PLAN_CHECK_SLOTS = 2 * WK__PLAN_CHECK_RESULTS,
    WK__PLAN_CHECK_STORES = 1 << 16,
    WK__PLAN_CHECK_VALUES = 512,
    WK__PLAN_CHECK_LISTS = WK__MAX_OPERANDS + 1 /* of offsets: of each operand, and of the position */
};

/* ---- numbers that stand for values ------------------------------------------------------------------------------- */

/* 0 is not among them; equal when they came about alike: see plan_check_values.c. */
typedef uint64_t wk__plan_check_value_number;
enum { WK__PLAN_CHECK_UNKNOWN = 0 };

static inline wk__plan_check_value_number wk__plan_check_mix(wk__plan_check_value_number a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 32;
    return x ? x : 1;
}

/* A table from pairs (owner, place) to 64 bits. Places are elements of a memory or of a value. */
typedef struct wk__plan_check_slot {
    int64_t place;
    uint64_t owner; /* 0: free */
    uint64_t number;
} wk__plan_check_slot;
typedef struct wk__plan_check_table {
    wk__plan_check_slot *slot;
    int64_t slots; /* in use by this check: a power of 2 */
} wk__plan_check_table;

/* Empties it, with room for `count` pairs. */
void wk__plan_check_table_start(wk__plan_check_table *table, int64_t count);
/* What the pair holds, or NULL; `add`: a new pair holds 0. Owners are numbered from 0. */
uint64_t *wk__plan_check_table_find(const wk__plan_check_table *table, int owner, int64_t place, bool add);

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* So many places are visited along a dimension of that size. */
static inline int64_t wk__plan_check_visited(int64_t size, int64_t most)
{
    return size < most ? size : most;
}
/* The k-th of them: half from the start, half up to the end. */
static inline int64_t wk__plan_check_visited_place(int64_t size, int64_t most, int64_t k)
{
    int64_t count = wk__plan_check_visited(size, most);
    return k < count - count / 2 ? k : size - count + k;
}
/* The offsets of all visited places of the dimensions first..end-1, row-major. Returns how many. */
int64_t wk__plan_check_offsets(int64_t *offset, int first, int end, const int64_t *shape, int64_t most,
                               const int64_t *stride);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* An instruction that writes one element. */
typedef struct wk__plan_check_store {
    int64_t place;
    wk__plan_check_value_number token;
    int32_t row, column; /* numbers of visited ones; of a row's value the column is -1 */
    int32_t next;        /* of the same place, plus 1 */
    int16_t area;        /* whose element it is */
    int16_t k;           /* the instruction; -1: the product */
} wk__plan_check_store;

typedef struct wk__plan_check_workspace {
    struct wk__plan_check_workspace *next;
    wk__lowering single; /* a record by itself */
    wk__plan_check_value_number token[WK__MAX_INS][WK__PLAN_CHECK_PLACES];
    int64_t row[WK__PLAN_CHECK_LISTS][WK__PLAN_CHECK_PLACES], column[WK__PLAN_CHECK_LISTS][WK__PLAN_CHECK_PLACES];
    int64_t output_offset[2][WK__PLAN_CHECK_PLACES]; /* offsets of a record's output: of rows, of columns */
    wk__plan_check_slot result_slot[WK__PLAN_CHECK_SLOTS], store_slot[WK__PLAN_CHECK_SLOTS];
    wk__plan_check_store store[WK__PLAN_CHECK_STORES];
} wk__plan_check_workspace;

/* NULL when host memory is short. */
wk__plan_check_workspace *wk__plan_check_workspace_acquire(void);
void wk__plan_check_workspace_release(wk__plan_check_workspace *space);

#endif

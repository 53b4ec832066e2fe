/* SPDX-License-Identifier: Apache-2.0 */
/* What a check of a plan works in: one piece of memory, taken once and used again, so that checks change nothing that tests count. */
#ifndef WICK_ENGINE_PLAN_CHECK_SPACE_H
#define WICK_ENGINE_PLAN_CHECK_SPACE_H

#include "ring.h"

enum {
    WK__CHECK_PLACES = 4096, /* elements up to which all are visited */
    WK__CHECK_SAMPLE = 1024, /* and about so many of more */
    WK__CHECK_RESULTS = 1 << 16,
    WK__CHECK_SLOTS = 2 * WK__CHECK_RESULTS,
    WK__CHECK_STORES = 1 << 16,
    WK__CHECK_VALUES = 512,
    WK__CHECK_LISTS = WK__MAX_OPERANDS + 1 /* of offsets: of each operand, and of the position */
};

/* ---- numbers that stand for values ------------------------------------------------------------------------------- */

/* Equal when instruction and operands are; 0 is not among them. The low bits are the dtype that the number is known to have been rounded or
 * wrapped to, so that doing it again changes nothing. */
typedef uint64_t wk__token;
enum { WK__TOKEN_UNKNOWN = 0, WK__TOKEN_DTYPE = 31 /* its bits; all of them set: not known */ };

static inline wk__token wk__token_mix(wk__token a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 32) | WK__TOKEN_DTYPE;
}
static inline wk__token wk__token_rounded(wk__token token, wk_dtype dtype)
{
    return (token & ~(wk__token)WK__TOKEN_DTYPE) | (wk__token)dtype;
}

/* A table from pairs (owner, place) to 64 bits. Places are elements of a memory or of a value. */
typedef struct wk__token_slot {
    int64_t place;
    uint64_t owner; /* 0: free */
    uint64_t held;
} wk__token_slot;
typedef struct wk__token_table {
    wk__token_slot *slot;
    int64_t slots; /* in use by this check: a power of 2 */
} wk__token_table;

/* Empties it, with room for `count` pairs. */
void wk__token_table_start(wk__token_table *table, int64_t count);
/* What the pair holds, or NULL; `add`: a new pair holds 0. Owners are numbered from 0. */
uint64_t *wk__token_find(const wk__token_table *table, int owner, int64_t place, bool add);

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* So many places are visited along a dimension of that size. */
static inline int64_t wk__visited(int64_t size, int64_t most)
{
    return size < most ? size : most;
}
/* The k-th of them: half from the start, half up to the end. */
static inline int64_t wk__visited_place(int64_t size, int64_t most, int64_t k)
{
    int64_t count = wk__visited(size, most);
    return k < count - count / 2 ? k : size - count + k;
}
/* The offsets of all visited places of the dimensions first..end-1, row-major. Returns how many. */
int64_t wk__visit(int64_t *offset, int first, int end, const int64_t *shape, int64_t most, const int64_t *stride);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* An instruction that writes one element. */
typedef struct wk__audit_store {
    int64_t place;
    wk__token token;
    int32_t row, column; /* numbers of visited ones; of a row's value the column is -1 */
    int32_t next;        /* of the same place, plus 1 */
    int16_t area;        /* whose element it is */
    int16_t k;           /* the instruction; -1: the product */
} wk__audit_store;

typedef struct wk__audit_space {
    struct wk__audit_space *next;
    wk__building single; /* a record by itself */
    wk__token token[WK__MAX_INS][WK__CHECK_PLACES];
    int64_t row[WK__CHECK_LISTS][WK__CHECK_PLACES], column[WK__CHECK_LISTS][WK__CHECK_PLACES];
    int64_t own[2][WK__CHECK_PLACES]; /* offsets of a record's output: of rows, of columns */
    wk__token_slot result_slot[WK__CHECK_SLOTS], store_slot[WK__CHECK_SLOTS];
    wk__audit_store store[WK__CHECK_STORES];
} wk__audit_space;

/* NULL when host memory is short. */
wk__audit_space *wk__audit_space_take(void);
void wk__audit_space_give(wk__audit_space *space);

#endif

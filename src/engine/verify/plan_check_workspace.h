/* SPDX-License-Identifier: Apache-2.0 */
/* Workspace of a plan check: one allocation, reused by later checks, so that checks don't affect allocation statistics.
 * Ownership: a check owns its workspace until it releases it to the process-wide list. */
#ifndef WICK_ENGINE_VERIFY_PLAN_CHECK_WORKSPACE_H
#define WICK_ENGINE_VERIFY_PLAN_CHECK_WORKSPACE_H

#include "engine/op_queue.h"

enum {
    WK__PLAN_CHECK_PLACES = 4096, /* maximum elements of a space that is visited completely */
    WK__PLAN_CHECK_SAMPLE = 1024, /* approximate number of visited elements of larger spaces */
    WK__PLAN_CHECK_RESULTS = 1 << 16,
    WK__PLAN_CHECK_SLOTS = 2 * WK__PLAN_CHECK_RESULTS,
    WK__PLAN_CHECK_STORES = 1 << 16,
    WK__PLAN_CHECK_VALUES = 512,
    WK__PLAN_CHECK_LISTS = WK__MAX_OPERANDS + 1 /* lists of offsets: one per operand, and one for the position */
};

/* ---- symbolic values --------------------------------------------------------------------------------------------- */

/* Hash of how a value is computed, never 0; equal hashes mean equal values: see plan_check_values.c. */
typedef uint64_t wk__plan_check_value_number;
enum { WK__PLAN_CHECK_UNKNOWN = 0 };

static inline wk__plan_check_value_number wk__plan_check_mix(wk__plan_check_value_number a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 32;
    return x ? x : 1;
}

/* Hash table from (owner, place) to 64 bits; `place` is an element of a buffer or of a value. */
typedef struct wk__plan_check_slot {
    int64_t place;
    uint64_t owner; /* 0: free */
    uint64_t number;
} wk__plan_check_slot;
typedef struct wk__plan_check_table {
    wk__plan_check_slot *slot;
    int64_t slots; /* in use by this check; a power of 2 */
} wk__plan_check_table;

/* Empties the table, with capacity for `count` pairs. */
void wk__plan_check_table_start(wk__plan_check_table *table, int64_t count);
/* Returns the entry of a pair, or NULL; `add`: inserts it with value 0. Owners are indices, from 0. */
uint64_t *wk__plan_check_table_find(const wk__plan_check_table *table, int owner, int64_t place, bool add);

/* ---- sampling of indices ----------------------------------------------------------------------------------------- */

/* Returns how many indices of a dimension of this size are visited. */
static inline int64_t wk__plan_check_visited(int64_t size, int64_t most)
{
    return size < most ? size : most;
}
/* Returns the k-th visited index: half are at the start, half at the end of the dimension. */
static inline int64_t wk__plan_check_visited_place(int64_t size, int64_t most, int64_t k)
{
    int64_t count = wk__plan_check_visited(size, most);
    return k < count - count / 2 ? k : size - count + k;
}
/* Computes the offsets of all visited indices of dimensions first..end-1, row-major. Returns how many there are. */
int64_t wk__plan_check_offsets(int64_t *offset, int first, int end, const int64_t *shape, int64_t most,
                               const int64_t *stride);

/* ---- workspace --------------------------------------------------------------------------------------------------- */

/* A store to one element. */
typedef struct wk__plan_check_store {
    int64_t place;
    wk__plan_check_value_number token;
    int32_t row, column; /* indices of the visited row and column; column -1: the value of an entire row */
    int32_t next;        /* next store to the same element, plus 1; 0: none */
    int16_t area;        /* buffer */
    int16_t k;           /* instruction; -1: the contraction */
} wk__plan_check_store;

typedef struct wk__plan_check_workspace {
    struct wk__plan_check_workspace *next;
    wk__lowering single; /* for a record alone */
    wk__plan_check_value_number token[WK__MAX_INS][WK__PLAN_CHECK_PLACES];
    int64_t row[WK__PLAN_CHECK_LISTS][WK__PLAN_CHECK_PLACES], column[WK__PLAN_CHECK_LISTS][WK__PLAN_CHECK_PLACES];
    int64_t output_offset[2][WK__PLAN_CHECK_PLACES]; /* offsets of a record's output: by row, by column */
    wk__plan_check_slot result_slot[WK__PLAN_CHECK_SLOTS], store_slot[WK__PLAN_CHECK_SLOTS];
    wk__plan_check_store store[WK__PLAN_CHECK_STORES];
} wk__plan_check_workspace;

/* Returns NULL on allocation failure. */
wk__plan_check_workspace *wk__plan_check_workspace_acquire(void);
void wk__plan_check_workspace_release(wk__plan_check_workspace *space);

#endif

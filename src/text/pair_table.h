/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from pairs of tokens to indices. Pairs are never removed. */
#ifndef WICK_TEXT_PAIR_TABLE_H
#define WICK_TEXT_PAIR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wk__pair_slot {
    int32_t left, right;
    int32_t index; /* at least 0; -1: the slot is free */
} wk__pair_slot;

typedef struct wk__pair_table {
    wk__pair_slot *slot;  /* [slots], owned */
    int64_t slots, count; /* slots: 0 or a power of 2, at least twice count */
} wk__pair_table;

/* Returns the index of a pair, or -1. */
int32_t wk__pair_table_find(const wk__pair_table *table, int32_t left, int32_t right);
/* Adds a pair that the table lacks. Returns false if memory is exhausted. */
bool wk__pair_table_put(wk__pair_table *table, int32_t left, int32_t right, int32_t index);
void wk__pair_table_free(wk__pair_table *table);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of pairs of integers: the smallest entry comes first. */
#ifndef WICK_TEXT_HEAP_H
#define WICK_TEXT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Entries are compared by rank, then by tie. */
typedef struct wk__heap_entry {
    int64_t rank, tie;
} wk__heap_entry;

typedef struct wk__heap {
    wk__heap_entry *at; /* [count], owned */
    int64_t count, capacity;
} wk__heap;

/* Makes room for `count` entries in all. Returns false if memory is exhausted. */
bool wk__heap_reserve(wk__heap *heap, int64_t count);
/* Adds an entry, for which there is room. */
void wk__heap_push(wk__heap *heap, wk__heap_entry entry);
/* Removes and returns the first entry of a heap that is not empty. */
wk__heap_entry wk__heap_pop(wk__heap *heap);
void wk__heap_free(wk__heap *heap);

#endif

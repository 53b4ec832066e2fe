/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting without recursion or memory and in n log n steps whatever the order: a hostile file cannot slow it down, and
 * no malloc passes by the allocator hook, as it does in glibc's qsort. */
#ifndef WICK_IO_SORT_H
#define WICK_IO_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WK__HEAP_SORT_MAX_ITEM = 128 /* largest item, bytes */ };

/* True when a has to stand before b. Items of which neither has to may end in any order. */
typedef bool wk__less_fn(const void *a, const void *b);
void wk__heap_sort(void *items, int64_t count, size_t size, wk__less_fn *before);

#endif

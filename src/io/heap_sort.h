/* SPDX-License-Identifier: Apache-2.0 */
/* Heap sort: no recursion, no allocation, O(n log n) for any input. A hostile file cannot slow it down, and no malloc
 * bypasses the allocator hook, as in glibc's qsort. */
#ifndef WICK_IO_HEAP_SORT_H
#define WICK_IO_HEAP_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WK__HEAP_SORT_MAX_ITEM = 128 /* largest item, bytes */ };

/* Returns true if a must precede b. The order of items that compare equal is unspecified. */
typedef bool wk__less_fn(const void *a, const void *b);
void wk__heap_sort(void *items, int64_t count, size_t size, wk__less_fn *before);

#endif

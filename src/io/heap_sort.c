/* SPDX-License-Identifier: Apache-2.0 */
/* Heap sort; see heap_sort.h. */
#include "heap_sort.h"
#include <string.h>

typedef struct heap {
    char *items;
    size_t size;
    wk__less_fn *before;
} heap;

static char *item(const heap *heap, int64_t k)
{
    return heap->items + (size_t)k * heap->size;
}

/* Sifts `held` down from index root of a max-heap of `count` items, whose subtrees are heaps. The children of k are 2k
 * + 1 and 2k + 2. */
static void sift(const heap *heap, int64_t root, int64_t count, const char *held)
{
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && heap->before(item(heap, child), item(heap, child + 1))) child++;
        if (!heap->before(held, item(heap, child))) break;
        memcpy(item(heap, root), item(heap, child), heap->size);
    }
    memcpy(item(heap, root), held, heap->size);
}

static bool in_order(const heap *heap, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        if (heap->before(item(heap, k), item(heap, k - 1))) return false;
    return true;
}

void wk__heap_sort(void *items, int64_t count, size_t size, wk__less_fn *before)
{
    heap all = {items, size, before};
    _Alignas(16) char held[WK__HEAP_SORT_MAX_ITEM];
    if (in_order(&all, count)) return; /* usual: most writers sort */
    for (int64_t root = count / 2 - 1; root >= 0; root--) {
        memcpy(held, item(&all, root), size);
        sift(&all, root, count, held);
    }
    for (int64_t last = count - 1; last > 0; last--) {
        memcpy(held, item(&all, last), size);
        memcpy(item(&all, last), item(&all, 0), size);
        sift(&all, 0, last, held);
    }
}

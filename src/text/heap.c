/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap in an array: the children of entry k are 2k + 1 and 2k + 2. See heap.h. */
#include "heap.h"
#include "base/alloc.h"

static bool comes_first(const wk__heap_entry *a, const wk__heap_entry *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->tie < b->tie;
}

bool wk__heap_reserve(wk__heap *heap, int64_t count)
{
    return wk__grow(&heap->at, &heap->capacity, count, sizeof *heap->at);
}

void wk__heap_push(wk__heap *heap, wk__heap_entry entry)
{
    wk__heap_entry *at = heap->at;
    int64_t k = heap->count++;
    for (; k > 0 && comes_first(&entry, &at[(k - 1) / 2]); k = (k - 1) / 2) at[k] = at[(k - 1) / 2];
    at[k] = entry;
}

wk__heap_entry wk__heap_pop(wk__heap *heap)
{
    wk__heap_entry *at = heap->at;
    const wk__heap_entry first = at[0], last = at[--heap->count];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < heap->count; k = child) {
        if (child + 1 < heap->count && comes_first(&at[child + 1], &at[child])) child++;
        if (!comes_first(&at[child], &last)) break;
        at[k] = at[child];
    }
    at[k] = last;
    return first;
}

void wk__heap_free(wk__heap *heap)
{
    wk__free(heap->at);
    *heap = (wk__heap){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merges of pairs: a hash table of ranks, and the merging of a list of tokens with a heap of candidates. */
#include "base/alloc.h"
#include "bpe.h"
#include <string.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Returns the slot of a pair, or the free one where it belongs; there is a free one. */
static int64_t slot_of(const wk__merges *m, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    int64_t at = (int64_t)((key ^ key >> 32) & (uint64_t)(m->slots - 1));
    for (; m->slot[at] >= 0; at = (at + 1) & (m->slots - 1)) {
        const wk__merge *merge = &m->list[m->slot[at]];
        if (merge->left == left && merge->right == right) break;
    }
    return at;
}

int64_t wk__merges_find(const wk__merges *m, int32_t left, int32_t right)
{
    return m->slots == 0 ? -1 : m->slot[slot_of(m, left, right)];
}

static bool reserve_slots(wk__merges *m)
{
    if (2 * (m->count + 1) <= m->slots) return true;
    const int64_t slots = m->slots > 0 ? 2 * m->slots : 64;
    int32_t *slot = wk__realloc(NULL, (size_t)slots, sizeof *slot);
    if (!slot) return false;
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    wk__free(m->slot);
    m->slot = slot;
    m->slots = slots;
    for (int64_t k = 0; k < m->count; k++) slot[slot_of(m, m->list[k].left, m->list[k].right)] = (int32_t)k;
    return true;
}

bool wk__merges_add(wk__merges *m, wk__merge merge, bool *known)
{
    *known = wk__merges_find(m, merge.left, merge.right) >= 0;
    if (*known || m->count >= INT32_MAX || !reserve_slots(m) ||
        !wk__grow(&m->list, &m->capacity, m->count + 1, sizeof *m->list))
        return false;
    m->list[m->count] = merge;
    m->slot[slot_of(m, merge.left, merge.right)] = (int32_t)m->count++;
    return true;
}

void wk__merges_free(wk__merges *m)
{
    wk__free(m->list);
    wk__free(m->slot);
    *m = (wk__merges){0};
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* A token in the list of those that are left; next of a token that was merged into its left neighbour is -2. */
typedef struct wk__merge_symbol {
    int64_t previous, next; /* -1: none */
    int32_t id;
} symbol;

/* A pair that could be merged: the symbol at `at` and its next one. */
typedef struct wk__merge_candidate {
    int64_t at;
    int32_t rank;
} candidate;

static bool comes_first(const candidate *a, const candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

/* Adds the pair at `at` to the heap if it can be merged. There is room for it. */
static void push(const wk__merges *m, wk__merge_memory *memory, int64_t at)
{
    const symbol *left = &memory->symbol[at];
    if (left->next < 0) return;
    const int64_t rank = wk__merges_find(m, left->id, memory->symbol[left->next].id);
    if (rank < 0) return;
    const candidate added = {at, (int32_t)rank};
    candidate *heap = memory->heap;
    int64_t k = memory->heap_count++;
    for (; k > 0 && comes_first(&added, &heap[(k - 1) / 2]); k = (k - 1) / 2) heap[k] = heap[(k - 1) / 2];
    heap[k] = added;
}

static candidate pop(wk__merge_memory *memory)
{
    candidate *heap = memory->heap, first = heap[0], last = heap[--memory->heap_count];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < memory->heap_count; k = child) {
        if (child + 1 < memory->heap_count && comes_first(&heap[child + 1], &heap[child])) child++;
        if (!comes_first(&heap[child], &last)) break;
        heap[k] = heap[child];
    }
    heap[k] = last;
    return first;
}

static bool reserve(wk__merge_memory *memory, int64_t count)
{
    /* each of at most count - 1 merges adds two candidates to the count - 1 of the beginning */
    return wk__grow(&memory->symbol, &memory->symbols, count, sizeof *memory->symbol) &&
           wk__grow(&memory->heap, &memory->candidates, 3 * count, sizeof *memory->heap);
}

int64_t wk__merge_all(const wk__merges *m, int64_t *tokens, int64_t count, wk__merge_memory *memory)
{
    if (count < 2) return count;
    if (!reserve(memory, count)) return -1;
    symbol *s = memory->symbol;
    for (int64_t k = 0; k < count; k++) s[k] = (symbol){k - 1, k + 1 < count ? k + 1 : -1, (int32_t)tokens[k]};
    memory->heap_count = 0;
    for (int64_t k = 0; k + 1 < count; k++) push(m, memory, k);
    while (memory->heap_count > 0) {
        const candidate c = pop(memory);
        const wk__merge *merge = &m->list[c.rank];
        symbol *left = &s[c.at];
        if (left->next < 0 || left->id != merge->left || s[left->next].id != merge->right)
            continue; /* it has changed */
        symbol *right = &s[left->next];
        left->id = merge->to;
        left->next = right->next;
        right->next = -2;
        if (left->next >= 0) s[left->next].previous = c.at;
        if (left->previous >= 0) push(m, memory, left->previous);
        push(m, memory, c.at);
    }
    int64_t kept = 0;
    for (int64_t k = 0; k >= 0; k = s[k].next) tokens[kept++] = s[k].id;
    return kept;
}

void wk__merge_memory_free(wk__merge_memory *memory)
{
    wk__free(memory->symbol);
    wk__free(memory->heap);
    *memory = (wk__merge_memory){0};
}

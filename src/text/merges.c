/* SPDX-License-Identifier: Apache-2.0 */
/* Merges of pairs, and the merging of a list of tokens. The heap has the pairs that can be merged, by rank and then by
 * index of the left symbol. */
#include "base/alloc.h"
#include "bpe.h"

/* ---- the list ---------------------------------------------------------------------------------------------------- */

int64_t wk__merges_find(const wk__merges *m, int32_t left, int32_t right)
{
    return wk__pair_table_find(&m->ranks, left, right);
}

bool wk__merges_add(wk__merges *m, wk__merge merge, bool *known)
{
    *known = wk__merges_find(m, merge.left, merge.right) >= 0;
    if (*known || m->count >= INT32_MAX || !wk__grow(&m->list, &m->capacity, m->count + 1, sizeof *m->list) ||
        !wk__pair_table_put(&m->ranks, merge.left, merge.right, (int32_t)m->count))
        return false;
    m->list[m->count++] = merge;
    return true;
}

void wk__merges_free(wk__merges *m)
{
    wk__free(m->list);
    wk__pair_table_free(&m->ranks);
    *m = (wk__merges){0};
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* A token in the list of those that are left; next of a token that was merged into its left neighbour is -2. */
typedef struct wk__merge_symbol {
    int64_t previous, next; /* -1: none */
    int32_t id;
} symbol;

/* Adds the pair of the symbol at `at` and its next one to the heap if it can be merged. There is room for it. */
static void push(const wk__merges *m, wk__merge_memory *memory, int64_t at)
{
    const symbol *left = &memory->symbol[at];
    if (left->next < 0) return;
    const int64_t rank = wk__merges_find(m, left->id, memory->symbol[left->next].id);
    if (rank >= 0) wk__heap_push(&memory->heap, (wk__heap_entry){rank, at});
}

static bool reserve(wk__merge_memory *memory, int64_t count)
{
    /* each of at most count - 1 merges adds two candidates to the count - 1 of the beginning */
    return wk__grow(&memory->symbol, &memory->symbols, count, sizeof *memory->symbol) &&
           wk__heap_reserve(&memory->heap, 3 * count);
}

int64_t wk__merge_all(const wk__merges *m, int64_t *tokens, int64_t count, wk__merge_memory *memory)
{
    if (count < 2) return count;
    if (!reserve(memory, count)) return -1;
    symbol *s = memory->symbol;
    for (int64_t k = 0; k < count; k++) s[k] = (symbol){k - 1, k + 1 < count ? k + 1 : -1, (int32_t)tokens[k]};
    memory->heap.count = 0;
    for (int64_t k = 0; k + 1 < count; k++) push(m, memory, k);
    while (memory->heap.count > 0) {
        const wk__heap_entry first = wk__heap_pop(&memory->heap);
        const int64_t at = first.tie;
        const wk__merge *merge = &m->list[first.rank];
        symbol *left = &s[at];
        if (left->next < 0 || left->id != merge->left || s[left->next].id != merge->right)
            continue; /* it has changed */
        symbol *right = &s[left->next];
        left->id = merge->to;
        left->next = right->next;
        right->next = -2;
        if (left->next >= 0) s[left->next].previous = at;
        if (left->previous >= 0) push(m, memory, left->previous);
        push(m, memory, at);
    }
    int64_t kept = 0;
    for (int64_t k = 0; k >= 0; k = s[k].next) tokens[kept++] = s[k].id;
    return kept;
}

void wk__merge_memory_free(wk__merge_memory *memory)
{
    wk__free(memory->symbol);
    wk__heap_free(&memory->heap);
    *memory = (wk__merge_memory){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs by linear probing; see pair_table.h. */
#include "pair_table.h"
#include "base/alloc.h"
#include <string.h>

/* Returns the slot of a pair, or the free one that it would take; at least one is free. */
static wk__pair_slot *slot_of(const wk__pair_table *table, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    const uint64_t mask = (uint64_t)(table->slots - 1);
    uint64_t at = (key ^ key >> 32) & mask;
    for (; table->slot[at].index >= 0; at = (at + 1) & mask)
        if (table->slot[at].left == left && table->slot[at].right == right) break;
    return &table->slot[at];
}

int32_t wk__pair_table_find(const wk__pair_table *table, int32_t left, int32_t right)
{
    return table->slots == 0 ? -1 : slot_of(table, left, right)->index;
}

/* Makes the table large enough that half of it is free after one more pair. */
static bool reserve_slots(wk__pair_table *table)
{
    if (2 * (table->count + 1) <= table->slots) return true;
    const wk__pair_table old = *table;
    const int64_t slots = old.slots > 0 ? 2 * old.slots : 64;
    wk__pair_slot *slot = wk__realloc(NULL, (size_t)slots, sizeof *slot);
    if (!slot) return false;
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    table->slot = slot;
    table->slots = slots;
    for (int64_t k = 0; k < old.slots; k++)
        if (old.slot[k].index >= 0) *slot_of(table, old.slot[k].left, old.slot[k].right) = old.slot[k];
    wk__free(old.slot);
    return true;
}

bool wk__pair_table_put(wk__pair_table *table, int32_t left, int32_t right, int32_t index)
{
    if (!reserve_slots(table)) return false;
    *slot_of(table, left, right) = (wk__pair_slot){left, right, index};
    table->count++;
    return true;
}

void wk__pair_table_free(wk__pair_table *table)
{
    wk__free(table->slot);
    *table = (wk__pair_table){0};
}

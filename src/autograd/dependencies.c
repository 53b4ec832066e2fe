/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the edges of a graph (dependencies.h). */
#include "dependencies.h"
#include "base/alloc.h"
#include "backward.h"

static wk__dependency_count *slot_of(wk__dependency_count *table, int64_t capacity, const void *at)
{
    for (uint64_t k = wk__address_hash(at);; k++) {
        wk__dependency_count *slot = &table[k & (uint64_t)(capacity - 1)];
        if (!slot->at || slot->at == at) return slot;
    }
}

static bool grow(wk__dependencies *uses)
{
    const int64_t capacity = uses->capacity ? 2 * uses->capacity : 256;
    wk__dependency_count *table = wk__alloc_zero((size_t)capacity, sizeof *table);
    if (!table) return false;
    for (int64_t k = 0; k < uses->capacity; k++)
        if (uses->table[k].at) *slot_of(table, capacity, uses->table[k].at) = uses->table[k];
    wk__free(uses->table);
    uses->table = table;
    uses->capacity = capacity;
    return true;
}

/* Returns the entry of a node or leaf, new ones with a count of 0; NULL on allocation failure. */
static wk__dependency_count *entry_of(wk__dependencies *uses, const void *at)
{
    if (2 * (uses->count + 1) > uses->capacity && !grow(uses)) return NULL;
    wk__dependency_count *use = slot_of(uses->table, uses->capacity, at);
    if (!use->at) {
        *use = (wk__dependency_count){.at = at};
        uses->count++;
    }
    return use;
}

/* Nodes whose edges have not been counted yet. */
typedef struct worklist {
    const wk__node **node;
    int64_t count, capacity;
} worklist;

/* Counts an edge; queues its node when it is reached first. */
static bool follow(wk__dependencies *uses, worklist *p, const wk__edge *edge)
{
    const void *at = edge->leaf ? (const void *)edge->leaf : (const void *)edge->node;
    if (!at) return true;
    wk__dependency_count *use = entry_of(uses, at);
    if (!use) return false;
    if (use->left++ > 0 || edge->leaf) return true;
    if (!wk__grow(&p->node, &p->capacity, p->count + 1, sizeof *p->node)) return false;
    p->node[p->count++] = edge->node;
    return true;
}

bool wk__dependencies_count(wk__dependencies *uses, const wk__edge *root)
{
    worklist p = {0};
    bool fine = follow(uses, &p, root);
    while (fine && p.count > 0) {
        const wk__node *node = p.node[--p.count];
        for (int k = 0; k < node->inputs && fine; k++) fine = follow(uses, &p, &node->edge[k]);
    }
    wk__free(p.node);
    if (!fine) wk__dependencies_free(uses);
    return fine;
}

bool wk__dependencies_dec(wk__dependencies *uses, const void *at)
{
    if (!uses->capacity) return false;
    wk__dependency_count *use = slot_of(uses->table, uses->capacity, at);
    return use->at && --use->left == 0;
}

bool wk__dependencies_is_done(const wk__dependencies *uses, const wk__leaf *leaf)
{
    if (!uses->capacity) return false;
    const wk__dependency_count *use = slot_of(uses->table, uses->capacity, leaf);
    return use->at && use->left <= 0;
}

void wk__dependencies_free(wk__dependencies *uses)
{
    wk__free(uses->table);
    *uses = (wk__dependencies){0};
}

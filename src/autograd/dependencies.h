/* SPDX-License-Identifier: Apache-2.0 */
/* Dependency counts: the number of gradients that a backward pass may still deliver to each leaf and node. With them,
 * post-accumulate hooks and priority nodes run as soon as the last gradient arrives, so that work they start (a
 * collective, a copy to another device, an optimiser step) overlaps with the rest of the pass. Belongs to one pass and
 * its thread. */
#ifndef WICK_AUTOGRAD_DEPENDENCIES_H
#define WICK_AUTOGRAD_DEPENDENCIES_H

#include "node.h"

/* An entry of the hash table (open addressing): a node or a leaf, and the number of remaining edges to it. */
typedef struct wk__dependency_count {
    const void *at;
    int64_t left;
} wk__dependency_count;

/* The table. */
typedef struct wk__dependencies {
    wk__dependency_count *table;
    int64_t count, capacity; /* capacity 0: nothing was counted, so the last gradient is not detected */
} wk__dependencies;

/* Counts the edges to everything reachable from `root`, including root. Called once for each root. Returns false on
 * allocation failure; then nothing is counted. */
bool wk__dependencies_count(wk__dependencies *uses, const wk__edge *root);
/* Notes that one edge to a leaf or node has delivered its gradient or will not. Returns true exactly once, for the last
 * edge. */
bool wk__dependencies_dec(wk__dependencies *uses, const void *at);
/* Returns true if the last edge to a leaf is done. */
bool wk__dependencies_is_done(const wk__dependencies *uses, const wk__leaf *leaf);
void wk__dependencies_free(wk__dependencies *uses);

#endif

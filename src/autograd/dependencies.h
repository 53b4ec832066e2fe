/* SPDX-License-Identifier: Apache-2.0 */
/* How many gradients a walk may still bring to each leaf and node, so that hooks which come after, and nodes that are
 * early, can run as soon as the last has come, while the walk goes on: what they begin (a collective, a copy to another
 * device, a step of an optimiser) overlaps with the rest. */
#ifndef WICK_AUTOGRAD_USES_H
#define WICK_AUTOGRAD_USES_H

#include "node.h"

/* Open addressing, by address: a node or a leaf, with the edges to it that are left. */
typedef struct wk__dependency_count {
    const void *at;
    int64_t left;
} wk__dependency_count;

typedef struct wk__dependencies {
    wk__dependency_count *table;
    int64_t count, capacity; /* capacity 0: nothing was counted, and no last gradient is known */
} wk__dependencies;

/* Counts the edges to what can be reached from `root`, itself among them; once for each root. False when memory is
 * short: then nothing is counted. */
bool wk__dependencies_count(wk__dependencies *uses, const wk__edge *root);
/* The gradient of one edge to the leaf or node has come, or will not come. True: it was the last, and the only time. */
bool wk__dependencies_dec(wk__dependencies *uses, const void *at);
/* Has that been true of a leaf? */
bool wk__dependencies_is_done(const wk__dependencies *uses, const wk__leaf *leaf);
void wk__dependencies_free(wk__dependencies *uses);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How many gradients a walk may still bring to each leaf and node, so that hooks which come after, and nodes that are
 * early, can run as soon as the last has come, while the walk goes on: what they begin (a collective, a copy to another
 * device, a step of an optimiser) overlaps with the rest. */
#ifndef WICK_AUTOGRAD_USES_H
#define WICK_AUTOGRAD_USES_H

#include "node.h"

/* Open addressing, by address: a node or a leaf, with the edges to it that are left. */
typedef struct wk__use {
    const void *at;
    int64_t left;
} wk__use;

typedef struct wk__uses {
    wk__use *table;
    int64_t count, capacity; /* capacity 0: nothing was counted, and no last gradient is known */
} wk__uses;

/* Counts the edges to what can be reached from `root`, itself among them; once for each root. False when memory is
 * short: then nothing is counted. */
bool wk__uses_add(wk__uses *uses, const wk__edge *root);
/* The gradient of one edge to the leaf or node has come, or will not come. True: it was the last, and the only time. */
bool wk__uses_end(wk__uses *uses, const void *at);
/* Has that been true of a leaf? */
bool wk__uses_ended(const wk__uses *uses, const wk__leaf *leaf);
void wk__uses_free(wk__uses *uses);

#endif

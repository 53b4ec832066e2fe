/* SPDX-License-Identifier: Apache-2.0 */
/* One backward pass over the graph (backward.c). */
#ifndef WICK_AUTOGRAD_BACKWARD_H
#define WICK_AUTOGRAD_BACKWARD_H

#include "node.h"

/* Returns the first slot to probe in a hash table of addresses. */
static inline uint64_t wk__address_hash(const void *at)
{
    return ((uint64_t)(uintptr_t)at >> 6) * 0x9e3779b97f4a7c15u >> 20;
}

enum { WK__MAX_OUTPUTS = 64 }; /* maximum number of outputs of an op */

/* A tensor whose gradient wk_grad returns. */
typedef struct wk__grad_target {
    wk__edge edge;
} wk__grad_target;

/* Arguments of one backward pass. */
typedef struct wk__backward_request {
    wk_site site;
    wk_tensor *const *outputs, *const *seeds; /* [output_count]; seeds or seeds[k] NULL: ones */
    int output_count;
    wk__grad_target *targets; /* [target_count], owned by the pass; NULL: gradients go to all leaves */
    wk_tensor **found;        /* [target_count], NULL at first; afterwards owned by the caller's scope */
    int target_count;
    bool create_graph, retain_graph;
} wk__backward_request;
bool wk__run_backward(const wk__backward_request *request);
void wk__targets_free(wk__grad_target *targets, int count);

/* leaf.c: accumulates a gradient into a leaf's, consuming the reference to grad; runs the post-accumulate hooks. */
bool wk__leaf_accumulate(wk__leaf *leaf, wk_tensor *grad, bool create_graph);
bool wk__leaf_run_post_hooks(wk__leaf *leaf); /* false: a hook failed */
bool wk__has_post_hooks(void);                /* true if this process ever registered one */
/* Passes grad to the hooks of one output; the result of each replaces it. Consumes the reference to grad and returns
 * one, or NULL if a hook failed. */
wk_tensor *wk__run_hooks(const wk__hook *hooks, wk_tensor *grad, int output);

#endif

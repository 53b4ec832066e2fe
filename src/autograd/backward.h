/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the graph; see backward.c. */
#ifndef WICK_AUTOGRAD_WALK_H
#define WICK_AUTOGRAD_WALK_H

#include "node.h"

/* Where a table by address begins to look for one. */
static inline uint64_t wk__address_hash(const void *at)
{
    return ((uint64_t)(uintptr_t)at >> 6) * 0x9e3779b97f4a7c15u >> 20;
}

enum { WK__MAX_OUTPUTS = 64 }; /* most outputs of one op */

typedef struct wk__grad_target {
    wk__edge edge;
} wk__grad_target;

typedef struct wk__backward_request {
    wk_site site;
    wk_tensor *const *outputs, *const *seeds; /* seeds or seeds[k] NULL: ones */
    int output_count;
    wk__grad_target *targets; /* taken over; NULL: gradients go to all leaves */
    wk_tensor **found;        /* [target_count], NULL at first: of the caller's scope afterwards */
    int target_count;
    bool create_graph, retain_graph;
} wk__backward_request;
bool wk__run_backward(const wk__backward_request *request);
void wk__targets_free(wk__grad_target *targets, int count);

/* leaf.c: adds a gradient to a leaf's (takes over the reference); runs the hooks that come after. */
bool wk__leaf_accumulate(wk__leaf *leaf, wk_tensor *grad, bool create_graph);
bool wk__leaf_run_post_hooks(wk__leaf *leaf); /* false: one of them failed (recorded) */
bool wk__has_post_hooks(void);                /* has this process registered any of those? */
/* Gives grad to the hooks of one output; what comes back takes its place. Takes over the reference to grad, gives one
 * back, or NULL when one of them failed (recorded). */
wk_tensor *wk__run_hooks(const wk__hook *hooks, wk_tensor *grad, int output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Views and in-place calls: how gradients flow through a storage that is written in parts.
 *
 * The base of a family (tensor/storage.h) is the tensor that the others are views of. Writing in place through a view
 * v of base b turns b into the result of a node "CopySlices": the gradient of b, with v's part replaced by what the
 * op's own gradient says. v, and every other view, then comes from the new b: their nodes are made anew when they are
 * next used (as PyTorch does). */
#ifndef WICK_AUTOGRAD_HISTORY_H
#define WICK_AUTOGRAD_HISTORY_H

#include "node.h"

/* What is left of a base whose handle has gone. */
typedef struct wk__dead_base {
    wk__node *node;
    wk__leaf *leaf;
    bool requires_grad;
    int16_t output;
    int64_t offset;
    uint8_t ndim, dtype;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__dead_base;

/* Has the graph behind a view changed since its node was made? */
static inline bool wk__view_grad_fn_is_stale(const wk__body *body)
{
    return body->is_view && body->graph_version != wk__alias_set_of(body)->graph_version;
}

/* Room for what views need of a base that goes. NULL when memory is short (recorded: the gradients of views would stop
 * here). */
wk__dead_base *wk__dead_base_alloc(void);
/* Fills it, with references of its own. */
void wk__dead_base_fill(wk__dead_base *past, const wk__body *base);
void wk__dead_base_free(wk__dead_base *past); /* the last view goes too */

/* node.c */
wk__node *wk__node_make(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *result,
                        const wk__attr *attr);
/* The tensors out[] are its results from now on. Takes over the reference. */
void wk__node_set_outputs(wk__node *node, wk_tensor *const out[], int outputs);
void wk__node_release_saved(wk__node *node, wk_site site); /* by the backward of that site */

#endif

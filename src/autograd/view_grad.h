/* SPDX-License-Identifier: Apache-2.0 */
/* Views and in-place calls: gradients through a storage that is written in parts.
 *
 * The base of an alias set (tensor/storage.h) is the tensor that the others are views of. An in-place write through a
 * view v of base b makes b the result of a node "CopySlices": the gradient of b, with the part of v replaced by the
 * gradient of the op. v and every other view then derive from the new b: their nodes are rebuilt at their next use (as
 * in PyTorch). Bases and dead bases are read and written under wk__alias_lock(). */
#ifndef WICK_AUTOGRAD_HISTORY_H
#define WICK_AUTOGRAD_HISTORY_H

#include "node.h"

/* Graph position and geometry of a base whose handle was freed. */
typedef struct wk__dead_base {
    wk__node *node;
    wk__leaf *leaf;
    bool requires_grad;
    int16_t output;
    int64_t offset;
    uint8_t ndim, dtype;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__dead_base;

/* Returns true if the base was written since the view's node was made. */
static inline bool wk__view_grad_fn_is_stale(const wk__body *body)
{
    return body->is_view && body->graph_version != wk__alias_set_of(body)->graph_version;
}

/* Allocates the record of a base that is about to be freed. NULL on allocation failure; then the gradients of its views
 * stop here. */
wk__dead_base *wk__dead_base_alloc(void);
/* Fills it, with its own references. */
void wk__dead_base_fill(wk__dead_base *past, const wk__body *base);
void wk__dead_base_free(wk__dead_base *past); /* the last view is freed too */

/* node.c */
wk__node *wk__node_make(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *result,
                        const wk__attr *attr);
/* Makes the tensors out[] the results of the node. Consumes the reference to it. */
void wk__node_set_outputs(wk__node *node, wk_tensor *const out[], int outputs);
void wk__node_release_saved(wk__node *node, wk_site site); /* called by the backward at that call site */

#endif

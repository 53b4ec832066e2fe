/* SPDX-License-Identifier: Apache-2.0 */
/* Views and in-place calls: gradients through a storage that is written in parts.
 *
 * The base of an alias set (tensor/storage.h) is the tensor that the others are views of. An in-place write through a
 * view v of base b makes b the result of a node "CopySlices": the gradient of b, with the part of v replaced by the
 * gradient of the op. v and every other view then derive from the new b: their nodes are rebuilt at their next use (as
 * in PyTorch). Bases and dead bases are read and written under wk__alias_lock(). */
#ifndef WICK_AUTOGRAD_VIEW_GRAD_H
#define WICK_AUTOGRAD_VIEW_GRAD_H

#include "node.h"

/* Returns true if the base was written since the view's node was made. */
static inline bool wk__view_grad_fn_is_stale(const wk__body *body)
{
    return body->is_view && body->graph_version != wk__alias_set_of(body)->graph_version;
}

/* node.c: makes the node of a call; out: the results that op->saves refers to. */
wk__node *wk__node_make(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *const out[],
                        const wk__attr *attr);
/* Makes the tensors out[] the results of the node. Consumes the reference to it. */
void wk__node_set_outputs(wk__node *node, wk_tensor *const out[], int outputs);
void wk__node_release_saved(wk__node *node, wk_site site); /* called by the backward at that call site */

#endif

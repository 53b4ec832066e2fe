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
typedef struct wk__base {
    wk__node *node;
    wk__leaf *leaf;
    bool requires_grad;
    int16_t output;
    int64_t offset;
    uint8_t ndim, dtype;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__base;

/* Has the graph behind a view changed since its node was made? */
static inline bool wk__history_stale(const wk__body *body)
{
    return body->is_view && body->seen != wk__family_of(body)->history;
}

/* Room for what views need of a base that goes. NULL when memory is short (recorded: the gradients of views would stop
 * here). */
wk__base *wk__history_room(void);
/* Fills it, with references of its own. */
void wk__history_keep(wk__base *past, const wk__body *base);
void wk__history_forget(wk__base *past); /* the last view goes too */

/* node.c */
wk__node *wk__node_make(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *result,
                        const wk__attr *attr);
/* The tensors out[] are its results from now on. Takes over the reference. */
void wk__node_hang(wk__node *node, wk_tensor *const out[], int outputs);
void wk__node_spend(wk__node *node, wk_site site); /* by the backward of that site */

#endif

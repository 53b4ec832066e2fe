/* SPDX-License-Identifier: Apache-2.0 */
/* Alias sets: a base tensor and its views, and the record of a base whose handle was freed.
 *
 * Ownership: a set is part of its storage; that of a detached tensor is reference-counted. A set owns the dead base,
 * which owns references to the graph.
 * Threads: the base may die while other threads use views: read or clear `base` and `dead_base` only between
 * wk__alias_lock() and wk__alias_unlock(). */
#ifndef WICK_TENSOR_ALIAS_SET_H
#define WICK_TENSOR_ALIAS_SET_H

#include "base/refcount.h"
#include "ir/ir.h"

struct wk__body;
struct wk__leaf;
struct wk__node;

/* Graph position and geometry of a base whose handle was freed. */
typedef struct wk__dead_base {
    struct wk__node *node;
    struct wk__leaf *leaf;
    bool requires_grad;
    int16_t output;
    int64_t offset;
    uint8_t ndim, dtype;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__dead_base;

/* Gradients of in-place writes through a view flow through the base (autograd/view_grad.h). A detached tensor shares
 * the storage but has its own set. */
typedef struct wk__alias_set {
    _Atomic(struct wk__body *) base; /* NULL once destroyed */
    wk__dead_base *dead_base;        /* graph data of the destroyed base, while views live */
    uint32_t graph_version;          /* incremented when an in-place call changes the graph that views see */
    atomic_int views;
    atomic_int refs; /* of a detached tensor's set: bodies, including saved ones */
} wk__alias_set;

/* Global spin lock; held briefly, never while user code runs. */
void wk__alias_lock(void);
void wk__alias_unlock(void);

/* Allocates the record of a base that is about to be freed. NULL on allocation failure; then the gradients of its views
 * stop here. */
wk__dead_base *wk__dead_base_alloc(void);
/* Fills it, with its own references. */
void wk__dead_base_fill(wk__dead_base *past, const struct wk__body *base);
void wk__dead_base_free(wk__dead_base *past); /* the last view is freed too */

/* Called when a base is destroyed. Remaining views, possibly of other threads, need its graph data for gradients; until
 * `base` is cleared, a write through a view may change that data. */
void wk__alias_set_drop_base(wk__alias_set *family, const struct wk__body *base);
/* Drops a view. The last one also frees the graph data of a dead base: nothing can use it any more, and that graph may
 * own the storage (exp saves its result), a reference cycle. */
void wk__alias_set_drop_view(wk__alias_set *family);
void wk__alias_set_drop(wk__alias_set *family); /* a detached tensor's set */

#endif

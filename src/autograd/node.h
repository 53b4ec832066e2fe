/* SPDX-License-Identifier: Apache-2.0 */
/* Autograd graph: one node per differentiable call, with edges to the nodes (or leaves) of its operands.
 *
 * A node owns the inputs of its op's gradient: saved operands, as separate bodies (which reference storages, not
 * handles) with their version at the time, and the call's attributes. Nodes are reference-counted and freed without
 * recursion. Functions that return false or NULL recorded the error. */
#ifndef WICK_AUTOGRAD_NODE_H
#define WICK_AUTOGRAD_NODE_H

#include "ir/op.h"
#include "tensor/tensor.h"

/* Attributes: arguments of a call other than tensors. The op spec names the numbers (`attributes`), for which
 * src/ops/generated/attributes.h has a struct; the op's file names the lists. */
typedef struct wk__attr {
    const char *grad_fn_name; /* printed as grad_fn for this variant of the call; NULL: op->node */
    int64_t i[4];
    double f[2];
    int64_t list[WK__MAX_DIMS];
    int count;                                        /* length of list */
    int64_t list2[WK__MAX_DIMS], list3[WK__MAX_DIMS]; /* views: shapes and strides */
} wk__attr;

/* Attributes of as_strided and CopySlices, a view of a base. list: strides of the view; list2: its shape; list3:
 * strides of the base. */
typedef struct wk__strided_attributes {
    int64_t offset, ndim, base_offset;
} wk__strided_attributes;
static inline wk__attr wk__strided_attr(wk__strided_attributes a)
{
    return (wk__attr){.i = {a.offset, a.ndim, a.base_offset}};
}
static inline wk__strided_attributes wk__strided_attributes_of(const wk__attr *attr)
{
    return (wk__strided_attributes){.offset = attr->i[0], .ndim = attr->i[1], .base_offset = attr->i[2]};
}

/* Shape and dtype of an operand, to which its gradient is reduced. */
typedef struct wk__tensor_meta {
    uint8_t ndim, dtype;
    int64_t size[WK__MAX_DIMS];
} wk__tensor_meta;

typedef struct wk__hook wk__hook;
/* State of a leaf: its gradient and hooks. Reference-counted. */
typedef struct wk__leaf {
    wk__counted count; /* references from bodies and edges; first, see wk__body */
    wk_tensor *grad;   /* owned; NULL before the first backward */
    wk__hook *hooks;   /* in order of registration; owned */
    wk_context *context;
    wk__storage *storage; /* storage of the leaf tensor; not a reference (the body has one) */
    int64_t shape[WK__MAX_DIMS];
    uint8_t ndim, dtype;
    uint64_t pass_id; /* id of the pass that delivered a gradient and will run the post-accumulate hooks, once; 0:
                       * none */
    bool frozen;      /* requires_grad was turned off */
    uint32_t moves;   /* number of moves of the parameter to another device or dtype */
    bool converted;   /* the last one changed the dtype */
    wk_site moved_at; /* call site of the last move */
} wk__leaf;

/* A hook of a leaf or a node. */
struct wk__hook {
    wk__hook *next;
    /* may return a replacement for grad, or NULL */
    wk_tensor *(*call)(wk_tensor *grad, void *user);
    void *user;
    int16_t output;       /* on a node: index of the output */
    bool post_accumulate; /* runs after the leaf's gradient is complete, with that gradient */
    /* Internal hooks (hook.h): replaces `call`; called at its end; true if the hook is no longer needed. */
    bool (*internal_call)(wk_tensor *grad, void *user);
    void (*end)(void *user);
    const atomic_bool *expired;
};

typedef struct wk__node wk__node;

/* An edge of the graph: the origin of an operand. References what it points to. */
typedef struct wk__edge {
    wk__node *node; /* at most one of node and leaf */
    wk__leaf *leaf;
    int16_t output; /* output of node */
    uint32_t moves; /* leaf->moves when the edge was created */
} wk__edge;

enum { WK__NODE_EDGES = 3, WK__NODE_SAVED = 7 };

/* A node: one recorded call. Constant after the call, except hooks, priority and what saved_released describes. */
struct wk__node {
    wk__counted count; /* first, see wk__body */
    uint8_t inputs, outputs;
    bool saved_released; /* a backward without retain_graph has freed what the node saved */
    bool priority;       /* set by wk__node_prioritize */
    const wk__op *op;
    uint64_t sequence; /* greater than those of all nodes that its edges lead to; a pass processes the greatest first */
    wk_site site;
    wk__edge *edge; /* [inputs]: inline_edges, or allocated if there are more */
    wk__edge inline_edges[WK__NODE_EDGES];
    wk__tensor_meta *shape; /* [inputs], of the operands: inline_shapes, or allocated with the edges */
    wk__tensor_meta inline_shapes[WK__NODE_EDGES];
    wk_site released_at; /* call site of the backward that did, if saved_released */
    /* operands 0..3 and results 0..2, as op->saves specifies; NULL if not needed */
    wk__body *saved[WK__NODE_SAVED];
    uint32_t version[WK__NODE_SAVED];
    wk__attr *attr; /* NULL if the op has none */
    void *payload;  /* of a wk_function: its state (function.c) */
    void (*own_destroy)(void *own);
    wk__hook *hooks;
    wk__node *next; /* in the list of nodes to be freed */
};

/* Arguments of op->gradient, which reads its inputs and sets each required gradient in `in`. */
typedef struct wk__grad_ctx {
    wk__node *node;
    const wk__attr *attr;
    wk_tensor *const *out; /* gradients of the outputs; NULL if none arrived */
    wk_tensor *
        *in; /* output: gradients of the operands, in any broadcast shape; the engine sums them to the operands' */
    wk_site backward; /* call site of the backward */
} wk__grad_ctx;

/* Returns true if operand k requires a gradient. */
static inline bool wk__needs_input_grad(const wk__grad_ctx *g, int k)
{
    return k < g->node->inputs && (g->node->edge[k].node || g->node->edge[k].leaf);
}
/* Appends "an in-place call has changed it since: add_ at file.c:12", for contents saved at that version, with the fix
 * and the call site of the backward. */
void wk__text_version_mismatch(wk__text *text, const wk__storage *storage, uint32_t version, wk_site backward);
/* Returns saved operand k (0..3), or result n (WK__SAVED_OUT + n, n below 3), as a tensor of the current scope with its
 * position in the graph. NULL if it was changed in place since. */
enum { WK__SAVED_OUT = 4 };
wk_tensor *wk__saved(const wk__grad_ctx *g, int k);

/* view_grad.c: updates a view's node if in-place writes changed the base. On allocation failure returns false; the view
 * is unchanged and is updated at its next use. A view made without gradients stays without a node. */
bool wk__view_refresh_grad_fn(wk_tensor *view);
/* Returns true if a view was made without gradients and its base has been written in place with gradients since: an
 * error for a call that makes a node, as it is unknown whether the view should follow. */
bool wk__view_lost_history(const wk__body *body);

/* Returns true if x requires grad. Updates a view first, because its base may have been written. */
static inline bool wk__requires_grad(wk_tensor *x)
{
    const wk__body *body = x->handle.body;
    if (body->is_view) wk__view_refresh_grad_fn(x);
    return body->requires_grad;
}

/* Returns true if a call on these operands needs a node. */
static inline bool wk__needs_grad_fn(const wk_context *context, wk_tensor *const in[], int count)
{
    if (context->frame.grad_off || context->frame.composing) return false;
    for (int k = 0; k < count; k++)
        if (in[k] && (wk__requires_grad(in[k]) || wk__view_lost_history(in[k]->handle.body))) return true;
    return false;
}
/* Makes the node of a call and attaches it to its `outputs` results, which then require grad. attr may be NULL. On
 * allocation failure releases the results and returns false. */
bool wk__node_attach(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *const out[],
                     int outputs, const wk__attr *attr);
/* Like wk__node_attach(), but for an in-place call: `target` is operand 0 and the result. Through a view, the write
 * rebases the history of the view's base. */
bool wk__node_attach_in_place(const wk__op *op, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs,
                              const wk__attr *attr);
/* Called before an in-place call that makes a node. Replaces each operand that shares the target's storage, including
 * the target, in in[] by a tensor with the same contents and position in the graph but its own storage, so that the
 * gradient reads the contents before the write. The replacements are in kept[], for wk__release_operands after the node
 * is made. */
bool wk__snapshot_operands(wk_tensor *target, wk_tensor *in[], int inputs, wk_tensor *kept[WK__MAX_INPUTS]);
void wk__release_operands(wk_tensor *kept[], int inputs);
/* Returns true if `target`, which is in[0], may be written in place. Else records the reason: a leaf that requires
 * grad, a view made without gradients if the write needs them, or elements that share memory. */
bool wk__in_place_allowed(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs);

/* view_grad.c: computes the dense extent of the memory of a base with this shape and these strides. */
void wk__base_extent(const wk__tensor_meta *base, const int64_t *stride, wk__tensor_meta *extent);
void wk__copy_slices_gradient(wk__grad_ctx *g); /* view_grad.c; the descriptor is in src/ops/shape/as_strided.c */

/* Returns a new edge to a tensor's node or leaf, updated after in-place calls on its base. */
wk__edge wk__edge_of(wk_tensor *tensor);
/* Returns wk__tensor_snapshot of a tensor after updating or creating its position in the graph. */
wk_tensor *wk__snapshot_with_grad_fn(wk_tensor *x);
wk__leaf *wk__leaf_of(wk__body *body); /* created at first use; NULL on allocation failure */
/* Frees the gradient, if there is one, on behalf of the call `by`. */
void wk__leaf_clear_grad(wk_tensor *leaf, const char *by, wk_site site);
void wk__saved_drop(wk__body *saved); /* frees a body saved by a node or a function */
/* Makes the node run as soon as all its gradients have arrived, before other nodes, because it starts asynchronous work
 * such as a copy to another device. */
void wk__node_prioritize(wk__node *node);
bool wk__has_priority_nodes(void); /* true if this process ever made one */
static inline void wk__node_hold(wk__node *node)
{
    wk__counted_hold(node);
}
static inline void wk__node_drop(wk__node *node)
{
    if (node) wk__counted_drop(node);
}
void wk__nodes_free(wk_context *context); /* frees queued nodes, unless that is in progress */
static inline void wk__leaf_hold(wk__leaf *leaf)
{
    wk__counted_hold(leaf);
}
static inline void wk__leaf_drop(wk__leaf *leaf)
{
    if (leaf) wk__counted_drop(leaf);
}
/* Returns the name printed as grad_fn, or NULL. */
const char *wk__grad_fn_name(wk_tensor *x);

#endif

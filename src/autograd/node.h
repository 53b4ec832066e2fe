/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of gradients: one node per differentiable call, edges to the nodes (or leaves) that made its operands.
 *
 * A node holds what the gradient of its op needs: saved operands as bodies of their own (storages, not handles) with
 * the version that they had, and the call's attributes. Nodes are reference-counted and freed without recursion. */
#ifndef WICK_AUTOGRAD_NODE_H
#define WICK_AUTOGRAD_NODE_H

#include "ir/op.h"
#include "tensor/tensor.h"

/* What an op was called with besides tensors. Its row names the numbers (`attributes`), and
 * src/ops/generated/attributes.h has a struct of these names; the lists are named in its file. */
typedef struct wk__attr {
    const char *grad_fn_name; /* what this form of the call prints as grad_fn; NULL: op->node */
    int64_t i[4];
    double f[2];
    int64_t list[WK__MAX_DIMS];
    int count;                                        /* of list */
    int64_t list2[WK__MAX_DIMS], list3[WK__MAX_DIMS]; /* views: shapes and strides */
} wk__attr;

/* Of as_strided and CopySlices: a view of a base. list has the view's strides, list2 its shape, list3 the strides of
 * the base. */
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

/* The shape and dtype of an operand: what its gradient is summed back to. */
typedef struct wk__tensor_meta {
    uint8_t ndim, dtype;
    int64_t size[WK__MAX_DIMS];
} wk__tensor_meta;

/* The gradient of a leaf, and what to do when it arrives. */
typedef struct wk__hook wk__hook;
typedef struct wk__leaf {
    atomic_int refs; /* bodies and edges */
    wk_tensor *grad; /* NULL until the first backward; owned by the leaf */
    wk__hook *hooks; /* in order of registration */
    wk_context *context;
    wk__storage *storage; /* what it is the gradient of; not held (the body does) */
    int64_t shape[WK__MAX_DIMS];
    uint8_t ndim, dtype;
    uint64_t pass_id; /* the walk that has given it a gradient and will run the hooks that come after, once; 0: none */
    bool frozen;      /* it wants no gradient any more */
    uint32_t device_moves; /* how often the parameter was moved to another device, */
    wk_site moved_at;      /* and by which call the last time */
} wk__leaf;

struct wk__hook {
    wk__hook *next;
    /* may return a tensor to use instead of grad, or NULL */
    wk_tensor *(*call)(wk_tensor *grad, void *user);
    void *user;
    int16_t output;       /* on a node: of which output */
    bool post_accumulate; /* runs once the leaf's gradient is complete, with the whole gradient */
    /* hook.h: one of the library's own, in place of `call`, its end, and whether it is of no use any more. */
    bool (*internal_call)(wk_tensor *grad, void *user);
    void (*end)(void *user);
    const atomic_bool *expired;
};

typedef struct wk__node wk__node;

typedef struct wk__edge {
    wk__node *node; /* at most one of the two */
    wk__leaf *leaf;
    int16_t output; /* which output of node */
    uint32_t moves; /* of leaf, when the edge was made */
} wk__edge;

enum { WK__NODE_EDGES = 3, WK__NODE_SAVED = 5 };

struct wk__node {
    atomic_int refs;
    uint8_t inputs, outputs;
    bool saved_released; /* a backward without retain_graph has used it up: what it saved is gone */
    bool priority;       /* wk__node_prioritize */
    const wk__op *op;
    uint64_t sequence; /* higher than those of the nodes that its edges lead to: the walk takes the highest first */
    wk_site site;
    wk__edge *edge; /* [inputs]: `few`, or allocated when there are more */
    wk__edge inline_edges[WK__NODE_EDGES];
    wk__tensor_meta *shape; /* [inputs] of the operands: `inline_shapes`, or allocated with the edges */
    wk__tensor_meta inline_shapes[WK__NODE_EDGES];
    wk_site released_at;             /* which backward did, once it has */
    wk__body *saved[WK__NODE_SAVED]; /* operands 0..3 and the result, as op->needs says; NULL where not needed */
    uint32_t version[WK__NODE_SAVED];
    wk__attr *attr; /* NULL when the op has none */
    void *payload;  /* a wk_function: its state; see function.c */
    void (*own_destroy)(void *own);
    wk__hook *hooks;
    wk__node *next; /* worklist of those to be freed */
};

/* The call of a gradient: op->gradient gets this, reads what it needs, and gives each wanted gradient. */
typedef struct wk__grad_ctx {
    wk__node *node;
    const wk__attr *attr;
    wk_tensor *const *out; /* gradients of the outputs; NULL where nothing flowed */
    wk_tensor *
        *in; /* to be filled: gradients of the operands, any shape that broadcasting made: the engine sums them back */
    wk_site backward; /* the call that walks */
} wk__grad_ctx;

/* Does operand k want a gradient? */
static inline bool wk__needs_input_grad(const wk__grad_ctx *g, int k)
{
    return k < g->node->inputs && (g->node->edge[k].node || g->node->edge[k].leaf);
}
/* "an in-place call has changed it since: add_ at file.c:12", of what was at that version when it was kept, how that
 * is mended, and which call walks. */
void wk__text_version_mismatch(wk__text *text, const wk__storage *storage, uint32_t version, wk_site backward);
/* Saved operand k (0..3), or the result (WK__SAVED_OUT), as a tensor of the current scope, with its place in the graph.
 * NULL with the error recorded when it was changed in place since. */
enum { WK__SAVED_OUT = 4 };
wk_tensor *wk__saved(const wk__grad_ctx *g, int k);

/* view_grad.c: brings a view up to date, with a node from the base as it is now. False when memory is short (recorded):
 * it is as it was, to be made anew later. A view made without gradients stays without a node. */
bool wk__view_refresh_grad_fn(wk_tensor *view);
/* Returns true if a view was made without gradients and its base has been written in place with gradients since: an
 * error for a call that makes a node, as it is unknown whether the view should follow. */
bool wk__view_lost_history(const wk__body *body);

/* Does x require a gradient? A view is brought up to date first: its base may have been written since. */
static inline bool wk__requires_grad(wk_tensor *x)
{
    const wk__body *body = x->handle.body;
    if (body->is_view) wk__view_refresh_grad_fn(x);
    return body->requires_grad;
}

/* Is a node to be made for a call on these operands? */
static inline bool wk__needs_grad_fn(const wk_context *context, wk_tensor *const in[], int count)
{
    if (context->frame.grad_off || context->frame.composing) return false;
    for (int k = 0; k < count; k++)
        if (in[k] && (wk__requires_grad(in[k]) || wk__view_lost_history(in[k]->handle.body))) return true;
    return false;
}
/* Makes the node of a call and hangs it on its result (or results: `outputs` of them). attr may be NULL. The
 * results get requires_grad. False when memory is short (recorded): then the results are let go of, as the
 * caller of the op gets none. */
bool wk__node_attach(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *const out[],
                     int outputs, const wk__attr *attr);
/* The same for an in-place call: `target` is operand 0 and the result; a view rebases the history of its base. */
bool wk__node_attach_in_place(const wk__op *op, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs,
                              const wk__attr *attr);
/* Before an in-place call that makes a node: each operand that shares the target's storage, the target among them,
 * gives its place in in[] to a tensor of the same numbers and the same place in the graph with a storage of its own.
 * The write changes the others, and the gradient reads what was there before. The new ones are in kept[], for
 * wk__release_operands once the node is made. False when memory is short (recorded). */
bool wk__snapshot_operands(wk_tensor *target, wk_tensor *in[], int inputs, wk_tensor *kept[WK__MAX_INPUTS]);
void wk__release_operands(wk_tensor *kept[], int inputs);
/* May `target`, which is in[0], be written in place? Records why not: a leaf that requires grad, a view made without
 * gradients where the write would need them, elements that share memory. */
bool wk__in_place_allowed(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs);

/* view_grad.c: the memory, dense, that a base of this shape and these strides lies in. */
void wk__base_extent(const wk__tensor_meta *base, const int64_t *stride, wk__tensor_meta *extent);
void wk__copy_slices_gradient(wk__grad_ctx *g); /* view_grad.c; its descriptor is in src/ops/shape/as_strided.c */

/* The edge to whatever made a tensor, brought up to date after in-place calls on its base. */
wk__edge wk__edge_of(wk_tensor *tensor);
/* wk__tensor_snapshot of a tensor whose place in the graph has been brought up to date, or made. */
wk_tensor *wk__snapshot_with_grad_fn(wk_tensor *x);
wk__leaf *wk__leaf_of(wk__body *body); /* made when first asked for; NULL when memory is short */
/* Its gradient goes, if there is one, by the call of that name. */
void wk__leaf_clear_grad(wk_tensor *leaf, const char *by, wk_site site);
void wk__body_forget(wk__body *body);      /* the body goes, and so do its references to the graph */
void wk__saved_drop(wk__body *saved);      /* a body that a node or a function kept */
void wk__body_share(const wk__body *body); /* it was copied: they count once more */
/* From now on the node has its turn as soon as all its gradients have come, before what the walk would take first: it
 * begins something that goes on beside the rest, such as a copy to another device. */
void wk__node_prioritize(wk__node *node);
bool wk__has_priority_nodes(void); /* has this process made any? */
void wk__node_hold(wk__node *node);
void wk__node_drop(wk__node *node);
void wk__nodes_free(wk_context *context); /* those that wait for that, unless it is being done */
void wk__leaf_drop(wk__leaf *leaf);
/* What a tensor prints as grad_fn, or NULL. */
const char *wk__grad_fn_name(wk_tensor *x);

#endif

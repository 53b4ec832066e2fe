/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: created by calls, freed without recursion. Reference counts are atomic. */
#include "node.h"
#include "base/alloc.h"
#include "view_grad.h"
#include "dispatch.h"
#include <string.h>

_Static_assert(sizeof(wk__node) <= 512, "fits its slab slot");

static atomic_uint_fast64_t sequence;

static uint64_t next_sequence(void)
{
    if (!WK__SINGLE_THREADED) return atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
    uint64_t next = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, next + 1, memory_order_relaxed);
    return next;
}

/* ---- priority nodes ---------------------------------------------------------------------------------------------- */

/* Like any_after in leaf.c: passes count dependencies only if it is true, and it is never reset. */
static atomic_bool any_early;

void wk__node_prioritize(wk__node *node)
{
    node->priority = true;
    atomic_store_explicit(&any_early, true, memory_order_relaxed);
}

bool wk__has_priority_nodes(void)
{
    return atomic_load_explicit(&any_early, memory_order_relaxed);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

static void free_hooks(wk__hook *hook)
{
    for (wk__hook *next; hook; hook = next) {
        next = hook->next;
        if (hook->end) hook->end(hook->user);
        wk__free(hook);
    }
}

static void end_leaf(void *object)
{
    wk__leaf *leaf = object;
    if (leaf->grad) {
        wk__destroy_cause *end = &wk__context()->frame.destroy_cause;
        const wk__destroy_cause before = *end;
        if (!end->parent_type) end->parent_type = &wk__tensor_kind; /* it is freed with its leaf */
        wk__handle_drop(&leaf->grad->handle);
        *end = before;
    }
    free_hooks(leaf->hooks);
    wk__free(leaf);
}

/* Returns the leaf of a body. Several threads may use it first; one of them creates it. */
wk__leaf *wk__leaf_of(wk__body *body)
{
    wk__leaf *made = __atomic_load_n(&body->leaf, __ATOMIC_ACQUIRE);
    if (made) return made;
    wk__leaf *leaf = wk__alloc_zero(1, sizeof *leaf);
    if (!leaf) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "out of host memory for a gradient");
        return NULL;
    }
    leaf->count.end = end_leaf;
    atomic_store(&leaf->count.refs, 1);
    leaf->storage = body->storage;
    leaf->ndim = body->ndim;
    leaf->dtype = body->dtype;
    memcpy(leaf->shape, body->shape, sizeof leaf->shape);
    if (__atomic_compare_exchange_n(&body->leaf, &made, leaf, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return leaf;
    wk__free(leaf);
    return made;
}

/* ---- freeing ----------------------------------------------------------------------------------------------------- */

void wk__saved_drop(wk__body *saved)
{
    wk__storage_add_persistent(saved->storage, -1);
    if (saved->family) wk__alias_set_drop(saved->family);
    wk__storage_drop(saved->storage);
    if (saved->node) wk__node_drop(saved->node);
    if (saved->leaf) wk__leaf_drop(saved->leaf);
    wk__slab_free(wk__context()->slots, WK__SLAB_BODY, saved);
}

static void free_saved(wk__node *node)
{
    for (int k = 0; k < WK__NODE_SAVED; k++) {
        wk__body *saved = node->saved[k];
        node->saved[k] = NULL;
        if (saved) wk__saved_drop(saved);
    }
}

void wk__node_release_saved(wk__node *node, wk_site site)
{
    node->saved_released = true;
    node->released_at = site;
    free_saved(node);
}

/* Frees a node. Dropping it may drop the nodes that it references, which are queued in a list of the thread, so that a
 * chain of a million calls is freed in constant stack depth. */
static void free_one(wk_context *context, wk__node *node)
{
    free_saved(node);
    for (int k = 0; k < node->inputs; k++) {
        if (node->edge[k].node) wk__node_drop(node->edge[k].node);
        if (node->edge[k].leaf) wk__leaf_drop(node->edge[k].leaf);
    }
    free_hooks(node->hooks);
    void (*const own_destroy)(void *) = node->own_destroy;
    void *const own = node->payload;
    if (node->edge != node->inline_edges) wk__free(node->edge);
    if (node->attr) wk__slab_free(context->slots, WK__SLAB_BODY, node->attr);
    wk__slab_free(context->slots, WK__SLAB_NODE, node);
    if (own_destroy) own_destroy(own);
}

void wk__nodes_free(wk_context *context)
{
    wk__destroy_queue *doomed = &context->nodes;
    if (doomed->draining) return;
    doomed->draining = true;
    while (doomed->first) {
        wk__node *one = doomed->first;
        doomed->first = one->next;
        free_one(context, one);
    }
    doomed->draining = false;
}

static void end_node(void *object)
{
    wk__node *node = object;
    wk_context *context = wk__context();
    node->next = context->nodes.first;
    context->nodes.first = node;
    wk__nodes_free(context);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static wk__node *new_node(wk_context *context, int inputs)
{
    wk__node *node = wk__slab_alloc(context->slots, WK__SLAB_NODE);
    if (!node) return NULL;
    memset(node, 0, offsetof(wk__node, inline_edges));
    memset(node->saved, 0, sizeof *node - offsetof(wk__node, saved));
    if (inputs <= WK__NODE_EDGES) {
        node->edge = node->inline_edges;
        node->shape = node->inline_shapes;
    } else {
        size_t bytes = (size_t)inputs * (sizeof *node->edge + sizeof *node->shape);
        node->edge = wk__alloc_zero(1, bytes);
        node->shape = (wk__tensor_meta *)(node->edge + inputs);
        if (!node->edge) {
            wk__slab_free(context->slots, WK__SLAB_NODE, node);
            return NULL;
        }
    }
    node->count.end = end_node;
    node->inputs = (uint8_t)inputs;
    return node;
}

static bool refresh_operand(wk_tensor *view, const char *op, wk_site site)
{
    if (!wk__view_lost_history(wk__body_of(view))) return wk__view_refresh_grad_fn(view);
    wk__error_set(
        site, WK_ERR_STATE,
        "%s: an operand is a view made under WK_NO_GRAD, and its base has been written in place with gradients on "
        "since; make the view after that write, or wk_detach it if no gradient should flow",
        op);
    return false;
}

/* Initialises an edge in place, because copying it would cost more than creating it. Returns false on allocation
 * failure. */
static bool edge_to(wk__edge *edge, wk_tensor *tensor, const char *op, wk_site site)
{
    *edge = (wk__edge){0};
    wk__body *body = tensor ? wk__body_of(tensor) : NULL;
    if (body && body->is_view && !refresh_operand(tensor, op, site)) return false;
    if (!body || !body->requires_grad) return true;
    if (body->node) {
        wk__node_hold(body->node);
        edge->node = body->node;
        edge->output = body->output;
        return true;
    }
    if (!(edge->leaf = wk__leaf_of(body))) return false;
    wk__leaf_hold(edge->leaf);
    edge->moves = edge->leaf->moves;
    return true;
}

wk__edge wk__edge_of(wk_tensor *tensor)
{
    wk__edge edge;
    edge_to(&edge, tensor, "autograd", (wk_site){0});
    return edge;
}

/* Saves an operand or the result in the node: a separate body that references the storage (or, if the op specifies it,
 * a new storage with the present value), and the graph position, for second derivatives. */
static bool save(wk_context *context, wk__node *node, int place, wk_tensor *tensor, bool is_output)
{
    wk__body *saved = wk__slab_alloc(context->slots, WK__SLAB_BODY);
    if (!saved) return false;
    const wk__body *body = wk__body_of(tensor);
    const bool numbers = node->op->saves_by_value >> place & 1;
    wk__storage *own = numbers ? wk__storage_new(context, body->storage->value) : NULL;
    if (numbers && !own) {
        wk__slab_free(context->slots, WK__SLAB_BODY, saved);
        return false;
    }
    if (own) wk__value_hold(own->value);
    memcpy(saved, body, sizeof *saved);
    atomic_init(&saved->texts, NULL);
    if (numbers || is_output) { /* its graph position is not that of a view */
        saved->is_view = false;
        saved->family = NULL;
    }
    if (numbers)
        saved->storage = own;
    else
        wk__storage_hold(saved->storage);
    if (saved->family) wk__refcount_inc(&saved->family->refs);
    wk__storage_add_persistent(saved->storage, +1);
    if (is_output) { /* it is a result of this node: a reference to itself would be a cycle */
        saved->node = NULL;
        saved->leaf = NULL;
        saved->output = 0;
    }
    wk__body_share(saved);
    node->saved[place] = saved;
    node->version[place] = saved->storage->version_info.version;
    return true;
}

static int what_to_save(const wk__op *op, const wk__node *node)
{
    int want = 0;
    for (int k = 0; k < node->inputs && k < WK__MAX_INPUTS; k++)
        if (node->edge[k].node || node->edge[k].leaf) want |= op->saves[k];
    return want;
}

static void remember_shape(wk__tensor_meta *shape, const wk_tensor *tensor)
{
    const wk__body *body = wk__body_of(tensor);
    shape->ndim = body->ndim;
    shape->dtype = body->dtype;
    memcpy(shape->size, body->shape, sizeof shape->size);
}

static bool fill(wk_context *context, wk__node *node, const wk__op *op, wk_site site, wk_tensor *const in[], int inputs,
                 wk_tensor *const out[], const wk__attr *attr)
{
    atomic_store_explicit(&node->count.refs, 1, memory_order_relaxed);
    node->op = op;
    node->site = wk__site(site);
    bool saved = true;
    for (int k = 0; k < inputs; k++) {
        saved = edge_to(&node->edge[k], in[k], op->name, site) && saved;
        if (in[k]) remember_shape(&node->shape[k], in[k]);
    }
    node->sequence = next_sequence(); /* after the edges: a stale view gets its new node there */
    int want = saved ? what_to_save(op, node) : 0;
    for (int k = 0; k < inputs && k < WK__SAVED_OUT; k++)
        if (want >> k & 1 && in[k]) saved = saved && save(context, node, k, in[k], false);
    for (int k = WK__SAVED_OUT; k < WK__NODE_SAVED; k++)
        if (want >> k & 1 && out[k - WK__SAVED_OUT])
            saved = saved && save(context, node, k, out[k - WK__SAVED_OUT], true);
    if (attr) {
        _Static_assert(sizeof *attr <= 256, "attributes share the slab of bodies");
        node->attr = wk__slab_alloc(context->slots, WK__SLAB_BODY);
        if (node->attr) *node->attr = *attr;
        saved = saved && node->attr;
    }
    return saved;
}

wk__node *wk__node_make(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *const out[],
                        const wk__attr *attr)
{
    wk_context *context = wk__context();
    wk__node *node = new_node(context, inputs);
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool filled = node && fill(context, node, op, site, in, inputs, out, attr);
    if (!filled) {
        if (node) wk__node_drop(node);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for the graph of gradients", op->name);
    }
    wk__frame_end(context, before);
    return filled ? node : NULL;
}

bool wk__node_attach(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs, wk_tensor *const out[],
                     int outputs, const wk__attr *attr)
{
    wk__node *node = wk__node_make(op, site, in, inputs, out, attr);
    if (!node) {
        for (int k = 0; k < outputs; k++) wk__handle_release(&out[k]->handle, site);
        return false;
    }
    wk__node_set_outputs(node, out, outputs);
    return true;
}

void wk__node_set_outputs(wk__node *node, wk_tensor *const out[], int outputs)
{
    node->outputs = (uint8_t)outputs;
    for (int k = 0; k < outputs; k++) {
        wk__body *body = wk__body_of(out[k]);
        if (!wk__is_float(body->dtype)) continue;
        if (k) wk__node_hold(node);
        if (body->node) wk__node_drop(body->node);
        body->node = node;
        body->output = (int16_t)k;
        body->requires_grad = true;
        body->graph_version = wk__alias_set_of(body)->graph_version;
    }
    if (!wk__body_of(out[0])->requires_grad) wk__node_drop(node);
}

/* ---- reading saved operands -------------------------------------------------------------------------------------- */

void wk__text_version_mismatch(wk__text *text, const wk__storage *storage, uint32_t version, wk_site backward)
{
    const wk__version_info *changes = &storage->version_info;
    const unsigned times = changes->version - version;
    wk__text_format(text, "it was modified in place by %s%s", changes->op_name ? changes->op_name : "?",
                    changes->op_name ? wk__in_place_suffix(changes->op_name, changes->in_place) : "");
    if (changes->at.file) wk__text_format(text, " at %s:%d", changes->at.file, (int)changes->at.line);
    if (times > 1) wk__text_format(text, " (the last of %u changes)", times);
    wk__text_add(text, "; use the out-of-place form, or wk_clone it before");
    if (backward.file) wk__text_format(text, " (backward called at %s:%d)", backward.file, (int)backward.line);
}

static wk_tensor *report_changed(const wk__grad_ctx *g, int k)
{
    const char *what = k >= WK__SAVED_OUT ? "its result"
                       : k == 0           ? "its first operand"
                       : k == 1           ? "its second operand"
                                          : "an operand";
    wk__text text = {0};
    wk__text_format(&text, "%s: backward needs the original value of %s, but ", g->node->op->name, what);
    wk__text_version_mismatch(&text, g->node->saved[k]->storage, g->node->version[k], g->backward);
    wk__error_set_text(g->node->site, WK_ERR_STATE, &text);
    return NULL;
}

wk_tensor *wk__saved(const wk__grad_ctx *g, int k)
{
    wk_context *context = wk__context();
    const wk__body *saved = g->node->saved[k];
    if (!saved) {
        wk__error_set(g->node->site, WK_ERR_INTERNAL, "%s: its gradient reads an operand that was not saved",
                      g->node->op->name);
        return NULL;
    }
    if (saved->storage->version_info.version != g->node->version[k]) return report_changed(g, k);
    wk_tensor *tensor = wk__tensor_alias(context, saved);
    if (!tensor) return NULL;
    wk__body *body = wk__body_of(tensor);
    if (k >= WK__SAVED_OUT) {
        wk__node_hold(g->node);
        body->node = g->node;
        body->output = (int16_t)(k - WK__SAVED_OUT);
        body->requires_grad = true;
    }
    return wk__dispatch_upcast(tensor);
}

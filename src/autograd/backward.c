/* SPDX-License-Identifier: Apache-2.0 */
/* Backward pass: runs nodes in the reverse order of the calls that made them, each once, when all gradients of its
 * outputs have arrived. All state is on the heap, so a chain of a million nodes needs no stack. A pass belongs to one
 * thread; passes may nest in hooks. */
#include "base/alloc.h"
#include "engine/anomaly.h"
#include "tensor/call_scope.h"
#include "view_grad.h"
#include "hook.h"
#include "dispatch.h"
#include "dependencies.h"
#include "backward.h"
#include <string.h>

/* A node that has received a gradient. */
typedef struct task {
    wk__node *node;
    wk_tensor **grad; /* [outputs]; owned */
    wk_tensor *one;   /* grad points here if there is one output */
    bool begun;       /* it runs or has run */
} task;

/* A leaf that received a gradient, and the enclosing pass that had listed it; 0: none. */
typedef struct completed_leaf {
    wk__leaf *leaf;
    uint64_t before;
} completed_leaf;

/* Function to call at the end of the outermost pass. */
typedef struct final_callback {
    bool (*call)(void *user, wk_site site, bool failed);
    void *user;
} final_callback;

/* State of one pass; heap-allocated, freed by its guard. */
typedef struct backward_pass {
    wk_context *context;
    wk_site site;
    uint64_t id; /* token of its scope */
    bool create_graph, retain_graph;
    wk__grad_target *targets; /* wk_grad: tensors whose gradients are returned; NULL: gradients go to all leaves */
    wk_tensor **found;
    int target_count;
    wk__node **heap; /* nodes with gradients, the latest call on top */
    int64_t heap_count, heap_capacity;
    task *table; /* tasks by node, open addressing */
    int64_t table_count, table_capacity;
    wk__node **ready; /* priority nodes with all gradients; they run before those in the heap, which also has them */
    int64_t ready_count, ready_capacity;
    wk__dependencies uses;     /* remaining gradients of each leaf and node; counted only if hooks or priority nodes
                                * exist */
    completed_leaf *completed; /* leaves with a gradient whose post-accumulate hooks are due */
    int64_t complete_count, complete_capacity;
    final_callback *finally; /* of the outermost pass */
    int64_t finally_count, finally_capacity;
    bool outermost;                 /* the context's pass */
    task now;                       /* the running node */
    wk_tensor **in;                 /* its gradients, if there are many */
    bool failed, no_error_at_start; /* no error was pending at the start */
} backward_pass;

/* ---- hash table and heap ----------------------------------------------------------------------------------------- */

static task *slot_of(task *table, int64_t capacity, const wk__node *node)
{
    for (uint64_t k = wk__address_hash(node);; k++) {
        task *slot = &table[k & (uint64_t)(capacity - 1)];
        if (!slot->node || slot->node == node) return slot;
    }
}

static void put(task *slot, const task *from)
{
    *slot = *from;
    if (from->grad == &from->one) slot->grad = &slot->one;
}

static bool grow_table(backward_pass *w)
{
    int64_t capacity = w->table_capacity ? 2 * w->table_capacity : 64;
    task *table = wk__alloc_zero((size_t)capacity, sizeof *table);
    if (!table) return false;
    for (int64_t k = 0; k < w->table_capacity; k++)
        if (w->table[k].node) put(slot_of(table, capacity, w->table[k].node), &w->table[k]);
    wk__free(w->table);
    w->table = table;
    w->table_capacity = capacity;
    return true;
}

static bool later(const wk__node *a, const wk__node *b)
{
    return a->sequence > b->sequence;
}

static bool heap_push(backward_pass *w, wk__node *node)
{
    if (!wk__grow(&w->heap, &w->heap_capacity, w->heap_count + 1, sizeof *w->heap)) return false;
    int64_t k = w->heap_count++;
    while (k > 0 && later(node, w->heap[(k - 1) / 2])) {
        w->heap[k] = w->heap[(k - 1) / 2];
        k = (k - 1) / 2;
    }
    w->heap[k] = node;
    return true;
}

static wk__node *heap_pop(backward_pass *w)
{
    wk__node *top = w->heap[0], *last = w->heap[--w->heap_count];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < w->heap_count; k = child) {
        if (child + 1 < w->heap_count && later(w->heap[child + 1], w->heap[child])) child++;
        if (!later(w->heap[child], last)) break;
        w->heap[k] = w->heap[child];
    }
    if (w->heap_count) w->heap[k] = last;
    return top;
}

/* Returns the task of a node, created when its first gradient arrives. NULL on allocation failure. */
static task *task_of(backward_pass *w, wk__node *node)
{
    if (2 * (w->table_count + 1) > w->table_capacity && !grow_table(w)) return NULL;
    task *slot = slot_of(w->table, w->table_capacity, node);
    if (slot->node) return slot;
    slot->grad = node->outputs > 1 ? wk__alloc_zero(node->outputs, sizeof *slot->grad) : &slot->one;
    slot->one = NULL;
    if (!slot->grad || !heap_push(w, node)) {
        if (slot->grad && slot->grad != &slot->one) wk__free(slot->grad);
        return NULL;
    }
    slot->node = node;
    wk__node_hold(node);
    w->table_count++;
    return slot;
}

static void fail(backward_pass *w)
{
    if (!w->failed) wk__error_set((wk_site){0}, WK_ERR_MEMORY, "backward: out of host memory");
    w->failed = true;
}

/* ---- gradients in flight ----------------------------------------------------------------------------------------- */

/* Releases a gradient. Gradients belong to the pass's scope (or to the caller's, once they are results), so unused ones
 * are never computed. */
static void let_go(wk_tensor *grad)
{
    if (grad) wk__handle_release(&grad->handle, (wk_site){0});
}

/* Adds grad to *place, consuming the reference to grad. */
static bool accumulate(wk_tensor **place, wk_tensor *grad)
{
    if (!*place) {
        *place = grad;
        return true;
    }
    wk_tensor *sum = wk__dispatch_add(*place, grad);
    let_go(*place);
    let_go(grad);
    *place = sum;
    return sum != NULL;
}

static bool is_target(const wk__grad_target *target, const wk__edge *edge)
{
    return target->edge.leaf ? target->edge.leaf == edge->leaf
                             : target->edge.node == edge->node && target->edge.output == edge->output;
}

static bool is_wanted(const backward_pass *w, const wk__edge *edge)
{
    bool wanted = !w->targets;
    for (int k = 0; k < w->target_count && !wanted; k++) wanted = is_target(&w->targets[k], edge);
    return wanted;
}

/* Adds a gradient to targets. A tensor listed twice gets separate gradients, because user code may modify them. */
static void give_targets(backward_pass *w, const wk__edge *edge, wk_tensor *grad)
{
    for (int k = 0; k < w->target_count; k++) {
        if (!is_target(&w->targets[k], edge)) continue;
        wk_tensor *own = wk__snapshot_with_grad_fn(grad);
        if (!own || !accumulate(&w->found[k], own)) fail(w);
    }
}

static bool moved_since(backward_pass *w, const wk__edge *edge)
{
    if (edge->leaf->moves == edge->moves) return false;
    wk__error_set(w->site, WK_ERR_STATE, /* or at that of the running node */
                  "backward: this call used a parameter that was %s afterwards (at %s:%d); call %s before the forward "
                  "pass",
                  edge->leaf->converted ? "converted to another dtype" : "moved to another device",
                  edge->leaf->moved_at.file ? edge->leaf->moved_at.file : "?", (int)edge->leaf->moved_at.line,
                  edge->leaf->converted ? "wk_module_to_dtype" : "wk_module_to");
    w->failed = true;
    return true;
}

/* Reports a gradient for a node that has run already, which sequence numbers prevent. */
static void too_late(backward_pass *w, const wk__node *node)
{
    wk__error_set(node->site, WK_ERR_INTERNAL,
                  "backward: internal error: a gradient of %s arrived after its node had run", node->op->name);
    w->failed = true;
}

/* Delivers a gradient along an edge, consuming the reference. */
static void deliver_grad(backward_pass *w, const wk__edge *edge, wk_tensor *grad)
{
    if (edge->leaf && !edge->leaf->frozen && is_wanted(w, edge) && moved_since(w, edge)) return;
    give_targets(w, edge, grad);
    if (edge->leaf) {
        if (w->targets || edge->leaf->frozen) {
            let_go(grad);
        } else if (!wk__leaf_accumulate(edge->leaf, grad, w->create_graph)) {
            w->failed = true;
        } else if (edge->leaf->pass_id == w->id) {
            return;
        } else if (!wk__grow(&w->completed, &w->complete_capacity, w->complete_count + 1, sizeof *w->completed)) {
            fail(w);
        } else {
            wk__leaf_hold(edge->leaf);
            w->completed[w->complete_count++] = (completed_leaf){edge->leaf, edge->leaf->pass_id};
            edge->leaf->pass_id = w->id;
        }
        return;
    }
    task *t = task_of(w, edge->node);
    if (t && t->begun)
        too_late(w, edge->node);
    else if (!t || !accumulate(&t->grad[edge->output], grad))
        fail(w);
}

/* ---- running a node ---------------------------------------------------------------------------------------------- */

/* In anomaly mode: reports NaN or infinity that the gradient of a call produced from finite gradients and operands. */
static bool gradient_is_explained(const backward_pass *w, const wk__node *node, wk_tensor *const *out, wk_tensor **in)
{
    for (int k = 0; k < node->inputs; k++) {
        char text[48];
        const wk__nonfinite found = in[k] ? wk__anomaly_scan(wk__body_of(in[k])) : (wk__nonfinite){.nan = false};
        if (!found.nan && !found.inf) continue;
        wk__nonfinite known = {.nan = false};
        for (int i = 0; i < node->outputs; i++)
            if (out[i]) wk__nonfinite_add(&known, wk__anomaly_scan(wk__body_of(out[i])));
        for (int i = 0; i < WK__NODE_SAVED; i++)
            if (node->saved[i]) wk__nonfinite_add(&known, wk__anomaly_scan(node->saved[i]));
        const char *what = wk__anomaly_describe(found, known, text);
        if (!what) continue;
        wk__error_set(
            node->site, WK_ERR_STATE,
            "%s: anomaly mode: the gradient of operand %d has %s, which neither the operands nor the gradient "
            "of the result have; the backward is at %s:%d",
            node->op->name, k, what, w->site.file ? w->site.file : "?", (int)w->site.line);
        return false;
    }
    return true;
}

/* Runs the gradient of a node in a separate scope, and moves its results, reduced to the operands' shapes, into the
 * scope of the pass. */
static void compute(backward_pass *w, wk__node *node, wk_tensor *const *out, wk_tensor **in)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CRITICAL, NULL, node->site, WK__GRAD_KEPT)) {
        w->failed = true;
        return;
    }
    wk_tensor *wide[WK__MAX_OUTPUTS];
    for (int k = 0; k < node->outputs && k < WK__MAX_OUTPUTS; k++) wide[k] = wk__dispatch_upcast(out[k]);
    wk__grad_ctx g = {.node = node, .attr = node->attr, .out = wide, .in = in, .backward = w->site};
    uint64_t inner = w->context->frame.op_scope;
    if (!inner) w->context->frame.op_scope = c.token;
    node->op->gradient(&g);
    w->context->frame.op_scope = inner;
    for (int k = 0; k < node->inputs; k++) {
        if (!in[k] || !wk__needs_input_grad(&g, k)) {
            in[k] = NULL;
            continue;
        }
        wk_tensor *fitted = wk__dispatch_unbroadcast(in[k], &node->shape[k]);
        in[k] = fitted ? wk__tensor_alias(w->context, wk__body_of(fitted))
                       : NULL; /* a separate handle, because out[0] may be returned twice */
        if (!in[k]) w->failed = true;
    }
    if (!w->failed && wk__anomaly_on() && !gradient_is_explained(w, node, out, in)) w->failed = true;
    wk__call_end(&c, in, node->inputs);
}

/* Queues a priority node. On allocation failure it runs in its normal order. */
static void push_ready(backward_pass *w, wk__node *node)
{
    const task *slot = slot_of(w->table, w->table_capacity, node);
    if (slot->node && !slot->begun && wk__grow(&w->ready, &w->ready_capacity, w->ready_count + 1, sizeof *w->ready))
        w->ready[w->ready_count++] = node;
}

/* Notes that an edge has delivered its gradient or has none. After the last edge, runs post-accumulate hooks and queues
 * priority nodes. */
static void finish_edge(backward_pass *w, const wk__edge *edge)
{
    if (edge->node && edge->node->priority && wk__dependencies_dec(&w->uses, edge->node)) push_ready(w, edge->node);
    if (edge->leaf && wk__dependencies_dec(&w->uses, edge->leaf) && edge->leaf->pass_id == w->id && !w->failed)
        w->failed = !wk__leaf_run_post_hooks(edge->leaf);
}

/* Runs one node: its hooks, its gradient, and the delivery of the results along its edges. */
static void run_node(backward_pass *w, wk__node *node, wk_tensor **grad)
{
    if (node->saved_released) {
        const char *first = node->released_at.file ? node->released_at.file : "?";
        const char *second = w->site.file ? w->site.file : "?";
        const bool same = node->released_at.line == w->site.line && strcmp(first, second) == 0; /* in a loop */
        wk__error_set(
            node->site, WK_ERR_STATE,
            "%s: the graph was freed by the backward at %s:%d and is needed again by the backward at %s:%d; %s",
            node->op->name, first, (int)node->released_at.line, second, (int)w->site.line,
            same ? "call wk_detach on what one iteration passes to the next, or pass .retain_graph = true"
                 : "pass .retain_graph = true to the first");
        w->failed = true;
        return;
    }
    wk_tensor *few[WK__NODE_EDGES] = {0};
    if (node->inputs > WK__NODE_EDGES && !(w->in = wk__alloc_zero(node->inputs, sizeof *w->in))) {
        fail(w);
        return;
    }
    wk_tensor **in = w->in ? w->in : few;
    w->context->frame.api_call = (wk__api_call){.active = true, .handler_blocked = true, .site = node->site};
    for (int k = 0; k < node->outputs && !w->failed; k++) {
        if (!grad[k]) continue;
        grad[k] = wk__run_hooks(node->hooks, grad[k], k);
        w->failed = !grad[k];
    }
    if (!w->failed) compute(w, node, grad, in);
    if (w->no_error_at_start && wk__error_pending()) w->failed = true;
    for (int k = 0; k < node->inputs; k++) {
        if (in[k] && !w->failed) deliver_grad(w, &node->edge[k], in[k]);
        finish_edge(w, &node->edge[k]);
    }
    wk__free(w->in);
    w->in = NULL;
    if (!w->retain_graph) wk__node_release_saved(node, w->site);
}

static void free_grads(task *t)
{
    if (t->grad != &t->one) wk__free(t->grad);
    t->grad = NULL;
}

/* Returns the next node to run, or NULL. */
static wk__node *next_node(backward_pass *w)
{
    if (w->ready_count > 0) return w->ready[--w->ready_count];
    while (w->heap_count > 0) {
        wk__node *node = heap_pop(w);
        if (!slot_of(w->table, w->table_capacity, node)->begun) return node;
    }
    return NULL;
}

static void run_all(backward_pass *w)
{
    for (wk__node *node; !w->failed && (node = next_node(w));) {
        task *slot = slot_of(w->table, w->table_capacity, node), *t = &w->now;
        slot->begun = true;
        put(t, slot); /* a copy, because the table may grow while the node runs */
        if (slot->grad != &slot->one) slot->grad = NULL;
        slot->one = NULL;
        run_node(w, node, t->grad);
        for (int k = 0; k < node->outputs; k++) let_go(t->grad[k]);
        free_grads(t);
    }
}

/* Runs the post-accumulate hooks that are still due: if some call leading to a leaf received no gradient, the last edge
 * to the leaf was not detected. */
static void complete_all(backward_pass *w)
{
    for (int64_t k = 0; k < w->complete_count && !w->failed; k++)
        if (!wk__dependencies_is_done(&w->uses, w->completed[k].leaf))
            w->failed = !wk__leaf_run_post_hooks(w->completed[k].leaf);
}

void wk__targets_free(wk__grad_target *targets, int count)
{
    for (int k = 0; k < count; k++) {
        wk__node_drop(targets[k].edge.node);
        wk__leaf_drop(targets[k].edge.leaf);
    }
    wk__free(targets);
}

bool wk__queue_final_callback(bool (*call)(void *user, wk_site site, bool failed), void *user)
{
    backward_pass *w = wk__context()->backward;
    if (!w) {
        wk__error_set((wk_site){0}, WK_ERR_STATE, "a final callback needs a backward that runs in this thread");
        return false;
    }
    if (!wk__grow(&w->finally, &w->finally_capacity, w->finally_count + 1, sizeof *w->finally)) {
        fail(w);
        return false;
    }
    w->finally[w->finally_count++] = (final_callback){call, user};
    return true;
}

/* Calls each callback once, including those added by callbacks. */
static void run_finally(backward_pass *w)
{
    for (int64_t k = 0; k < w->finally_count; k++)
        if (!w->finally[k].call(w->finally[k].user, w->site,
                                w->failed || (w->no_error_at_start && wk__error_pending())))
            w->failed = true;
    w->finally_count = 0;
}

/* Frees a pass; called by its guard, also after a longjmp out of a hook. */
static void end(void *address)
{
    backward_pass *w = address;
    w->failed = w->failed || w->finally_count > 0;
    run_finally(w);
    wk__free(w->finally);
    if (w->outermost) w->context->backward = NULL;
    for (int64_t k = 0; k < w->table_capacity; k++) {
        task *slot = &w->table[k];
        if (!slot->node) continue;
        free_grads(slot);
        wk__node_drop(slot->node);
    }
    free_grads(&w->now);
    wk__free(w->in);
    wk__dependencies_free(&w->uses);
    for (int64_t k = 0; k < w->complete_count; k++) {
        w->completed[k].leaf->pass_id = w->completed[k].before;
        wk__leaf_drop(w->completed[k].leaf);
    }
    wk__free(w->completed);
    wk__free(w->table);
    wk__free(w->heap);
    wk__free(w->ready);
    wk__targets_free(w->targets, w->target_count);
    wk__free(w);
}

/* Returns a separate handle of a seed. With create_graph the seed may be a leaf without graph position yet; that is
 * created first, so that both handles share it. */
static wk_tensor *seed_of(backward_pass *w, wk_tensor *seed)
{
    wk__edge edge = w->create_graph ? wk__edge_of(seed) : (wk__edge){0};
    wk_tensor *own = wk__tensor_alias(w->context, wk__body_of(seed));
    wk__node_drop(edge.node);
    wk__leaf_drop(edge.leaf);
    return own;
}

/* Counts dependencies. On allocation failure, post-accumulate hooks run at the end and priority nodes in normal
 * order. */
static void count_uses(backward_pass *w, const wk__backward_request *request)
{
    bool fine = (wk__has_post_hooks() && !w->targets) || wk__has_priority_nodes();
    for (int k = 0; k < request->output_count && fine; k++) {
        wk__edge edge = wk__edge_of(request->outputs[k]);
        fine = wk__dependencies_count(&w->uses, &edge);
        wk__node_drop(edge.node);
        wk__leaf_drop(edge.leaf);
    }
}

/* Delivers the initial gradients. */
static void begin(backward_pass *w, const wk__backward_request *request)
{
    count_uses(w, request);
    for (int k = 0; k < request->output_count && !w->failed; k++) {
        wk__edge edge = wk__edge_of(request->outputs[k]);
        wk_tensor *seed = request->seeds && request->seeds[k] ? seed_of(w, request->seeds[k])
                                                              : wk__dispatch_ones_like(request->outputs[k]);
        if (seed && (edge.node || edge.leaf))
            deliver_grad(w, &edge, seed);
        else
            w->failed = true;
        wk__node_drop(edge.node);
        wk__leaf_drop(edge.leaf);
    }
}

/* Pins outputs and seeds, because hooks may free them. */
static bool pin_all(const wk__backward_request *request)
{
    for (int k = 0; k < request->output_count; k++) {
        if (!wk__handle_pin(&request->outputs[k]->handle)) return false;
        if (request->seeds && request->seeds[k] && !wk__handle_pin(&request->seeds[k]->handle)) return false;
    }
    return true;
}

/* Maximum nesting of backward calls in hooks, for which a small thread's stack suffices. */
enum { MAX_NESTED_BACKWARD = 60 };

/* Allocates a pass, on the heap so that its guard can free it after a longjmp. Consumes the targets, on error too. NULL
 * on error. */
static backward_pass *new_walk(const wk__backward_request *request, uint64_t *token)
{
    wk_context *context = wk__context();
    backward_pass *w = NULL;
    if (context->frame.backward_depth >= MAX_NESTED_BACKWARD)
        wk__error_set(request->site, WK_ERR_STATE, "backward: called by its own hooks, %d deep", MAX_NESTED_BACKWARD);
    else if (!(w = wk__alloc_zero(1, sizeof *w)))
        wk__error_set(request->site, WK_ERR_MEMORY, "backward: out of host memory");
    if (!w) {
        wk__targets_free(request->targets, request->target_count);
        return NULL;
    }
    *w = (backward_pass){.context = context,
                         .site = wk__site(request->site),
                         .create_graph = request->create_graph,
                         .retain_graph = request->retain_graph,
                         .targets = request->targets,
                         .found = request->found,
                         .target_count = request->target_count,
                         .outermost = context->backward == NULL,
                         .no_error_at_start = !wk__error_pending()};
    if (w->outermost) context->backward = w;
    if ((*token = wk__guard_push_cleanup(w, end))) return w;
    end(w);
    return NULL;
}

static void run(backward_pass *w, const wk__backward_request *request)
{
    begin(w, request);
    run_all(w);
    complete_all(w);
    run_finally(w);
}

static bool run_guarded(const wk__backward_request *request)
{
    uint64_t token;
    backward_pass *w = new_walk(request, &token);
    if (!w) return false;
    wk__call_scope c;
    bool fine = pin_all(request) && wk__call_begin(&c, WK__FRAME_CRITICAL, NULL, request->site,
                                                   request->create_graph ? WK__GRAD_ON : WK__GRAD_OFF);
    if (fine) {
        w->id = c.token;
        w->context->frame.backward_depth++;
        run(w, request);
        fine = !w->failed && !(w->no_error_at_start && wk__error_pending());
        for (int k = 0; k < w->target_count && !fine; k++) w->found[k] = NULL;
        wk__call_end(&c, w->found, w->target_count);
    }
    wk__guard_close(token);
    return fine;
}

bool wk__run_backward(const wk__backward_request *request)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool fine = run_guarded(request);
    wk__frame_end(context, before);
    return fine;
}

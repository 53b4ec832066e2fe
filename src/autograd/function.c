/* SPDX-License-Identifier: Apache-2.0 */
/* wk_function: user-defined functions with their own gradient. Each call has one node, which calls the user's
 * backward. */
#include "base/alloc.h"
#include "base/options.h"
#include "callback.h"
#include "view_grad.h"
#include "dispatch.h"
#include "backward.h"
#include <string.h>
#include <wick/autograd.h>

enum { MAX_TENSORS = 16 }; /* maximum number of inputs, outputs and saved tensors of one function */

/* State of one call. Lives as long as its node, or until the call ends if there is none. Its own op descriptor has the
 * node's gradient. */
struct wk_function {
    wk_function_kind kind;
    void *context;
    wk__node *of; /* the node, which owns this struct, or NULL */
    wk__body *saved[MAX_TENSORS];
    const wk_tensor *kept[MAX_TENSORS]; /* handle of saved[k], compared with the outputs after forward */
    int8_t output[MAX_TENSORS];         /* output index of saved[k], -1 for none */
    uint32_t version[MAX_TENSORS];
    int saved_count;
    uint32_t needs; /* bit k: input k requires grad */
    wk_site site;
    wk__op op; /* with the kind's name */
    char name[64], node[72], forward[96], backward[96];
    wk_site walk; /* user's call that its backward runs for, or ran last */
};

/* Frees the state, also after a longjmp out of the kind's destroy. */
static void free_state(void *f)
{
    wk__context()->nodes.draining = false;
    wk__free(f);
}

static void destroy(void *address)
{
    wk_function *f = address;
    wk_context *context = wk__context();
    for (int k = 0; k < f->saved_count; k++) wk__saved_drop(f->saved[k]);
    if (!f->kind.destroy) {
        wk__free(f);
        return;
    }
    const bool busy = context->nodes.draining;
    const uint64_t token = wk__guard_push_cleanup(f, free_state);
    context->nodes.draining = ++context->frame.destroy_depth >= WK__DESTROY_DEPTH && token;
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    f->kind.destroy(f->context);
    wk__frame_end(context, before);
    if (token) {
        wk__guard_close(token);
    } else {
        context->frame.destroy_depth--;
        wk__free(f);
    }
    context->nodes.draining = busy;
    wk__nodes_free(context);
}

void *wk_function_context(wk_function *f)
{
    return f ? f->context : NULL;
}

bool wk_function_needs_grad(wk_function *f, int k)
{
    return f && k >= 0 && k < MAX_TENSORS && f->needs >> k & 1;
}

static bool given(wk_site site, const wk_function *f, const char *op)
{
    if (!f) wk__error_set(site, WK_ERR_ARGUMENT, "%s: the function is NULL", op);
    return f != NULL;
}

/* Saves x as a separate body that references its storage and graph position. */
static void save(wk_context *context, wk_site site, wk_function *f, wk_tensor *x)
{
    wk__body *body = f->saved_count < MAX_TENSORS ? wk__slab_alloc(context->slots, WK__SLAB_BODY) : NULL;
    if (!body) {
        wk__error_set(site, f->saved_count < MAX_TENSORS ? WK_ERR_MEMORY : WK_ERR_ARGUMENT, "function_save: %s",
                      f->saved_count < MAX_TENSORS ? "out of host memory" : "a function can save at most 16 tensors");
        return;
    }
    const wk__edge edge = wk__edge_of(x); /* creates a leaf's graph position now, so that the saved body shares it */
    memcpy(body, wk__body_of(x), sizeof *body);
    wk__node_drop(edge.node);
    wk__leaf_drop(edge.leaf);
    atomic_init(&body->texts, NULL);
    if (body->family) wk__refcount_inc(&body->family->refs);
    wk__storage_hold(body->storage);
    wk__storage_add_persistent(body->storage, +1);
    if (body->node || body->leaf) wk__body_share(body);
    f->version[f->saved_count] = body->storage->version_info.version;
    f->kept[f->saved_count] = x;
    f->output[f->saved_count] = -1;
    f->saved[f->saved_count++] = body;
}

void wk_function_save_at(wk_site site, wk_function *f, wk_tensor *x)
{
    if (!given(site, f, "function_save") || !wk__check_tensor(x, site, "function_save", "input")) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    save(context, site, f, x);
    wk__frame_end(context, before);
}

static bool is_among(const wk_tensor *x, wk_tensor *const *in, int count)
{
    for (int k = 0; k < count; k++)
        if (in[k] == x) return true;
    return false;
}

/* Connects saved outputs to the node, as for ops that save their result, so that gradients computed from them are
 * differentiable. The saved body has no reference to the node, which would be a cycle. A handle at the same address may
 * belong to a later tensor, so storages are compared too. */
static void find_saved_outputs(wk_function *f, wk_tensor *const *in, wk_tensor *const *out)
{
    for (int k = 0; k < f->saved_count; k++) {
        wk__body *saved = f->saved[k];
        if (is_among(f->kept[k], in, f->kind.inputs) || !wk__is_float(saved->dtype)) continue;
        for (int j = 0; j < f->kind.outputs && f->output[k] < 0; j++)
            if (out[j] == f->kept[k] && wk__body_of(out[j])->storage == saved->storage) f->output[k] = (int8_t)j;
        if (f->output[k] < 0) continue;
        if (saved->family) wk__alias_set_drop(saved->family);
        if (saved->node) wk__node_drop(saved->node);
        if (saved->leaf) wk__leaf_drop(saved->leaf);
        saved->is_view = false;
        saved->family = NULL;
        saved->node = NULL;
        saved->leaf = NULL;
    }
}

wk_tensor *wk_function_saved_at(wk_site site, wk_function *f, int k)
{
    if (!given(site, f, "function_saved")) return NULL;
    if (k < 0 || k >= f->saved_count) {
        wk__error_set(site, WK_ERR_INDEX, "function_saved: index %d is out of range for %d saved tensors", k,
                      f->saved_count);
        return NULL;
    }
    if (f->saved[k]->storage->version_info.version != f->version[k]) {
        wk__text text = {0};
        wk__text_format(&text, "%s: backward needs saved tensor %d, but ", f->name, k);
        wk__text_version_mismatch(&text, f->saved[k]->storage, f->version[k], f->walk);
        wk__error_set_text(f->site, WK_ERR_STATE, &text);
        return NULL;
    }
    wk_tensor *tensor = wk__tensor_alias(wk__context(), f->saved[k]);
    if (!tensor || f->output[k] < 0 || !f->of) return tensor;
    wk__body *body = wk__body_of(tensor);
    wk__node_hold(f->of);
    body->node = f->of;
    body->output = f->output[k];
    body->requires_grad = true;
    return tensor;
}

static bool fits(const wk_function *f, const wk__node *node, wk_tensor *grad, int k)
{
    const wk__tensor_meta *shape = &node->shape[k];
    if (!wk__check_tensor(grad, f->site, f->name, "a gradient returned by backward")) return false;
    const wk__body *body = wk__body_of(grad);
    if (wk__same_shape(body->ndim, body->shape, shape->ndim, shape->size)) return true;
    wk__text text = {0};
    wk__text_format(&text, "%s: backward returned for input %d the gradient ", f->name, k);
    wk__text_tensor(&text, grad);
    wk__text_add(&text, "; expected the shape of the input, ");
    wk__text_shape(&text, shape->ndim, shape->size);
    wk__error_set_text(f->site, WK_ERR_SHAPE, &text);
    return false;
}

/* Lends gradients to user code. taken_over() makes a lent one that is returned independent of its guard. */
static bool lend_all(wk_tensor *const *out, int count, wk_tensor **lent, uint64_t *first)
{
    for (int k = 0; k < count; k++) {
        uint64_t token;
        if (!out[k]) continue;
        if (!(lent[k] = wk__lend(out[k], &token))) return false;
        if (!*first) *first = token;
    }
    return true;
}

static wk_tensor *taken_over(wk_tensor *grad, wk_tensor *const *lent, int count)
{
    for (int k = 0; k < count; k++)
        if (grad == lent[k]) return wk__snapshot_with_grad_fn(grad);
    return grad;
}

/* Gradient of the node: calls the user's backward with lent gradients. */
static void gradient(wk__grad_ctx *g)
{
    wk_function *f = g->node->payload;
    f->walk = g->backward;
    if (!f->kind.backward) {
        wk__error_set(
            f->site, WK_ERR_STATE,
            "%s: not differentiable: its wk_function_kind has no .backward; provide one, or apply it to wk_detach(x)",
            f->name);
        return;
    }
    wk_tensor *in[MAX_TENSORS] = {0}, *lent[MAX_TENSORS] = {0};
    const int outputs = f->kind.outputs;
    uint64_t first = 0; /* first guard of the lent tensors; closing it ends all */
    wk__call_scope c;
    if (lend_all(g->out, outputs, lent, &first) &&
        wk__call_begin(&c, WK__FRAME_CALLBACK, f->backward, f->site, WK__GRAD_KEPT)) {
        f->kind.backward(f, lent, in);
        wk__call_end(&c, in, f->kind.inputs);
    }
    for (int k = 0; k < f->kind.inputs; k++)
        if (in[k] && fits(f, g->node, in[k], k)) g->in[k] = taken_over(in[k], lent, outputs);
    wk__guard_close(first);
}

static wk_function *begin(wk_site site, const wk_function_kind *kind, void *context)
{
    wk_function *f = wk__alloc_zero(1, sizeof *f);
    if (!f) {
        wk__error_set(site, WK_ERR_MEMORY, "apply: out of host memory");
        return NULL;
    }
    f->kind = *kind;
    f->context = context;
    f->site = site;
    snprintf(f->name, sizeof f->name, "%s", kind->name);
    snprintf(f->node, sizeof f->node, "%sBackward", f->name);
    snprintf(f->forward, sizeof f->forward, "forward of \"%s\", called at %s:%d", f->name, site.file ? site.file : "?",
             (int)site.line);
    snprintf(f->backward, sizeof f->backward, "backward of \"%s\", called at %s:%d", f->name,
             site.file ? site.file : "?", (int)site.line);
    f->op = (wk__op){.name = f->name, .grad_fn_name = f->node, .gradient = gradient};
    return f;
}

static bool check(wk_site site, const wk_function_kind *kind, wk_tensor *const *in, int count)
{
    if (!kind->forward || !kind->name || kind->inputs > MAX_TENSORS || kind->outputs > MAX_TENSORS ||
        kind->outputs < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "apply: the function kind needs .size, .name, .forward and 1 to 16 inputs and outputs");
        return false;
    }
    if (count != kind->inputs) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected %d input tensor%s, got %d", kind->name, kind->inputs,
                      kind->inputs == 1 ? "" : "s", count);
        return false;
    }
    if (!wk__array_check(in, count, site, kind->name, "the array of inputs")) return false;
    for (int k = 0; k < count; k++)
        if (!wk__check_tensor(in[k], site, kind->name, "an input")) return false;
    return true;
}

static bool outputs_are_there(const wk_function *f, wk_tensor *const *out)
{
    for (int k = 0; k < f->kind.outputs; k++) {
        if (out[k] && wk__check_tensor(out[k], f->site, f->name, "an output of forward")) continue;
        wk__error_set(f->site, WK_ERR_STATE, "%s: forward did not set output %d", f->name, k);
        return false;
    }
    return true;
}

static bool shares_input_storage(const wk_function *f, const wk_tensor *output, wk_tensor *const *in)
{
    for (int k = 0; k < f->kind.inputs; k++)
        if (wk__is_tensor(in[k]) && wk__body_of(in[k])->storage == wk__body_of(output)->storage) return true;
    return false;
}

/* Makes outputs that are inputs or views of inputs separate tensors, with a node or without, so that a later in-place
 * write means the same in both cases. With a node, also outputs that already have a node, so that the new one can be
 * attached. Outputs whose elements share memory are copied, because each element has its own gradient. */
static bool detach_outputs(const wk_function *f, wk_tensor *const *in, wk_tensor **out, bool node)
{
    for (int k = 0; k < f->kind.outputs; k++) {
        if (!node && !shares_input_storage(f, out[k], in)) continue;
        const bool shared = wk__body_overlaps(wk__body_of(out[k]));
        out[k] = shared ? wk__dispatch_clone(out[k]) : wk__tensor_snapshot(wk__context(), out[k]);
        if (!out[k]) return false;
        wk__body_leave_graph(wk__body_of(out[k]));
    }
    return true;
}

/* Runs forward without recording a graph. The caller's scope owns the results afterwards. */
static bool run_forward(wk_function *f, wk_tensor *const *in, wk_tensor **out, bool node)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALLBACK, f->forward, f->site, WK__GRAD_OFF)) return false;
    f->kind.forward(f, in, out);
    bool fine = outputs_are_there(f, out);
    if (fine && node) find_saved_outputs(f, in, out);
    fine = fine && detach_outputs(f, in, out, node);
    wk__call_end(&c, out, fine ? f->kind.outputs : 0);
    return fine;
}

/* Reads the kind as this version defines it. A kind without a forward is an error. */
static wk_function_kind known(wk_site site, const wk_function_kind *given)
{
    wk_function_kind kind = {.size = sizeof kind};
    wk_code code = given ? wk__sized_read(given, offsetof(wk_function_kind, backward), &kind, sizeof kind) : WK_OK;
    if (code == WK_ERR_UNSUPPORTED)
        wk__error_set(
            site, code,
            "apply: the function kind sets a member that this library version does not support; leave it zero");
    return kind;
}

static void drop_node(void *node)
{
    wk__node_drop(node);
}

/* Runs forward. A guard owns the node, or the function if there is no node, so that it is freed after a longjmp out of
 * forward too. */
static bool apply(wk_function *f, wk__node *node, bool wanted, wk_tensor *const *in, wk_tensor **out)
{
    void *const owner = node ? (void *)node : f;
    void (*const let_go)(void *) = node ? drop_node : destroy;
    const uint64_t token = wk__guard_push_cleanup(owner, let_go);
    const bool fine = token && (node || !wanted) && run_forward(f, in, out, wanted);
    if (fine && node) {
        wk__node_hold(node);
        wk__node_set_outputs(node, out, f->kind.outputs);
    }
    if (token)
        wk__guard_close(token);
    else
        let_go(owner);
    return fine;
}

wk_code wk_apply_n_at(wk_site site, const wk_function_kind *kind, void *user, wk_tensor *const *in, int count,
                      wk_tensor **out)
{
    const wk_function_kind copy = known(site, kind);
    kind = &copy;
    if (kind->outputs > 0 && !wk__array_check(out, kind->outputs, site, "apply", "the array for the results"))
        return wk_error_code();
    for (int k = 0; k < kind->outputs && k < MAX_TENSORS; k++) out[k] = NULL;
    if (!check(site, kind, in, count)) return wk_error_code();
    wk_function *f = begin(site, kind, user);
    if (!f) return WK_ERR_MEMORY;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool wanted = wk__needs_grad_fn(context, in, count);
    for (int k = 0; k < count; k++)
        if (wk__requires_grad(in[k])) f->needs |= 1u << k;
    /* before forward, which may free or modify its inputs */
    wk__node *node = wanted ? wk__node_make(&f->op, site, in, count, NULL, NULL) : NULL;
    if (node) {
        f->of = node;
        node->payload = f;
        node->own_destroy = destroy;
    }
    const bool fine = apply(f, node, wanted, in, out);
    wk__frame_end(context, before);
    for (int k = 0; k < kind->outputs && !fine; k++) out[k] = NULL;
    return fine ? WK_OK : wk_error_code();
}

wk_tensor *wk_apply_at(wk_site site, const wk_function_kind *kind, void *context, wk_tensor *const *in, int count)
{
    wk_tensor *out[MAX_TENSORS] = {0};
    return wk_apply_n_at(site, kind, context, in, count, out) == WK_OK ? out[0] : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves: accumulation of gradients, hooks, and the public calls on leaves. */
#include "base/alloc.h"
#include "base/options.h"
#include "view_grad.h"
#include "hook.h"
#include "dispatch.h"
#include "callback.h"
#include "backward.h"
#include <string.h>
#include <wick/autograd.h>

static bool may_replace(wk_tensor *instead, const wk_tensor *grad)
{
    if (!wk__check_tensor(instead, (wk_site){0}, "backward", "the result of a hook")) return false;
    const wk__body *a = wk__body_of(instead), *b = wk__body_of(grad);
    if (wk__same_sizes(a, b) && a->dtype == b->dtype && a->storage->device == b->storage->device) return true;
    wk__text text = {0};
    wk__text_add(&text, "backward: a hook returned ");
    wk__text_tensor_device(&text, instead);
    wk__text_add(&text, " for the gradient ");
    wk__text_tensor_device(&text, grad);
    wk__error_set_text((wk_site){0}, WK_ERR_SHAPE, &text);
    return false;
}

/* Returns the gradient after a hook: the hook's result, or grad as the hook modified it. NULL on error. */
static wk_tensor *apply_hook(const wk__hook *hook, wk_tensor *grad)
{
    const bool clean = !wk__error_pending();
    uint64_t token;
    wk_tensor *lent = wk__lend(grad, &token);
    if (!lent) return NULL;
    wk_tensor *instead;
    bool fine = wk__call_hook(hook->call, lent, hook->user, &instead);
    if (!instead) instead = lent;
    fine = fine && (instead == lent || may_replace(instead, grad)) && !(clean && wk__error_pending());
    wk_tensor *out = fine ? wk__snapshot_with_grad_fn(instead) : NULL; /* user code may own it */
    wk__guard_close(token);
    return out;
}

/* Returns the last present hook: hooks registered by hooks run for the next gradient. */
static const wk__hook *last_of(const wk__hook *hook)
{
    while (hook && hook->next) hook = hook->next;
    return hook;
}

wk_tensor *wk__run_hooks(const wk__hook *hooks, wk_tensor *grad, int output)
{
    const wk__hook *last = last_of(hooks);
    for (const wk__hook *hook = hooks; hook && grad; hook = hook == last ? NULL : hook->next) {
        if (hook->post_accumulate || hook->output != output) continue;
        if (hook->internal_call) {
            if (hook->internal_call(grad, hook->user)) continue;
            wk__handle_release(&grad->handle, (wk_site){0});
            return NULL;
        }
        wk_tensor *now = apply_hook(hook, grad);
        wk__handle_release(&grad->handle, (wk_site){0});
        grad = now;
    }
    return grad;
}

/* Returns grad as a tensor owned by the leaf: a separate storage with the same value, dense, because elements with
 * stride 0 could not be written. Without create_graph it has no history, even if grad is a leaf that the caller or a
 * hook passed: if it were this leaf, the leaf would own itself. NULL on error. */
static wk_tensor *adopt_grad(wk_tensor *grad, bool create_graph)
{
    const wk__body *body = wk__body_of(grad);
    bool whole = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype) == body->storage->bytes;
    wk_tensor *mine =
        wk__body_overlaps(body) || body->is_view || !whole ? wk__dispatch_clone(grad) : wk__snapshot_with_grad_fn(grad);
    if (!mine) return NULL;
    if (!create_graph) wk__body_leave_graph(wk__body_of(mine));
    return wk__handle_adopt(mine);
}

bool wk__leaf_accumulate(wk__leaf *leaf, wk_tensor *grad, bool create_graph)
{
    grad = wk__run_hooks(leaf->hooks, grad, 0);
    if (!grad) return false;
    bool fine;
    if (!leaf->grad) {
        leaf->grad = adopt_grad(grad, create_graph);
        fine = leaf->grad != NULL;
    } else if (create_graph) {
        wk_tensor *sum = wk__dispatch_add(leaf->grad, grad), *mine = sum ? adopt_grad(sum, true) : NULL;
        if (mine) { /* set first, because freeing the old one may run user code that reads it */
            wk_tensor *old = leaf->grad;
            leaf->grad = mine;
            wk__handle_drop(&old->handle);
        }
        fine = mine != NULL;
    } else {
        fine = wk__dispatch_add_(leaf->grad, grad) != NULL;
    }
    wk__handle_release(&grad->handle, (wk_site){0});
    return fine;
}

/* True once a post-accumulate hook was registered: only then do passes count dependencies. Never reset, because hooks
 * are not unregistered, and any thread may run a pass to the leaf. */
static atomic_bool any_after;

bool wk__has_post_hooks(void)
{
    return atomic_load_explicit(&any_after, memory_order_relaxed);
}

/* Runs one post-accumulate hook, on the gradient itself, which the leaf owns. */
static bool run_post_hook(wk__leaf *leaf, const wk__hook *hook)
{
    if (hook->internal_call) return hook->internal_call(leaf->grad, hook->user);
    const bool clean = !wk__error_pending();
    wk_tensor *grad = leaf->grad;
    const uint64_t pin = wk__handle_pin(&grad->handle); /* the hook may clear it */
    if (!pin) return false;
    wk_tensor *instead;
    bool fine = wk__call_hook(hook->call, grad, hook->user, &instead);
    fine = fine && (!instead || instead == grad || may_replace(instead, grad));
    if (fine && instead && instead != leaf->grad && leaf->grad) fine = wk__dispatch_copy_(leaf->grad, instead) != NULL;
    wk__guard_close(pin);
    return fine && !(clean && wk__error_pending());
}

bool wk__leaf_run_post_hooks(wk__leaf *leaf)
{
    const wk__hook *last = last_of(leaf->hooks);
    bool fine = true;
    for (const wk__hook *hook = leaf->hooks; hook && leaf->grad && fine; hook = hook == last ? NULL : hook->next)
        if (hook->post_accumulate) fine = run_post_hook(leaf, hook);
    return fine;
}

/* ---- public calls ------------------------------------------------------------------------------------------------ */

static wk_guard grad_guard(wk_site site, bool off)
{
    wk_context *context = wk__context();
    wk__guard *guard = wk__guard_push(WK__GUARD_GRAD, site);
    if (!guard) return (wk_guard){0};
    context->frame.grad_off = off;
    return (wk_guard){guard->token};
}

wk_guard wk_no_grad_open(wk_site site)
{
    return grad_guard(site, true);
}
wk_guard wk_enable_grad_open(wk_site site)
{
    return grad_guard(site, false);
}
bool wk_is_grad_enabled(void)
{
    return !wk__context()->frame.grad_off;
}

bool wk_requires_grad_at(wk_site site, const wk_tensor *x)
{
    if (!x || !wk__check_tensor(x, site, "requires_grad", "input")) return false;
    return wk__requires_grad((wk_tensor *)(uintptr_t)x);
}

const char *wk__grad_fn_name(wk_tensor *x)
{
    wk__requires_grad(x);
    const wk__node *node = wk__body_of(x)->node;
    if (!node) return NULL;
    return node->attr && node->attr->grad_fn_name ? node->attr->grad_fn_name : node->op->grad_fn_name;
}

bool wk_is_leaf_at(wk_site site, const wk_tensor *x)
{
    if (!x || !wk__check_tensor(x, site, "is_leaf", "input")) return false;
    wk__requires_grad((wk_tensor *)(uintptr_t)x); /* updates a view */
    return !wk__body_of(x)->node;
}

wk_tensor *wk_requires_grad__at(wk_site site, wk_tensor *x, bool on)
{
    if (!wk__check_tensor(x, site, "requires_grad_", "input")) return NULL;
    wk__requires_grad(x); /* updates a view */
    wk__body *body = wk__body_of(x);
    if (on && !wk__is_float(body->dtype)) {
        wk__error_set(
            site, WK_ERR_DTYPE,
            "requires_grad_: only floating dtypes can require grad, got %s; convert with wk_to_dtype(x, WK_F32)",
            wk_dtype_str(body->dtype));
        return NULL;
    }
    if (!on && body->node) {
        wk__error_set(site, WK_ERR_STATE, "requires_grad_: the tensor is not a leaf; use wk_detach(x)");
        return NULL;
    }
    if (body->node) return x;
    body->requires_grad = on;
    if (body->leaf) body->leaf->frozen = !on;
    return x;
}

wk_tensor *wk_detach_at(wk_site site, wk_tensor *x)
{
    if (!wk__check_tensor(x, site, "detach", "input")) return NULL;
    wk__body apart = *wk__body_of(x);
    apart.node = NULL;
    apart.leaf = NULL;
    apart.output = 0;
    apart.requires_grad = apart.is_view = false;
    apart.family = NULL;
    return wk__tensor_detached_alias(wk__context(), &apart);
}

/* Checks that x is a leaf: only leaves keep gradients. */
static bool is_leaf(wk_site site, const char *op, wk_tensor *x)
{
    wk__requires_grad(x);
    if (!wk__body_of(x)->node) return true;
    wk__text text = {0};
    wk__text_format(&text, "%s: ", op);
    wk__text_tensor(&text, x);
    wk__text_add(&text, " is not a leaf, so backward stores no gradient in it; use wk_grad or wk_register_hook");
    wk__error_set_text(site, WK_ERR_STATE, &text);
    return false;
}

wk_tensor *wk_grad_of_at(wk_site site, wk_tensor *leaf)
{
    if (!leaf || !wk__check_tensor(leaf, site, "grad_of", "input") || !is_leaf(site, "grad_of", leaf)) return NULL;
    const wk__leaf *of = wk__body_of(leaf)->leaf;
    if (of && of->grad) return of->grad;
    wk__note_null_result(site, &wk__tensor_kind, "grad_of",
                         wk__body_of(leaf)->node ? "the tensor is not a leaf, so its gradient is not kept; use wk_grad"
                         : wk__body_of(leaf)->requires_grad ? "wk_backward has not computed a gradient for this leaf"
                                                            : "the tensor does not require grad");
    return NULL;
}

/* Replaces the gradient before the old one is freed, because a user's release function may read or set it, or free the
 * leaf. */
static void replace(wk__leaf *of, wk_tensor *mine, const char *by, wk_site site)
{
    wk_tensor *old = of->grad;
    of->grad = mine;
    if (!old) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__handle_drop_by(&old->handle, by, site);
    wk__frame_end(context, before);
}

void wk__leaf_clear_grad(wk_tensor *leaf, const char *by, wk_site site)
{
    wk__leaf *of = wk__body_of(leaf)->leaf;
    if (of) replace(of, NULL, by, site);
}

/* Returns a reference to the gradient, or a copy if its elements share memory, since backward could not add to it. */
static wk_tensor *grad_to_store(wk_site site, wk_tensor *grad)
{
    if (!wk__body_overlaps(wk__body_of(grad))) {
        wk__handle_hold(&grad->handle);
        return grad;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "set_grad", site);
    wk_tensor *copy = adopt_grad(grad, true);
    wk__frame_end(context, before);
    return copy;
}

wk_code wk_set_grad_at(wk_site site, wk_tensor *leaf, wk_tensor *grad)
{
    if (!wk__check_tensor(leaf, site, "set_grad", "leaf")) return wk_error_code();
    if (!grad && wk__error_pending()) return wk_error_code(); /* a failed argument must not clear the gradient */
    if (!is_leaf(site, "set_grad", leaf)) return wk_error_code();
    wk__body *body = wk__body_of(leaf);
    wk__leaf *of = wk__leaf_of(body);
    if (!of) return WK_ERR_MEMORY;
    wk_tensor *mine = NULL;
    if (grad) {
        if (!wk__check_tensor(grad, site, "set_grad", "gradient")) return wk_error_code();
        const wk__body *g = wk__body_of(grad);
        if (g->storage == body->storage) {
            wk__error_set(site, WK_ERR_ARGUMENT,
                          "set_grad: the gradient shares memory with the leaf; wk_clone it first");
            return WK_ERR_ARGUMENT;
        }
        if (!wk__same_sizes(g, body) || g->dtype != body->dtype || g->storage->device != body->storage->device) {
            wk__text text = {0};
            wk__text_add(&text, "set_grad: the gradient is ");
            wk__text_tensor_device(&text, grad);
            wk__text_add(&text, ", the leaf ");
            wk__text_tensor_device(&text, leaf);
            wk__text_add(&text, "; shape, dtype and device must be the same");
            wk__error_set_text(site, WK_ERR_SHAPE, &text);
            return WK_ERR_SHAPE;
        }
        if (!(mine = grad_to_store(site, grad))) return wk_error_code();
    }
    replace(of, mine, "set_grad", site);
    return WK_OK;
}

/* Frees expired hooks of a leaf, except within a pass of this thread, which may be running them. Returns the end of the
 * list. */
static wk__hook **prune_hooks(wk__hook **place)
{
    const bool walks = wk__context()->frame.backward_depth > 0;
    for (wk__hook *hook; (hook = *place);) {
        if (walks || !hook->expired || !*hook->expired) {
            place = &hook->next;
            continue;
        }
        *place = hook->next;
        hook->end(hook->user);
        wk__free(hook);
    }
    return place;
}

/* Adds a copy of a hook to the leaf or node of x. Returns false on error. */
static bool add_hook(wk_site site, wk_tensor *x, const wk__hook *like)
{
    wk__edge edge = wk__edge_of(x);
    wk__hook *hook = edge.node || edge.leaf ? wk__alloc_zero(1, sizeof *hook) : NULL;
    if (!hook) {
        wk__error_set(site, edge.node || edge.leaf ? WK_ERR_MEMORY : WK_ERR_STATE, "register_hook: %s",
                      edge.node || edge.leaf ? "out of host memory" : "the tensor does not require grad");
    } else {
        *hook = *like;
        hook->output = edge.output;
        hook->post_accumulate = like->post_accumulate && edge.leaf;
        *prune_hooks(edge.leaf ? &edge.leaf->hooks : &edge.node->hooks) = hook;
        if (hook->post_accumulate) atomic_store_explicit(&any_after, true, memory_order_relaxed);
    }
    wk__node_drop(edge.node);
    wk__leaf_drop(edge.leaf);
    return hook != NULL;
}

wk_code wk_register_hook_at(wk_site site, wk_tensor *x, wk_hook *call, void *user, const wk_hook_options *options)
{
    wk_hook_options o;
    if (!wk__options(site, "register_hook", options, &o) || !wk__check_tensor(x, site, "register_hook", "input"))
        return wk_error_code();
    if (!call) {
        wk__error_set(site, WK_ERR_ARGUMENT, "register_hook: the function is NULL");
        return WK_ERR_ARGUMENT;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool fine = add_hook(site, x, &(wk__hook){.call = call, .user = user, .post_accumulate = o.post_accumulate});
    wk__frame_end(context, before);
    return fine ? WK_OK : wk_error_code();
}

bool wk__hook_add(wk_site site, wk_tensor *x, bool (*own)(wk_tensor *grad, void *user), void *user,
                  void (*end)(void *user), const atomic_bool *over)
{
    return add_hook(
        site, x, &(wk__hook){.internal_call = own, .user = user, .end = end, .expired = over, .post_accumulate = true});
}

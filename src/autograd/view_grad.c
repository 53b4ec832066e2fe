/* SPDX-License-Identifier: Apache-2.0 */
/* Views and in-place calls (view_grad.h). */
#include "view_grad.h"
#include "tensor/call_scope.h"
#include "dispatch.h"
#include <string.h>

extern const wk__op wk__op_as_strided, wk__op_copy_slices;

/* ---- the base of views ------------------------------------------------------------------------------------------ */

/* Makes `base` the record of an alias set's freed base. Returns false on allocation failure. */
static bool set_dead_base(wk__alias_set *family, const wk__body *base)
{
    wk__dead_base *past = wk__dead_base_alloc();
    if (!past) return false;
    wk__dead_base_fill(past, base);
    wk__alias_lock();
    wk__dead_base *before = family->dead_base;
    family->dead_base = past;
    wk__alias_unlock();
    if (before) wk__dead_base_free(before);
    return true;
}

/* Creates a dead base for a set whose base had no graph position when it was freed: a vector of the entire storage. */
static bool rebuild_dead_base(const wk__body *view)
{
    const wk__body all = {.ndim = 1,
                          .dtype = view->dtype,
                          .shape = {view->storage->bytes / (int64_t)wk_dtype_size(view->dtype)},
                          .stride = {1}};
    return set_dead_base(wk__alias_set_of(view), &all);
}

/* Copies the base of a view, or its record if its handle was freed, with references to the graph. Returns false if the
 * base was freed without a record. */
static bool copy_base(const wk__body *view, wk__body *copy)
{
    const wk__alias_set *family = wk__alias_set_of(view);
    wk__alias_lock();
    const wk__body *base = atomic_load_explicit(&family->base, memory_order_relaxed);
    const wk__dead_base *past = family->dead_base;
    if (base) {
        memcpy(copy, base, sizeof *copy);
    } else if (past) {
        *copy = (wk__body){.storage = view->storage,
                           .node = past->node,
                           .leaf = past->leaf,
                           .requires_grad = past->requires_grad,
                           .output = past->output,
                           .offset = past->offset,
                           .ndim = past->ndim,
                           .dtype = past->dtype};
        memcpy(copy->shape, past->shape, sizeof copy->shape);
        memcpy(copy->stride, past->stride, sizeof copy->stride);
    }
    const bool known = base || past;
    if (known) wk__body_share(copy);
    wk__alias_unlock();
    return known;
}

/* Like copy_base(), but as a tensor of the current scope. NULL if the base is unknown (!*known) or on error. */
static wk_tensor *base_of(const wk__body *view, bool *known)
{
    wk__body copy;
    if (!(*known = copy_base(view, &copy))) return NULL;
    wk_tensor *base = wk__tensor_alias(wk__context(), &copy);
    wk__node_drop(copy.node);
    wk__leaf_drop(copy.leaf);
    return base;
}

/* Graph position of a base. Has a reference to the node. */
typedef struct grad_fn_ref {
    wk__node *node;
    int16_t output;
    bool requires_grad;
} grad_fn_ref;

/* Sets the base's graph position and returns the old one in *before. Returns false if it was freed without a record. */
static bool set_base(wk__alias_set *family, grad_fn_ref now, grad_fn_ref *before)
{
    wk__alias_lock();
    wk__body *base = atomic_load_explicit(&family->base, memory_order_relaxed);
    wk__dead_base *past = family->dead_base;
    if (base) {
        *before = (grad_fn_ref){base->node, base->output, base->requires_grad};
        base->node = now.node;
        base->output = now.output;
        base->requires_grad = now.requires_grad;
    } else if (past) {
        *before = (grad_fn_ref){past->node, past->output, past->requires_grad};
        past->node = now.node;
        past->output = now.output;
        past->requires_grad = now.requires_grad;
    }
    wk__alias_unlock();
    return base || past;
}

/* ---- geometry as attributes -------------------------------------------------------------------------------------- */

/* Returns the attributes of a view, body, of base. */
static wk__attr packed(const wk__body *body, const wk__body *base)
{
    wk__attr attr = wk__strided_attr(
        (wk__strided_attributes){.offset = body->offset, .ndim = body->ndim, .base_offset = base->offset});
    memcpy(attr.list, body->stride, sizeof attr.list);
    memcpy(attr.list2, body->shape, sizeof attr.list2);
    memcpy(attr.list3, base->stride, sizeof attr.list3);
    return attr;
}

/* ---- refreshing views -------------------------------------------------------------------------------------------- */

/* Gives the view a new node, as_strided of base. */
static bool rebuild_grad_fn(wk_tensor *view, wk_tensor *base)
{
    wk__body *body = wk__body_of(view);
    const wk__attr attr = packed(body, wk__body_of(base));
    wk__node *node = wk__node_make(&wk__op_as_strided, (wk_site){0}, &base, 1, &view, &attr);
    if (!node) return false;
    node->outputs = 1;
    wk__node_drop(body->node);
    body->node = node;
    body->output = 0;
    body->requires_grad = true;
    return true;
}

bool wk__view_refresh_grad_fn(wk_tensor *view)
{
    wk__body *body = wk__body_of(view);
    if (!wk__view_grad_fn_is_stale(body) || body->no_grad_view) return true;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CRITICAL, NULL, (wk_site){0}, WK__GRAD_KEPT)) return false;
    uint32_t seen = body->graph_version;
    body->graph_version = wk__alias_set_of(body)->graph_version; /* recursive calls find it updated */
    bool known;
    wk_tensor *base = base_of(body, &known);
    bool fine = base ? !wk__body_of(base)->requires_grad || rebuild_grad_fn(view, base) : !known;
    if (!fine) body->graph_version = seen;
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* Properties of a target's base, live or freed, that an in-place call checks. */
typedef struct base_facts {
    bool known;         /* the base lives, or has left its position in the graph */
    bool requires_grad; /* the base requires grad */
    bool is_leaf;       /* and is a leaf */
    bool has_node;      /* the base is the result of a call */
    bool overlaps;      /* some of its elements share memory */
} base_facts;

static base_facts facts_of_base(const wk__body *view)
{
    const wk__alias_set *family = wk__alias_set_of(view);
    wk__alias_lock();
    const wk__body *base = atomic_load_explicit(&family->base, memory_order_relaxed);
    const wk__dead_base *past = family->dead_base;
    const bool requires_grad = base ? base->requires_grad : past && past->requires_grad;
    const base_facts facts = {
        .known = base || past,
        .requires_grad = requires_grad,
        .is_leaf = requires_grad && !(base ? base->node : past->node),
        .has_node = base ? base->node != NULL : past && past->node,
        .overlaps = base && wk__body_overlaps(base),
    };
    wk__alias_unlock();
    return facts;
}

bool wk__view_lost_history(const wk__body *body)
{
    return body->is_view && body->no_grad_view && wk__view_grad_fn_is_stale(body) && facts_of_base(body).requires_grad;
}

static bool any_requires_grad(wk_tensor *const in[], int count)
{
    for (int k = 0; k < count; k++)
        if (in[k] && wk__requires_grad(in[k])) return true;
    return false;
}

/* A base that has gone without a place in the graph is rebuilt by the write itself. */
static bool is_tracked_write_of_no_grad_view(const base_facts *base, wk_tensor *const in[], int inputs)
{
    const wk__body *body = wk__body_of(in[0]);
    return body->is_view && body->no_grad_view && wk__is_float(body->dtype) && base->known &&
           (base->requires_grad || any_requires_grad(in, inputs));
}

/* Returns true if the body is a leaf that requires grad or a view of one. The leaf may be a view itself, of a base that
 * does not require grad; then the view has a node, but its base has none. */
static bool is_in_leaf(const wk__body *body, const base_facts *base)
{
    if (body->requires_grad && !body->node) return true;
    return body->is_view && (base->is_leaf || (body->requires_grad && !base->has_node));
}

bool wk__in_place_allowed(const wk__op *op, wk_site site, wk_tensor *const in[], int inputs)
{
    const wk__body *body = wk__body_of(in[0]);
    const wk_context *context = wk__context();
    const bool tracks = !context->frame.grad_off && !context->frame.composing;
    const base_facts base = body->is_view ? facts_of_base(body) : (base_facts){0};
    if (tracks && is_in_leaf(body, &base)) {
        wk__error_set(site, WK_ERR_STATE,
                      "%s%s: cannot modify a leaf that requires grad (or a view of one) in place; use WK_NO_GRAD or "
                      "the out-of-place form",
                      op->name, wk__in_place_suffix(op->name, true));
        return false;
    }
    if (tracks && is_tracked_write_of_no_grad_view(&base, in, inputs)) {
        wk__error_set(
            site, WK_ERR_STATE,
            "%s%s: a view made under WK_NO_GRAD cannot be written with gradients on, as it is ambiguous whether "
            "backward should see the write; make the view and write it both under WK_NO_GRAD, or both outside",
            op->name, wk__in_place_suffix(op->name, true));
        return false;
    }
    if (!wk__body_overlaps(body) && !base.overlaps) return true;
    wk__error_set(site, WK_ERR_STATE,
                  "%s%s: cannot write in place: elements of the target share memory (expanded or overlapping view); "
                  "wk_clone it first",
                  op->name, wk__in_place_suffix(op->name, true));
    return false;
}

wk_tensor *wk__snapshot_with_grad_fn(wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__edge edge = wk__edge_of(x);
    wk_tensor *snapshot = wk__tensor_snapshot(context, x);
    wk__node_drop(edge.node);
    wk__leaf_drop(edge.leaf);
    wk__frame_end(context, before);
    return snapshot;
}

bool wk__snapshot_operands(wk_tensor *target, wk_tensor *in[], int inputs, wk_tensor *kept[WK__MAX_INPUTS])
{
    const wk__storage *storage = wk__body_of(target)->storage;
    bool fine = true;
    for (int k = 0; k < inputs; k++) {
        kept[k] = NULL;
        if (!fine || !in[k] || wk__body_of(in[k])->storage != storage) continue;
        in[k] = kept[k] = wk__snapshot_with_grad_fn(in[k]);
        fine = kept[k] != NULL;
    }
    if (!fine) wk__release_operands(kept, inputs);
    return fine;
}

void wk__release_operands(wk_tensor *kept[], int inputs)
{
    for (int k = 0; k < inputs; k++)
        if (kept[k]) wk__handle_release(&kept[k]->handle, (wk_site){0});
}

static void free_inner(void *inner)
{
    wk__node_drop(inner);
}

/* Makes base = CopySlices(base, other operands of the op). Operand 0 of the inner node is the view, whose gradient is
 * part of the base's. Consumes the inner node. */
static bool rebase(wk__node *inner, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs)
{
    wk__body *body = wk__body_of(target);
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CRITICAL, NULL, site, WK__GRAD_KEPT)) {
        wk__node_drop(inner);
        return false;
    }
    wk__alias_set *family = wk__alias_set_of(body);
    bool known;
    wk_tensor *base = base_of(body, &known);
    if (!known && rebuild_dead_base(body)) {
        body->no_grad_view = false;
        base = base_of(body, &known);
    }
    wk__node *node = NULL;
    bool fine = false;
    if (base) {
        wk_tensor *all[WK__MAX_INPUTS] = {base};
        for (int k = 1; k < inputs; k++) all[k] = in[k];
        const wk__attr attr = packed(body, wk__body_of(base));
        node = wk__node_make(&wk__op_copy_slices, site, all, inputs, &base, &attr);
        if (node) {
            node->payload = inner;
            node->own_destroy = free_inner;
            node->outputs = 1;
            const grad_fn_ref now = {node, 0, true};
            grad_fn_ref before = now;
            fine = set_base(family, now, &before) ||
                   (set_dead_base(family, wk__body_of(base)) && set_base(family, now, &before));
            family->graph_version += fine;
            const bool set = fine;
            fine = fine && wk__view_refresh_grad_fn(target);
            if (set && !fine) {
                set_base(family, before, &before);
                family->graph_version--;
            }
            wk__node_drop(before.node);
        }
    }
    if (!node) wk__node_drop(inner);
    wk__call_end(&c, NULL, 0);
    return fine;
}

bool wk__node_attach_in_place(const wk__op *op, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs,
                              const wk__attr *attr)
{
    wk__body *body = wk__body_of(target);
    if (!wk__is_float(body->dtype)) return true; /* an in-place op may write floats to a mask, for example */
    wk__node *node = wk__node_make(op, site, in, inputs, &target, attr);
    if (!node) return false;
    node->outputs = 1;
    if (body->is_view) return rebase(node, site, target, in, inputs);
    wk__node_drop(body->node);
    body->node = node;
    body->output = 0;
    body->requires_grad = true;
    wk__alias_set_of(body)->graph_version++;
    return true;
}

/* ---- gradients of as_strided and CopySlices ---------------------------------------------------------------------- */

/* Returns the part of x that the attributes describe; x has the base's strides and offset 0. */
static wk_tensor *part(wk_tensor *x, const wk__attr *attr)
{
    const wk__strided_attributes a = wk__strided_attributes_of(attr);
    return wk__dispatch_as_strided(x, (int)a.ndim, attr->list2, attr->list, a.offset - a.base_offset);
}

void wk__base_extent(const wk__tensor_meta *base, const int64_t *stride, wk__tensor_meta *extent)
{
    *extent = (wk__tensor_meta){.ndim = 1, .dtype = base->dtype, .size = {1}};
    for (int d = 0; d < base->ndim; d++) {
        if (base->size[d] == 0) {
            extent->size[0] = 0;
            return;
        }
        extent->size[0] += (base->size[d] - 1) * stride[d];
    }
}

/* Lays out the gradient of the base like the base, so that the view's strides apply to it. */
static wk_tensor *base_shaped(wk_tensor *grad, const wk__tensor_meta *shape, const wk__attr *attr)
{
    wk__tensor_meta extent;
    wk__base_extent(shape, attr->list3, &extent);
    wk_tensor *zeros = wk__dispatch_zeros(&extent, wk__body_of(grad)->storage->device->id);
    if (!zeros) return NULL;
    wk_tensor *laid_out = wk__dispatch_as_strided(zeros, shape->ndim, shape->size, attr->list3, 0);
    return wk__dispatch_copy_(laid_out, grad) ? laid_out : NULL;
}

/* Gradient of the base: the result's, with the view's part replaced by the inner gradient of operand 0. */
void wk__copy_slices_gradient(wk__grad_ctx *g)
{
    wk__node *inner = g->node->payload;
    wk_tensor *all = base_shaped(g->out[0], &g->node->shape[0], g->attr);
    wk_tensor *slice = all ? wk__dispatch_clone(part(all, g->attr)) : NULL;
    wk_tensor *in[WK__MAX_INPUTS] = {0};
    wk__grad_ctx of_inner = {.node = inner, .attr = inner->attr, .out = (wk_tensor *const[]){slice}, .in = in};
    if (!slice) return;
    inner->op->gradient(&of_inner);
    for (int k = 1; k < g->node->inputs; k++) g->in[k] = in[k];
    wk_tensor *target = part(all, g->attr);
    wk_tensor *fresh = in[0] ? wk__dispatch_unbroadcast(in[0], &inner->shape[0]) : NULL;
    if (!fresh) {
        const wk__tensor_meta shape = inner->shape[0];
        fresh = wk__dispatch_zeros(&shape, wk__body_of(slice)->storage->device->id);
    }
    if (wk__dispatch_copy_(target, fresh)) g->in[0] = all;
}

/* Views and in-place calls; see history.h. */
#include "history.h"
#include "../base/alloc.h"
#include "through.h"
#include <string.h>

extern const wk__op wk__op_as_strided, wk__op_copy_slices;

/* ---- the base of a storage --------------------------------------------------------------------------------------- */

void wk__history_forget(wk__base *past)
{
    wk__node_drop(past->node);
    wk__free(past);
}

void wk__history_bury(wk__body *body)
{
    wk__base *past = wk__alloc_zero(1, sizeof *past);
    if (!past) return; /* views then see no history: their in-place gradients stop here */
    past->node = body->node;
    wk__node_hold(past->node);
    past->output = body->output;
    past->offset = body->offset;
    past->ndim = body->ndim;
    past->dtype = body->dtype;
    memcpy(past->shape, body->shape, sizeof past->shape);
    memcpy(past->stride, body->stride, sizeof past->stride);
    body->storage->past = past;
}

/* The base as a tensor of the current scope, whether its handle lives or not. NULL when neither it nor its past is known. */
static wk_tensor *base_of(wk__storage *storage)
{
    wk_context *context = wk__context();
    wk__body past = {.storage = storage, .requires_grad = true};
    const wk__body *body = storage->base;
    if (!body && storage->past) {
        const wk__base *from = storage->past;
        past.node = from->node;
        past.output = from->output;
        past.offset = from->offset;
        past.ndim = from->ndim;
        past.dtype = from->dtype;
        memcpy(past.shape, from->shape, sizeof past.shape);
        memcpy(past.stride, from->stride, sizeof past.stride);
        body = &past;
    }
    return body ? wk__tensor_like(context, body) : NULL;
}

/* Of which node the base is the result. References go along with the pointers. */
typedef struct origin {
    wk__node *node;
    int16_t output;
    bool requires_grad;
} origin;

/* From now on the base, which is known, comes from `now`. Where it came from before. */
static origin set_base(wk__storage *storage, origin now)
{
    wk__body *base = storage->base;
    wk__base *past = storage->past;
    origin before =
        base ? (origin){base->node, base->output, base->requires_grad} : (origin){past->node, past->output, true};
    if (base) {
        base->node = now.node;
        base->output = now.output;
        base->requires_grad = now.requires_grad;
    } else {
        past->node = now.node;
        past->output = now.output;
    }
    return before;
}

/* ---- geometry as attributes -------------------------------------------------------------------------------------- */

static void pack(wk__attr *attr, const wk__body *body, const wk__body *base)
{
    memset(attr, 0, sizeof *attr);
    attr->i[0] = body->offset;
    attr->i[1] = body->ndim;
    memcpy(attr->list, body->stride, sizeof attr->list);
    memcpy(attr->list2, body->shape, sizeof attr->list2);
    attr->i[2] = base->offset;
    memcpy(attr->list3, base->stride, sizeof attr->list3);
}

/* ---- refreshing views -------------------------------------------------------------------------------------------- */

static bool remake(wk_tensor *view, wk_tensor *base)
{
    wk__body *body = wk__body_of(view);
    wk__attr attr;
    pack(&attr, body, wk__body_of(base));
    wk__node *node = wk__node_make(&wk__op_as_strided, (wk_site){0}, &base, 1, view, &attr);
    if (!node) return false;
    node->outputs = 1;
    wk__node_drop(body->node);
    body->node = node;
    body->output = 0;
    body->requires_grad = true;
    return true;
}

bool wk__history_refresh(wk_tensor *view)
{
    wk__body *body = wk__body_of(view);
    wk__storage *storage = body->storage;
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, (wk_site){0});
    if (!guard) return false;
    uint64_t token = guard->token;
    uint32_t seen = body->seen;
    body->seen = storage->history; /* asked again meanwhile, it is up to date */
    bool known = storage->base || storage->past;
    wk_tensor *base = base_of(storage);
    bool fine = base ? !wk__body_of(base)->requires_grad || remake(view, base) : !known;
    if (!fine) body->seen = seen;
    wk__guard_close(token);
    return fine;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

bool wk__in_place_allowed(const wk__op *op, wk_site site, const wk_tensor *target)
{
    const wk__body *body = wk__body_of(target);
    const wk__body *base = body->apart ? NULL : body->storage->base;
    const wk_context *context = wk__context();
    if (!context->frame.grad_off && !context->frame.composing &&
        ((body->requires_grad && !body->node) || (base && base->requires_grad && !base->node))) {
        wk__error_set(site, WK_ERR_STATE,
                      "%s%s: a leaf that requires grad (or a view of one) cannot be changed in place; do it under "
                      "WK_NO_GRAD, or use the form without _",
                      op->name, wk__underscore(op->name, true));
        return false;
    }
    if (!wk__body_overlaps(body)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s%s: some elements of the target share memory (it was expanded or unfolded); wk_clone it first",
                  op->name, wk__underscore(op->name, true));
    return false;
}

bool wk__operands_before(wk_tensor *target, wk_tensor *in[], int inputs, wk_tensor *kept[WK__MAX_INPUTS])
{
    const wk__storage *storage = wk__body_of(target)->storage;
    bool fine = true;
    for (int k = 0; k < inputs; k++) {
        kept[k] = NULL;
        if (!fine || !in[k] || wk__body_of(in[k])->storage != storage) continue;
        wk__edge edge = wk__edge_of(in[k]); /* its place in the graph is up to date, or made, before it is shared */
        in[k] = kept[k] = wk__tensor_snapshot(wk__context(), in[k]);
        wk__node_drop(edge.node);
        wk__leaf_drop(edge.leaf);
        fine = kept[k] != NULL;
    }
    if (!fine) wk__operands_after(kept, inputs);
    return fine;
}

void wk__operands_after(wk_tensor *kept[], int inputs)
{
    for (int k = 0; k < inputs; k++)
        if (kept[k]) wk__handle_release(&kept[k]->handle, (wk_site){0});
}

static void free_inner(void *inner)
{
    wk__node_drop(inner);
}

/* base = CopySlices(base, what the op read besides); the inner node's operand 0 is the view, whose gradient is a part of the
 * base's. */
static bool rebase(wk__node *inner, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs)
{
    wk__body *body = wk__body_of(target);
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, site);
    if (!guard) return false;
    uint64_t token = guard->token;
    wk__storage *storage = body->storage;
    wk_tensor *base = base_of(storage);
    wk__node *node = NULL;
    bool fine = false;
    if (base) {
        wk_tensor *all[WK__MAX_INPUTS] = {base};
        for (int k = 1; k < inputs; k++) all[k] = in[k];
        wk__attr attr;
        pack(&attr, body, wk__body_of(base));
        node = wk__node_make(&wk__op_copy_slices, site, all, inputs, base, &attr);
        if (node) {
            node->own = inner;
            node->own_destroy = free_inner;
            node->outputs = 1;
            origin before = set_base(storage, (origin){node, 0, true});
            storage->history++;
            fine = wk__history_refresh(target);
            if (!fine) before = set_base(storage, before);
            storage->history -= !fine;
            wk__node_drop(before.node);
        }
    }
    if (!node) wk__node_drop(inner);
    wk__guard_close(token);
    return fine;
}

bool wk__node_attach_in_place(const wk__op *op, wk_site site, wk_tensor *target, wk_tensor *const in[], int inputs,
                              const wk__attr *attr)
{
    wk__body *body = wk__body_of(target);
    wk__node *node = wk__node_make(op, site, in, inputs, target, attr);
    if (!node) return false;
    node->outputs = 1;
    if (body->is_view && body->apart) {
        wk__error_set(
            site, WK_ERR_STATE,
            "%s%s: a view of a detached tensor has no base that gradients could flow through; wk_clone what was "
            "detached first",
            op->name, wk__underscore(op->name, true));
        wk__node_drop(node);
        return false;
    }
    if (body->is_view && body->storage->base != body) return rebase(node, site, target, in, inputs);
    wk__node_drop(body->node);
    body->node = node;
    body->output = 0;
    body->requires_grad = true;
    body->storage->history++;
    body->seen = body->storage->history;
    return true;
}

/* ---- the two nodes ----------------------------------------------------------------------------------------------- */

/* A part of x as the attributes say, x being dense in the base's layout. The base's own offset is 0 in its gradient. */
static wk_tensor *part(wk_tensor *x, const wk__attr *attr)
{
    return wk__through_as_strided(x, (int)attr->i[1], attr->list2, attr->list, attr->i[0] - attr->i[2]);
}

/* Gradients of the base lie dense, so the view's strides must be those in a dense base. A base that was not dense row-major
 * (an output that kept a permuted layout) is given its own strides. */
static wk_tensor *base_shaped(wk_tensor *grad, const wk__shape *shape, const wk__attr *attr)
{
    wk__device *device = wk__body_of(grad)->storage->device;
    wk_tensor *zeros = wk__through_zeros(shape, device->id);
    if (!zeros) return NULL;
    wk_tensor *laid_out = wk__through_as_strided(zeros, shape->ndim, shape->size, attr->list3, 0);
    return wk__through_copy_(laid_out, grad) ? laid_out : NULL;
}

/* grad of base: grad of the result, with the view's part replaced by the inner gradient of operand 0. */
void wk__copy_slices_gradient(wk__gradient *g)
{
    wk__node *inner = g->node->own;
    wk_tensor *all = base_shaped(g->out[0], &g->node->shape[0], g->attr);
    wk_tensor *slice = all ? wk__through_clone(part(all, g->attr)) : NULL;
    wk_tensor *in[WK__MAX_INPUTS] = {0};
    wk__gradient of_inner = {.node = inner, .attr = inner->attr, .out = (wk_tensor *const[]){slice}, .in = in};
    if (!slice) return;
    inner->op->gradient(&of_inner);
    for (int k = 1; k < g->node->inputs; k++) g->in[k] = in[k];
    wk_tensor *target = part(all, g->attr);
    wk_tensor *fresh = in[0] ? wk__through_fit(in[0], &inner->shape[0]) : NULL;
    if (!fresh) {
        const wk__shape shape = inner->shape[0];
        fresh = wk__through_zeros(&shape, wk__body_of(slice)->storage->device->id);
    }
    if (wk__through_copy_(target, fresh)) g->in[0] = all;
}

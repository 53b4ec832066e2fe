/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise calls: promotion, broadcasting, layout, one record, one node. */
#include "call.h"
#include <string.h>

typedef struct plan {
    const wk__op *op;
    wk_site site;
    wk_context *context;
    wk__device *device;
    const wk__arg *args;
    int count, tensors;
    wk_tensor *tensor[WK__MAX_INPUTS];    /* the tensors among the operands (copies, of those that were elsewhere), */
    const wk__body *body[WK__MAX_INPUTS]; /* their bodies, */
    int place[WK__MAX_INPUTS];            /* and which operand each is */
    bool moved;                           /* there may be copies */
    wk_dtype compute, result;
    int ndim;
    int64_t bytes;        /* of a dense result */
    const int64_t *shape; /* of the result: an operand's, or `broadcast` */
    bool uniform;         /* all operands are dense tensors of one shape and dtype: most calls */
    int64_t broadcast[WK__MAX_DIMS];
} plan;

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool wrong_dtype(const plan *p, wk_dtype dtype)
{
    wk__op_error(p->op, p->site, WK_ERR_DTYPE, p->tensor,
                 "%s operands cannot be taken; convert them with wk_to_dtype(x, %s)%s", wk_dtype_str(dtype),
                 p->op->domain & WK__INTS ? "WK_I64" : "WK_F32",
                 p->op->domain & WK__INTS && dtype == WK_BOOL
                     ? "; of truths there are wk_logical_not, wk_logical_and, wk_logical_or and wk_logical_xor"
                     : "");
    return false;
}

/* WHERE's condition and the like do not take part: an operand of bool where op->conditions says so. */
static bool choose_dtypes(plan *p)
{
    const wk__body *first = p->body[0];
    wk_dtype dtype = first->dtype;
    bool simple = p->tensors == p->count && !p->op->conditions;
    for (int k = 1; k < p->tensors && simple; k++) {
        const wk__body *body = p->body[k];
        simple = body->dtype == dtype && (body->ndim > 0) == (first->ndim > 0);
    }
    if (!simple) {
        wk__promotion promotion = {{0}};
        for (int k = 0, next = 0; k < p->count; k++) {
            const wk__arg *arg = &p->args[k];
            const wk__body *body = arg->is_number ? NULL : p->body[next++];
            if (p->op->conditions >> k & 1) continue;
            if (body)
                wk__promotion_add(&promotion, body->dtype, body->ndim ? WK__WEIGHT_TENSOR : WK__WEIGHT_SCALAR);
            else
                wk__promotion_add(&promotion, arg->truth ? WK_BOOL : arg->whole ? WK_I64 : WK_F64, WK__WEIGHT_NUMBER);
        }
        dtype = wk__promotion_result(&promotion);
    }
    if (p->op->result == WK__RESULT_FLOAT && !wk__is_float(dtype)) dtype = WK_F32;
    if (p->op->domain && !(p->op->domain >> dtype & 1)) return wrong_dtype(p, dtype);
    p->compute = dtype;
    p->result = p->op->result == WK__RESULT_BOOL ? WK_BOOL : dtype;
    return true;
}

static bool misfit(const plan *p, const wk__body *body)
{
    int d = p->ndim - 1, e = body->ndim - 1;
    while (d >= 0 && e >= 0 && (p->shape[d] == body->shape[e] || p->shape[d] == 1 || body->shape[e] == 1)) d--, e--;
    const char *what = p->tensors == 2 ? "$a and $b" : p->tensors == 3 ? "$a, $b and $c" : "the operands";
    wk__op_error(
        p->op, p->site, WK_ERR_SHAPE, p->tensor,
        "shapes do not broadcast: %s (size %lld against %lld, %d from the right). Sizes must be equal or 1: see "
        "wk_reshape, wk_unsqueeze, wk_transpose",
        what, (long long)p->shape[d], (long long)body->shape[e], p->ndim - d);
    return false;
}

/* Nothing to promote, to broadcast or to lay out. */
static bool is_uniform(plan *p)
{
    const wk__body *first = p->body[0];
    const wk__op *op = p->op;
    if (!first->dense || p->tensors != p->count || op->conditions || (op->domain && !(op->domain >> first->dtype & 1)))
        return false;
    if (op->result == WK__RESULT_FLOAT && !wk__is_float(first->dtype)) return false;
    for (int k = 1; k < p->tensors; k++) {
        const wk__body *body = p->body[k];
        if (!body->dense || body->dtype != first->dtype ||
            !wk__same_shape(body->ndim, body->shape, first->ndim, first->shape))
            return false;
    }
    p->compute = first->dtype;
    p->result = op->result == WK__RESULT_BOOL ? WK_BOOL : (wk_dtype)first->dtype;
    p->ndim = first->ndim;
    p->shape = first->shape;
    p->bytes = wk__numel(first->ndim, first->shape) * wk__dtypes[p->result].size;
    return true;
}

static bool broadcast_all(plan *p)
{
    const wk__body *first = p->body[0];
    p->ndim = first->ndim;
    p->shape = p->broadcast;
    memcpy(p->broadcast, first->shape, sizeof *p->shape * first->ndim);
    for (int k = 1; k < p->tensors; k++) {
        const wk__body *body = p->body[k];
        if (wk__same_shape(body->ndim, body->shape, p->ndim, p->shape)) continue;
        int64_t shape[WK__MAX_DIMS];
        int ndim;
        if (!wk__broadcast(p->ndim, p->shape, body->ndim, body->shape, &ndim, shape)) return misfit(p, body);
        p->ndim = ndim;
        memcpy(p->broadcast, shape, sizeof *shape * (size_t)ndim);
    }
    /* two small operands can broadcast to something that no memory holds */
    if (wk__dense_bytes(p->ndim, p->shape, p->result, &p->bytes)) return true;
    wk__op_error(p->op, p->site, WK_ERR_SHAPE, p->tensor, "the result would have more than 2^63 bytes");
    return false;
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Where dimension d stands among those before it, outermost first; one of size 1 has no say, its stride means
 * nothing. */
static int place_of(const wk__body *model, const int order[], int d)
{
    int place = d;
    for (int k = d; k > 0 && model->shape[d] != 1; k--) {
        int before = order[k - 1];
        if (model->shape[before] == 1) continue;
        if (model->stride[before] >= model->stride[d]) break;
        place = k - 1;
    }
    return place;
}

void wk__layout_like(const wk__body *model, const int64_t *shape, int64_t *stride)
{
    int order[WK__MAX_DIMS];
    for (int d = 0; d < model->ndim; d++) {
        int place = place_of(model, order, d);
        memmove(&order[place + 1], &order[place], sizeof *order * (size_t)(d - place));
        order[place] = d;
    }
    int64_t step = 1;
    for (int k = model->ndim; k-- > 0;) {
        stride[order[k]] = step;
        step *= shape[order[k]] > 0 ? shape[order[k]] : 1;
    }
}

/* The result lies as its largest operand does (SEMANTICS 11): dimensions in the order of that one's strides, dense. Of
 * several as large the first counts; one with fewer dimensions than the result has no say. */
static bool choose_layout(const plan *p, int64_t *stride)
{
    const wk__body *model = NULL;
    int64_t most = -1;
    for (int k = 0; k < p->tensors; k++) {
        const wk__body *body = p->body[k];
        int64_t elements = wk__body_numel(body);
        if (body->ndim != p->ndim || elements <= most) continue;
        model = body;
        most = elements;
    }
    if (!model || wk__body_contiguous(model)) return false; /* dense already */
    wk__layout_like(model, p->shape, stride);
    return true;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static void record_operands(const plan *p, wk__record *r)
{
    r->compute = (uint8_t)p->compute;
    if (p->uniform) {
        for (int k = 0; k < p->count; k++) wk__record_ref(r, 1 + k, p->body[k], p->body[k]->stride);
        return;
    }
    for (int k = 0, next = 0; k < p->count; k++) {
        const wk__arg *arg = &p->args[k];
        if (arg->is_number) {
            wk__record_imm(r, 1 + k, arg->whole ? WK_I64 : WK_F64, arg->number, WK__REF_IMM);
            continue;
        }
        int64_t stride[WK__MAX_DIMS];
        const wk__body *body = p->body[next++];
        wk__broadcast_strides(body, p->ndim, p->shape, stride);
        wk__record_ref(r, 1 + k, body, stride);
        if (p->op->conditions >> k & 1) r->ref[1 + k].flags = WK__REF_AS_IS;
    }
}

/* The operands as the node sees them: NULL for numbers. */
static void operands_of(const plan *p, wk_tensor *in[WK__MAX_INPUTS])
{
    memset(in, 0, sizeof *in * WK__MAX_INPUTS);
    for (int k = 0; k < p->tensors; k++) in[p->place[k]] = p->tensor[k];
}

/* Numbers among the operands, for the gradient. */
static void keep_numbers(const wk__arg *args, int count, wk__attr *attr)
{
    for (int k = 0; k < count && k < 2; k++)
        if (args[k].is_number) wk__number_keep(attr, k, args[k]);
}

/* The node's attributes: those of the op's file or else the numbers, and the name of a call with numbers. */
static const wk__attr *attributes(const plan *p, const wk__attr *given, wk__attr *own)
{
    if (p->tensors == p->count) return given;
    if (given)
        *own = *given;
    else
        keep_numbers(p->args, p->count, own);
    for (int k = 0; k < p->count; k++)
        if (p->args[k].is_number && p->op->number_node[k]) own->node = p->op->number_node[k];
    return own;
}

/* Everything that the program can get wrong, and what the record will be like. `meeting` of numbers is said here. */
static bool prepare(plan *p, const wk__op *op, wk_site site, const wk__arg *args, int count, wk__meeting meeting)
{
    p->op = op;
    p->site = site;
    p->context = wk__context();
    p->args = args;
    p->count = count;
    p->tensors = 0;
    p->moved = false;
    for (int k = 0; k < count; k++) {
        if (args[k].is_number) continue;
        p->place[p->tensors] = k;
        p->tensor[p->tensors++] = args[k].tensor;
    }
    if (p->tensors == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: one operand at least must be a tensor", op->name);
        return false;
    }
    /* a composed op hangs its node on operands as they came: those must be together */
    if (!p->context->frame.composing) meeting |= WK__MEET_NUMBERS;
    p->device = wk__ready(p->context, op, site, p->tensor, p->tensors, meeting);
    p->moved = !p->device; /* some may be, where that failed in their midst */
    if (!p->device) return false;
    for (int k = 0; k < p->tensors; k++) {
        p->body[k] = p->tensor[k]->handle.body;
        p->moved = p->moved || p->tensor[k] != args[p->place[k]].tensor;
    }
    p->uniform = is_uniform(p);
    return p->uniform || (choose_dtypes(p) && broadcast_all(p));
}

/* Copies of operands that were elsewhere: what needs them holds them. */
static void let_go(const plan *p)
{
    for (int k = 0; k < p->tensors; k++)
        if (p->tensor[k] != p->args[p->place[k]].tensor) wk__handle_release(&p->tensor[k]->handle, p->site);
}

static wk_tensor *recorded(const plan *p, const wk__attr *attr)
{
    const wk__op *op = p->op;
    const int64_t *stride = p->uniform ? p->body[0]->stride : NULL;
    wk_tensor *out =
        wk__tensor_pending_of(p->context, p->device, p->result, p->ndim, p->shape, stride, p->bytes, p->site, op->name);
    if (!out) return NULL;
    wk__body *body = out->handle.body;
    if (!p->uniform && choose_layout(p, body->stride)) body->dense = false;
    wk__record *r = wk__record_begin(p->context, WK__PROGRAM, op, p->device, p->site, p->ndim, p->shape, 1, p->count);
    if (!r) return wk__abandon(out);
    wk__record_ref(r, 0, body, body->stride);
    record_operands(p, r);
    wk__record_commit(p->context, r);
    if (op->node && wk__wants_node(p->context, p->tensor, p->tensors)) {
        wk_tensor *in[WK__MAX_INPUTS];
        wk__attr own = {.count = 0};
        operands_of(p, in);
        if (!wk__node_attach(op, p->site, in, p->count, &out, 1, attributes(p, attr, &own))) return NULL;
    }
    return out;
}

wk_tensor *wk__elementwise(const wk__op *op, wk_site site, const wk__arg *args, int count, const wk__attr *attr)
{
    plan p;
    wk_tensor *out = prepare(&p, op, site, args, count, WK__MEET_ANYWHERE) ? recorded(&p, attr) : NULL;
    if (p.moved) let_go(&p);
    return out;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static bool fits_target(const plan *p, const wk_tensor *target)
{
    const wk__body *body = wk__body_of(target);
    if (!wk__same_shape(body->ndim, body->shape, p->ndim, p->shape)) {
        wk__op_error(p->op, p->site, WK_ERR_SHAPE, p->tensor,
                     p->tensors > 1 ? "the result does not fit the target $a: $b has more or larger dimensions"
                                    : "the result does not fit the target $a");
        return false;
    }
    bool loses = wk__is_float(p->result) && !wk__is_float(body->dtype);
    loses = loses || (p->result != WK_BOOL && body->dtype == WK_BOOL);
    if (!loses) return true;
    wk__op_error(p->op, p->site, WK_ERR_DTYPE, p->tensor,
                 "a result of dtype %s cannot be stored in $a; use the form that is not in place",
                 wk_dtype_str(p->result));
    return false;
}

/* A result that no gradient flows through may not take the place of one that some flows through. */
static bool keeps_history(const plan *p, wk_tensor *target)
{
    if (p->op->node || p->context->frame.grad_off || p->context->frame.composing || !wk__has_gradient(target))
        return true;
    wk__op_error(p->op, p->site, WK_ERR_STATE, p->tensor,
                 "it has no gradient, and $a requires one: use the form that is not in place, or wk_detach");
    return false;
}

/* Does the view cover every byte of its storage? Then nothing of the old value remains. */
static bool covers(const wk__body *body)
{
    return wk__body_numel(body) * wk__dtypes[body->dtype].size == body->storage->bytes;
}

bool wk__target_ready(wk_context *context, wk_tensor *target, wk_tensor *const in[], int count, wk_site site)
{
    const wk__value *value = wk__body_of(target)->storage->value;
    if (__builtin_expect(!value->exposed, 1)) return true;
    if (value->state == WK__STORED && wk__count_get(&value->refs) == 1) return true;
    wk__flush_all();
    for (int k = 0; k < count; k++) /* the flush may have parked it */
        if (in[k] && !wk__touch(context, in[k], site)) return false;
    return true;
}

/* Made by the composed op or gradient that runs: nobody knows its old numbers, so that it fails where the target of a
 * program's call would keep them. */
static bool is_inner(const wk_context *context, const wk_tensor *target)
{
    return context->frame.inner && target->handle.scope >= context->frame.inner;
}

static void record_over(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value, bool guarded)
{
    wk__body *body = wk__body_of(target);
    wk__storage *storage = body->storage;
    r->prior = storage->value;
    r->partial = wk__record_family(r)->adds_to_target || !covers(body);
    r->guarded = guarded && !is_inner(context, target);
    r->ref[0] = (wk__ref){.value = value, .offset = body->offset, .dtype = body->dtype};
    memcpy(wk__record_stride(r, 0), body->stride, sizeof *body->stride * body->ndim);
    /* The storage holds the new value before the commit: that may flush, and computes only what somebody holds. */
    wk__value *prior = storage->value;
    value->exposed = prior->exposed;
    wk__value_hold(prior);
    wk__storage_assign(storage, value);
    wk__record_commit(context, r);
    wk__value_drop(prior);
}

wk_tensor *wk__record_in_place(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value)
{
    record_over(context, r, target, value, true);
    wk__storage_changed(wk__body_of(target)->storage, r->name, r->site);
    return target;
}

void wk__record_part(wk_context *context, wk__record *r, wk_tensor *part, wk__value *value)
{
    record_over(context, r, part, value, false);
}

static bool overwrite(const plan *p, wk_tensor *target)
{
    wk__value *value = wk__value_new(p->context, p->device, wk__body_of(target)->storage->bytes, p->site);
    if (!value) return false;
    wk__record *r =
        wk__record_begin(p->context, WK__PROGRAM, p->op, p->device, p->site, p->ndim, p->shape, 1, p->count);
    if (!r) {
        wk__value_free(value);
        return false;
    }
    record_operands(p, r);
    wk__record_in_place(p->context, r, target, value);
    return true;
}

static wk_tensor *in_place(const plan *p, const wk__attr *attr)
{
    wk_tensor *target = p->tensor[0];
    if (!fits_target(p, target) || !wk__in_place_allowed(p->op, p->site, target) || !keeps_history(p, target))
        return NULL;
    if (!wk__target_ready(p->context, target, p->tensor, p->tensors, p->site)) return NULL;
    wk_tensor *in[WK__MAX_INPUTS];
    operands_of(p, in);
    wk__attr own = {.count = 0};
    if (!p->op->node || !wk__wants_node(p->context, p->tensor, p->tensors)) return overwrite(p, target) ? target : NULL;
    wk_tensor *kept[WK__MAX_INPUTS];
    if (!wk__operands_before(target, in, p->count, kept)) return NULL;
    wk__before before;
    wk__before_take(&before, target);
    bool fine = overwrite(p, target) &&
                wk__node_attach_in_place(p->op, p->site, target, in, p->count, attributes(p, attr, &own));
    wk__before_end(&before, fine);
    wk__operands_after(kept, p->count);
    return fine ? target : NULL;
}

wk_tensor *wk__elementwise_(const wk__op *op, wk_site site, const wk__arg *args, int count, const wk__attr *attr)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__CALL_IN_PLACE, op->name, site);
    plan p;
    wk_tensor *out = prepare(&p, op, site, args, count, WK__MEET_IN_PLACE) ? in_place(&p, attr) : NULL;
    if (p.moved) let_go(&p);
    wk__frame_end(context, before);
    return out;
}

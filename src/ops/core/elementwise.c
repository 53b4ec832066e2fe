/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise calls: type promotion, broadcasting, layout, one record, one node. Out of place and in place. */
#include "call.h"
#include <string.h>

/* One call: its arguments, the tensors among them, and the properties of its record. On the stack. */
typedef struct elementwise_call {
    const wk__op *op;
    wk_site site;
    wk_context *context;
    wk__device *device;
    const wk__arg *args;
    int count, tensors;
    wk_tensor *tensor[WK__MAX_INPUTS];    /* the tensors among the operands; copies for those on another device */
    const wk__body *body[WK__MAX_INPUTS]; /* bodies of tensor[] */
    int operand_index[WK__MAX_INPUTS];    /* operand index of tensor[k] */
    bool has_device_copies;               /* tensor[] may contain copies */
    wk_dtype compute, result;
    int ndim;
    int64_t bytes;        /* of a dense result */
    const int64_t *shape; /* of the result: an operand's shape, or `broadcast` */
    bool uniform;         /* all operands are dense tensors of one shape and dtype, as in most calls */
    int64_t broadcast[WK__MAX_DIMS];
} elementwise_call;

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool report_dtype(const elementwise_call *p, wk_dtype dtype)
{
    wk__op_error(p->op, p->site, WK_ERR_DTYPE, p->tensor,
                 "dtype %s is not supported; convert the operands with wk_to_dtype(x, %s)%s", wk_dtype_str(dtype),
                 p->op->dtypes & WK__INTS ? "WK_I64" : "WK_F32",
                 p->op->dtypes & WK__INTS && dtype == WK_BOOL
                     ? "; for bool use wk_logical_not, wk_logical_and, wk_logical_or or wk_logical_xor"
                     : "");
    return false;
}

/* Chooses the compute and result dtypes by promotion, ignoring op->own_dtype_operands, such as WHERE's condition. */
static bool choose_dtypes(elementwise_call *p)
{
    const wk__body *first = p->body[0];
    wk_dtype dtype = first->dtype;
    bool simple = p->tensors == p->count && !p->op->own_dtype_operands;
    for (int k = 1; k < p->tensors && simple; k++) {
        const wk__body *body = p->body[k];
        simple = body->dtype == dtype && (body->ndim > 0) == (first->ndim > 0);
    }
    if (!simple) {
        wk__promotion promotion = {{0}};
        for (int k = 0, next = 0; k < p->count; k++) {
            const wk__arg *arg = &p->args[k];
            const wk__body *body = arg->is_number ? NULL : p->body[next++];
            if (p->op->own_dtype_operands >> k & 1) continue;
            if (body)
                wk__promotion_add(&promotion, body->dtype, body->ndim ? WK__PRIORITY_TENSOR : WK__PRIORITY_SCALAR);
            else
                wk__promotion_add(&promotion,
                                  arg->is_bool  ? WK_BOOL
                                  : arg->is_int ? WK_I64
                                                : WK_F64,
                                  WK__PRIORITY_NUMBER);
        }
        dtype = wk__promotion_result(&promotion);
    }
    if (p->op->result == WK__RESULT_FLOAT && !wk__is_float(dtype)) dtype = WK_F32;
    if (p->op->dtypes && !(p->op->dtypes >> dtype & 1)) return report_dtype(p, dtype);
    p->compute = dtype;
    p->result = p->op->result == WK__RESULT_BOOL ? WK_BOOL : dtype;
    return true;
}

static bool report_shape_mismatch(const elementwise_call *p, const wk__body *body)
{
    int d = p->ndim - 1, e = body->ndim - 1;
    while (d >= 0 && e >= 0 && (p->shape[d] == body->shape[e] || p->shape[d] == 1 || body->shape[e] == 1)) d--, e--;
    const char *what = p->tensors == 2 ? "$a and $b" : p->tensors == 3 ? "$a, $b and $c" : "the operands";
    wk__op_error(p->op, p->site, WK_ERR_SHAPE, p->tensor,
                 "shapes do not broadcast: %s (sizes %lld and %lld in dimension -%d); sizes must be equal or 1: see "
                 "wk_reshape, wk_unsqueeze, wk_transpose",
                 what, (long long)p->shape[d], (long long)body->shape[e], p->ndim - d);
    return false;
}

/* Returns true if there is nothing to promote, broadcast or lay out. */
static bool is_uniform(elementwise_call *p)
{
    const wk__body *first = p->body[0];
    const wk__op *op = p->op;
    if (!first->known_dense || p->tensors != p->count || op->own_dtype_operands ||
        (op->dtypes && !(op->dtypes >> first->dtype & 1)))
        return false;
    if (op->result == WK__RESULT_FLOAT && !wk__is_float(first->dtype)) return false;
    for (int k = 1; k < p->tensors; k++) {
        const wk__body *body = p->body[k];
        if (!body->known_dense || body->dtype != first->dtype ||
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

static bool broadcast_all(elementwise_call *p)
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
        if (!wk__broadcast(p->ndim, p->shape, body->ndim, body->shape, &ndim, shape))
            return report_shape_mismatch(p, body);
        p->ndim = ndim;
        memcpy(p->broadcast, shape, sizeof *shape * (size_t)ndim);
    }
    /* two small operands can broadcast to a size that does not fit into memory */
    if (wk__dense_bytes(p->ndim, p->shape, p->result, &p->bytes)) return true;
    wk__op_error(p->op, p->site, WK_ERR_SHAPE, p->tensor, "the result exceeds 2^63 bytes");
    return false;
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Returns the index of dimension d when inserted by stride into order[0..d-1], outermost first. Dimensions of size 1
 * are skipped, because their strides are meaningless. */
static int stride_rank(const wk__body *model, const int order[], int d)
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
        int place = stride_rank(model, order, d);
        memmove(&order[place + 1], &order[place], sizeof *order * (size_t)(d - place));
        order[place] = d;
    }
    int64_t step = 1;
    for (int k = model->ndim; k-- > 0;) {
        stride[order[k]] = step;
        step *= shape[order[k]] > 0 ? shape[order[k]] : 1;
    }
}

/* Lays out the result like its largest operand (SEMANTICS 11): dense, with the dimensions in the order of its strides.
 * Among equally large operands the first counts; operands with fewer dimensions than the result are ignored. Returns
 * false if the result is row-major. */
static bool choose_layout(const elementwise_call *p, int64_t *stride)
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
    if (!model || wk__body_contiguous(model)) return false; /* row-major already */
    wk__layout_like(model, p->shape, stride);
    return true;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Fills in the record's operands 1..count: broadcast tensors and immediates. */
static void record_operands(const elementwise_call *p, wk__record *r)
{
    r->compute = (uint8_t)p->compute;
    if (p->uniform) {
        for (int k = 0; k < p->count; k++) wk__record_ref(r, 1 + k, p->body[k], p->body[k]->stride);
        return;
    }
    for (int k = 0, next = 0; k < p->count; k++) {
        const wk__arg *arg = &p->args[k];
        if (arg->is_number) {
            wk__record_imm(r, 1 + k, arg->is_int ? WK_I64 : WK_F64, arg->number, WK__REF_IMM);
            continue;
        }
        int64_t stride[WK__MAX_DIMS];
        const wk__body *body = p->body[next++];
        wk__broadcast_strides(body, p->ndim, p->shape, stride);
        wk__record_ref(r, 1 + k, body, stride);
        if (p->op->own_dtype_operands >> k & 1) r->ref[1 + k].flags = WK__REF_OWN_CLASS;
    }
}

/* Fills in[] with the operands of the node; NULL for scalars. */
static void fill_node_operands(const elementwise_call *p, wk_tensor *in[WK__MAX_INPUTS])
{
    memset(in, 0, sizeof *in * WK__MAX_INPUTS);
    for (int k = 0; k < p->tensors; k++) in[p->operand_index[k]] = p->tensor[k];
}

/* Stores scalar operands in the attributes, for the gradient. */
static void save_scalars(const wk__arg *args, int count, wk__attr *attr)
{
    for (int k = 0; k < count && k < 2; k++)
        if (args[k].is_number) wk__attr_set_scalar(attr, k, args[k]);
}

/* Returns the node's attributes: the op's, or else the scalars; with the grad_fn name of a call with scalars. */
static const wk__attr *node_attributes(const elementwise_call *p, const wk__attr *given, wk__attr *own)
{
    if (p->tensors == p->count) return given;
    if (given)
        *own = *given;
    else
        save_scalars(p->args, p->count, own);
    for (int k = 0; k < p->count; k++)
        if (p->args[k].is_number && p->op->grad_fn_name_scalar[k]) own->grad_fn_name = p->op->grad_fn_name_scalar[k];
    return own;
}

/* Checks the call and chooses dtypes and shape of its record. Also allows copies of CPU scalars. */
static bool prepare(elementwise_call *p, const wk__op *op, wk_site site, const wk__arg *args, int count,
                    wk__colocation meeting)
{
    p->op = op;
    p->site = site;
    p->context = wk__context();
    p->args = args;
    p->count = count;
    p->tensors = 0;
    p->has_device_copies = false;
    for (int k = 0; k < count; k++) {
        if (args[k].is_number) continue;
        p->operand_index[p->tensors] = k;
        p->tensor[p->tensors++] = args[k].tensor;
    }
    if (p->tensors == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: at least one operand must be a tensor", op->name);
        return false;
    }
    /* operands of a composite op must be on one device, because its node refers to them as passed */
    if (!p->context->frame.composing) meeting |= WK__COLOCATE_CPU_SCALARS;
    p->device = wk__prepare_operands(p->context, op, site, p->tensor, p->tensors, meeting);
    p->has_device_copies = !p->device; /* some may have been copied before the failure */
    if (!p->device) return false;
    for (int k = 0; k < p->tensors; k++) {
        p->body[k] = p->tensor[k]->handle.body;
        p->has_device_copies = p->has_device_copies || p->tensor[k] != args[p->operand_index[k]].tensor;
    }
    p->uniform = is_uniform(p);
    return p->uniform || (choose_dtypes(p) && broadcast_all(p));
}

/* Releases the copies of operands from other devices; records and nodes have their own references. */
static void release_device_copies(const elementwise_call *p)
{
    for (int k = 0; k < p->tensors; k++)
        if (p->tensor[k] != p->args[p->operand_index[k]].tensor) wk__handle_release(&p->tensor[k]->handle, p->site);
}

/* Creates the result, its record and, if needed, its node. */
static wk_tensor *record_call(const elementwise_call *p, const wk__attr *attr)
{
    const wk__op *op = p->op;
    const int64_t *stride = p->uniform ? p->body[0]->stride : NULL;
    wk_tensor *out =
        wk__tensor_pending_of(p->context, p->device, p->result, p->ndim, p->shape, stride, p->bytes, p->site, op->name);
    if (!out) return NULL;
    wk__body *body = out->handle.body;
    if (!p->uniform && choose_layout(p, body->stride)) body->known_dense = false;
    wk__record *r = wk__record_begin(p->context, WK__PROGRAM, op, p->device, p->site, p->ndim, p->shape, 1, p->count);
    if (!r) return wk__discard_result(out);
    wk__record_ref(r, 0, body, body->stride);
    record_operands(p, r);
    wk__record_commit(p->context, r);
    if (op->grad_fn_name && wk__needs_grad_fn(p->context, p->tensor, p->tensors)) {
        wk_tensor *in[WK__MAX_INPUTS];
        wk__attr own = {.count = 0};
        fill_node_operands(p, in);
        if (!wk__node_attach(op, p->site, in, p->count, &out, 1, node_attributes(p, attr, &own))) return NULL;
    }
    return out;
}

wk_tensor *wk__elementwise(const wk__op *op, wk_site site, const wk__arg *args, int count, const wk__attr *attr)
{
    elementwise_call p;
    wk_tensor *out = prepare(&p, op, site, args, count, WK__COLOCATE_IF_SOFT) ? record_call(&p, attr) : NULL;
    if (p.has_device_copies) release_device_copies(&p);
    return out;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* Checks that the result can be stored in the target: equal shapes, and no loss of class by conversion. */
static bool check_target(const elementwise_call *p, const wk_tensor *target)
{
    const wk__body *body = wk__body_of(target);
    if (!wk__same_shape(body->ndim, body->shape, p->ndim, p->shape)) {
        wk__op_error(p->op, p->site, WK_ERR_SHAPE, p->tensor,
                     p->tensors > 1 ? "the result is larger than the in-place target $a: $b has more or larger "
                                      "dimensions; use the out-of-place form"
                                    : "the result does not fit the target $a");
        return false;
    }
    bool loses = wk__is_float(p->result) && !wk__is_float(body->dtype);
    loses = loses || (p->result != WK_BOOL && body->dtype == WK_BOOL);
    if (!loses) return true;
    wk__op_error(p->op, p->site, WK_ERR_DTYPE, p->tensor,
                 "a result of dtype %s cannot be stored in $a; use the out-of-place form", wk_dtype_str(p->result));
    return false;
}

/* Rejects an in-place call without a gradient on a target that requires one. */
static bool check_no_grad_lost(const elementwise_call *p, wk_tensor *target)
{
    if (p->op->grad_fn_name || p->context->frame.grad_off || p->context->frame.composing || !wk__requires_grad(target))
        return true;
    wk__op_error(p->op, p->site, WK_ERR_STATE, p->tensor,
                 "the op has no gradient, but $a requires grad; use the out-of-place form, or wk_detach");
    return false;
}

/* Returns true if the view covers every byte of its storage, so that nothing of the old value remains. */
static bool covers(const wk__body *body)
{
    return wk__body_numel(body) * wk__dtypes[body->dtype].size == body->storage->bytes;
}

bool wk__prepare_target(wk_context *context, wk_tensor *target, wk_tensor *const in[], int count, wk_site site)
{
    const wk__value *value = wk__body_of(target)->storage->value;
    if (__builtin_expect(!value->exposed, 1)) return true;
    if (value->state == WK__STORED && wk__refcount_get(&value->refs) == 1) return true;
    wk__flush_all();
    for (int k = 0; k < count; k++) /* the flush may have parked the operand */
        if (in[k] && !wk__prepare_operand(context, in[k], site)) return false;
    return true;
}

/* Returns true if the target was created by the running composite op or gradient. Its old contents are unused, so it
 * fails if the record fails, whereas the target of a user's call would keep them. */
static bool is_internal_temp(const wk_context *context, const wk_tensor *target)
{
    return context->frame.op_scope && target->handle.scope >= context->frame.op_scope;
}

/* Completes and commits a record that writes `value` over part or all of target. guarded: a failure keeps the old
 * contents. */
static void record_overwrite(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value, bool guarded)
{
    wk__body *body = wk__body_of(target);
    wk__storage *storage = body->storage;
    r->prior = storage->value;
    r->partial = wk__record_family(r)->accumulates || !covers(body);
    r->rolls_back = guarded && !is_internal_temp(context, target);
    r->ref[0] = (wk__ref){.value = value, .offset = body->offset, .dtype = body->dtype};
    memcpy(wk__record_stride(r, 0), body->stride, sizeof *body->stride * body->ndim);
    /* The storage gets the new value before the commit: the commit may flush, and a flush computes only referenced
     * values. */
    wk__value *prior = storage->value;
    value->exposed = prior->exposed;
    wk__value_hold(prior);
    wk__storage_assign(storage, value);
    wk__record_commit(context, r);
    wk__value_drop(prior);
}

wk_tensor *wk__record_in_place(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value)
{
    record_overwrite(context, r, target, value, true);
    wk__storage_bump_version(wk__body_of(target)->storage, r->name, r->site);
    return target;
}

void wk__record_partial_write(wk_context *context, wk__record *r, wk_tensor *part, wk__value *value)
{
    record_overwrite(context, r, part, value, false);
}

static bool overwrite(const elementwise_call *p, wk_tensor *target)
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

static wk_tensor *call_in_place(const elementwise_call *p, const wk__attr *attr)
{
    wk_tensor *target = p->tensor[0];
    if (!check_target(p, target) || !wk__in_place_allowed(p->op, p->site, p->tensor, p->tensors) ||
        !check_no_grad_lost(p, target))
        return NULL;
    if (!wk__prepare_target(p->context, target, p->tensor, p->tensors, p->site)) return NULL;
    wk_tensor *in[WK__MAX_INPUTS];
    fill_node_operands(p, in);
    wk__attr own = {.count = 0};
    if (!p->op->grad_fn_name || !wk__needs_grad_fn(p->context, p->tensor, p->tensors))
        return overwrite(p, target) ? target : NULL;
    wk_tensor *kept[WK__MAX_INPUTS];
    if (!wk__snapshot_operands(target, in, p->count, kept)) return NULL;
    wk__savepoint before;
    wk__savepoint_take(&before, target);
    bool fine = overwrite(p, target) &&
                wk__node_attach_in_place(p->op, p->site, target, in, p->count, node_attributes(p, attr, &own));
    wk__savepoint_end(&before, fine);
    wk__release_operands(kept, p->count);
    return fine ? target : NULL;
}

wk_tensor *wk__elementwise_(const wk__op *op, wk_site site, const wk__arg *args, int count, const wk__attr *attr)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL_IN_PLACE, op->name, site);
    elementwise_call p;
    wk_tensor *out = prepare(&p, op, site, args, count, WK__COLOCATE_TO_TARGET) ? call_in_place(&p, attr) : NULL;
    if (p.has_device_copies) release_device_copies(&p);
    wk__frame_end(context, before);
    return out;
}

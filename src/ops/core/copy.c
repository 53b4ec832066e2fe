/* SPDX-License-Identifier: Apache-2.0 */
/* Copies: clone, contiguous, to_dtype, to (another device), copy_, fill_. All use one expression, identity; storing the
 * result converts to its dtype. */
#include "compose.h"
#include "entries.h"
#include <string.h>
#include <wick/device.h>

static int identity(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

static void identity_gradient(wk__grad_ctx *g)
{
    g->in[0] = g->out[0];
}

/* Returns x as `dtype` on its device. dense: row-major; else in x's memory order. */
static wk_tensor *record_copy(const wk__op *op, wk_site site, wk_tensor *x, wk_dtype dtype, bool dense)
{
    wk_context *context = wk__context();
    wk__record *r; /* computes in the source's class; the store converts */
    wk__output_spec m = {WK__PROGRAM, .inputs = 1, .dtype = dtype, .same_layout = !dense};
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, m, &r);
    if (!out) return NULL;
    wk__record_ref(r, 1, wk__body_of(x), wk__body_of(x)->stride);
    wk__record_commit(context, r);
    if (op->grad_fn_name && wk__needs_grad_fn(context, &x, 1) && wk__is_float(dtype) &&
        !wk__node_attach(op, site, &x, 1, &out, 1, NULL))
        return NULL;
    return out;
}

/* ---- clone and contiguous ---------------------------------------------------------------------------------------- */

wk_tensor *wk_clone_at(wk_site site, wk_tensor *x)
{
    return wk__check_input(&wk__op_clone, site, x) ? record_copy(&wk__op_clone, site, x, wk__body_of(x)->dtype, true)
                                                   : NULL;
}

wk_tensor *wk_contiguous_at(wk_site site, wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "contiguous", site);
    wk_tensor *out = NULL;
    if (wk__check_input(&wk__op_clone, site, x))
        out = wk__body_contiguous(wk__body_of(x)) ? wk__return_operand(x) : wk_clone_at(site, x);
    wk__frame_end(context, before);
    return out;
}

const wk__op wk__op_clone = {
    .expression = identity,
    .gradient = identity_gradient,
    WK__SIGNATURE_clone,
};

/* ---- to_dtype ---------------------------------------------------------------------------------------------------- */

wk_tensor *wk_to_dtype_at(wk_site site, wk_tensor *x, wk_dtype dtype)
{
    if (!wk__check_input(&wk__op_to_dtype, site, x)) return NULL;
    if (!wk__check_dtype(&wk__op_to_dtype, site, dtype)) return NULL;
    return wk__body_of(x)->dtype == dtype ? wk__return_operand(x)
                                          : record_copy(&wk__op_to_dtype, site, x, dtype, false);
}

static void to_dtype_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_to_dtype_at((wk_site){0}, g->out[0], g->node->shape[0].dtype);
}

const wk__op wk__op_to_dtype = {
    .expression = identity,
    .gradient = to_dtype_gradient,
    WK__SIGNATURE_to_dtype,
};

/* ---- to another device ------------------------------------------------------------------------------------------- */

static wk_tensor *record_transfer(wk_site site, wk_tensor *x, wk__device *to)
{
    wk_tensor *dense =
        wk__body_contiguous(wk__body_of(x)) ? x : record_copy(&wk__op_clone, site, x, wk__body_of(x)->dtype, true);
    wk_context *context = wk__context();
    if (!dense || !wk__prepare_operands(context, &wk__op_to, site, &dense, 1, WK__COLOCATE_IF_SOFT)) return NULL;
    const wk__body *body = wk__body_of(dense);
    wk_tensor *out = wk__tensor_pending(context, to, body->dtype, body->ndim, body->shape, site, wk__op_to.name);
    if (!out) return NULL;
    wk__record *r = wk__record_begin(context, WK__TRANSFER, &wk__op_to, to, site, body->ndim, body->shape, 1, 1);
    if (!r) return wk__discard_result(out);
    wk__record_ref(r, 0, wk__body_of(out), wk__body_of(out)->stride);
    wk__record_ref(r, 1, body, body->stride);
    wk__record_commit(context, r);
    return out;
}

/* Attributes with the operand's device, to which its gradient is copied. */
static wk__attr attributes_from(const wk_tensor *x)
{
    const wk_device from = wk__body_of(x)->storage->device->id;
    return wk__to_attr((wk__to_attributes){.device_kind = from.kind, .device_index = from.index});
}

static wk_device device_of(const wk__grad_ctx *g)
{
    const wk__to_attributes from = wk__to_attributes_of(g->attr);
    return (wk_device){(int16_t)from.device_kind, (int16_t)from.device_index, 0};
}

wk_tensor *wk_to_at(wk_site site, wk_tensor *x, wk_device device)
{
    if (!wk__check_input(&wk__op_to, site, x)) return NULL;
    wk__device *to = wk__resolve_device(&wk__op_to, site, device);
    if (!to) return NULL;
    if (wk__body_of(x)->storage->device == to) return wk__return_operand(x);
    wk__compose c;
    if (!wk__compose_begin(&c, &wk__op_to, site, &x, 1)) return NULL;
    const wk__attr attr = attributes_from(x);
    return wk__compose_end(&c, record_transfer(site, x, to), &attr);
}

static void to_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_to_at((wk_site){0}, g->out[0], device_of(g));
}

const wk__op wk__op_to = {
    .gradient = to_gradient,
    WK__SIGNATURE_to,
};

/* ---- copy_ and fill_ --------------------------------------------------------------------------------------------- */

/* Operand 0 is the target; its old contents do not affect the result. */
static void copy_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk__cast_to_operand(g, wk_to_at((wk_site){0}, g->out[0], device_of(g)), 1);
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

const wk__op wk__op_copy_ = {
    .expression = identity,
    .gradient = copy_gradient,
    WK__SIGNATURE_copy_,
};

/* Records identity over the source broadcast to the target's shape. The store converts, and selects the elements that
 * are replaced. */
wk_tensor *wk__assign(const wk__op *op, wk_site site, wk_tensor *target, wk__arg source)
{
    wk_tensor *in[2] = {target, source.tensor};
    int tensors = source.is_number ? 1 : 2;
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, site, in, tensors, WK__COLOCATE_IF_SOFT);
    if (!device || !wk__in_place_allowed(op, site, in, tensors)) return NULL;
    const wk__body *body = wk__body_of(target), *from = source.tensor ? wk__body_of(in[1]) : NULL;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int ndim = body->ndim;
    if (from && (!wk__broadcast(body->ndim, body->shape, from->ndim, from->shape, &ndim, shape) ||
                 !wk__same_shape(ndim, shape, body->ndim, body->shape))) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "$b does not broadcast to $a");
        return NULL;
    }
    if (!wk__prepare_target(context, target, in, tensors, site)) return NULL;
    const wk__frame busy = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__value *value = wk__value_new(context, device, body->storage->bytes, site);
    wk__record *r =
        value ? wk__record_begin(context, WK__PROGRAM, &wk__op_copy_, device, site, ndim, body->shape, 1, 1) : NULL;
    if (value && !r) wk__value_free(value);
    wk__frame_end(context, busy);
    if (!r) return NULL;
    if (r->name == r->op->name) r->name = op->name; /* fill_ records copy's op; messages show the name of the call */
    if (from) {
        r->compute = from->dtype;
        wk__broadcast_strides(from, ndim, body->shape, stride);
        wk__record_ref(r, 1, from, stride);
    } else {
        bool whole = source.is_int && !wk__is_float(body->dtype);
        r->compute = (uint8_t)(whole ? WK_I64 : WK_F64);
        wk__record_imm(r, 1, source.is_int ? WK_I64 : WK_F64, source.number, WK__REF_IMM);
    }
    return wk__record_in_place(context, r, target, value);
}

/* Writes y to x and makes the node. here: y on x's device. */
static bool copy_with_node(wk_site site, wk_tensor *x, wk_tensor *y, wk_tensor *here)
{
    const wk__attr attr = attributes_from(y);
    wk_tensor *in[2] = {x, y}, *kept[WK__MAX_INPUTS];
    if (!wk__snapshot_operands(x, in, 2, kept)) return false;
    wk__savepoint before;
    wk__savepoint_take(&before, x);
    bool fine = wk__assign(&wk__op_copy_, site, x, wk__tensor_arg(here)) &&
                wk__node_attach_in_place(&wk__op_copy_, site, x, in, 2, &attr);
    wk__savepoint_end(&before, fine);
    wk__release_operands(kept, 2);
    return fine;
}

wk_tensor *wk_copy__at(wk_site site, wk_tensor *x, wk_tensor *y)
{
    if (!wk__check_input(&wk__op_copy_, site, x) || !wk__check_tensor(y, site, "copy_", "source")) return NULL;
    if (x == y) return x;
    wk_tensor *in[2] = {x, y};
    bool node = wk__needs_grad_fn(wk__context(), in, 2);
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "copy_", site);
    wk_tensor *here = wk_to_at(site, y, wk__body_of(x)->storage->device->id);
    bool fine = here && (node ? copy_with_node(site, x, y, here)
                              : wk__assign(&wk__op_copy_, site, x, wk__tensor_arg(here)) != NULL);
    if (here && (here != y || context->scope < 0)) wk__handle_release(&here->handle, site); /* copied, or retained */
    wk__frame_end(context, before);
    return fine ? x : NULL;
}

const wk__op wk__op_fill_ = {
    .gradient = wk__zero_gradient,
    WK__SIGNATURE_fill_,
};

/* attr: scalar of the call for the node; NULL for wk_fill__at itself */
static wk_tensor *fill_call(wk_site site, wk_tensor *x, wk__arg value, const wk__attr *attr)
{
    if (!wk__check_input(&wk__op_fill_, site, x)) return NULL;
    wk_context *context = wk__context();
    if (!wk__needs_grad_fn(context, &x, 1)) return wk__assign(&wk__op_fill_, site, x, value);
    const wk__frame busy = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__savepoint before;
    wk__savepoint_take(&before, x);
    bool fine =
        wk__assign(&wk__op_fill_, site, x, value) && wk__node_attach_in_place(&wk__op_fill_, site, x, &x, 1, attr);
    wk__savepoint_end(&before, fine);
    wk__frame_end(context, busy);
    return fine ? x : NULL;
}

wk_tensor *wk__fill_(wk_site site, wk_tensor *x, wk__arg value)
{
    return fill_call(site, x, value, NULL);
}
wk_tensor *wk_zero__at(wk_site site, wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "zero_", site);
    wk_tensor *out = fill_call(site, x, wk__int_arg(0), &(const wk__attr){.grad_fn_name = "ZeroBackward0"});
    wk__frame_end(context, before);
    return out;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of the exported op functions: operand checks, recording one op, messages.
 *
 * All run on the calling thread. Functions that return a pointer or bool return NULL or false after recording the
 * thread's error. */
#ifndef WICK_OPS_CALL_H
#define WICK_OPS_CALL_H

#include "autograd/node.h"
#include "engine/op_queue.h"
#include "ir/op.h"

/* An operand: a tensor or a scalar. */
typedef struct wk__arg {
    wk_tensor *tensor; /* NULL if is_number; also NULL if the call that made it failed */
    wk__imm number;
    bool is_number, is_int; /* is_int: number.i is valid, else number.f; */
    bool is_bool;           /* is_bool: number.i is 0 or 1, and is_int is set */
} wk__arg;
static inline wk__arg wk__tensor_arg(wk_tensor *tensor)
{
    return (wk__arg){.tensor = tensor};
}
static inline wk__arg wk__int_arg(int64_t value)
{
    return (wk__arg){.number = {.i = value}, .is_number = true, .is_int = true};
}
static inline wk__arg wk__float_arg(double value)
{
    return (wk__arg){.number = {.f = value}, .is_number = true};
}

/* Stores operand k (0 or 1), a scalar, in the attributes of a pointwise op without named attributes: bit k of count is
 * set; the value is in i[k] if i[2 + k] is set (integer), else in f[k]. */
static inline void wk__attr_set_scalar(wk__attr *attr, int k, wk__arg number)
{
    attr->count |= 1 << k;
    attr->i[2 + k] = number.is_int;
    if (number.is_int)
        attr->i[k] = number.number.i;
    else
        attr->f[k] = number.number.f;
}
/* Returns scalar operand k as wk__attr_set_scalar stored it; not a number if operand k was a tensor. attr may be
 * NULL. */
static inline wk__arg wk__attr_scalar(const wk__attr *attr, int k)
{
    if (!attr || !(attr->count >> k & 1)) return (wk__arg){.tensor = NULL};
    return attr->i[2 + k] ? wk__int_arg(attr->i[k]) : wk__float_arg(attr->f[k]);
}

/* Colocation of operands on different devices. Soft placement allows any copy; these values allow more without it. */
typedef enum wk__colocation {
    WK__COLOCATE_IF_SOFT = 0,
    WK__COLOCATE_TO_TARGET = 1,  /* in[0] is the target: the other operands are copied to its device */
    WK__COLOCATE_CPU_SCALARS = 2 /* 0-d tensors on the CPU count as scalars and are copied to the other device */
} wk__colocation;
/* Prologue of every op: reports deferred failures, checks that in[] are live tensors on one device and makes their
 * values recordable. Colocation may replace in[k] by a copy. Returns the device, or NULL on error. Messages call in[]
 * "input" if there is one, else "first operand", "second operand", ... */
wk__device *wk__prepare_operands(wk_context *context, const wk__op *op, wk_site site, wk_tensor *in[], int count,
                                 wk__colocation meeting);
/* Prologue of a composite op: checks that in[] are live tensors on one device, or on any with soft placement. */
bool wk__check_operands(const wk__op *op, wk_site site, wk_tensor *const in[], int count);
/* Returns true if an omitted operand of this call may be one that failed: an error was pending when user code made the
 * call. The library itself omits only operands that do not exist. An error of earlier work failed no operand of this
 * call, so call this before the functions above, which report such errors. */
static inline bool wk__omitted_may_have_failed(void)
{
    const wk_context *context = wk__context();
    return context->code != WK_OK && !context->frame.api_call.active;
}
/* Returns the device of an option or, if it is unset, the scope's default device, opened. NULL on error. */
wk__device *wk__resolve_device(const wk__op *op, wk_site site, wk_device device);

/* Returns true if a result of x's dtype whose last `count` sizes are `last` fits the memory limit of x's device. Called
 * before work on the host that grows with the result. */
bool wk__check_result_fits(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *last, int count);

/* Returns x in its computation dtype: f32 for f16 and bf16, else x itself; NULL for NULL. */
wk_tensor *wk__to_opmath(wk_tensor *x);

/* Returns true if tensors can have this dtype. Some enumerators are reserved; they are an error. */
bool wk__check_dtype(const wk__op *op, wk_site site, wk_dtype dtype);

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

typedef wk_tensor *wk__elementwise_fn(const wk__op *op, wk_site site, const wk__arg *args, int count,
                                      const wk__attr *attr);
/* Records op->expression over the broadcast operands; promotion, layout and gradient follow the op spec. attr:
 * attributes for the gradient that are not operands (slope, limits), or NULL. */
wk__elementwise_fn wk__elementwise;
/* Like wk__elementwise(), but writes the result into args[0]; shape and dtype of the result must be storable there. */
wk__elementwise_fn wk__elementwise_;

static inline wk_tensor *wk__unary(const wk__op *op, wk_site site, wk_tensor *x)
{
    return wk__elementwise(op, site, (wk__arg[]){{.tensor = x}}, 1, NULL);
}
static inline wk_tensor *wk__unary_(const wk__op *op, wk_site site, wk_tensor *x)
{
    return wk__elementwise_(op, site, (wk__arg[]){{.tensor = x}}, 1, NULL);
}

/* Prologue of an in-place call, before its record is made. If user code has the target's address, the write replaces
 * the old contents, so everything recorded so far, by any thread, is run first. All operands are recordable
 * afterwards. */
bool wk__prepare_target(wk_context *context, wk_tensor *target, wk_tensor *const in[], int count, wk_site site);
/* Completes and commits a record (all inputs set) that writes `value` as the new contents of target. */
wk_tensor *wk__record_in_place(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value);
/* Like wk__record_in_place(), but for a new tensor that several records write: `part` is a view of it or all of it. If
 * a record fails, the tensor fails; the target of an in-place call would keep its old contents. */
void wk__record_partial_write(wk_context *context, wk__record *r, wk_tensor *part, wk__value *value);
/* Marks a result failed whose record could not be made, and frees it. Returns NULL. */
wk_tensor *wk__discard_result(wk_tensor *out);

/* Computes dense strides for `shape`, which has model's number of dimensions, with the dimensions in the order of
 * model's strides. */
void wk__layout_like(const wk__body *model, const int64_t *shape, int64_t *stride);
/* Returns x from a call that returns its operand (wk_to, ...). Without a scope, each returned handle counts as one
 * reference. */
wk_tensor *wk__return_operand(wk_tensor *x);

/* Overwrites `target` with `source`, a tensor that broadcasts to it or a scalar. Used by copy_, fill_ and every
 * composite in-place op. */
wk_tensor *wk__assign(const wk__op *op, wk_site site, wk_tensor *target, wk__arg source);

/* Properties of the result for wk__begin_output_record. */
typedef struct wk__output_spec {
    wk__work_id family; /* ops along a dimension get shape [1] for a 0-d tensor */
    int inputs;
    wk_dtype dtype;       /* 0: the dtype of in[0] */
    const int64_t *shape; /* [ndim]; NULL: the shape of in[0] */
    int ndim;
    bool same_layout; /* dimensions in memory order of in[0]; else row-major */
} wk__output_spec;
/* Makes operands in[] recordable, creates the result as described by m and begins the record that writes it, over its
 * shape: the result is the record's operand 0. The caller sets the other m.inputs operands and commits *record; it must
 * not fail until then. NULL on error. */
wk_tensor *wk__begin_output_record(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__output_spec m,
                                   wk__record **record);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* Converts dims to a bit mask of dimensions; count -1 or 0 means all. */
bool wk__dims_mask(const wk__op *op, wk_site site, const wk_tensor *x, const int64_t *dims, int count, uint16_t *mask);
/* Records op->reduction over the masked dimensions with a result of `dtype` (0: x's dtype). Makes one record and no
 * node; the caller composes. */
wk_tensor *wk__reduce(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask, bool keepdim, wk_dtype compute,
                      wk_dtype dtype);
/* Like wk__reduce(), but reduces op->expression of `count` tensors of compute's class, which broadcast to the first; no
 * intermediate of its size is stored. The expression's register must have dtype's class and vary along the rows. mask 0
 * only if the first is 0-d. */
wk_tensor *wk__reduce_expression(const wk__op *op, wk_site site, wk_tensor *in[], int count, uint16_t mask,
                                 bool keepdim, wk_dtype compute, wk_dtype dtype);

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Prologue of a view op: checks that x is a live tensor. */
bool wk__check_input(const wk__op *op, wk_site site, wk_tensor *x);
/* Makes a view and its node. */
wk_tensor *wk__make_view(const wk__op *op, wk_site site, wk_tensor *x, int64_t offset, int ndim, const int64_t *shape,
                         const int64_t *stride, const wk__attr *attr);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Records the error "op: text" with $a, $b, $c, $d replaced by the operands' descriptions, such as "f32[2,3]".
 * wk__call_error is for calls that are not ops. */
void wk__op_error(const wk__op *op, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void wk__call_error(const char *name, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

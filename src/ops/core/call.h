/* SPDX-License-Identifier: Apache-2.0 */
/* What the public functions of ops are made of: checking operands, recording, composing. */
#ifndef WICK_OPS_CALL_H
#define WICK_OPS_CALL_H

#include "autograd/node.h"
#include "engine/op_queue.h"
#include "ir/op.h"

/* An operand: a tensor or a plain number. */
typedef struct wk__arg {
    wk_tensor *tensor; /* of a number NULL, but a call that gave none may have left that in a tensor's place, too */
    wk__imm number;
    bool is_number, is_int; /* whole: the number is an integer, */
    bool is_bool;           /* or a bool: 0 or 1 */
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

/* Operands 0 and 1 that were numbers, as attributes of pointwise ops that name none of their own: bit k of count says
 * that operand k was one, then f[k] is its value, or, for a whole number, i[k], with i[2 + k] set. */
static inline void wk__attr_set_scalar(wk__attr *attr, int k, wk__arg number)
{
    attr->count |= 1 << k;
    attr->i[2 + k] = number.is_int;
    if (number.is_int)
        attr->i[k] = number.number.i;
    else
        attr->f[k] = number.number.f;
}
/* Not a number: operand k was a tensor. attr may be NULL. */
static inline wk__arg wk__attr_scalar(const wk__attr *attr, int k)
{
    if (!attr || !(attr->count >> k & 1)) return (wk__arg){.tensor = NULL};
    return attr->i[2 + k] ? wk__int_arg(attr->i[k]) : wk__float_arg(attr->f[k]);
}

/* How operands on different devices meet, where placement is soft or it says so here. */
typedef enum wk__colocation {
    WK__COLOCATE_IF_SOFT = 0,
    WK__COLOCATE_TO_TARGET = 1,  /* in[0] is the target: the others come to it */
    WK__COLOCATE_CPU_SCALARS = 2 /* a 0-d tensor of the CPU is a number: it comes to any other device */
} wk__colocation;
/* Begins every call: late failures are told, the operands must be live tensors on one device, their values are made
 * ready to be recorded. The device, or NULL with the error recorded. Roles in messages: "input" for one, "first
 * operand", ... for more. An operand that comes to another device is copied (in[k] is replaced). */
wk__device *wk__prepare_operands(wk_context *context, const wk__op *op, wk_site site, wk_tensor *in[], int count,
                                 wk__colocation meeting);
/* The device that an option or the scope names, opened; NULL with the error recorded. */
wk__device *wk__resolve_device(const wk__op *op, wk_site site, wk_device device);

/* Is it a dtype that tensors have? Some are only reserved; that error is recorded here. */
bool wk__check_dtype(const wk__op *op, wk_site site, wk_dtype dtype);

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

typedef wk_tensor *wk__elementwise_fn(const wk__op *op, wk_site site, const wk__arg *args, int count,
                                      const wk__attr *attr);
/* op->expression over the broadcast of the operands: promotion, layout and gradient as the op's row says. attr is what
 * the gradient reads besides them, numbers that are not operands of the gradient (slope, limits); NULL: nothing. */
wk__elementwise_fn wk__elementwise;
/* The same with the result written into args[0] (in place); the shape and dtype of the result must fit it. */
wk__elementwise_fn wk__elementwise_;

static inline wk_tensor *wk__unary(const wk__op *op, wk_site site, wk_tensor *x)
{
    return wk__elementwise(op, site, (wk__arg[]){{.tensor = x}}, 1, NULL);
}
static inline wk_tensor *wk__unary_(const wk__op *op, wk_site site, wk_tensor *x)
{
    return wk__elementwise_(op, site, (wk__arg[]){{.tensor = x}}, 1, NULL);
}

/* Before an in-place call makes its record. Values never change, but for those whose address the program knows:
 * there, what any thread has recorded on the old numbers is run first, as these are written over. All operands are
 * ready for a record afterwards. */
bool wk__prepare_target(wk_context *context, wk_tensor *target, wk_tensor *const in[], int count, wk_site site);
/* Completes a record (all inputs filled, not committed) so that it writes `value` as the new contents of target. */
wk_tensor *wk__record_in_place(wk_context *context, wk__record *r, wk_tensor *target, wk__value *value);
/* The same for a new tensor that takes several records to write: `part` is a view of it, or all of it. Unlike the
 * target of an in-place call, which keeps its old numbers, it fails when one of its records fails. */
void wk__record_partial_write(wk_context *context, wk__record *r, wk_tensor *part, wk__value *value);
/* A result whose record could not be made: marks it failed and gives NULL. */
wk_tensor *wk__discard_result(wk_tensor *out);

/* Dense strides for `shape`, which has as many dimensions as the model, in the order in which the model lies
 * in memory (SEMANTICS 11). */
void wk__layout_like(const wk__body *model, const int64_t *shape, int64_t *stride);
/* What a call returns that gives its argument back (wk_to, ...): without a scope each returned handle counts once. */
wk_tensor *wk__return_operand(wk_tensor *x);

/* Writes `source` (a tensor that broadcasts, or a number) over `target`: copy_, fill_, and the end of every
 * composed in-place op. */
wk_tensor *wk__assign(const wk__op *op, wk_site site, wk_tensor *target, wk__arg source);

/* One new tensor and the record that makes it, over its shape: the operands in[] are made ready, the result is the
 * record's operand 0. The caller fills in the other `inputs` and commits *record; nothing may fail until then. NULL
 * with the error recorded. */
typedef struct wk__output_spec {
    wk__work_id family; /* work along a dimension gets one of size 1 where there is none */
    int inputs;
    wk_dtype dtype;       /* 0: that of in[0] */
    const int64_t *shape; /* NULL: that of in[0]; else [ndim] */
    int ndim;
    bool same_layout; /* it lies as in[0] does, else row by row */
} wk__output_spec;
wk_tensor *wk__begin_output_record(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__output_spec m,
                                   wk__record **record);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* dims of a call (count -1 or 0: all) as a mask; false with the error recorded. */
bool wk__dims_mask(const wk__op *op, wk_site site, const wk_tensor *x, const int64_t *dims, int count, uint16_t *mask);
/* op->reduction over the masked dimensions, giving `dtype` (0: the input's). One record, no node: the op's
 * file composes. */
wk_tensor *wk__reduce(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask, bool keepdim, wk_dtype compute,
                      wk_dtype dtype);
/* The same of what op->expression gives of x and another tensor of its dtype, which broadcasts to it: nothing of the
 * size of x is made. The expression gives a register of dtype's class, and one that differs along the rows. Reduces
 * something: a mask of 0 is for x without dimensions. */
wk_tensor *wk__reduce_expression(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask,
                                 bool keepdim, wk_dtype dtype);

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Begins a view op: x is a live tensor. */
bool wk__check_input(const wk__op *op, wk_site site, wk_tensor *x);
/* A view with its node. */
wk_tensor *wk__make_view(const wk__op *op, wk_site site, wk_tensor *x, int64_t offset, int ndim, const int64_t *shape,
                         const int64_t *stride, const wk__attr *attr);

/* ---- composed ops ------------------------------------------------------------------------------------------------ */

/* Between begin and end an op calls other ops: nothing is added to the graph, errors carry the user's site, everything
 * made dies at the end except the result. end hangs the op's own node on it. */
typedef struct wk__compose {
    const wk__op *op;
    wk_site site;
    uint64_t scope;
    wk_tensor *in[WK__MAX_INPUTS];
    int inputs;
} wk__compose;
bool wk__compose_begin(wk__compose *c, const wk__op *op, wk_site site, wk_tensor *const in[], int count);
wk_tensor *wk__compose_end(wk__compose *c, wk_tensor *result, const wk__attr *attr);
/* Several results (chunk, topk, ...): out[] is moved out and shares one node. */
bool wk__compose_end_n(wk__compose *c, wk_tensor *out[], int count, const wk__attr *attr);
/* x in the type that composed ops compute in: f16 and bf16 as f32, others as they are. */
wk_tensor *wk__to_opmath(wk_tensor *x);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* "op: text", with $a $b $c replaced by the operands' "f32[2,3]"; of an op, and of a call that is none. */
void wk__op_error(const wk__op *op, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void wk__call_error(const char *name, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for simple ops: entries for wk_call, argument conversion, gradients; and the table of all op descriptors. */
#ifndef WICK_OPS_CORE_ENTRIES_H
#define WICK_OPS_CORE_ENTRIES_H

#include "ir/emit.h"
#include "base/log.h"
#include "base/options.h"
#include "call.h"
#include "ops/generated/activation.h"
#include "ops/generated/attributes.h"
#include "ops/generated/autograd.h"
#include "ops/generated/creation.h"
#include "ops/generated/matmul.h"
#include "ops/generated/pointwise.h"
#include "ops/generated/random.h"
#include "ops/generated/reduce.h"
#include "ops/generated/shape.h"
#include "ops/generated/vision.h"
#include <wick/call.h>
#include <wick/log.h>
#include <wick/ops.h>

#define WK__OP(name) extern const wk__op wk__op_##name;
#include "ops/ops.def"
#undef WK__OP
extern const wk__op wk__op_copy_slices; /* a node without a call, so it is not in the table */

/* wk_call entries of pointwise ops: op->arity tensors or scalars. */
int wk__invoke_pointwise(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pointwise_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
/* Expression of ops that are one instruction on their operands, op->instruction. */
int wk__single_instruction(wk__emit *e, const int in[]);
/* Records op->expression over x and the first `count` (1 or 2) floats of the attributes: ops with a slope, a limit, ...
 * op->conditions must name these operands, so that they do not take part in promotion. */
typedef wk_tensor *wk__unary_params_fn(const wk__op *op, wk_site site, wk_tensor *x, int count, const wk__attr *attr);
wk__unary_params_fn wk__unary_with_params, wk__unary_with_params_;
/* Stores the one result of an invoke function; NULL is an error. Most invoke functions end with it. */
static inline int wk__return_one(wk_tensor **out, wk_tensor *result)
{
    out[0] = result;
    return result ? 1 : -1;
}
/* Stores one result and, after it, each more[count] that is not NULL. */
int wk__return_one_and_optional(wk_tensor **out, wk_tensor *result, wk_tensor *const more[], int count);
/* Conversions of wk_call arguments: to a tensor, to an operand that may be a scalar, to an int, ... with a default for
 * WK_VALUE_NONE. */
wk_tensor *wk__value_tensor(const wk_value *value);
wk__arg wk__value_arg(const wk_value *value);
static inline int64_t wk__value_int(const wk_value *value, int64_t otherwise)
{
    return value->kind == WK_VALUE_NONE ? otherwise : value->kind == WK_VALUE_FLOAT ? (int64_t)value->f : value->i;
}
static inline const char *wk__value_text(const wk_value *value, const char *otherwise)
{
    return value->kind == WK_VALUE_NONE ? otherwise : value->text;
}
static inline double wk__value_float(const wk_value *value, double otherwise)
{
    return value->kind == WK_VALUE_NONE ? otherwise : value->kind == WK_VALUE_FLOAT ? value->f : (double)value->i;
}
/* Returns a number for an options struct: 0 if absent, WK_EXPLICIT_ZERO for an explicit 0. */
static inline double wk__value_option(const wk_value *value)
{
    const double number = wk__value_float(value, 0);
    return value->kind == WK_VALUE_NONE || number != 0 ? number : WK_EXPLICIT_ZERO;
}
static inline wk_device wk__value_device(const wk_value *value)
{
    return value->kind == WK_VALUE_DEVICE ? value->device : (wk_device){0};
}
/* Returns the dimensions of an argument that is a list, one integer or absent (count -1). */
const int64_t *wk__value_dims(const wk_value *value, int *count);
/* Returns the sizes of an argument: a list, a number, a text ("same", "valid") or absent (0, the default). */
wk_sizes wk__value_sizes(const wk_value *value);
/* Returns true if list arguments k and l have equal lengths; else records the error. */
bool wk__check_same_length(const wk__op *op, wk_site site, const wk_value *args, int k, int l);
/* Returns the index of the argument in texts[], which NULL ends; 0 for WK_VALUE_NONE; -1 on error. */
int wk__value_choice(wk_site site, const char *op, const char *argument, const wk_value *value,
                     const char *const texts[]);

/* Returns saved operand k, or the scalar in the attributes if operand k was one. */
wk__arg wk__saved_operand(const wk__grad_ctx *g, int k);
/* Gradient of step functions: 0 for every operand. */
void wk__zero_gradient(wk__grad_ctx *g);

/* Returns grad converted to the dtype of operand k (copy_ may have converted). */
wk_tensor *wk__cast_to_operand(const wk__grad_ctx *g, wk_tensor *grad, int k);
/* Returns the gradient of a reduction, expanded over the dimensions in wk__reduce_attributes. */
wk_tensor *wk__expand_reduced_grad(const wk__grad_ctx *g, wk_tensor *grad);

/* All op descriptors, sorted by name. */
extern const wk__op *const wk__ops[];
extern const int wk__op_total;

#endif

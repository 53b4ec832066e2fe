/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of simple ops share: entries for wk_call, and the descriptors of all ops. */
#ifndef WICK_OPS_FORMS_H
#define WICK_OPS_FORMS_H

#include "ir/emit.h"
#include "base/log.h"
#include "base/options.h"
#include "call.h"
#include "ops/generated/attributes.h"
#include "ops/generated/autograd.h"
#include "ops/generated/creation.h"
#include "ops/generated/matmul.h"
#include "ops/generated/pointwise.h"
#include "ops/generated/random.h"
#include "ops/generated/reduce.h"
#include "ops/generated/shape.h"
#include <wick/call.h>
#include <wick/log.h>
#include <wick/ops.h>

#define WK__OP(name) extern const wk__op wk__op_##name;
#include "ops/ops.def"
#undef WK__OP
extern const wk__op wk__op_copy_slices; /* a node only: no call, so no row */

/* The entries of pointwise ops for wk_call: as many tensors or numbers as op->arity. */
int wk__invoke_pointwise(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pointwise_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
/* The expression of ops that are one instruction on their operands: op->instruction. */
int wk__single_instruction(wk__emit *e, const int in[]);
/* x and the first one or two fractions of the attributes as one record: what the functions with a slope, a limit, ...
 * call. op->conditions must name them, so that they widen nothing. */
typedef wk_tensor *wk__unary_params_fn(const wk__op *op, wk_site site, wk_tensor *x, int count, const wk__attr *attr);
wk__unary_params_fn wk__unary_with_params, wk__unary_with_params_;
/* One result that may be NULL: what most invoke functions end with. */
static inline int wk__return_one(wk_tensor **out, wk_tensor *result)
{
    out[0] = result;
    return result ? 1 : -1;
}
/* One result, and behind it those of more[count] that are there. */
int wk__return_one_and_optional(wk_tensor **out, wk_tensor *result, wk_tensor *const more[], int count);
/* An argument that must be a tensor, an operand that may be a number, an int, ... with defaults for WK_VALUE_NONE. */
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
/* A number among options: 0 is what is not given, WK_EXPLICIT_ZERO is 0. */
static inline double wk__value_option(const wk_value *value)
{
    const double number = wk__value_float(value, 0);
    return value->kind == WK_VALUE_NONE || number != 0 ? number : WK_EXPLICIT_ZERO;
}
static inline wk_device wk__value_device(const wk_value *value)
{
    return value->kind == WK_VALUE_DEVICE ? value->device : (wk_device){0};
}
/* Dimensions of an argument that may be a list, one number or none (count -1). */
const int64_t *wk__value_dims(const wk_value *value, int *count);
/* Are lists k and l of one length? If not, the error is recorded. */
bool wk__check_same_length(const wk__op *op, wk_site site, const wk_value *args, int k, int l);
/* Which of the texts, up to NULL, the argument is, the first for WK_VALUE_NONE; -1 with the error recorded. */
int wk__value_choice(wk_site site, const char *op, const char *argument, const wk_value *value,
                     const char *const texts[]);

/* Saved operand k, or the number (of the attributes) that it was. */
wk__arg wk__saved_operand(const wk__grad_ctx *g, int k);
/* The gradient of steps: 0 for every operand. */
void wk__zero_gradient(wk__grad_ctx *g);
/* grad x saved operand k, which may have been a number: then that number (of the attributes) is used. */
wk_tensor *wk__mul_saved_operand(const wk__grad_ctx *g, wk_tensor *grad, int k);

/* A gradient brought to the device and dtype of operand k (copy_ may have converted). */
wk_tensor *wk__cast_to_operand(const wk__grad_ctx *g, wk_tensor *grad, int k);
/* The gradient of a reduction, spread back over the dimensions that wk__reduce_attributes name. */
wk_tensor *wk__expand_reduced_grad(const wk__grad_ctx *g, wk_tensor *grad);

/* All ops in alphabetical order. */
extern const wk__op *const wk__ops[];
extern const int wk__op_total;

#endif

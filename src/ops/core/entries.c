/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for simple ops (entries.h). */
#include "entries.h"
#include "autograd/node.h"
#include "base/text.h"
#include <string.h>

int wk__return_one_and_optional(wk_tensor **out, wk_tensor *result, wk_tensor *const more[], int count)
{
    int given = wk__return_one(out, result);
    for (int k = 0; k < count && result; k++)
        if (more[k]) out[given++] = more[k];
    return given;
}

wk_tensor *wk__value_tensor(const wk_value *value)
{
    return value->kind == WK_VALUE_TENSOR ? value->tensor : NULL;
}

wk__arg wk__value_arg(const wk_value *value)
{
    switch (value->kind) {
    case WK_VALUE_INT: return wk__int_arg(value->i);
    case WK_VALUE_BOOL:
        return (wk__arg){.number = {.i = value->i != 0}, .is_number = true, .is_int = true, .is_bool = true};
    case WK_VALUE_FLOAT: return wk__float_arg(value->f);
    default: return wk__tensor_arg(wk__value_tensor(value));
    }
}

const int64_t *wk__value_dims(const wk_value *value, int *count)
{
    *count = value->kind == WK_VALUE_INTS ? value->count : value->kind == WK_VALUE_NONE ? -1 : 1;
    return value->kind == WK_VALUE_INTS ? value->ints : &value->i;
}

wk_sizes wk__value_sizes(const wk_value *value)
{
    int count;
    if (value->kind == WK_VALUE_NONE) return 0;
    if (value->kind == WK_VALUE_TEXT) return strcmp(value->text, "same") == 0 ? WK_SAME : WK_VALID;
    const int64_t *sizes = wk__value_dims(value, &count);
    return count > 0 ? wk_sizes_of(sizes, count) : 0;
}

bool wk__check_same_length(const wk__op *op, wk_site site, const wk_value *args, int k, int l)
{
    if (args[k].count == args[l].count) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s and %s have different lengths", op->name, op->parameters[k].name,
                  op->parameters[l].name);
    return false;
}

int wk__value_choice(wk_site site, const char *op, const char *argument, const wk_value *value,
                     const char *const texts[])
{
    wk__text known = {0};
    const char *given = wk__value_text(value, texts[0]);
    for (int k = 0; texts[k]; k++) {
        if (strcmp(given, texts[k]) == 0) {
            wk__text_free(&known);
            return k;
        }
        wk__text_format(&known, k ? " or \"%s\"" : "\"%s\"", texts[k]);
    }
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown %s \"%.30s\"; expected %s", op, argument, given,
                  known.data ? known.data : "another");
    wk__text_free(&known);
    return -1;
}

int wk__invoke_pointwise(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk__arg arg[WK__MAX_INPUTS];
    for (int k = 0; k < op->arity; k++) arg[k] = wk__value_arg(&args[k]);
    return wk__return_one(out, wk__elementwise(op, site, arg, op->arity, NULL));
}

int wk__invoke_pointwise_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk__arg arg[WK__MAX_INPUTS];
    for (int k = 0; k < op->arity; k++) arg[k] = wk__value_arg(&args[k]);
    return wk__return_one(out, wk__elementwise_(op, site, arg, op->arity, NULL));
}

int wk__single_instruction(wk__emit *e, const int in[])
{
    wk__opcode code = (wk__opcode)e->op->instruction;
    return wk__emit_ins(e, code, wk__opcode_kind[code] == 'C' ? WK_BOOL : e->dtype, in[0], e->op->arity > 1 ? in[1] : 0,
                        0);
}

enum { MOST_NUMBERS = 2 };

static void params_as_args(wk_tensor *x, int count, const wk__attr *attr, wk__arg args[])
{
    args[0] = wk__tensor_arg(x);
    for (int k = 0; k < count; k++) args[1 + k] = wk__float_arg(attr->f[k]);
}

wk_tensor *wk__unary_with_params(const wk__op *op, wk_site site, wk_tensor *x, int count, const wk__attr *attr)
{
    wk__arg args[1 + MOST_NUMBERS];
    params_as_args(x, count, attr, args);
    return wk__elementwise(op, site, args, 1 + count, attr);
}

wk_tensor *wk__unary_with_params_(const wk__op *op, wk_site site, wk_tensor *x, int count, const wk__attr *attr)
{
    wk__arg args[1 + MOST_NUMBERS];
    params_as_args(x, count, attr, args);
    return wk__elementwise_(op, site, args, 1 + count, attr);
}

wk__arg wk__saved_operand(const wk__grad_ctx *g, int k)
{
    const wk__arg number = wk__attr_scalar(g->attr, k);
    return number.is_number ? number : wk__tensor_arg(wk__saved(g, k));
}

void wk__zero_gradient(wk__grad_ctx *g)
{
    for (int k = 0; k < g->node->inputs; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

wk_tensor *wk__expand_reduced_grad(const wk__grad_ctx *g, wk_tensor *grad)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    const wk__reduce_attributes reduced = wk__reduce_attributes_of(g->attr);
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < from->ndim; d++) shape[d] = reduced.mask >> d & 1 ? 1 : from->size[d];
    if (!reduced.keepdim) grad = wk_reshape_at((wk_site){0}, grad, shape, from->ndim);
    return wk_expand_at((wk_site){0}, grad, from->size, from->ndim);
}

wk_tensor *wk__cast_to_operand(const wk__grad_ctx *g, wk_tensor *grad, int k)
{
    return wk_to_dtype_at((wk_site){0}, grad, g->node->shape[k].dtype);
}

wk_tensor *wk__to_opmath(wk_tensor *x)
{
    const wk_dtype dtype = x ? wk__body_of(x)->dtype : WK_F32;
    return dtype == WK_F16 || dtype == WK_BF16 ? wk_to_dtype_at((wk_site){0}, x, WK_F32) : x;
}

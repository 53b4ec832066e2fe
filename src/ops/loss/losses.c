/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise losses (losses.h). */
#include "losses.h"

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check_input_target(const wk__loss *l)
{
    const wk__body *a = wk__body_of(l->in[0]), *b = wk__body_of(l->in[1]);
    if (!wk__same_sizes(a, b))
        wk__op_error(l->op, l->site, WK_ERR_SHAPE, l->in, "input $a and %s $b must have the same shape: see wk_reshape",
                     l->name ? l->name : "target");
    else if (!wk__is_float(a->dtype) && !wk__is_float(b->dtype))
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "$a is not floating-point; convert it with wk_to_dtype(x, WK_F32)");
    else
        return (unsigned)l->reduction <= WK_REDUCE_BATCHMEAN ||
               (wk__op_error(l->op, l->site, WK_ERR_ARGUMENT, l->in,
                             "unknown reduction %d; expected WK_REDUCE_MEAN, WK_REDUCE_SUM, WK_REDUCE_NONE or "
                             "WK_REDUCE_BATCHMEAN",
                             (int)l->reduction),
                false);
    return false;
}

bool wk__check_reduction(const wk__op *op, wk_site site, wk_reduction reduction)
{
    if ((unsigned)reduction <= WK_REDUCE_NONE) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: unknown reduction %d; expected WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE", op->name,
                  (int)reduction);
    return false;
}

bool wk__check_weight_is_constant(const wk__op *op, wk_site site, wk_tensor *weight, const char *name)
{
    if (!wk__needs_grad_fn(wk__context(), &weight, 1)) return true;
    wk__op_error(op, site, WK_ERR_STATE, &weight,
                 "%s $a requires grad, but this loss is not differentiable in it; wk_detach it", name);
    return false;
}

bool wk__check_loss_weight(const wk__op *op, wk_site site, wk_tensor *weight, const char *name)
{
    if (!weight) return !wk__omitted_may_have_failed();
    return wk__check_tensor(weight, site, op->name, name) && wk__check_weight_is_constant(op, site, weight, name);
}

static bool check_weight_shape(const wk__loss *l, int k)
{
    if (!l->in[k]) return true;
    const wk__body *x = wk__body_of(l->in[0]), *weight = wk__body_of(l->in[k]);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    if (weight->ndim <= x->ndim && wk__broadcast(x->ndim, x->shape, weight->ndim, weight->shape, &ndim, shape)) {
        bool same = true;
        for (int d = 0; d < ndim; d++) same = same && shape[d] == x->shape[d];
        if (same) return true;
    }
    wk__op_error(l->op, l->site, WK_ERR_SHAPE, l->in,
                 k == 2 ? "%s $c does not broadcast to input $a" : "%s $d does not broadcast to input $a",
                 k == 2     ? "weight"
                 : l->third ? l->third
                            : "pos_weight");
    return false;
}

wk_tensor *wk__reduce_losses(wk_site site, wk_tensor *loss, wk_reduction reduction, double *divisor)
{
    if (!loss) return NULL;
    const wk__body *body = wk__body_of(loss);
    const bool divided = reduction == WK_REDUCE_MEAN || reduction == WK_REDUCE_BATCHMEAN;
    const int64_t rows = body->ndim ? body->shape[0] : 1;
    *divisor = !divided ? 1 : reduction == WK_REDUCE_MEAN ? (double)wk__body_numel(body) : (double)rows;
    if (reduction != WK_REDUCE_NONE) loss = wk__reduce_sum(site, loss, (uint16_t)((1u << body->ndim) - 1), false);
    return divided ? wk_div(loss, *divisor) : loss;
}

static wk_tensor *elementwise_loss(const wk__loss *l)
{
    wk__arg args[4] = {wk__tensor_arg(wk__to_opmath(l->in[0])), wk__tensor_arg(wk__to_opmath(l->in[1])),
                       wk__float_arg(l->param)};
    if (l->in[3]) args[3] = wk__tensor_arg(wk__to_opmath(l->in[3]));
    wk_tensor *loss = wk__elementwise(l->expression, l->site, args, l->in[3] ? 4 : 3, NULL);
    return l->in[2] ? wk_mul(loss, l->in[2]) : loss;
}

/* Copies 0-d CPU operands to the device of the others: they count as scalars. */
static bool colocate_operands(wk__loss *l)
{
    wk_tensor *in[4];
    int place[4], count = 0;
    for (int k = 0; k < 4; k++) {
        if (k >= 2 && !l->in[k]) continue;
        place[count] = k;
        in[count++] = l->in[k];
    }
    if (!wk__prepare_operands(wk__context(), l->op, l->site, in, count, WK__COLOCATE_CPU_SCALARS)) return false;
    for (int k = 0; k < count; k++) l->in[place[k]] = in[k];
    return true;
}

/* Returns the dtype of the result. */
static wk_dtype result_dtype(const wk__loss *l)
{
    const wk_dtype dtype = wk__promote_types(wk__body_of(l->in[0])->dtype, wk__body_of(l->in[1])->dtype);
    return l->third ? wk__promote_types(dtype, wk__body_of(l->in[3])->dtype) : dtype;
}

wk_tensor *wk__record_loss(const wk__loss *given)
{
    wk__compose c;
    wk__loss own = *given, *l = &own;
    if (l->takes_weight && !wk__check_loss_weight(l->op, l->site, l->in[2], "weight")) return NULL;
    if (l->takes_pos_weight && !wk__check_loss_weight(l->op, l->site, l->in[3], "pos_weight")) return NULL;
    if (l->third && !wk__check_tensor(l->in[3], l->site, l->op->name, l->third)) return NULL;
    if (!colocate_operands(l) || !wk__compose_begin(&c, l->op, l->site, l->in, 2)) return NULL;
    wk_tensor *out = NULL;
    wk__loss_attributes a = {.reduction = (int64_t)l->reduction, .mode = l->mode, .number = l->param};
    if (check_input_target(l) && check_weight_shape(l, 2) && check_weight_shape(l, 3)) {
        wk_tensor *losses = elementwise_loss(l);
        out = wk__cast_result(wk__reduce_losses(l->site, losses, l->reduction, &a.divisor), result_dtype(l));
    }
    for (int k = 2; k < 4; k++) {
        c.in[k] = l->in[k];
        if (l->in[k]) c.inputs = k + 1;
    }
    wk__attr attr = wk__loss_attr(a);
    if (out && l->grad_fn_names) attr.grad_fn_name = l->grad_fn_names[l->reduction];
    return wk__compose_end(&c, out, &attr);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

wk_tensor *wk__loss_input_grad(const wk__grad_ctx *g, wk_tensor *slope)
{
    const wk__loss_attributes a = wk__loss_attributes_of(g->attr);
    const bool divided = a.reduction == WK_REDUCE_MEAN || a.reduction == WK_REDUCE_BATCHMEAN;
    wk_tensor *grad = wk_mul(slope, divided ? wk_div(g->out[0], a.divisor) : g->out[0]);
    return g->node->saved[2] ? wk_mul(grad, wk__saved(g, 2)) : grad;
}

void wk__set_input_target_grads(wk__grad_ctx *g, wk_tensor *slope)
{
    wk_tensor *grad = wk__loss_input_grad(g, slope);
    if (wk__needs_input_grad(g, 0)) g->in[0] = grad;
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_mul(grad, -1);
}

wk_tensor *wk__loss_difference(const wk__grad_ctx *g)
{
    return wk_sub(wk__saved(g, 0), wk__saved(g, 1));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* where and masked_fill: selection by a condition. */
#include "ops/core/entries.h"

static bool check_condition(const wk__op *op, wk_site site, wk_tensor *x)
{
    if (!x || !wk__is_tensor(x) || wk__body_of(x)->dtype == WK_BOOL) return true; /* the call reports invalid tensors */
    wk__op_error(op, site, WK_ERR_DTYPE, &x, "the condition must be bool, got $a; use wk_ne(x, 0)");
    return false;
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

static int where_expression(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], in[1], in[2]);
}

wk_tensor *wk_where_at(wk_site site, wk_tensor *condition, wk_value a, wk_value b)
{
    wk__arg args[3] = {wk__tensor_arg(condition), wk__value_arg(&a), wk__value_arg(&b)};
    return check_condition(&wk__op_where, site, condition) ? wk__elementwise(&wk__op_where, site, args, 3, NULL) : NULL;
}

static void where_gradient(wk__grad_ctx *g)
{
    wk_tensor *condition = wk__saved(g, 0);
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_where(condition, g->out[0], 0);
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk_where(condition, 0, g->out[0]);
}

const wk__op wk__op_where = {
    .expression = where_expression,
    .own_dtype_operands = 1,
    .gradient = where_gradient,
    .saves = {0, WK__SAVE_0, WK__SAVE_0},
    WK__SIGNATURE_where,
};

/* ---- masked_fill: the value is converted to x's dtype, so it takes no part in the promotion ---------------------- */

static int masked_fill_expression(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[1], in[2], in[0]);
}

static bool check_scalar_value(wk_site site, wk_tensor *x)
{
    if (wk__body_of(x)->ndim == 0) return true;
    wk__op_error(&wk__op_masked_fill, site, WK_ERR_SHAPE, &x,
                 "the value must be a number or a 0-d tensor, got $a; see wk_where");
    return false;
}

static wk_tensor *masked_fill_call(wk__elementwise_fn *how, wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value)
{
    const wk__op *op = &wk__op_masked_fill;
    wk__arg args[3] = {wk__tensor_arg(x), wk__tensor_arg(mask), wk__value_arg(&value)};
    wk_tensor *single = args[2].tensor;
    if (!check_condition(op, site, mask)) return NULL;
    if (!wk__is_tensor(single) || !wk__is_tensor(x)) return how(op, site, args, 3, NULL); /* reports invalid tensors */
    if (!check_scalar_value(site, single)) return NULL;
    args[2] = wk__tensor_arg(wk_to_dtype_at(site, single, wk__body_of(x)->dtype));
    wk_tensor *out = how(op, site, args, 3, NULL);
    if (args[2].tensor && wk__context()->scope < 0) wk__handle_release(&args[2].tensor->handle, site);
    return out;
}

wk_tensor *wk_masked_fill_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value)
{
    return masked_fill_call(wk__elementwise, site, x, mask, value);
}

wk_tensor *wk_masked_fill__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_value value)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL_IN_PLACE, "masked_fill", site);
    wk_tensor *out = masked_fill_call(wk__elementwise_, site, x, mask, value);
    wk__frame_end(context, before);
    return out;
}

static void masked_fill_gradient(wk__grad_ctx *g)
{
    wk_tensor *mask = wk__saved(g, 1);
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_where(mask, 0, g->out[0]);
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk_where(mask, g->out[0], 0);
}

const wk__op wk__op_masked_fill = {
    .expression = masked_fill_expression,
    .own_dtype_operands = 6,
    .gradient = masked_fill_gradient,
    .saves = {WK__SAVE_1, 0, WK__SAVE_1},
    WK__SIGNATURE_masked_fill,
};

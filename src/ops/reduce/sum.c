/* SPDX-License-Identifier: Apache-2.0 */
/* sum and prod. Integers and bool are computed in i64. */
#include "reduction.h"
#include <wick/autograd.h>

static wk_tensor *sum_or_prod_call(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                   const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    bool floats = wk__is_float(wk__body_of(x)->dtype);
    wk_dtype result = r.dtype_given || floats ? r.dtype : WK_I64,
             compute = floats && !wk__is_float(result) ? WK_F32 : result;
    return wk__reduction_end(&r, wk__reduce(op, site, x, r.mask, r.keepdim, compute, result));
}

wk_tensor *wk_sum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return sum_or_prod_call(&wk__op_sum, site, x, dims, count, options);
}
wk_tensor *wk_prod_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return sum_or_prod_call(&wk__op_prod, site, x, dims, count, options);
}

static void sum_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk__expand_reduced_grad(g, g->out[0]);
}

/* Returns the product of the other elements: the product with zeros replaced by 1, divided by the element, if no other
 * element is zero. The values are right, but not their dependence on a zero: their own derivative would be wrong. */
static wk_tensor *prod_others_by_division(wk_tensor *x, int64_t mask)
{
    wk_tensor *zero = wk_eq(x, 0), *whole = wk_where(zero, 1, x);
    wk_tensor *alone = wk_eq(wk__sum_keepdim(zero, mask), wk_to_dtype_at((wk_site){0}, zero, WK_I64));
    return wk_mul(wk_div(wk__prod_keepdim(whole, mask), whole), alone);
}

/* Like prod_others_by_division(), but differentiable to any order: the product of the elements before and of those
 * after the element along the first dimension, times the same for the products over that dimension along the next, and
 * so on. */
static wk_tensor *prod_others_by_scan(wk_tensor *x, int64_t mask)
{
    wk_tensor *product = NULL;
    for (int d = 0; mask >> d; d++) {
        if (!(mask >> d & 1)) continue;
        wk_tensor *along = wk_mul(wk__exclusive_cumprod(x, d, false), wk__exclusive_cumprod(x, d, true));
        product = product ? wk_mul(product, along) : along;
        x = wk__prod_keepdim(x, 1 << d);
    }
    return product;
}

static void prod_gradient(wk__grad_ctx *g)
{
    int64_t mask = wk__reduce_attributes_of(g->attr).mask;
    wk_tensor *x = wk__saved(g, 0), *grad = wk__expand_reduced_grad(g, g->out[0]);
    if (mask == 0) /* the product of a 0-d tensor is itself */
        g->in[0] = grad;
    else
        g->in[0] = wk_mul(grad, wk_is_grad_enabled() ? prod_others_by_scan(x, mask) : prod_others_by_division(x, mask));
}

const wk__op wk__op_sum = {
    .reduction = WK__RSUM,
    .gradient = sum_gradient,
    WK__SIGNATURE_sum,
};
const wk__op wk__op_prod = {
    .reduction = WK__RPROD,
    .gradient = prod_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_prod,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum, cumprod: running sum and product along one dimension. Integers and bool are computed in i64. */
#include "reduction.h"
#include <wick/autograd.h>

/* backwards: operand and result are both iterated with negated strides. */
wk_tensor *wk__record_scan(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool product, bool backwards)
{
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, (wk__output_spec){WK__SCAN, .inputs = 1}, &r);
    if (!out) return NULL;
    const wk__body *body = wk__body_of(x);
    r->dim = (int8_t)axis;
    r->mode = product;
    wk__record_ref(r, 1, body, body->ndim ? body->stride : &(int64_t){1});
    for (int k = 0; k < 2 && backwards; k++) wk__record_reverse_dim(r, k, axis);
    wk__record_commit(wk__context(), r);
    return out;
}

/* backwards: from the end. */
static wk_tensor *scan_call(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, bool backwards)
{
    wk__compose c;
    int axis;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.count = 0};
    if (wk__reduction_dim(op, site, x, dim, &axis)) {
        wk_tensor *wide = wk__is_float(wk__body_of(x)->dtype) ? x : wk_to_dtype_at(site, x, WK_I64);
        attr = wk__cumsum_attr((wk__cumsum_attributes){.axis = axis, .backwards = backwards});
        out = wide ? wk__record_scan(op, site, wide, axis, op == &wk__op_cumprod, backwards) : NULL;
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_cumsum_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return scan_call(&wk__op_cumsum, site, x, dim, false);
}
wk_tensor *wk_cumprod_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return scan_call(&wk__op_cumprod, site, x, dim, false);
}

static void cumsum_gradient(wk__grad_ctx *g)
{
    const wk__cumsum_attributes a = wk__cumsum_attributes_of(g->attr);
    g->in[0] = scan_call(&wk__op_cumsum, (wk_site){0}, g->out[0], a.axis, !a.backwards);
}

/* A dimension of n elements, traversed from its end if backwards. */
typedef struct scan_range {
    int64_t axis, n;
    bool backwards;
} scan_range;

static scan_range run_of(wk_tensor *x, int64_t axis, bool backwards)
{
    return (scan_range){axis, wk_ndim(x) ? wk_size(x, (int)axis) : 1, backwards};
}

/* Returns `count` elements from index `first`, counted in the direction of the traversal. */
static wk_tensor *narrow_along(const scan_range *r, wk_tensor *x, int64_t first, int64_t count)
{
    return wk_narrow_at((wk_site){0}, x, r->axis, r->backwards ? wk_size(x, (int)r->axis) - first - count : first,
                        count);
}

static wk_tensor *concat_along(const scan_range *r, wk_tensor *first, wk_tensor *then)
{
    return wk_cat_at((wk_site){0}, (wk_tensor *[]){r->backwards ? then : first, r->backwards ? first : then}, 2,
                     r->axis);
}

wk_tensor *wk__exclusive_cumprod(wk_tensor *x, int64_t axis, bool backwards)
{
    if (!x) return NULL;
    const scan_range r = run_of(x, axis, backwards);
    if (r.n < 2) return wk_ones_like_at((wk_site){0}, x, NULL);
    wk_tensor *all = scan_call(&wk__op_cumprod, (wk_site){0}, x, axis, backwards);
    return concat_along(&r, wk_ones_like_at((wk_site){0}, narrow_along(&r, x, 0, 1), NULL),
                        narrow_along(&r, all, 0, r.n - 1));
}

/* The gradient of x_k is b_k s_k. b_k is the product of the elements before x_k; s_k = g_k + x_(k+1) s_(k+1) sums the
 * gradients of the results from k on, each times the factors in between. No division, so gradients of this gradient are
 * right where elements are 0. Computed in rounds with `reach` = 1, 2, 4, ..: sum_k covers `reach` results from k on;
 * factor_k is the product of `reach` elements after k, and has no entry if there are fewer. */
static wk_tensor *cumprod_grad_scan(wk_tensor *x, wk_tensor *grad, const scan_range *r)
{
    if (r->n < 2) return grad;
    wk_tensor *sum = grad, *factor = narrow_along(r, x, 1, r->n - 1);
    for (int64_t reach = 1; reach < r->n && sum; reach *= 2) {
        const int64_t left = r->n - reach;
        wk_tensor *more = wk_mul(factor, narrow_along(r, sum, reach, left));
        sum = concat_along(r, wk_add(narrow_along(r, sum, 0, left), more), narrow_along(r, sum, left, reach));
        if (left > reach)
            factor = wk_mul(narrow_along(r, factor, 0, left - reach), narrow_along(r, factor, reach, left - reach));
    }
    return wk_mul(sum, wk__exclusive_cumprod(x, r->axis, r->backwards));
}

/* Every result from x_k on has x_k as a factor, so the gradient is the sum over i >= k of g_i y_i / x_k. From the first
 * zero on all results are 0. Elements before the zero are unaffected by that; the gradient of the zero itself uses the
 * results without it, y', computed with 1 instead of it; elements after it have gradient 0.
 *
 *     x    2  3  0  5  0          y'   2  6  6 30  0      (all zeros but the first stay)
 *
 * This computes the gradient, but not its dependence on the zeros: its own derivative would be wrong. */
static wk_tensor *cumprod_grad_quotient(const wk__grad_ctx *g, const scan_range *r)
{
    const wk_site none = {0};
    const bool back = r->backwards;
    wk_tensor *x = wk__saved(g, 0), *y = wk__saved(g, WK__SAVED_OUT), *zero = wk_eq(x, 0);
    wk_tensor *zeros = scan_call(&wk__op_cumsum, none, zero, r->axis, back);
    wk_tensor *first = wk_mul(zero, wk_eq(zeros, 1));
    wk_tensor *without = scan_call(&wk__op_cumprod, none, wk_where(first, 1, x), r->axis, back);
    wk_tensor *at_zero = scan_call(&wk__op_cumsum, none, wk_mul(g->out[0], without), r->axis, !back);
    wk_tensor *before = scan_call(&wk__op_cumsum, none, wk_mul(g->out[0], y), r->axis, !back);
    return wk_where(first, at_zero, wk_where(wk_eq(zeros, 0), wk_div(before, wk_where(zero, 1, x)), 0));
}

static void cumprod_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0);
    if (!x) return;
    const wk__cumsum_attributes a = wk__cumsum_attributes_of(g->attr);
    const scan_range r = run_of(x, a.axis, a.backwards);
    g->in[0] = wk_is_grad_enabled() ? cumprod_grad_scan(x, g->out[0], &r) : cumprod_grad_quotient(g, &r);
}

const wk__op wk__op_cumsum = {
    .gradient = cumsum_gradient,
    WK__SIGNATURE_cumsum,
};
const wk__op wk__op_cumprod = {
    .gradient = cumprod_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_cumprod,
};

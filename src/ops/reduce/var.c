/* SPDX-License-Identifier: Apache-2.0 */
/* var, std: mean squared deviation from the mean, with `correction` subtracted from the number of elements, and its
 * root. Two passes over a row, so nothing cancels. std is also right where var would overflow or underflow (norm.h),
 * unless the sum of the elements overflows. */
#include "norm.h"
#include <math.h>

static wk_tensor *variance(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                           const wk_var_options *options)
{
    wk__reduction_call r;
    wk_var_options o;
    if (!wk__read_var_options(site, op->name, options, &o) ||
        !wk__reduction_begin(&r, op, site, x, dims, count, o.keepdim, 0))
        return NULL;
    double columns = (double)wk__reduced_numel(x, r.mask);
    r.attributes.divisor = fmax(columns - o.correction, 0);
    wk_tensor *mean = wk_div(wk__reduce_sum(site, x, r.mask, true), columns);
    const double divisor = r.attributes.divisor;
    wk_tensor *out = NULL;
    if (mean && op == &wk__op_std) {
        out = wk__root_of_powers(site, x, mean, r.mask, r.keepdim, 2, divisor);
    } else if (mean) {
        wk__arg args[] = {wk__tensor_arg(wk__to_opmath(x)), wk__tensor_arg(mean)};
        wk_tensor *square = wk__elementwise(&wk__square_of_difference_op, site, args, 2, NULL);
        out = wk_div(wk__reduce_sum(site, square, r.mask, r.keepdim), divisor);
    }
    return wk__reduction_end(&r, wk__cast_result(out, r.dtype));
}

wk_tensor *wk_var_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_var_options *options)
{
    return variance(&wk__op_var, site, x, dims, count, options);
}
wk_tensor *wk_std_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_var_options *options)
{
    return variance(&wk__op_std, site, x, dims, count, options);
}

static wk_tensor *from_mean(const wk__grad_ctx *g, int64_t mask)
{
    wk_tensor *x = wk__saved(g, 0);
    return wk_sub(x, wk__mean_keepdim(x, mask));
}

static void var_gradient(wk__grad_ctx *g)
{
    const wk__reduce_attributes reduced = wk__reduce_attributes_of(g->attr);
    wk_tensor *slope = wk_mul(wk__restore_reduced_dims(g, g->out[0]), 2);
    g->in[0] = wk_mul(slope, wk_div(from_mean(g, reduced.mask), reduced.divisor));
}

/* If all elements are equal, the slope of the root is undefined; 0 is used. Deviations are divided by the root
 * first, because that quotient is representable, while grad / root may not be. */
static void std_gradient(wk__grad_ctx *g)
{
    const wk__reduce_attributes reduced = wk__reduce_attributes_of(g->attr);
    wk_tensor *root = wk__restore_reduced_dims(g, wk__saved(g, WK__SAVED_OUT)), *flat = wk_eq(root, 0);
    wk_tensor *slope = wk_div(wk__restore_reduced_dims(g, g->out[0]), reduced.divisor);
    wk_tensor *distance = wk_div(from_mean(g, reduced.mask), wk_add(root, flat));
    g->in[0] = wk_mul(distance, wk_mul(slope, wk_eq(flat, 0)));
}

const wk__op wk__op_var = {
    .gradient = var_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_var,
};
const wk__op wk__op_std = {
    .gradient = std_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_std,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* nansum, nanmean: reductions that leave out NaN. */
#include "reduction.h"

static int without_nan(wk__emit *e, const int in[])
{
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, in[0], in[0]), in[0], wk__emit_constant(e, 0));
}

static const wk__op without_nan_op = {.name = "nansum", .expression = without_nan, .arity = 1};

wk_tensor *wk_nansum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, &wk__op_nansum, site, x, dims, count, options)) return NULL;
    const bool floats = wk__is_float(wk__body_of(x)->dtype);
    const wk_dtype result = r.dtype_given || floats ? r.dtype : WK_I64,
                   compute = floats && !wk__is_float(result) ? WK_F32 : result;
    wk_tensor *numbers = floats ? wk__unary(&without_nan_op, site, x) : x;
    return wk__reduction_end(&r, numbers ? wk__reduce(&wk__op_sum, site, numbers, r.mask, r.keepdim, compute, result)
                                         : NULL);
}

static void nansum_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0);
    g->in[0] = wk_where(wk_eq(x, x), wk__expand_reduced_grad(g, g->out[0]), 0);
}

const wk__op wk__op_nansum = {
    .gradient = nansum_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_nansum,
};

/* ---- nanmean: the sum divided by the number of elements that are not NaN ----------------------------------------- */

wk_tensor *wk_nanmean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, &wk__op_nanmean, site, x, dims, count, options)) return NULL;
    const wk_dtype class = wk__compute_class(r.dtype);
    wk_tensor *numbers = wk__unary(&without_nan_op, site, x), *counted = wk_eq(x, x);
    wk_tensor *sum = numbers ? wk__reduce(&wk__op_sum, site, numbers, r.mask, r.keepdim, class, class) : NULL;
    wk_tensor *total = counted ? wk__reduce(&wk__op_sum, site, counted, r.mask, r.keepdim, class, class) : NULL;
    return wk__reduction_end(&r, wk__cast_result(wk_div(sum, total), r.dtype));
}

/* Divides behind the expansion, so that nothing is divided by 0 for a row without elements. */
static void nanmean_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *counted = wk_eq(x, x);
    wk_tensor *total = wk__sum_keepdim(counted, wk__reduce_attributes_of(g->attr).mask);
    g->in[0] = wk_where(counted, wk_div(wk__expand_reduced_grad(g, g->out[0]), total), 0);
}

const wk__op wk__op_nanmean = {
    .gradient = nanmean_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_nanmean,
};

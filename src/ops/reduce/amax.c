/* SPDX-License-Identifier: Apache-2.0 */
/* amax, amin: the largest and the smallest element. NaN takes precedence; equal elements share the gradient evenly. */
#include "reduction.h"

static wk_tensor *extreme(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                          const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    bool some = wk__check_nonempty_reduction(op, site, x, r.mask);
    return wk__reduction_end(&r, some ? wk__reduce(op, site, x, r.mask, r.keepdim, r.dtype, r.dtype) : NULL);
}

wk_tensor *wk_amax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return extreme(&wk__op_amax, site, x, dims, count, options);
}
wk_tensor *wk_amin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return extreme(&wk__op_amin, site, x, dims, count, options);
}

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *best = wk_eq(wk__saved(g, 0), wk__restore_reduced_dims(g, wk__saved(g, WK__SAVED_OUT)));
    g->in[0] =
        wk__split_grad_among_ties(best, wk__restore_reduced_dims(g, g->out[0]), wk__reduce_attributes_of(g->attr).mask);
}

const wk__op wk__op_amax = {
    .reduction = WK__RMAX,
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_amax,
};
const wk__op wk__op_amin = {
    .reduction = WK__RMIN,
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_amin,
};

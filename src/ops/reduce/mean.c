/* SPDX-License-Identifier: Apache-2.0 */
/* mean: sum / number of elements. */
#include "reduction.h"

static wk_tensor *averaged(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                           const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    wk_dtype class = wk__compute_class(r.dtype);
    wk_tensor *sum = wk__reduce(&wk__op_sum, site, x, r.mask, r.keepdim, class, class);
    const double columns = r.attributes.divisor = (double)wk__reduced_numel(x, r.mask);
    return wk__reduction_end(&r, wk__cast_result(wk_div(sum, columns), r.dtype));
}

wk_tensor *wk_mean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return averaged(&wk__op_mean, site, x, dims, count, options);
}

static void gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(wk__expand_reduced_grad(g, g->out[0]), wk__reduce_attributes_of(g->attr).divisor);
}

const wk__op wk__op_mean = {
    .gradient = gradient,
    WK__SIGNATURE_mean,
};

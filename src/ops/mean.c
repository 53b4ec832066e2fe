/* SPDX-License-Identifier: Apache-2.0 */
/* mean: sum / number of elements. */
#include "rows.h"

static wk_tensor *averaged(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                           const wk_reduce_options *options)
{
    wk__reducing r;
    if (!wk__reducing_read(&r, op, site, x, dims, count, options)) return NULL;
    wk_dtype class = wk__class_of(r.dtype);
    wk_tensor *sum = wk__reduce(&wk__op_sum, site, x, r.mask, r.keepdim, class, class);
    const double columns = r.attributes.divisor = (double)wk__columns(x, r.mask);
    return wk__reducing_end(&r, wk__narrowed(wk_div(sum, columns), r.dtype));
}

wk_tensor *wk_mean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return averaged(&wk__op_mean, site, x, dims, count, options);
}

static void gradient(wk__gradient *g)
{
    g->in[0] = wk_div(wk__spread(g, g->out[0]), wk__reduce_attributes_of(g->attr).divisor);
}

const wk__op wk__op_mean = {
    .gradient = gradient,
    WK__SIGNATURE_mean,
};

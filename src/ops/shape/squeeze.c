/* SPDX-License-Identifier: Apache-2.0 */
/* Removing and inserting dimensions of size 1: squeeze, unsqueeze. */
#include "ops/core/view_geometry.h"

wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__check_input(&wk__op_squeeze, site, x)) return NULL;
    uint16_t mask = 0; /* an empty list names no dimension */
    wk__geometry g;
    if (count != 0 && !wk__dims_mask(&wk__op_squeeze, site, x, dims, count, &mask)) return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    for (int d = g.ndim; d-- > 0;)
        if (mask >> d & 1 && g.shape[d] == 1) wk__geometry_drop(&g, d);
    const wk__attr named = {.grad_fn_name = count != 1 ? "SqueezeBackward2" : "SqueezeBackward1"};
    return wk__make_view_geometry(&wk__op_squeeze, site, x, &g, count >= 0 ? &named : NULL);
}

wk_tensor *wk_unsqueeze_at(wk_site site, wk_tensor *x, int64_t dim)
{
    int d;
    wk__geometry g;
    if (!wk__check_input(&wk__op_unsqueeze, site, x) || !wk__resolve_dim(&wk__op_unsqueeze, site, x, dim, 1, &d))
        return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    int64_t stride = d < g.ndim ? g.shape[d] * g.stride[d] : 1; /* as a dense tensor has */
    if (!wk__geometry_insert(&wk__op_unsqueeze, site, x, &g, d, 1, stride)) return NULL;
    return wk__make_view_geometry(&wk__op_unsqueeze, site, x, &g, NULL);
}

const wk__op wk__op_squeeze = {
    .gradient = wk__reshape_gradient,
    WK__SIGNATURE_squeeze,
};
const wk__op wk__op_unsqueeze = {
    .gradient = wk__reshape_gradient,
    WK__SIGNATURE_unsqueeze,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* swiglu, geglu: an activation of the first half of a tensor times the second half, as calls of other ops. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"

static wk_tensor *gated(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim)
{
    const wk__body *body = wk__body_of(x);
    int d;
    if (!body->ndim) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a has no dimensions to halve");
        return NULL;
    }
    if (!wk__resolve_dim(op, site, x, dim, 0, &d)) return NULL;
    if (body->shape[d] % 2) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a cannot be halved along dimension %d: its size %lld is odd", d,
                     (long long)body->shape[d]);
        return NULL;
    }
    const int64_t half = body->shape[d] / 2;
    wk_tensor *wide = wk__to_opmath(x), *first = wk_narrow_at(site, wide, d, 0, half);
    first = op == &wk__op_swiglu ? wk_silu(first) : wk_gelu(first);
    return wk_to_dtype_at(site, wk_mul(first, wk_narrow_at(site, wide, d, half, half)), body->dtype);
}

static wk_tensor *call(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim)
{
    wk__call_scope c;
    if (!wk__inlined_begin(&c, op, site, &x, 1)) return NULL;
    return wk__inlined_end(&c, gated(op, site, x, dim));
}

wk_tensor *wk_swiglu_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return call(&wk__op_swiglu, site, x, dim);
}
wk_tensor *wk_geglu_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return call(&wk__op_geglu, site, x, dim);
}

const wk__op wk__op_swiglu = {WK__SIGNATURE_swiglu};
const wk__op wk__op_geglu = {WK__SIGNATURE_geglu};

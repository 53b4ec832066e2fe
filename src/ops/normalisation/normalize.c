/* SPDX-License-Identifier: Apache-2.0 */
/* normalize: vectors along a dimension divided by their norms, or by eps if that is larger. */
#include "ops/reduce/norm.h"

/* in: x, norm, eps */
static int direction(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__DIV, in[0], wk__emit_binary(e, WK__MAX, in[1], in[2]));
}
static const wk__op direction_op = {.name = "normalize", .expression = direction, .arity = 3};

wk_tensor *wk_normalize_at(wk_site site, wk_tensor *x, double p, int64_t dim, double eps)
{
    const wk__op *op = &wk__op_normalize;
    wk__compose c;
    wk_tensor *out = NULL;
    int axis = 0;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    if (wk__check_float(op, site, x) && wk__reduction_dim(op, site, x, dim, &axis)) {
        const wk__body *body = wk__body_of(x);
        const uint16_t mask = (uint16_t)(body->ndim ? 1u << axis : 0);
        wk_tensor *length = wk__vector_norm(site, x, NULL, mask, true, p), *wide = length ? wk__to_opmath(x) : NULL;
        const wk__arg args[] = {wk__tensor_arg(wide), wk__tensor_arg(length), wk__float_arg(eps)};
        if (wide) out = wk__elementwise(&direction_op, site, args, 3, NULL);
        out = wk__cast_result(out, body->dtype);
    }
    const wk__attr attr = wk__normalize_attr((wk__normalize_attributes){.dim = axis, .p = p, .eps = eps});
    return wk__compose_end(&c, out, &attr);
}

/* A norm below eps contributes no gradient, because eps replaces it. */
static void gradient(wk__grad_ctx *g)
{
    const wk__normalize_attributes a = wk__normalize_attributes_of(g->attr);
    const int64_t mask = g->node->shape[0].ndim ? (int64_t)1 << a.dim : 0;
    const wk_norm_options options = {.size = sizeof options, .p = a.p == 0 ? WK_EXPLICIT_ZERO : a.p, .keepdim = true};
    wk_tensor *x = wk__saved(g, 0), *length = wk_norm_at((wk_site){0}, x, &a.dim, mask ? 1 : -1, &options);
    wk_tensor *divisor = wk_maximum(length, a.eps), *inner = wk_mul(g->out[0], x);
    if (mask) inner = wk__sum_keepdim(inner, mask);
    wk_tensor *through = wk_div(wk_mul(wk_neg(inner), wk_ge(length, a.eps)), wk_mul(divisor, divisor));
    g->in[0] = wk_add(wk_div(g->out[0], divisor), wk__vector_norm_grad(x, length, through, a.p, mask));
}

const wk__op wk__op_normalize = {
    .gradient = gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_normalize,
};

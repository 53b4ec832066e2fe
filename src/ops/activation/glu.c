/* SPDX-License-Identifier: Apache-2.0 */
/* glu: the first half of a tensor, gated by the second. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"

/* in: first half, second half */
static int gate(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], wk__emit_unary(e, WK__SIGMOID, in[1]));
}

static const wk__op gate_op = {.name = "glu", .expression = gate, .arity = 2, .dtypes = WK__FLOATS};

/* Resolves the dimension and checks that it can be halved. */
static bool check_dim(wk_site site, wk_tensor *x, int64_t dim, int *d)
{
    const wk__op *op = &wk__op_glu;
    const wk__body *body = wk__body_of(x);
    if (!body->ndim) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a has no dimensions to halve");
        return false;
    }
    if (!wk__resolve_dim(op, site, x, dim, 0, d)) return false;
    if (body->shape[*d] % 2 == 0) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a cannot be halved along dimension %d: its size %lld is odd", *d,
                 (long long)body->shape[*d]);
    return false;
}

wk_tensor *wk_glu_at(wk_site site, wk_tensor *x, int64_t dim)
{
    wk__compose c;
    int d = 0;
    if (!wk__compose_begin(&c, &wk__op_glu, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    if (check_dim(site, x, dim, &d)) {
        const int64_t half = wk__body_of(x)->shape[d] / 2;
        const wk__arg halves[] = {wk__tensor_arg(wk_narrow_at(site, x, d, 0, half)),
                                  wk__tensor_arg(wk_narrow_at(site, x, d, half, half))};
        out = wk__elementwise(&gate_op, site, halves, 2, NULL);
    }
    const wk__attr attr = wk__glu_attr((wk__glu_attributes){.dim = d});
    return wk__compose_end(&c, out, &attr);
}

/* With x = (a, b) and s = sigmoid(b): s and a s (1 - s) */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const int64_t d = wk__glu_attributes_of(g->attr).dim, half = g->node->shape[0].size[d] / 2;
    wk_tensor *x = wk__saved(g, 0), *a = wk_narrow_at(here, x, d, 0, half);
    wk_tensor *s = wk_sigmoid(wk_narrow_at(here, x, d, half, half)), *first = wk_mul(g->out[0], s);
    wk_tensor *parts[] = {first, wk_mul(wk_mul(first, a), wk_sub(1, s))};
    g->in[0] = wk_cat_at(here, parts, 2, d);
}

const wk__op wk__op_glu = {
    .gradient = gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_glu,
};

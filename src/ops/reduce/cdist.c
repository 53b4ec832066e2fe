/* SPDX-License-Identifier: Apache-2.0 */
/* cdist: the norms of the differences of all pairs of rows, reduced without storing the differences. */
#include "norm.h"
#include <math.h>

/* Returns x with a dimension for the rows of the other operand, before (-3) or after (-2) its own rows. */
static wk_tensor *spread(wk_tensor *x, int dim)
{
    return wk_unsqueeze_at((wk_site){0}, x, dim);
}

static bool check_operands(wk_site site, wk_tensor *const in[2], double p)
{
    const wk__op *op = &wk__op_cdist;
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    const char *problem = NULL;
    wk_code code = WK_ERR_SHAPE;
    if (!(p >= 0))
        problem = "p must be at least 0", code = WK_ERR_ARGUMENT;
    else if (!wk__is_float(a->dtype) || !wk__is_float(b->dtype))
        problem = "expected floating-point operands, got $a and $b; convert with wk_to_dtype(x, WK_F32)",
        code = WK_ERR_DTYPE;
    else if (a->ndim < 2 || b->ndim < 2 || a->ndim == WK__MAX_DIMS || b->ndim == WK__MAX_DIMS)
        problem = "expected operands (..., rows, columns) of 2 to 7 dimensions, got $a and $b";
    else if (a->shape[a->ndim - 1] != b->shape[b->ndim - 1])
        problem = "the last sizes of $a and $b differ";
    else if (!wk__broadcast(a->ndim - 2, a->shape, b->ndim - 2, b->shape, &ndim, shape))
        problem = "the batch dimensions of $a and $b (all but the last two) do not broadcast";
    if (problem) wk__op_error(op, site, code, in, "%s", problem);
    return !problem;
}

wk_tensor *wk_cdist_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_cdist_options *options)
{
    const wk__op *op = &wk__op_cdist;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk__compose c;
    wk_cdist_options o;
    if (!wk__read_cdist_options(site, op->name, options, &o)) return NULL;
    const wk__attr attr = wk__cdist_attr((wk__cdist_attributes){.p = o.p});
    if (!wk__compose_begin(&c, op, site, in, 2)) return NULL;
    if (check_operands(site, in, o.p)) {
        wk_tensor *x = spread(a, -2), *y = spread(b, -3);
        wk_tensor *way = wk_sub(wk__to_opmath(x), wk__to_opmath(y));
        const int last = way ? wk__body_of(way)->ndim - 1 : 0;
        const bool empty = way && wk__body_of(way)->shape[last] == 0;
        if (way) out = wk__vector_norm(site, way, NULL, (uint16_t)(1u << last), false, empty ? 1 : o.p);
        out = wk__cast_result(out, wk__promote_types(wk__body_of(a)->dtype, wk__body_of(b)->dtype));
    }
    return wk__compose_end(&c, out, &attr);
}

/* The gradient of a difference, summed over the rows of the other operand. */
static void gradient(wk__grad_ctx *g)
{
    const double p = wk__cdist_attributes_of(g->attr).p;
    wk_tensor *way = wk_sub(spread(wk__saved(g, 0), -2), spread(wk__saved(g, 1), -3));
    if (!way) return;
    const wk__body *body = wk__body_of(way);
    wk_tensor *length = wk_unsqueeze(wk__saved(g, WK__SAVED_OUT), -1), *flow = wk_unsqueeze(g->out[0], -1);
    const bool empty = body->shape[body->ndim - 1] == 0;
    wk_tensor *slope = wk__vector_norm_grad(way, length, flow, empty ? 1 : p, 1 << (body->ndim - 1));
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_sum(slope, (-2));
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk_neg(wk_sum(slope, (-3)));
}

const wk__op wk__op_cdist = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT},
    WK__SIGNATURE_cdist,
};

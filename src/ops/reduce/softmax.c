/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, softmin, log_softmax along one dimension. One row program of three passes:
 *
 *     m = amax(x)    s = sum(e^(x - m))    softmax = e^(x - m) (1 / s)    log_softmax = x - m - log s
 *
 * s is at least 1, so its reciprocal costs one rounding, and a row needs one division instead of one per element. */
#include "reduction.h"

/* in: x, maximum of the row */
static int exp_from(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__EXP, wk__emit_binary(e, WK__SUB, in[0], in[1]));
}
/* in: x, maximum, sum */
static int log_share(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__SUB, wk__emit_binary(e, WK__SUB, in[0], in[1]), wk__emit_unary(e, WK__LOG, in[2]));
}

static const wk__op exp_op = {.name = "softmax", .expression = exp_from, .arity = 2};
static const wk__op log_op = {.name = "log_softmax", .expression = log_share, .arity = 3};

static wk_tensor *softmax_forward(const wk__op *op, wk_site site, wk_tensor *x, uint16_t mask)
{
    wk_tensor *most = wk__reduce_max(site, x, mask, true);
    wk_tensor *part =
        most ? wk__elementwise(&exp_op, site, (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(most)}, 2, NULL) : NULL;
    wk_tensor *sum = wk__reduce_sum(site, part, mask, true);
    if (!sum) return NULL;
    return op == &wk__op_log_softmax
               ? wk__elementwise(&log_op, site,
                                 (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(most), wk__tensor_arg(sum)}, 3, NULL)
               : wk_mul(part, wk_reciprocal(sum));
}

static wk_tensor *softmax_call(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim)
{
    wk__compose c;
    int axis;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.count = 0};
    if (wk__check_float(op, site, x) && wk__reduction_dim(op, site, x, dim, &axis)) {
        const uint16_t mask = (uint16_t)(wk__body_of(x)->ndim ? 1u << axis : 0);
        attr = wk__softmax_attr((wk__softmax_attributes){.mask = mask});
        wk_tensor *wide = wk__to_opmath(x);
        if (op == &wk__op_softmin) wide = wk_mul(wide, -1);
        out = wide ? wk__cast_result(softmax_forward(op, site, wide, mask), wk__body_of(x)->dtype) : NULL;
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_softmax_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return softmax_call(&wk__op_softmax, site, x, dim);
}
wk_tensor *wk_softmin_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return softmax_call(&wk__op_softmin, site, x, dim);
}
wk_tensor *wk_log_softmax_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return softmax_call(&wk__op_log_softmax, site, x, dim);
}

/* y (g - sum(g y)) */
static wk_tensor *softmax_backward(const wk__grad_ctx *g)
{
    wk_tensor *y = wk__saved(g, WK__SAVED_OUT), *part = wk_mul(g->out[0], y);
    return wk_sub(part, wk_mul(y, wk__sum_keepdim(part, wk__softmax_attributes_of(g->attr).mask)));
}

static void softmax_gradient(wk__grad_ctx *g)
{
    g->in[0] = softmax_backward(g);
}
static void softmin_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(softmax_backward(g), -1);
}
static void log_softmax_gradient(wk__grad_ctx *g)
{
    wk_tensor *y = wk__saved(g, WK__SAVED_OUT);
    wk_tensor *sum = wk__sum_keepdim(g->out[0], wk__softmax_attributes_of(g->attr).mask);
    g->in[0] = wk_sub(g->out[0], wk_mul(wk_exp(y), sum));
}

const wk__op wk__op_softmax = {
    .gradient = softmax_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_softmax,
};
const wk__op wk__op_softmin = {
    .gradient = softmin_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_softmin,
};
const wk__op wk__op_log_softmax = {
    .gradient = log_softmax_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_log_softmax,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* logsumexp: log of the sum of e^x. Subtracts the largest element first, so that nothing overflows. */
#include "reduction.h"
#include <math.h>

/* An infinite maximum is not subtracted: inf - inf is NaN. */
static int if_finite(wk__emit *e, const int in[])
{
    int infinite = wk__emit_compare(e, WK__EQ, wk__emit_unary(e, WK__ABS, in[0]), wk__emit_constant(e, INFINITY));
    return wk__emit_where(e, infinite, wk__emit_constant(e, 0), in[0]);
}
/* in: x, offset */
static int exp_from(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__EXP, wk__emit_binary(e, WK__SUB, in[0], in[1]));
}
/* in: sum, offset */
static int log_to(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, wk__emit_unary(e, WK__LOG, in[0]), in[1]);
}

static const wk__op finite_op = {.name = "logsumexp", .expression = if_finite, .arity = 1};
static const wk__op exp_op = {.name = "logsumexp", .expression = exp_from, .arity = 2};
static const wk__op log_op = {.name = "logsumexp", .expression = log_to, .arity = 2};

static wk_tensor *log_of_sum(wk_site site, wk_tensor *x, uint16_t mask)
{
    wk_tensor *most = wk__reduce_max(site, x, mask, true);
    wk_tensor *offset = most ? wk__unary(&finite_op, site, most) : NULL;
    wk_tensor *part =
        offset ? wk__elementwise(&exp_op, site, (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(offset)}, 2, NULL) : NULL;
    wk_tensor *sum = wk__reduce_sum(site, part, mask, true);
    return sum ? wk__elementwise(&log_op, site, (wk__arg[]){wk__tensor_arg(sum), wk__tensor_arg(offset)}, 2, NULL)
               : NULL;
}

static wk_tensor *logsumexp_call(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                 const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    wk_tensor *out = wk__drop_reduced_dims(log_of_sum(site, wk__to_opmath(x), r.mask), r.mask, r.keepdim);
    return wk__reduction_end(&r, wk__cast_result(out, r.dtype));
}

wk_tensor *wk_logsumexp_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return logsumexp_call(&wk__op_logsumexp, site, x, dims, count, options);
}

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *share = wk_exp(wk_sub(wk__saved(g, 0), wk__restore_reduced_dims(g, wk__saved(g, WK__SAVED_OUT))));
    g->in[0] = wk_mul(wk__restore_reduced_dims(g, g->out[0]), share);
}

const wk__op wk__op_logsumexp = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT},
    WK__SIGNATURE_logsumexp,
};

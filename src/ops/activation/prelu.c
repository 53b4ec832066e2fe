/* SPDX-License-Identifier: Apache-2.0 */
/* prelu: negative elements are scaled by a weight, of which there is one, or one for each channel (dimension 1). */
#include "ops/core/compose.h"
#include "ops/core/entries.h"

static int expression(wk__emit *e, const int in[])
{
    int positive = wk__emit_compare(e, WK__GT, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, positive, in[0], wk__emit_binary(e, WK__MUL, in[0], in[1]));
}

static const wk__op scale_op = {.name = "prelu", .expression = expression, .arity = 2, .dtypes = WK__FLOATS};

static bool check_weight(wk_site site, wk_tensor *const in[2])
{
    const wk__op *op = &wk__op_prelu;
    const wk__body *x = wk__body_of(in[0]), *weight = wk__body_of(in[1]);
    const int64_t channels = x->ndim > 1 ? x->shape[1] : 1, count = wk__body_numel(weight);
    if (x->dtype != weight->dtype)
        wk__op_error(op, site, WK_ERR_DTYPE, in,
                     "x $a and weight $b must have the same dtype; convert one with wk_to_dtype");
    else if (weight->ndim > 1)
        wk__op_error(op, site, WK_ERR_SHAPE, in, "weight $b must have one dimension or none");
    else if (count != 1 && count != channels)
        wk__op_error(op, site, WK_ERR_SHAPE, in, "weight $b must have 1 element or, for x $a, %lld: one per channel",
                     (long long)channels);
    else
        return true;
    return false;
}

/* Returns the weight shaped to broadcast along dimension 1 of an x with ndim dimensions, of which it adds none. */
static wk_tensor *along_channels(wk_site site, wk_tensor *weight, int ndim)
{
    int64_t shape[WK__MAX_DIMS];
    if (!weight || ndim == 1 || ndim == 2) return weight;
    const int count = ndim ? ndim - 1 : 0;
    for (int d = 0; d < count; d++) shape[d] = d ? 1 : wk__body_numel(wk__body_of(weight));
    return wk_reshape_at(site, weight, shape, count);
}

wk_tensor *wk_prelu_at(wk_site site, wk_tensor *x, wk_tensor *weight)
{
    wk__compose c;
    wk_tensor *in[2] = {x, weight}, *out = NULL;
    if (!wk__compose_begin(&c, &wk__op_prelu, site, in, 2)) return NULL;
    if (check_weight(site, in)) {
        const wk__arg args[] = {wk__tensor_arg(x), wk__tensor_arg(along_channels(site, weight, wk__body_of(x)->ndim))};
        out = wk__elementwise(&scale_op, site, args, 2, NULL);
    }
    return wk__compose_end(&c, out, NULL);
}

/* The gradient of one weight per channel has the channels last, so that it is summed over the other dimensions. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    wk_tensor *x = wk__saved(g, 0), *positive = wk_gt(x, 0);
    const int ndim = g->node->shape[0].ndim;
    if (wk__needs_input_grad(g, 0)) {
        wk_tensor *weight = along_channels(here, wk__saved(g, 1), ndim);
        g->in[0] = wk_where(positive, g->out[0], wk_mul(g->out[0], weight));
    }
    if (!wk__needs_input_grad(g, 1)) return;
    wk_tensor *grad = wk_where(positive, 0, wk_mul(g->out[0], x));
    const bool shared = g->node->shape[1].ndim == 0 || g->node->shape[1].size[0] == 1;
    g->in[1] = shared ? grad : wk_movedim_at(here, grad, 1, -1);
}

const wk__op wk__op_prelu = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_prelu,
};

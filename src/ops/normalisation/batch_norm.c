/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm: one mean and variance per channel, over the batch and all positions. */
#include "channel_norm.h"

/* Checks that x has channels and, in training, more than one element in each: the variance of one is undefined. */
static bool check_input(const wk__channel_norm *c)
{
    const wk__body *body = wk__body_of(c->x);
    if (body->ndim < 2) {
        wk__op_error(c->op, c->site, WK_ERR_SHAPE, &c->x,
                     "$a must have at least 2 dimensions, (N, C) or (N, C, ...); use wk_unsqueeze");
        return false;
    }
    if (!c->training || wk__reduced_numel(c->x, wk__all_but_channels(body->ndim)) != 1) return true;
    wk__op_error(
        c->op, c->site, WK_ERR_SHAPE, &c->x,
        "training needs more than one element per channel, got $a; use larger batches (.drop_last of the loader "
        "drops a smaller last one), or evaluate after wk_module_train(net, false)");
    return false;
}

wk_tensor *wk__batch_norm(wk__channel_norm call)
{
    call.op = &wk__op_batch_norm;
    const bool whole = call.running_mean && call.running_var && call.weight && call.bias;
    if (!whole && wk__omitted_may_have_failed()) return NULL;
    if (!wk__check_operands(call.op, call.site, &call.x, 1) || !check_input(&call)) return NULL;
    call.mask = wk__all_but_channels(wk__body_of(call.x)->ndim);
    return wk__channel_norm_check(&call) ? wk__channel_norm_call(&call) : NULL;
}

wk_tensor *wk_batch_norm_at(wk_site site, wk_tensor *x, wk_tensor *running_mean, wk_tensor *running_var,
                            wk_tensor *weight, wk_tensor *bias, bool training, double momentum, double eps)
{
    return wk__batch_norm((wk__channel_norm){.site = site,
                                             .x = x,
                                             .running_mean = running_mean,
                                             .running_var = running_var,
                                             .weight = weight,
                                             .bias = bias,
                                             .training = training,
                                             .momentum = momentum,
                                             .eps = eps});
}

const wk__op wk__op_batch_norm = {
    .gradient = wk__channel_norm_gradient,
    .saves = WK__CHANNEL_NORM_SAVES,
    WK__SIGNATURE_batch_norm,
};

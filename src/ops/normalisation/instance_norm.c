/* SPDX-License-Identifier: Apache-2.0 */
/* instance_norm: one mean and variance per sample and channel, over all positions. */
#include "channel_norm.h"

/* Checks that x has positions and, if its statistics are used, more than one: the variance of one is undefined. */
static bool check_input(const wk__channel_norm *c)
{
    const wk__body *body = wk__body_of(c->x);
    if (body->ndim < 3) {
        wk__op_error(c->op, c->site, WK_ERR_SHAPE, &c->x,
                     "$a must have at least 3 dimensions, (N, C, ...); use wk_unsqueeze");
        return false;
    }
    if (!c->training || wk__reduced_numel(c->x, wk__after_channels(body->ndim)) != 1) return true;
    wk__op_error(c->op, c->site, WK_ERR_SHAPE, &c->x,
                 "statistics need more than one element per channel of a sample, got $a");
    return false;
}

wk_tensor *wk_instance_norm_at(wk_site site, wk_tensor *x, wk_tensor *running_mean, wk_tensor *running_var,
                               wk_tensor *weight, wk_tensor *bias, bool use_input_stats, double momentum, double eps)
{
    wk__channel_norm c = {.op = &wk__op_instance_norm,
                          .site = site,
                          .x = x,
                          .running_mean = running_mean,
                          .running_var = running_var,
                          .weight = weight,
                          .bias = bias,
                          .training = use_input_stats,
                          .momentum = momentum,
                          .eps = eps};
    if (!(running_mean && running_var && weight && bias) && wk__omitted_may_have_failed()) return NULL;
    if (!wk__check_operands(c.op, site, &x, 1) || !check_input(&c)) return NULL;
    c.mask = wk__after_channels(wk__body_of(x)->ndim);
    return wk__channel_norm_check(&c) ? wk__channel_norm_call(&c) : NULL;
}

const wk__op wk__op_instance_norm = {
    .gradient = wk__channel_norm_gradient,
    .saves = WK__CHANNEL_NORM_SAVES,
    WK__SIGNATURE_instance_norm,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm: one mean and variance per sample and group of adjacent channels. */
#include "channel_norm.h"

static bool check_input(const wk__channel_norm *c, int64_t groups)
{
    const wk__body *body = wk__body_of(c->x);
    if (body->ndim < 2 || body->ndim == WK__MAX_DIMS) {
        wk__op_error(c->op, c->site, WK_ERR_SHAPE, &c->x, "expected 2 to %d dimensions, (N, C) or (N, C, ...), got $a",
                     WK__MAX_DIMS - 1);
        return false;
    }
    if (groups > 0 && body->shape[1] % groups == 0) return true;
    wk__op_error(c->op, c->site, WK_ERR_ARGUMENT, &c->x,
                 "groups must be positive and divide the %lld channels of $a, got %lld", (long long)body->shape[1],
                 (long long)groups);
    return false;
}

wk_tensor *wk_group_norm_at(wk_site site, wk_tensor *x, int64_t groups, wk_tensor *weight, wk_tensor *bias, double eps)
{
    wk__channel_norm c = {.op = &wk__op_group_norm,
                          .site = site,
                          .x = x,
                          .weight = weight,
                          .bias = bias,
                          .training = true,
                          .eps = eps,
                          .groups = groups};
    if (!(weight && bias) && wk__omitted_may_have_failed()) return NULL;
    if (!wk__check_operands(c.op, site, &x, 1) || !check_input(&c, groups)) return NULL;
    c.mask = wk__after_channels(wk__body_of(x)->ndim);
    return wk__channel_norm_check(&c) ? wk__channel_norm_call(&c) : NULL;
}

const wk__op wk__op_group_norm = {
    .gradient = wk__channel_norm_gradient,
    .saves = WK__CHANNEL_NORM_SAVES,
    WK__SIGNATURE_group_norm,
};

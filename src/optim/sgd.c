/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic gradient descent, with momentum or without. */
#include "update.h"

typedef wk_optim_sgd_options options;

static const wk__setting settings[] = {
    {WK__MEMBER(options, lr), WK__SETTING_NUMBER, 1e-3, 0, INFINITY},
    {WK__MEMBER(options, momentum), WK__SETTING_NUMBER, 0, 0, INFINITY},
    {WK__MEMBER(options, dampening), WK__SETTING_NUMBER, 0, -INFINITY, INFINITY},
    {WK__MEMBER(options, weight_decay), WK__SETTING_NUMBER, 0, 0, INFINITY},
    {WK__MEMBER(options, nesterov), WK__SETTING_FLAG, 0, 0, 0},
    {WK__MEMBER(options, maximize), WK__SETTING_FLAG, 0, 0, 0},
};

static bool complete(wk_site site, const char *op, void *given)
{
    const options *o = given;
    if (!o->nesterov || (o->momentum > 0 && o->dampening == 0)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .nesterov needs a .momentum and no .dampening", op);
    return false;
}

static const char *const state[] = {"momentum_buffer"};

static int states(const void *given)
{
    const options *o = given;
    return o->momentum != 0;
}

static bool update(const void *given, wk__trained *t, wk_tensor *grad)
{
    const options *o = given;
    wk_tensor *g = wk__optim_decayed(grad, t->parameter, o->maximize, o->weight_decay);
    if (!g) return false;
    if (o->momentum != 0) {
        wk_tensor *velocity = t->state[0];
        const double share = t->steps == 1 ? 1 : 1 - o->dampening; /* the first gradient counts in full */
        wk__arg change[] = {wk__t(velocity), wk__t(g), wk__f(o->momentum), wk__f(share)};
        if (!wk__elementwise_(&wk__optim_blend, (wk_site){0}, change, 4, NULL)) return false;
        g = o->nesterov ? wk__optim_sum(g, velocity, o->momentum) : velocity;
    }
    return g && wk__optim_add_to(t->parameter, g, -o->lr);
}

static const wk__rule sgd = {.name = "optim_sgd",
                             .size = sizeof(options),
                             .setting = settings,
                             .settings = sizeof settings / sizeof *settings,
                             .complete = complete,
                             .states = states,
                             .state = state,
                             .update = update};

wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_sgd_options *given)
{
    return wk__optim_new(site, &sgd, parameters, given);
}
